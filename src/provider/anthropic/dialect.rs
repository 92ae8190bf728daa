//! What a request says and leaves out, after what the server has refused so far.

/// What is sent, after what the server has refused so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// Whether reasoning goes back.
    pub(crate) reasoning: bool,
    /// Whether cache marks are set.
    pub(crate) cache_marks: bool,
    /// Whether `temperature` is said: some models refuse it.
    pub(crate) temperature: bool,
    /// Whether the cache is asked to keep what it has for an hour.
    pub(crate) long_cache: bool,
    /// Whether the model is asked to think as much as it sees fit.
    pub(crate) adaptive: bool,
    /// Whether the provider may search the web itself.
    pub(crate) search: bool,
    /// Whether it is said how much to think.
    pub(crate) effort: bool,
    /// `max_tokens` when the request names none.
    pub(crate) default_limit: u64,
    /// The most the server has said it accepts.
    pub(crate) highest_limit: u64,
}
