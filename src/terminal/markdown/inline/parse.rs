//! Splits the text of a block into tokens: words, code, emphasis runs, links, breaks.
//!
//! This is CommonMark's delimiter algorithm, written for text that is still growing: it can tell which part no
//! later text can change ([`Parsed::safe`]), namely everything before the first construct that may still close. A
//! construct reaches at most [`REACH`] bytes, which limits how much is held back, and how often it is read again.

use super::delimiter::{Delimiter, REACH};
use super::emphasis::{Scope, assume_closed, pair_runs};
use super::links::Definitions;
use super::reader::Reader;
use super::tokens::{Ending, Kind, Parsed};
use super::{autolink, brackets, entity};
use crate::terminal::markdown::html::{self, Found};

/// How far maths reaches, in bytes; short, because the `$` of a price opens it, too.
const MATHS_REACH: usize = 128;

/// Bytes at which a construct may begin or end.
const SPECIAL: [bool; 256] = {
    let mut table = [false; 256];
    let bytes = b"\n\\`*_~[]!<&:@w$";
    let mut index = 0;
    while index < bytes.len() {
        table[bytes[index] as usize] = true;
        index += 1;
    }
    table
};

/// Tells whether a text is words only, so that it need not be parsed.
pub(crate) fn is_plain(text: &str) -> bool {
    !text.bytes().any(|byte| SPECIAL[usize::from(byte)] && byte != b'w') && !text.contains("www.")
}

/// Parses `text`, which follows the character `before`, into `parsed`.
pub(crate) fn read(parsed: &mut Parsed, text: &str, before: char, ending: Ending, definitions: &Definitions) {
    parsed.clear();
    let mut reader = Reader::new(text, before, ending, definitions, parsed);
    reader.run();
    let unsure = reader.unsure;
    pair_runs(parsed, 0, Scope::Text);
    parsed.settle(text.len(), unsure, ending);
    if ending == Ending::Guess {
        assume_closed(parsed);
    }
}

impl Reader<'_> {
    /// Reads to the end, or to a construct that may still close.
    fn run(&mut self) {
        while self.position < self.bytes.len() {
            let byte = self.bytes[self.position];
            if !SPECIAL[usize::from(byte)] {
                self.position += 1;
                continue;
            }
            let go_on = match byte {
                b'\n' => self.line_end(),
                b'\\' => self.backslash(),
                b'`' => self.backticks(),
                b'*' | b'_' | b'~' => self.emphasis(byte),
                b'[' => brackets::open(self),
                b'!' => brackets::bang(self),
                b']' => brackets::close(self),
                b'<' => self.angle(),
                b'&' => self.ampersand(),
                b'$' => self.dollar(),
                _ => self.bare_link(byte),
            };
            if !go_on {
                // A construct that may still close includes everything after it; for now that counts as text.
                self.unsure = self.position;
                self.position = self.bytes.len();
            }
        }
        self.flush(self.bytes.len());
    }

    fn line_end(&mut self) -> bool {
        let before = &self.text[self.text_start..self.position];
        let trimmed = before.trim_end_matches([' ', '\t']);
        let hard = before[trimmed.len()..].ends_with("  ");
        let start = self.text_start + trimmed.len();
        self.push(start, self.position + 1, if hard { Kind::HardBreak } else { Kind::SoftBreak });
        true
    }

    fn backslash(&mut self) -> bool {
        let start = self.position;
        match self.byte_at(start + 1) {
            Some(b'\n') => {
                self.push(start, start + 2, Kind::HardBreak);
                true
            }
            Some(open @ (b'(' | b'[')) => {
                let close = if open == b'(' { "\\)" } else { "\\]" };
                if self.maths(start, start + 2, close, REACH) {
                    return true;
                }
                if self.may_close_later(start, REACH) && !self.text[start + 2..].contains(close) {
                    return false;
                }
                self.push(start, start + 2, Kind::Decoded(char::from(open).to_string()));
                true
            }
            Some(byte) if byte.is_ascii_punctuation() => {
                self.push(start, start + 2, Kind::Decoded(char::from(byte).to_string()));
                true
            }
            Some(_) | None => self.literal(1),
        }
    }

    /// Reads `open`…`close` as maths if it closes soon and is not empty.
    fn maths(&mut self, start: usize, inner: usize, close: &str, reach: usize) -> bool {
        let limit = self.text.floor_char_boundary(start + reach);
        let Some(end) = self.text.get(inner..limit).and_then(|rest| rest.find(close)).map(|found| found + inner)
        else {
            return false;
        };
        // A row of escaped punctuation is no formula.
        if !self.text[inner..end].contains(char::is_alphanumeric) {
            return false;
        }
        self.push(start, end + close.len(), Kind::Maths(start, end + close.len()));
        true
    }

    fn dollar(&mut self) -> bool {
        let start = self.position;
        if self.byte_at(start + 1) == Some(b'$') {
            if self.maths(start, start + 2, "$$", REACH) {
                return true;
            }
            let closed = self.text[start + 2..].contains("$$");
            return if self.may_close_later(start, REACH) && !closed { false } else { self.literal(2) };
        }
        let next = self.char_at(start + 1);
        if next.is_whitespace() || self.char_before(start).is_alphanumeric() {
            return self.literal(1);
        }
        let limit = self.text.floor_char_boundary(start + MATHS_REACH);
        let line_end = self.text[start..limit].find('\n').map_or(limit, |end| start + end);
        let mut from = start + 1;
        while let Some(found) = self.text[from..line_end].find('$') {
            let close = from + found;
            let good = close > start + 1
                && !self.char_before(close).is_whitespace()
                && !self.char_at(close + 1).is_alphanumeric();
            if good {
                self.push(start, close + 1, Kind::Maths(start, close + 1));
                return true;
            }
            from = close + 1;
        }
        if line_end == self.bytes.len() && self.may_close_later(start, MATHS_REACH) {
            return false;
        }
        self.literal(1)
    }

    fn backticks(&mut self) -> bool {
        let start = self.position;
        let count = run_length(self.bytes, start, b'`');
        let limit = (start + REACH).min(self.bytes.len());
        let mut position = start + count;
        while position < limit {
            if self.bytes[position] != b'`' {
                position += 1;
                continue;
            }
            let closing = run_length(self.bytes, position, b'`');
            if closing == count {
                self.push(start, position + count, Kind::Code(start + count, position));
                return true;
            }
            position += closing;
        }
        if self.may_close_later(start, REACH) {
            return false;
        }
        if self.ending == Ending::Guess && self.bytes.len() - start <= REACH {
            self.push(start, self.bytes.len(), Kind::Code(start + count, self.bytes.len()));
            return true;
        }
        self.literal(count)
    }

    fn emphasis(&mut self, byte: u8) -> bool {
        let start = self.position;
        let count = run_length(self.bytes, start, byte);
        // A single tilde means "about" far more often than struck-through text.
        if byte == b'~' && count != 2 {
            return self.literal(count);
        }
        let before = self.char_before(start);
        let after = self.char_at(start + count);
        let delimiter = Delimiter::new(byte, start, count, before, after);
        if !delimiter.can_open && !delimiter.can_close {
            return self.literal(count);
        }
        let index = self.out.delimiters.len();
        self.out.delimiters.push(delimiter);
        self.push(start, start + count, Kind::Run(index));
        true
    }

    fn angle(&mut self) -> bool {
        let start = self.position;
        let limit = self.text.floor_char_boundary(start + REACH);
        let rest = &self.text[start..limit];
        if let Some((length, target)) = autolink::angled(rest) {
            self.push(start, start + length, Kind::Autolink(start + 1, start + length - 1, target));
            return true;
        }
        match html::inline(rest) {
            Found::Tag(length) if html::is_line_break(&rest[..length]) => {
                self.push(start, start + length, Kind::HardBreak);
                true
            }
            Found::Tag(length) => {
                self.push(start, start + length, Kind::Html(start, start + length));
                true
            }
            Found::Incomplete if self.may_close_later(start, REACH) => false,
            Found::Incomplete | Found::Nothing => self.literal(1),
        }
    }

    fn ampersand(&mut self) -> bool {
        let start = self.position;
        match entity::decode(&self.text[start..]) {
            Some((length, text)) => self.push(start, start + length, Kind::Decoded(text)),
            None => self.position += 1,
        }
        true
    }

    fn bare_link(&mut self, byte: u8) -> bool {
        let from = self.text_start;
        let found = match byte {
            b':' => autolink::scheme(self.text, from, self.position),
            b'w' => autolink::www(self.text, self.position, self.char_before(self.position)),
            _ => autolink::email(self.text, from, self.position),
        };
        match found {
            Some(found) => self.push(found.start, found.end, Kind::Autolink(found.start, found.end, found.target)),
            None => self.position += 1,
        }
        true
    }
}

/// Counts how often `byte` is repeated from `start` on.
fn run_length(bytes: &[u8], start: usize, byte: u8) -> usize {
    bytes[start..].iter().take_while(|other| **other == byte).count()
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
