//! What the turn and `tool_search` both know: the tools of servers, and which of them are told in full.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::conversation::ToolSpec;
use crate::tool::Tool;

/// What the turn and `tool_search` both know.
#[derive(Clone, Default)]
pub(super) struct Shared(Arc<Mutex<State>>);

/// What can be loaded, as the turn that runs sees it.
#[derive(Default)]
pub(super) struct State {
    /// What the servers' list was when this was made.
    pub(super) version: Option<u64>,
    pub(super) tools: Vec<Known>,
    /// The developer tools of the conversation; looked for when it begins.
    pub(super) own: Option<Vec<Known>>,
    /// Whether the tools of servers together are few enough to be told in full.
    pub(super) fits: bool,
    /// There where not all are told in full.
    pub(super) search: Option<(ToolSpec, Arc<dyn Tool>)>,
    /// The names that were loaded; they stay.
    pub(super) loaded: BTreeSet<String>,
}

/// A tool that can be loaded.
#[derive(Clone)]
pub(super) struct Known {
    pub(super) spec: ToolSpec,
    pub(super) tool: Arc<dyn Tool>,
    /// What its name begins with, for whoever lists it.
    pub(super) group: String,
    pub(super) full_spec: FullSpec,
}

/// When the model gets a tool's full description without loading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FullSpec {
    /// Always.
    Always,
    /// While all tools of servers together are few.
    WhileFew,
    /// Never.
    Never,
}

impl State {
    /// All of them: the developer tools, which do not change, then those of servers.
    pub(super) fn all(&self) -> impl Iterator<Item = &Known> {
        self.own.iter().flatten().chain(&self.tools)
    }

    /// Tells whether the model is told of it in full, loaded or not.
    pub(super) fn is_told(&self, known: &Known) -> bool {
        match known.full_spec {
            FullSpec::Always => true,
            FullSpec::WhileFew => self.fits,
            FullSpec::Never => false,
        }
    }
}

impl Shared {
    pub(super) fn locked(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Loads the tools that `choose` takes; returns them, those that were loaded before among them.
    pub(super) fn load(&self, choose: impl Fn(&[&ToolSpec]) -> Vec<ToolSpec>) -> Vec<ToolSpec> {
        let mut state = self.locked();
        let chosen = choose(&state.all().map(|known| &known.spec).collect::<Vec<_>>());
        state.loaded.extend(chosen.iter().map(|spec| spec.name.clone()));
        chosen
    }
}
