//! What a request says and leaves out, after what the server has refused so far.

use crate::provider::settings::{CallExtras, OutputLimit, ReasoningEcho};

/// What is sent, after what the server has refused so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// `stream_options.include_usage`.
    pub(crate) usage_in_stream: bool,
    /// `temperature`: models that reason refuse it.
    pub(crate) temperature: bool,
    /// Which field limits the output.
    pub(crate) output_limit: OutputLimit,
    /// Whether reasoning goes back.
    pub(crate) reasoning_echo: ReasoningEcho,
    /// Whether every message with calls carries reasoning, a blank if there is none.
    pub(crate) reasoning_required: bool,
    /// Whether unknown fields of calls go back.
    pub(crate) call_extras: CallExtras,
}
