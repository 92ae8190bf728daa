//! What a request says and leaves out, after what the server has refused so far.

/// What is sent, after what the server has refused so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// Whether the model's thoughts are asked for.
    pub(crate) thoughts: bool,
    /// Whether it is said how much to think.
    pub(crate) effort: bool,
    /// Whether schemas go in the older field, which knows less of them.
    pub(crate) old_schemas: bool,
    /// Whether `temperature` is said.
    pub(crate) temperature: bool,
    /// Whether ids of calls go back.
    pub(crate) call_ids: bool,
    /// Whether a call of another model gets the placeholder signature.
    pub(crate) stand_in_signature: bool,
    /// Whether the provider may search the web itself.
    pub(crate) search: bool,
}
