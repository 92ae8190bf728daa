//! The pieces of an answer's text. Pure.

/// A piece of an answer, told apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Words for the person.
    Text(String),
    /// Reasoning.
    Thought(String),
    /// A whole call.
    Call(LeakedCall),
}

/// A call that was found in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeakedCall {
    /// The id the model gave it; empty for none.
    pub(crate) id: String,
    /// The name of a tool that was offered.
    pub(crate) name: String,
    /// A JSON object.
    pub(crate) arguments: String,
}

/// Appends text to the last piece if that is text as well.
pub(super) fn push_text(text: &str, pieces: &mut Vec<Piece>) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Text(before)) => before.push_str(text),
        Some(Piece::Thought(_) | Piece::Call(_)) | None => pieces.push(Piece::Text(text.to_owned())),
    }
}

/// Returns how many bytes at the end of `text` may be the beginning of `mark`.
pub(super) fn overlap(text: &str, mark: &str) -> usize {
    let most = text.len().min(mark.len().saturating_sub(1));
    (1..=most).rev().find(|length| text.as_bytes().ends_with(&mark.as_bytes()[..*length])).unwrap_or(0)
}
