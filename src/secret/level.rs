//! How strictly a text is looked at, and what stands where a secret was.

/// What stands where a secret was.
pub const MARK: &str = "[redacted]";

/// How strictly a text is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// A server's sentence: keys it repeats, whole or masked, and who asked. Names such as `token:` stay.
    Repeated,
    /// What is kept and read again by a model: what is certainly a secret. Code stays whole.
    Kept,
    /// What is sent to others or offered again: rather too much than too little.
    Sent,
}
