//! What a request says and leaves out, after what the server has refused so far.

use crate::provider::settings::{OutputLimit, ReasoningEcho};

/// What is sent, after what the server has refused so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// `stream_options.include_usage`.
    pub(crate) usage_in_stream: bool,
    /// `temperature`: models that reason refuse it.
    pub(crate) temperature: bool,
    /// Whether `reasoning_effort` is said.
    pub(crate) effort: bool,
    /// Which field limits the output.
    pub(crate) output_limit: OutputLimit,
    /// Whether reasoning goes back.
    pub(crate) reasoning_echo: ReasoningEcho,
    /// Whether every message with calls carries reasoning, a blank if there is none.
    pub(crate) reasoning_required: bool,
    /// Whether a person must not speak right behind results.
    pub(crate) strict_roles: bool,
    /// Whether unknown fields of the model's own calls go back.
    pub(crate) call_extras: bool,
}
