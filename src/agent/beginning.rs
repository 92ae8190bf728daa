//! What a request begins with.

use crate::conversation::{ToolSpec, tokens};

/// What a request begins with.
pub(super) struct Beginning {
    /// The system prompt.
    pub(super) system: String,
    /// What the model may call.
    pub(super) tools: Vec<ToolSpec>,
    /// Whether the provider may search the web itself.
    pub(super) search: bool,
}

impl Beginning {
    /// Estimates its tokens.
    pub(super) fn tokens(&self) -> u64 {
        tokens::estimate(&self.system) + tools_tokens(&self.tools)
    }
}

/// Estimates the tokens of tools.
pub(super) fn tools_tokens(tools: &[ToolSpec]) -> u64 {
    let costs = tools.iter().map(|spec| {
        tokens::estimate(&spec.name)
            + tokens::estimate(&spec.description)
            + tokens::estimate(&spec.input_schema.to_string())
            + 8
    });
    costs.sum()
}
