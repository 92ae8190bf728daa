//! A text while it is read: the reader's position, and what it has found so far.

use super::links::Definitions;
use super::tokens::{Ending, Kind, Parsed, Token};

/// Reads one text.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) before: char,
    pub(super) ending: Ending,
    pub(super) definitions: &'a Definitions,
    pub(super) out: &'a mut Parsed,
    pub(super) position: usize,
    pub(super) text_start: usize,
    /// Where reading stopped at a construct that may still close.
    pub(super) unsure: usize,
}

impl<'a> Reader<'a> {
    /// Makes a reader at the start of `text`, which follows the character `before`.
    pub(super) fn new(
        text: &'a str,
        before: char,
        ending: Ending,
        definitions: &'a Definitions,
        out: &'a mut Parsed,
    ) -> Self {
        let (bytes, unsure) = (text.as_bytes(), text.len());
        Self { text, bytes, before, ending, definitions, out, position: 0, text_start: 0, unsure }
    }

    pub(super) fn open(&self) -> bool {
        matches!(self.ending, Ending::Open(_))
    }

    pub(super) fn after(&self) -> char {
        match self.ending {
            Ending::Open(next) => next,
            Ending::Closed | Ending::Guess => '\n',
        }
    }

    pub(super) fn char_before(&self, position: usize) -> char {
        self.text[..position].chars().next_back().unwrap_or(self.before)
    }

    pub(super) fn char_at(&self, position: usize) -> char {
        self.text[position..].chars().next().unwrap_or_else(|| self.after())
    }

    pub(super) fn byte_at(&self, position: usize) -> Option<u8> {
        self.bytes.get(position).copied()
    }

    pub(super) fn flush(&mut self, end: usize) {
        if end > self.text_start {
            self.out.tokens.push(Token { start: self.text_start, kind: Kind::Text(end) });
        }
        self.text_start = end;
    }

    pub(super) fn push(&mut self, start: usize, end: usize, kind: Kind) {
        self.flush(start);
        self.out.tokens.push(Token { start, kind });
        self.position = end;
        self.text_start = end;
    }

    pub(super) fn literal(&mut self, bytes: usize) -> bool {
        self.position += bytes;
        true
    }

    /// Tells whether a closer that arrives later could still reach back to `start`.
    pub(super) fn may_close_later(&self, start: usize, reach: usize) -> bool {
        self.open() && self.bytes.len() - start <= reach
    }
}
