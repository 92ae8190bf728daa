//! The tools of one run, found by name.

use std::sync::Arc;

use crate::conversation::{ToolIdentity, ToolSpec};

use super::contract::Tool;

/// The tools of a run, in the order the model is told about them.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: Vec<(ToolSpec, Option<Arc<dyn Tool>>)>,
}

impl Toolbox {
    /// Makes a toolbox; the specifications are asked for once, so that their bytes never change.
    #[must_use]
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        Self { tools: tools.into_iter().map(|tool| (tool.spec(), Some(tool))).collect() }
    }

    /// Adds a tool that somebody else runs: the model is told of it, and nothing is found by its name.
    pub fn declare(&mut self, spec: ToolSpec) {
        self.tools.push((spec, None));
    }

    /// Returns the specifications, in order.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|(spec, _)| spec.clone()).collect()
    }

    /// Makes a toolbox of those that a sub-agent may call.
    #[must_use]
    pub fn for_sub_agents(&self) -> Self {
        let kept = self.tools.iter().filter(|(spec, _)| spec.identity.for_sub_agents);
        Self { tools: kept.cloned().collect() }
    }

    /// Finds a tool by its exact name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|(spec, _)| spec.name == name)?.1.as_ref()
    }

    /// Tells what is known of the tool of this name; of one that is not here, nothing.
    #[must_use]
    pub fn identity(&self, name: &str) -> ToolIdentity {
        self.tools.iter().find(|(spec, _)| spec.name == name).map(|(spec, _)| spec.identity).unwrap_or_default()
    }
}
