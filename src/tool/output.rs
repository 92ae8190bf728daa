//! Prepares the output of programs for the model: without terminal sequences, and of limited length. Pure.

use std::fmt::Write as _;

use unicode_segmentation::GraphemeCursor;

use crate::secret::CUT;

/// How much of an output the model is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Lines.
    pub lines: usize,
    /// Bytes of UTF-8.
    pub bytes: usize,
}

/// What the model is given of a program's output, if nothing else is said.
pub const LIMITS: Limits = Limits { lines: 200, bytes: 10 * 1024 };

/// Where the cleaner is within a terminal sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Text,
    Escape,
    /// `ESC [ … final`.
    Control,
    /// `ESC ] …`, `ESC P …` and their like, up to BEL or `ESC \`.
    String,
    /// An ESC inside of it.
    EscapeInString,
}

/// Turns a stream of bytes into plain lines. Terminal sequences are removed, a line that is overwritten after a
/// carriage return keeps its last state, backspaces are applied, other control characters are removed, and a NUL is
/// shown as `\0`.
#[derive(Debug)]
pub(crate) struct Cleaner {
    state: State,
    line: Vec<u8>,
    returned: bool,
    limit: usize,
}

impl Cleaner {
    /// Makes one that keeps at most `limit` bytes of a line.
    pub(crate) fn new(limit: usize) -> Self {
        Self { state: State::Text, line: Vec::new(), returned: false, limit }
    }

    /// Takes bytes, cut anywhere; gives each line that is complete, without its end.
    pub(crate) fn push(&mut self, bytes: &[u8], mut emit: impl FnMut(String)) {
        for byte in bytes {
            match self.state {
                State::Text => self.text(*byte, &mut emit),
                State::Escape => {
                    self.state = match byte {
                        b'[' => State::Control,
                        b']' | b'P' | b'X' | b'^' | b'_' => State::String,
                        // Intermediates, as in `ESC ( B`.
                        0x20..=0x2f | 0x1b => State::Escape,
                        b'\n' => self.text_again(*byte, &mut emit),
                        _ => State::Text,
                    }
                }
                State::Control => match byte {
                    0x40..=0x7e => self.state = State::Text,
                    0x1b => self.state = State::Escape,
                    // No sequence contains these: it was cut.
                    b'\n' | b'\r' => self.state = self.text_again(*byte, &mut emit),
                    _ => {}
                },
                State::String => match byte {
                    0x07 => self.state = State::Text,
                    0x1b => self.state = State::EscapeInString,
                    // A sequence that never ends must not swallow everything after it.
                    b'\n' => self.state = self.text_again(*byte, &mut emit),
                    _ => {}
                },
                State::EscapeInString => {
                    self.state = if *byte == b'\\' { State::Text } else { State::String };
                }
            }
        }
    }

    fn text_again(&mut self, byte: u8, emit: &mut impl FnMut(String)) -> State {
        self.text(byte, emit);
        State::Text
    }

    fn text(&mut self, byte: u8, emit: &mut impl FnMut(String)) {
        match byte {
            0x1b => self.state = State::Escape,
            b'\n' => {
                emit(self.partial());
                self.line.clear();
                self.returned = false;
            }
            b'\r' => self.returned = true,
            0x08 => while self.line.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {},
            0x00 => self.put(b"\\0"),
            b'\t' | 0x20..=0x7e | 0x80..=0xff => self.put(&[byte]),
            0x01..=0x07 | 0x0b..=0x0c | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f => {}
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        if self.returned {
            self.line.clear();
            self.returned = false;
        }
        if self.line.len() < self.limit {
            self.line.extend_from_slice(bytes);
        }
    }

    /// Takes the line that has not ended yet: what follows is a line of its own.
    pub(crate) fn cut(&mut self) -> String {
        let line = self.partial();
        self.line.clear();
        line
    }

    /// The line that has not ended yet.
    pub(crate) fn partial(&self) -> String {
        // The C1 controls would be terminal sequences as well.
        String::from_utf8_lossy(&self.line)
            .chars()
            .filter(|letter| *letter == '\t' || !letter.is_control())
            .collect()
    }
}

/// Makes plain text of a program's output. Keeps all of it in memory: the caller limits the input.
#[must_use]
pub fn clean(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut cleaner = Cleaner::new(usize::MAX);
    cleaner.push(bytes, |line| {
        text.push_str(&line);
        text.push('\n');
    });
    text.push_str(&cleaner.partial());
    text
}

/// Cuts a text in the middle to the limits; a mark says how much is missing.
#[must_use]
pub fn trim(text: &str, limits: Limits) -> String {
    if fits(text, limits) {
        return text.to_owned();
    }
    let (head, tail) = ends(text, text, limits);
    let cut = text.len() - head.len() - tail.len();
    let lines = count_lines(text).saturating_sub(count_lines(head) + count_lines(tail));
    joined(head, tail, &cut_mark(lines as u64, cut as u64, None))
}

/// Tells whether a text is within the limits.
pub(crate) fn fits(text: &str, limits: Limits) -> bool {
    text.len() <= limits.bytes && count_lines(text) <= limits.lines
}

/// Stands where a part of a line is left out.
pub(crate) const LEFT_OUT: &str = "[…]";

/// Takes the beginning of one text and the end of another, half of the limits each; they may be the same text.
pub(crate) fn ends<'a>(first: &'a str, last: &'a str, limits: Limits) -> (&'a str, &'a str) {
    let half = Limits { lines: limits.lines / 2, bytes: limits.bytes / 2 };
    let head = head(first, half);
    (head, tail(last, half))
}

/// Words what was cut; `kept` says where the whole is.
pub(crate) fn cut_mark(lines: u64, bytes: u64, kept: Option<&str>) -> String {
    let mut mark = format!("{} ", CUT.0);
    if lines > 0 {
        // Writing to a String cannot fail.
        let _ = write!(mark, "{lines} lines, ");
    }
    let _ = write!(mark, "{} cut", size(bytes));
    if let Some(kept) = kept {
        let _ = write!(mark, "; {kept}");
    }
    mark.push(' ');
    mark.push_str(CUT.1);
    mark
}

/// Puts the mark on a line of its own between the two ends.
pub(crate) fn joined(head: &str, tail: &str, mark: &str) -> String {
    let end = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
    format!("{head}{end}{mark}\n{tail}")
}

pub(crate) fn count_lines(text: &str) -> usize {
    text.lines().count()
}

fn head(text: &str, limits: Limits) -> &str {
    let by_lines =
        text.match_indices('\n').nth(limits.lines.saturating_sub(1)).map_or(text.len(), |(at, _)| at + 1);
    let text = &text[..by_lines];
    if text.len() <= limits.bytes {
        return text;
    }
    let cut = &text[..text.floor_char_boundary(limits.bytes)];
    match cut.rfind('\n') {
        // Whole lines, unless that would remove most of the text.
        Some(at) if at >= limits.bytes / 2 => &cut[..=at],
        _ => &text[..boundary(text, cut.len(), Side::Before)],
    }
}

fn tail(text: &str, limits: Limits) -> &str {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let by_lines = body.rmatch_indices('\n').nth(limits.lines.saturating_sub(1)).map_or(0, |(at, _)| at + 1);
    let text = &text[by_lines..];
    if text.len() <= limits.bytes {
        return text;
    }
    let start = text.ceil_char_boundary(text.len() - limits.bytes);
    match text[start..].find('\n') {
        Some(at) if at < limits.bytes / 2 => &text[start + at + 1..],
        _ => &text[boundary(text, start, Side::After)..],
    }
}

/// On which side of a place a boundary is wanted.
#[derive(Clone, Copy)]
enum Side {
    Before,
    After,
}

/// Moves a place that may be inside a grapheme (a family emoji is many characters) to its edge.
fn boundary(text: &str, at: usize, side: Side) -> usize {
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    // The whole text is given as one chunk, so that the cursor never asks for another.
    if cursor.is_boundary(text, 0).unwrap_or(true) {
        return at;
    }
    match side {
        Side::Before => cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0),
        Side::After => cursor.next_boundary(text, 0).ok().flatten().unwrap_or(text.len()),
    }
}

/// Words a number of bytes.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: &[(u64, &str)] = &[(1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")];
    for (unit, name) in UNITS {
        if bytes >= *unit {
            return format!("{}.{} {name}", bytes / unit, bytes % unit * 10 / unit);
        }
    }
    format!("{bytes} B")
}

/// Counts line ends; in pieces whose sum fits a byte, which compilers turn into vector instructions.
pub(crate) fn line_ends(bytes: &[u8]) -> u64 {
    let pieces = bytes.chunks(usize::from(u8::MAX));
    pieces.map(|piece| u64::from(piece.iter().map(|byte| u8::from(*byte == b'\n')).sum::<u8>())).sum()
}

/// Cuts a text to what fits into a row of a list.
pub(crate) fn first_line(text: &str) -> String {
    let short: String = text.lines().next().unwrap_or_default().chars().take(80).collect();
    let more = if short.len() < text.len() { " …" } else { "" };
    short + more
}

/// Marks a text from outside as such. It cannot know the mark, so that it cannot end its own quotation.
#[must_use]
pub fn quoted(kind: &str, said: &str, text: &str) -> String {
    let mark = random();
    format!("<{kind} {mark}> ({said})\n{text}\n</{kind} {mark}>")
}

/// A text of 16 letters that nobody outside can guess.
pub(crate) fn random() -> String {
    use std::hash::{BuildHasher as _, Hasher as _, RandomState};
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
