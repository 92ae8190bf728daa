//! What the turn and `tool_search` both know: the tools of servers, and which of them are told in full.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::conversation::ToolSpec;
use crate::tool::Tool;

/// What the turn and `tool_search` both know.
#[derive(Clone, Default)]
pub(super) struct Shared(Arc<Mutex<State>>);

/// The tools of all servers, as the turn that runs sees them.
#[derive(Default)]
pub(super) struct State {
    /// What the servers' list was when this was made.
    pub(super) version: Option<u64>,
    pub(super) tools: Vec<Known>,
    /// There where not all are told in full.
    pub(super) search: Option<(ToolSpec, Arc<dyn Tool>)>,
    /// The names that were loaded; they stay.
    pub(super) loaded: BTreeSet<String>,
}

/// A tool of a server.
pub(super) struct Known {
    pub(super) spec: ToolSpec,
    pub(super) tool: Arc<dyn Tool>,
    pub(super) server: String,
    pub(super) always: bool,
}

impl State {
    /// Tells whether the model is told of it in full.
    pub(super) fn is_told(&self, known: &Known) -> bool {
        self.search.is_none() || known.always || self.loaded.contains(&known.spec.name)
    }
}

impl Shared {
    pub(super) fn locked(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Loads the tools that `choose` takes; returns them, those that were loaded before among them.
    pub(super) fn load(&self, choose: impl Fn(&[&ToolSpec]) -> Vec<ToolSpec>) -> Vec<ToolSpec> {
        let mut state = self.locked();
        let specs: Vec<&ToolSpec> = state.tools.iter().map(|known| &known.spec).collect();
        let chosen = choose(&specs);
        state.loaded.extend(chosen.iter().map(|spec| spec.name.clone()));
        chosen
    }
}
