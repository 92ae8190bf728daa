//! Long pastes: shown as one short block, deleted as one block, sent whole.
//!
//! A block is a single grapheme in the line: a noncharacter (U+FDD0, which no text may contain for its own ends)
//! followed by combining marks. Because reedline moves and deletes by grapheme, the block can never be cut in
//! two, whatever key is pressed. Two of the marks name the paste, the others are padding: the grapheme has
//! exactly as many bytes as the label that is painted for it, so that byte offsets in the painted line equal
//! those in the line.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A paste of more lines than this is collapsed.
pub(crate) const LINES_SHOWN: usize = 50;
/// A paste of more bytes than this is collapsed.
pub(crate) const BYTES_SHOWN: usize = 4096;

/// Opens a block; a Unicode noncharacter, "intended for process-internal use" (Unicode 16, chapter 23.7).
pub(crate) const MARK: char = '\u{FDD0}';
/// Combining grapheme joiner, two bytes, draws nothing.
const PADDING: char = '\u{034F}';
/// Combining left harpoon above: three bytes, for an odd number of bytes to fill.
const ODD_PADDING: char = '\u{20D0}';
/// The first of the two-byte combining marks that name a paste.
const DIGITS: u32 = 0x0300;
/// How many of them are used for a digit: U+0300 to U+033F.
const BASE: usize = 64;
/// A block of a mark and two digits.
const SHORTEST: usize = 7;

#[derive(Debug)]
struct Paste {
    label: String,
    text: String,
}

#[derive(Debug, Default)]
struct Pastes {
    by_block: HashMap<String, Paste>,
    next: usize,
}

/// The pastes behind the blocks of a line and of the lines of the history.
#[derive(Clone, Default)]
pub(crate) struct PasteStore(Arc<Mutex<Pastes>>);

/// A piece of a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'line> {
    /// Text as typed.
    Text(&'line str),
    /// A block, of which the bytes in the line are given.
    Block(&'line str),
}

/// Tells whether a paste is to be collapsed.
pub(crate) fn is_long_paste(text: &str) -> bool {
    text.len() > BYTES_SHOWN || text.lines().count() > LINES_SHOWN
}

/// Prepares pasted text for a line: newlines become `\n`; control characters other than newline and tab are
/// removed, and so is [`MARK`].
pub(crate) fn sanitise_paste(text: &str) -> Cow<'_, str> {
    let bad =
        |character: char| (character.is_control() && character != '\n' && character != '\t') || character == MARK;
    if !text.chars().any(bad) {
        return Cow::Borrowed(text);
    }
    let unified = text.replace("\r\n", "\n").replace('\r', "\n");
    Cow::Owned(unified.chars().filter(|&character| !bad(character)).collect())
}

/// Cuts a line into text and blocks.
pub(crate) fn paste_pieces(line: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find(MARK) {
        let (before, from_mark) = rest.split_at(start);
        if !before.is_empty() {
            pieces.push(Piece::Text(before));
        }
        let marks = from_mark.chars().skip(1).take_while(|&character| is_block_mark(character));
        let length = MARK.len_utf8() + marks.map(char::len_utf8).sum::<usize>();
        let (block, after) = from_mark.split_at(length);
        pieces.push(Piece::Block(block));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    pieces
}

fn is_block_mark(character: char) -> bool {
    character == ODD_PADDING || (DIGITS..DIGITS + 0x50).contains(&u32::from(character))
}

impl PasteStore {
    fn lock(&self) -> MutexGuard<'_, Pastes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps `text` and returns the block that stands for it, shown as `label`.
    ///
    /// Returns `None` when the store is full: 4,096 different pastes in one session.
    pub(crate) fn keep(&self, text: String, label: &str) -> Option<String> {
        let mut pastes = self.lock();
        if let Some((block, _)) = pastes.by_block.iter().find(|(_, paste)| paste.text == text) {
            return Some(block.clone());
        }
        if pastes.next >= BASE * BASE {
            return None;
        }
        let mut label = label.to_owned();
        while label.len() < SHORTEST || label.len() == SHORTEST + 1 {
            label.push(' ');
        }
        let mut block = String::with_capacity(label.len());
        block.push(MARK);
        for digit in [pastes.next / BASE, pastes.next % BASE] {
            block.extend(u32::try_from(digit).ok().and_then(|digit| char::from_u32(DIGITS + digit)));
        }
        if (label.len() - block.len()) % 2 == 1 {
            block.push(ODD_PADDING);
        }
        while block.len() < label.len() {
            block.push(PADDING);
        }
        pastes.next += 1;
        pastes.by_block.insert(block.clone(), Paste { label, text });
        Some(block)
    }

    /// Returns what is painted for a block: as many bytes as the block has.
    pub(crate) fn label(&self, block: &str) -> String {
        match self.lock().by_block.get(block) {
            Some(paste) => paste.label.clone(),
            None => "?".repeat(block.len()),
        }
    }

    /// Returns the line as it is sent: every block replaced by what was pasted.
    pub(crate) fn expand(&self, line: &str) -> String {
        self.replace(line, |paste| &paste.text)
    }

    /// Returns the line as it is shown: every block replaced by its label.
    pub(crate) fn labelled(&self, line: &str) -> String {
        self.replace(line, |paste| &paste.label)
    }

    fn replace(&self, line: &str, with: impl Fn(&Paste) -> &str) -> String {
        if !line.contains(MARK) {
            return line.to_owned();
        }
        let pastes = self.lock();
        let mut out = String::with_capacity(line.len());
        for piece in paste_pieces(line) {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Block(block) => out.push_str(pastes.by_block.get(block).map_or("", &with)),
            }
        }
        out
    }
}

#[cfg(test)]
#[path = "paste_tests.rs"]
mod tests;
