//! `<think>…</think>` at the beginning of an answer: templates of local models write reasoning so, and servers that do
//! not know the template pass it on as text.

use super::piece::{Piece, overlap, push_text};

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Tells a thought from the answer behind it.
#[derive(Debug, Default)]
pub(super) struct ThoughtTag {
    held: String,
    place: Position,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Position {
    /// Nothing but white space, or part of the tag.
    #[default]
    Before,
    /// Between the tags; the white space after the first is left out.
    Open,
    Inside,
    /// Behind the second tag, where white space is left out.
    Closed,
    /// In the answer, where a tag is an ordinary word.
    Answer,
}

impl ThoughtTag {
    pub(super) fn push(&mut self, text: &str, pieces: &mut Vec<Piece>) {
        if self.place == Position::Answer {
            push_text(text, pieces);
            return;
        }
        self.held.push_str(text);
        loop {
            let before = self.place;
            self.step(pieces);
            if self.place == before {
                return;
            }
        }
    }

    pub(super) fn finish(&mut self, pieces: &mut Vec<Piece>) {
        let held = std::mem::take(&mut self.held);
        match self.place {
            Position::Before | Position::Answer => push_text(&held, pieces),
            Position::Inside if !held.is_empty() => pieces.push(Piece::Thought(held)),
            Position::Open | Position::Inside | Position::Closed => {}
        }
        self.place = Position::Answer;
    }

    fn step(&mut self, pieces: &mut Vec<Piece>) {
        let trimmed = self.held.trim_start();
        match self.place {
            Position::Before => {
                if let Some(rest) = trimmed.strip_prefix(OPEN) {
                    self.held = rest.to_owned();
                    self.place = Position::Open;
                } else if !OPEN.starts_with(trimmed) {
                    self.place = Position::Answer;
                }
            }
            Position::Open | Position::Closed if trimmed.is_empty() => self.held.clear(),
            Position::Open | Position::Closed => {
                self.held = trimmed.to_owned();
                self.place = if self.place == Position::Open { Position::Inside } else { Position::Answer };
            }
            Position::Inside => {
                let end = self.held.find(CLOSE);
                let told = end.unwrap_or_else(|| self.held.len() - overlap(&self.held, CLOSE));
                let thought: String = self.held.drain(..told).collect();
                if !thought.is_empty() {
                    pieces.push(Piece::Thought(thought));
                }
                if end.is_some() {
                    self.held.drain(..CLOSE.len());
                    self.place = Position::Closed;
                }
            }
            Position::Answer => push_text(&std::mem::take(&mut self.held), pieces),
        }
    }
}
