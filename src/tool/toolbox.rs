//! The tools of one run, found by name.

use std::sync::Arc;

use crate::conversation::ToolSpec;

use super::contract::Tool;

/// The tools of a run, in the order the model is told about them.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: Vec<(ToolSpec, Arc<dyn Tool>)>,
}

impl Toolbox {
    /// Makes a toolbox; the specifications are asked for once, so that their bytes never change.
    #[must_use]
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        Self { tools: tools.into_iter().map(|tool| (tool.spec(), tool)).collect() }
    }

    /// Returns the specifications, in order.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|(spec, _)| spec.clone()).collect()
    }

    /// Makes a toolbox of those of these names.
    #[must_use]
    pub fn only(&self, names: &[&str]) -> Self {
        let kept = self.tools.iter().filter(|(spec, _)| names.contains(&spec.name.as_str()));
        Self { tools: kept.cloned().collect() }
    }

    /// Finds a tool by its exact name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|(spec, _)| spec.name == name).map(|(_, tool)| tool)
    }
}
