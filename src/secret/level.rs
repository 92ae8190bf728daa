//! How strictly a text is searched, and the text that replaces a secret.

/// The text that replaces a secret.
pub const MARK: &str = "[redacted]";

/// How strictly a text is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// A server's message: finds keys that it repeats, whole or masked, and the name of the account. Names such as
    /// `token:` stay.
    Repeated,
    /// A text that is saved and read again by a model: finds what is certainly a secret, and leaves code whole.
    Kept,
    /// A text that is sent to others or offered again: removes rather too much than too little.
    Sent,
}
