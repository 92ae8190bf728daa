//! What some servers leave in the text of an answer though the wire has a place for it: thought, and calls. Pure.

mod dialect;
mod leaked;
mod thought;

use crate::conversation::ToolSpec;
use leaked::LeakedCalls;
use thought::ThoughtTag;

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

/// Tells thought and calls from the text of one answer, however it is cut.
#[derive(Debug)]
pub(crate) struct InlineReader<'a> {
    thought: ThoughtTag,
    calls: LeakedCalls<'a>,
}

impl<'a> InlineReader<'a> {
    /// Makes a reader of an answer of `model`, which was offered `tools`.
    #[must_use]
    pub(crate) fn new(model: &str, tools: &'a [ToolSpec]) -> Self {
        let tools = if leaked::is_known_to_leak(model) { tools } else { &[] };
        Self { thought: ThoughtTag::default(), calls: LeakedCalls::new(tools) }
    }

    /// Takes more text; what could still become something else is held back.
    pub(crate) fn push(&mut self, text: &str, pieces: &mut Vec<Piece>) {
        let mut told = Vec::new();
        self.thought.push(text, &mut told);
        self.sort(told, pieces);
    }

    /// The answer has ended. Calls are taken from it only if it is whole and has none in their proper place.
    pub(crate) fn finish(&mut self, take_calls: bool, pieces: &mut Vec<Piece>) {
        let mut told = Vec::new();
        self.thought.finish(&mut told);
        self.sort(told, pieces);
        self.calls.finish(take_calls, pieces);
    }

    fn sort(&mut self, told: Vec<Piece>, pieces: &mut Vec<Piece>) {
        for piece in told {
            match piece {
                Piece::Text(text) => self.calls.push(&text, pieces),
                Piece::Thought(_) | Piece::Call(_) => pieces.push(piece),
            }
        }
    }
}

/// Adds text to the last piece if that is text, too.
fn push_text(text: &str, pieces: &mut Vec<Piece>) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Text(before)) => before.push_str(text),
        Some(Piece::Thought(_) | Piece::Call(_)) | None => pieces.push(Piece::Text(text.to_owned())),
    }
}

/// Returns how many bytes at the end of `text` may be the beginning of `mark`.
fn overlap(text: &str, mark: &str) -> usize {
    let most = text.len().min(mark.len().saturating_sub(1));
    (1..=most).rev().find(|length| text.as_bytes().ends_with(&mark.as_bytes()[..*length])).unwrap_or(0)
}

#[cfg(test)]
#[path = "inline_tests.rs"]
mod tests;
