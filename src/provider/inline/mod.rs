//! Thoughts and calls that some servers leave in the text of an answer, although the wire has fields for them. Pure.

mod dialect;
mod leaked;
mod piece;
mod thought;

pub(crate) use piece::Piece;

use crate::conversation::ToolSpec;
use leaked::LeakedCalls;
use thought::ThoughtTag;

/// Separates thought and calls from the text of one answer, wherever the text is cut.
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

#[cfg(test)]
#[path = "inline_tests.rs"]
mod tests;
