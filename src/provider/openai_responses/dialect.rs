//! What a request says and leaves out, after what the server has refused so far.

/// What is sent, after what the server has refused so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// Whether the model thinks: only then are its thoughts asked for and summed up.
    pub(crate) thinks: bool,
    /// Whether a summary of the thoughts is asked for.
    pub(crate) summary: bool,
    /// Whether it is said how much to think.
    pub(crate) effort: bool,
    /// Whether encrypted thoughts go back.
    pub(crate) reasoning_echo: bool,
    /// Whether `temperature` is said.
    pub(crate) temperature: bool,
    /// Whether `max_output_tokens` is said.
    pub(crate) output_limit: bool,
    /// Whether answers and persons must take turns.
    pub(crate) strict_roles: bool,
    /// Whether the provider keeps its answers, and a request names the last of them.
    pub(crate) stored: bool,
    /// Whether the provider may search the web itself.
    pub(crate) search: bool,
}
