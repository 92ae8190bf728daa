//! The developer tools that a conversation is told of: those that fit the work when it begins.

use std::path::PathBuf;
use std::sync::Arc;

use super::action_tool::{ActionTool, actions};
use super::find::{Machine, here};
use super::fitting::fitting;
use crate::tool::Roots;

/// The most actions that are told in full: a model chooses worse among many.
const MOST_TOLD: usize = 16;

/// What looks for them.
#[derive(Debug, Clone)]
pub struct DevTools {
    machine: Machine,
    helper: Option<PathBuf>,
}

/// An action, and whether it fits the work.
pub(crate) struct Offered {
    pub(crate) tool: Arc<ActionTool>,
    /// What its name begins with.
    pub(crate) group: String,
    pub(crate) fits: bool,
}

impl DevTools {
    /// Looks on this machine; `helper` is as of [`crate::tool::ShellTool::new`].
    #[must_use]
    pub const fn new(machine: Machine, helper: Option<PathBuf>) -> Self {
        Self { machine, helper }
    }

    /// Lists the actions of the tools that are here, those that fit the work first; nothing where none fits. Looks at
    /// the disk and starts nothing.
    pub(crate) fn offered(&self, roots: &Roots, message: &str) -> Vec<Offered> {
        let mut found = here(&self.machine);
        // The workspace's own programs are untrusted.
        found.retain(|found| found.path.as_ref().is_some_and(|path| !path.starts_with(&self.machine.workspace)));
        let fit = fitting(&found, roots, message);
        if fit.is_empty() {
            return Vec::new();
        }
        let rest = found.iter().filter(|found| fit.iter().all(|fit| fit.tool.id != found.tool.id));
        let all = fit.iter().copied().map(|found| (found, true)).chain(rest.map(|found| (found, false)));
        let each = all.flat_map(|(found, fits)| {
            actions(found, self.helper.as_ref()).map(move |tool| (tool, format!("{}_", found.tool.id), fits))
        });
        let each = each.enumerate();
        each.map(|(index, (tool, group, fits))| Offered { tool, group, fits: fits && index < MOST_TOLD }).collect()
    }
}
