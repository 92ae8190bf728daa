//! The fixed part of a request: system prompt and tools.

use super::{AgentEvent, Frontend, Notice};
use crate::conversation::{ToolSpec, tokens};

/// The fixed part of a request, before the messages.
pub struct Beginning {
    /// The system prompt.
    pub system: String,
    /// The tools the model may call.
    pub tools: Vec<ToolSpec>,
    /// Whether the provider may search the web itself.
    pub search: bool,
}

impl Beginning {
    /// Estimates how many tokens it has.
    pub(super) fn tokens(&self) -> u64 {
        tokens::estimate(&self.system) + tools_tokens(&self.tools)
    }

    /// Tells the person where the model is told less of the tools than before.
    pub(super) fn tell_fewer_tools(&self, before: &Self, frontend: &mut dyn Frontend) {
        let (left, of) = (self.tools.len(), before.tools.len());
        if tools_tokens(&self.tools) < tools_tokens(&before.tools) {
            frontend.show(&AgentEvent::Notice { notice: Notice::FewerTools { left, of } });
        }
    }
}

/// Estimates how many tokens the descriptions of these tools have.
pub(super) fn tools_tokens(tools: &[ToolSpec]) -> u64 {
    let costs = tools.iter().map(|spec| {
        tokens::estimate(&spec.name)
            + tokens::estimate(&spec.description)
            + tokens::estimate(&spec.input_schema.to_string())
            + 8
    });
    costs.sum()
}

/// Whether the description of the tools would take too much of the window to talk in what is left.
pub(super) fn is_crowded(window: Option<u64>, system: &str, tools: &[ToolSpec]) -> bool {
    window.is_some_and(|window| tokens::estimate(system) + tools_tokens(tools) > window / 3)
}
