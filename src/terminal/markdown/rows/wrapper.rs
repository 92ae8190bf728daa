//! Fills rows with words. Greedy, so that a full row never depends on what comes after it.
//!
//! Between spaces a row may also break beside Chinese and Japanese letters, never before closing or after opening
//! punctuation. A word wider than a row is cut at the row's end.

use std::sync::Arc;

use nu_ansi_term::Style;
use unicode_segmentation::UnicodeSegmentation;

use super::output::Output;
use super::script::{Class, ascii_closes, class_of};
use crate::terminal::markdown::layout::Wrap;
use crate::terminal::{
    line::{Line, Span},
    width::{cluster_width, is_printable_ascii, width},
};

/// What stands before a row's text: bullets, bars, indentation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prefix {
    pub(crate) spans: Vec<Span>,
    pub(crate) width: usize,
}

impl Prefix {
    pub(crate) fn push(&mut self, text: &str, style: Style) {
        self.width += width(text);
        let mut line = Line { spans: std::mem::take(&mut self.spans) };
        line.push(Span::new(text, style));
        self.spans = line.spans;
    }
}

/// How spaces inside a text are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spaces {
    /// A run of white space is one space, none at the start of a row: prose.
    Collapse,
    /// Each space counts: code inside a line.
    Keep,
}

#[derive(Debug, Clone)]
struct Run {
    end: usize,
    style: Style,
    link: Option<Arc<str>>,
}

/// How much of a long word is taken at once, in bytes.
const PART: usize = 512;

/// The row being filled.
#[derive(Debug, Clone)]
pub(crate) struct Wrapper {
    width: usize,
    mode: Wrap,
    first: Prefix,
    rest: Prefix,
    /// The row's text, then the open word.
    text: String,
    runs: Vec<Run>,
    /// Bytes that surely belong to the row; it ends before spaces.
    settled: usize,
    /// Where the open word begins, and its column.
    word: usize,
    word_column: usize,
    /// Cells of all of `text`.
    column: usize,
    last: Class,
    rows: usize,
    /// Width and prefix of the rows after the one being filled, when they are others.
    next: Option<(usize, Prefix)>,
    /// Whether a word wider than a row begins on the row before it.
    cuts_long_words: bool,
}

/// With fewer cells left, a word wider than a row begins on a row of its own all the same.
const SHORTEST_START: usize = 8;

impl Wrapper {
    pub(crate) fn new(width: usize, mode: Wrap) -> Self {
        Self {
            width,
            mode,
            first: Prefix::default(),
            rest: Prefix::default(),
            text: String::new(),
            runs: Vec::new(),
            settled: 0,
            word: 0,
            word_column: 0,
            column: 0,
            last: Class::Start,
            rows: 0,
            next: None,
            cuts_long_words: false,
        }
    }

    /// Begins words wider than a row on the row before. Not while text streams: a word is known only when it has ended.
    pub(crate) fn cutting_long_words(mut self) -> Self {
        self.cuts_long_words = true;
        self
    }

    /// Starts a block with these prefixes, after finishing the one before.
    pub(crate) fn start(&mut self, width: usize, first: Prefix, rest: Prefix) {
        self.width = width;
        self.first = first;
        self.rest = rest;
        self.next = None;
        self.rows = 0;
        self.clear();
    }

    /// Returns how many rows of this block are full.
    pub(crate) fn rows(&self) -> usize {
        self.rows + usize::from(self.mode == Wrap::Soft && self.column > self.room())
    }

    /// Tells whether the block has no text yet.
    pub(crate) fn is_fresh(&self) -> bool {
        self.rows == 0 && self.text.is_empty()
    }

    /// Tells whether the width changed since the row being filled began.
    pub(crate) fn is_resized(&self) -> bool {
        self.next.is_some()
    }

    /// Moves the prefixes to another layout of the same block; only while no row is printed.
    pub(crate) fn take_prefixes(&mut self) -> (Prefix, Prefix) {
        let first = if self.rows == 0 { std::mem::take(&mut self.first) } else { self.rest.clone() };
        (first, std::mem::take(&mut self.rest))
    }

    /// Starts the block again; only while no row is printed.
    pub(crate) fn restart(&mut self) {
        self.clear();
    }

    /// Changes the width of the rows that follow. A row that has begun keeps its width, because a part of it may be
    /// on the screen already.
    pub(crate) fn resize(&mut self, width: usize, rest: Option<Prefix>) {
        let rest = rest.unwrap_or_else(|| self.rest.clone());
        if self.text.is_empty() {
            (self.width, self.rest, self.next) = (width, rest, None);
        } else {
            self.next = Some((width, rest));
        }
    }

    /// Appends text, and prints the rows that are complete.
    pub(crate) fn push(
        &mut self,
        text: &str,
        style: Style,
        link: Option<&Arc<str>>,
        spaces: Spaces,
        out: &mut Output,
    ) {
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.bytes().position(is_space).unwrap_or(rest.len());
            if end > 0 {
                self.word(&rest[..end], style, link, out);
            }
            let gap = rest[end..].bytes().take_while(|byte| is_space(*byte)).count();
            if gap > 0 {
                self.spaces(if spaces == Spaces::Keep { gap } else { 1 }, style, link, spaces);
            }
            rest = &rest[end + gap..];
        }
    }

    /// Appends a line end of the source: a space, or nothing between Chinese or Japanese letters.
    pub(crate) fn soft_break(&mut self, next: Option<char>, style: Style, link: Option<&Arc<str>>) {
        let wide = matches!(self.last, Class::Wide | Class::Opening | Class::Closing);
        if !(wide && next.is_some_and(|next| class_of(next) != Class::Other)) {
            self.spaces(1, style, link, Spaces::Collapse);
        }
    }

    /// Ends the row here.
    pub(crate) fn hard_break(&mut self, out: &mut Output) {
        self.settle();
        self.emit(self.settled, out);
        self.clear();
    }

    /// Ends the block; an empty one gives no row.
    pub(crate) fn finish(&mut self, out: &mut Output) {
        self.settle();
        if self.settled > 0 {
            self.emit(self.settled, out);
        }
        self.clear();
    }

    /// Finishes the row being filled up to where it is final if the text continues with `next`: the open word may
    /// still grow and move to the next row.
    pub(crate) fn finish_sure(&mut self, next: Option<char>, out: &mut Output) {
        let wide = matches!(self.last, Class::Wide | Class::Closing);
        let ended = match next {
            // A line end between wide letters is no space.
            Some('\n') => !wide && self.last != Class::Opening,
            Some(' ' | '\t') => true,
            Some(next) => wide && matches!(class_of(next), Class::Wide | Class::Opening),
            None => false,
        };
        if ended {
            self.settle();
        }
        if self.settled > 0 {
            self.emit(self.settled, out);
        }
    }

    /// Ends the block; an empty block prints its prefix.
    pub(crate) fn finish_with_prefix(&mut self, out: &mut Output) {
        if self.rows == 0 && self.text.is_empty() {
            self.emit(0, out);
        }
        self.finish(out);
    }

    fn clear(&mut self) {
        self.text.clear();
        self.runs.clear();
        (self.settled, self.word, self.word_column, self.column) = (0, 0, 0, 0);
        self.last = Class::Start;
    }

    fn room(&self) -> usize {
        let prefix = if self.rows == 0 { self.first.width } else { self.rest.width };
        self.width.saturating_sub(prefix).max(2)
    }

    fn spaces(&mut self, count: usize, style: Style, link: Option<&Arc<str>>, spaces: Spaces) {
        if spaces == Spaces::Collapse && self.word == self.text.len() {
            return;
        }
        self.settle();
        for _ in 0..count {
            self.text.push(' ');
        }
        self.column += count;
        self.style_to_end(style, link);
        self.word = self.text.len();
        self.word_column = self.column;
        self.last = Class::Start;
    }

    fn word(&mut self, word: &str, style: Style, link: Option<&Arc<str>>, out: &mut Output) {
        if is_printable_ascii(word) {
            if matches!(self.last, Class::Wide | Class::Closing) && !ascii_closes(word) {
                self.settle();
            }
            // In parts: otherwise a word of many rows would be moved as a whole for each row.
            for part in word.as_bytes().chunks(PART) {
                let part = str::from_utf8(part).unwrap_or_default();
                self.append(part, part.len(), style, link, out);
            }
            self.last = Class::Other;
            return;
        }
        for cluster in word.graphemes(true) {
            let class = cluster.chars().next().map_or(Class::Other, class_of);
            let allowed = match (self.last, class) {
                (Class::Start | Class::Opening, _) | (_, Class::Closing) | (Class::Other, Class::Other) => false,
                (Class::Wide | Class::Closing, Class::Other) => !ascii_closes(cluster),
                (Class::Other | Class::Wide | Class::Closing, Class::Wide | Class::Opening) | (_, Class::Start) => {
                    true
                }
            };
            if allowed {
                self.settle();
            }
            self.append(cluster, cluster_width(cluster), style, link, out);
            self.last = class;
        }
    }

    fn append(&mut self, piece: &str, cells: usize, style: Style, link: Option<&Arc<str>>, out: &mut Output) {
        self.text.push_str(piece);
        self.column += cells;
        self.style_to_end(style, link);
        while self.mode == Wrap::Word && self.column > self.room() {
            let room = self.room();
            let is_long = self.column - self.word_column > self.width.saturating_sub(self.rest.width);
            let cuts = self.cuts_long_words && is_long && self.word_column + SHORTEST_START <= room;
            if self.settled > 0 && !cuts {
                self.emit(self.settled, out);
                self.drop_front(self.word, self.word_column);
            } else {
                let (bytes, cells) = cut(&self.text, room);
                if bytes == self.text.len() {
                    break;
                }
                self.emit(bytes, out);
                self.drop_front(bytes, cells);
            }
        }
    }

    /// Marks the open word as complete.
    fn settle(&mut self) {
        if self.word < self.text.len() {
            self.settled = self.text.len();
            self.word = self.text.len();
            self.word_column = self.column;
        }
    }

    fn style_to_end(&mut self, style: Style, link: Option<&Arc<str>>) {
        let end = self.text.len();
        match self.runs.last_mut() {
            Some(run) if run.style == style && run.link.as_ref() == link => run.end = end,
            Some(_) | None => self.runs.push(Run { end, style, link: link.cloned() }),
        }
    }

    fn emit(&mut self, bytes: usize, out: &mut Output) {
        let prefix = if self.rows == 0 { &self.first } else { &self.rest };
        let mut spans = prefix.spans.clone();
        let mut start = 0;
        for run in &self.runs {
            let end = run.end.min(bytes);
            if end > start {
                spans.push(Span {
                    text: self.text[start..end].to_owned(),
                    style: run.style,
                    link: run.link.clone(),
                });
            }
            start = end.max(start);
        }
        if bytes == 0 {
            trim_end(&mut spans);
        }
        self.rows += 1;
        if let Some((width, rest)) = self.next.take() {
            (self.width, self.rest) = (width, rest);
        }
        out.row(Line { spans });
    }

    fn drop_front(&mut self, bytes: usize, cells: usize) {
        self.text.drain(..bytes);
        let gone = self.runs.iter().take_while(|run| run.end <= bytes).count();
        self.runs.drain(..gone);
        for run in &mut self.runs {
            run.end -= bytes;
        }
        self.column -= cells;
        self.settled = self.settled.saturating_sub(bytes);
        self.word = self.word.saturating_sub(bytes);
        self.word_column = self.word_column.saturating_sub(cells);
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

fn trim_end(spans: &mut Vec<Span>) {
    while let Some(last) = spans.last_mut() {
        last.text.truncate(last.text.trim_end_matches(' ').len());
        if !last.text.is_empty() {
            break;
        }
        spans.pop();
    }
}

/// Cuts off as many clusters as fit, at least one; returns their bytes and cells.
fn cut(text: &str, room: usize) -> (usize, usize) {
    if is_printable_ascii(text) {
        return (room.min(text.len()), room.min(text.len()));
    }
    let mut used = 0;
    for (offset, cluster) in text.grapheme_indices(true) {
        let cells = cluster_width(cluster);
        if used + cells > room && offset > 0 {
            return (offset, used);
        }
        used += cells;
    }
    (text.len(), used)
}

#[cfg(test)]
#[path = "wrapper_tests.rs"]
mod tests;
