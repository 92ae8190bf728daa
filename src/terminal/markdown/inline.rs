//! Splits the text of a block into tokens: words, code, emphasis runs, links, breaks.
//!
//! CommonMark's delimiter algorithm, written so that it can say of a text that still grows which part no later text can
//! change ([`Parsed::safe`]): all before the first construct that may yet close. A construct reaches at most [`REACH`]
//! bytes, so that what is held back, and the cost of reading it again, have a limit.

use std::sync::Arc;

use super::{
    autolink,
    brackets::Opener,
    emphasis::{Delimiter, Scope},
    entity,
    links::Definitions,
    raw_html::{self, Found},
};

/// How far a construct reaches from its opener to its closer, in bytes of source.
pub(super) const REACH: usize = 2048;
/// How far maths reaches; short, because `$` before a price opens it too.
const MATHS_REACH: usize = 128;

/// What comes after the text given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// More may come; the next character is this.
    Open(char),
    /// The block is over.
    Closed,
    /// Unknown, to be shown for a moment only: what is open is taken as closed here.
    Guess,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text from the token's start to here.
    Text(usize),
    /// Code, maths or HTML, from and to; shown as it stands.
    Code(usize, usize),
    Maths(usize, usize),
    Html(usize, usize),
    /// One character that stands for itself: escaped, or from an entity.
    Decoded(String),
    SoftBreak,
    HardBreak,
    /// An emphasis run: its delimiter's index.
    Run(usize),
    /// `[` or `![` that may become a link; the text from the token's start to here.
    Bracket(usize),
    /// A link begins: index into [`Parsed::links`].
    LinkStart(usize),
    LinkEnd(usize),
    /// A link whose text is its target.
    Autolink(usize, usize, Arc<str>),
    /// A footnote's label, from and to.
    Footnote(usize, usize),
}

#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) start: usize,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone)]
pub(super) struct Link {
    pub(super) target: Arc<str>,
    pub(super) image: bool,
}

/// A text read; keeps its memory from one text to the next.
#[derive(Debug, Clone, Default)]
pub(super) struct Parsed {
    pub(super) tokens: Vec<Token>,
    pub(super) delimiters: Vec<Delimiter>,
    pub(super) links: Vec<Link>,
    /// Labels in brackets that led nowhere, with where they stood.
    pub(super) unresolved: Vec<(usize, String)>,
    /// Source ranges that are one construct.
    pub(super) pairs: Vec<(usize, usize)>,
    /// Up to here nothing can change any more.
    pub(super) safe: usize,
    pub(super) openers: Vec<Opener>,
}

/// Bytes at which something may begin or end.
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

/// Tells whether a text is words only, so that it need not be read.
pub(super) fn is_plain(text: &str) -> bool {
    !text.bytes().any(|byte| SPECIAL[usize::from(byte)] && byte != b'w') && !text.contains("www.")
}

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
    /// Where reading stopped at something that may yet close.
    pub(super) unsure: usize,
}

impl Parsed {
    /// Reads `text`, which stands after the character `before`.
    pub(super) fn read(&mut self, text: &str, before: char, ending: Ending, definitions: &Definitions) {
        self.tokens.clear();
        self.delimiters.clear();
        self.links.clear();
        self.unresolved.clear();
        self.pairs.clear();
        self.openers.clear();
        let mut reader = Reader {
            text,
            bytes: text.as_bytes(),
            before,
            ending,
            definitions,
            out: self,
            position: 0,
            text_start: 0,
            unsure: text.len(),
        };
        reader.run();
        let unsure = reader.unsure;
        self.match_delimiters(0, Scope::Text);
        self.safe = self.safe_end(text.len(), unsure, ending);
        if ending == Ending::Guess {
            self.assume_closed();
        }
    }

    fn safe_end(&self, len: usize, unsure: usize, ending: Ending) -> usize {
        if !matches!(ending, Ending::Open(_)) {
            return len;
        }
        let reachable = |start: usize| len - start <= REACH;
        let bracket = self.openers.iter().find(|opener| opener.active && reachable(opener.start));
        let run = self.delimiters.iter().find(|run| run.may_open() && reachable(run.start));
        let mut safe = unsure.min(bracket.map_or(len, |opener| opener.start)).min(run.map_or(len, |run| run.start));
        // A construct that begins before and ends after is as unsure as its end.
        loop {
            let start =
                self.pairs.iter().filter(|(start, end)| *start < safe && *end > safe).map(|pair| pair.0).min();
            match start {
                Some(start) => safe = start,
                None => return safe,
            }
        }
    }
}

impl Reader<'_> {
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
                b'[' => self.open_bracket(),
                b'!' => self.bang(),
                b']' => self.close_bracket(),
                b'<' => self.angle(),
                b'&' => self.ampersand(),
                b'$' => self.dollar(),
                _ => self.bare_link(byte),
            };
            if !go_on {
                // What may yet close swallows all that follows; as text for now.
                self.unsure = self.position;
                self.position = self.bytes.len();
            }
        }
        self.flush(self.bytes.len());
    }

    fn open(&self) -> bool {
        matches!(self.ending, Ending::Open(_))
    }

    fn after(&self) -> char {
        match self.ending {
            Ending::Open(next) => next,
            Ending::Closed | Ending::Guess => '\n',
        }
    }

    fn char_before(&self, position: usize) -> char {
        self.text[..position].chars().next_back().unwrap_or(self.before)
    }

    fn char_at(&self, position: usize) -> char {
        self.text[position..].chars().next().unwrap_or_else(|| self.after())
    }

    pub(super) fn byte_at(&self, position: usize) -> Option<u8> {
        self.bytes.get(position).copied()
    }

    fn flush(&mut self, end: usize) {
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

    /// Tells whether a closer after the end could still reach back to `start`.
    pub(super) fn may_close_later(&self, start: usize, reach: usize) -> bool {
        self.open() && self.bytes.len() - start <= reach
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

    /// Takes `open`…`close` as maths when it closes near and is not empty.
    fn maths(&mut self, start: usize, inner: usize, close: &str, reach: usize) -> bool {
        let limit = floor_char_boundary(self.text, (start + reach).min(self.bytes.len()));
        let Some(end) = self.text.get(inner..limit).and_then(|rest| rest.find(close)).map(|found| found + inner)
        else {
            return false;
        };
        // Escaped punctuation in a row is no formula.
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
        let limit = floor_char_boundary(self.text, (start + MATHS_REACH).min(self.bytes.len()));
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
        // One tilde stands before "about 5" far more often than around struck text.
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
        let limit = floor_char_boundary(self.text, (start + REACH).min(self.bytes.len()));
        let rest = &self.text[start..limit];
        if let Some((length, target)) = autolink::angled(rest) {
            self.push(start, start + length, Kind::Autolink(start + 1, start + length - 1, target));
            return true;
        }
        match raw_html::inline(rest) {
            Found::Tag(length) if raw_html::is_line_break(&rest[..length]) => {
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

pub(super) fn run_length(bytes: &[u8], start: usize, byte: u8) -> usize {
    bytes[start..].iter().take_while(|other| **other == byte).count()
}

/// Returns the last boundary of a character at or before `offset`.
pub(super) fn floor_char_boundary(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|offset| text.is_char_boundary(*offset)).unwrap_or(0)
}

#[cfg(test)]
#[path = "inline_tests.rs"]
mod tests;
