//! What a person is told.

/// A sentence, and what to do now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What happened.
    pub what: String,
    /// What to do now; may be empty.
    pub hint: String,
}
