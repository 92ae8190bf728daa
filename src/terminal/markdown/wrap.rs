//! Fills rows with words. Greedy, so that a full row never depends on what comes after it.
//!
//! Between spaces a row may also break beside Chinese and Japanese letters, never before closing or after opening
//! punctuation. A word wider than a row is cut at the row's end.

use std::sync::Arc;

use nu_ansi_term::Style;
use unicode_segmentation::UnicodeSegmentation;

use super::{Wrap, output::Output};
use crate::terminal::{
    line::{Line, Span},
    width::{cluster_width, is_printable_ascii, width},
};

/// What stands before a row's text: bullets, bars, indentation.
#[derive(Debug, Clone, Default)]
pub(super) struct Prefix {
    pub(super) spans: Vec<Span>,
    pub(super) width: usize,
}

impl Prefix {
    pub(super) fn push(&mut self, text: &str, style: Style) {
        self.width += width(text);
        let mut line = Line { spans: std::mem::take(&mut self.spans) };
        line.push(Span::new(text, style));
        self.spans = line.spans;
    }
}

/// How spaces inside a text are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spaces {
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Nothing before: the start of a row or a space.
    Start,
    /// Letters that break only at spaces.
    Other,
    /// Ideographs and kana: a break is allowed on both sides.
    Wide,
    /// Wide opening punctuation: no break after it.
    Opening,
    /// Wide closing punctuation and small kana: no break before it.
    Closing,
}

/// How much of a long word is taken at once, in bytes.
const PART: usize = 512;

/// The row being filled.
#[derive(Debug, Clone)]
pub(super) struct Wrapper {
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
    pub(super) fn new(width: usize, mode: Wrap) -> Self {
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
    pub(super) fn cutting_long_words(mut self) -> Self {
        self.cuts_long_words = true;
        self
    }

    /// Starts a block with these prefixes; what was before is finished.
    pub(super) fn start(&mut self, width: usize, first: Prefix, rest: Prefix) {
        self.width = width;
        self.first = first;
        self.rest = rest;
        self.next = None;
        self.rows = 0;
        self.clear();
    }

    /// Tells how many rows of this block are full.
    pub(super) fn rows(&self) -> usize {
        self.rows + usize::from(self.mode == Wrap::Soft && self.column > self.room())
    }

    /// Tells whether nothing of this block is here yet.
    pub(super) fn is_fresh(&self) -> bool {
        self.rows == 0 && self.text.is_empty()
    }

    /// Tells whether the width changed since the row being filled began.
    pub(super) fn is_resized(&self) -> bool {
        self.next.is_some()
    }

    /// Gives the prefixes to another layout of the same block; only when no row is out.
    pub(super) fn take_prefixes(&mut self) -> (Prefix, Prefix) {
        let first = if self.rows == 0 { std::mem::take(&mut self.first) } else { self.rest.clone() };
        (first, std::mem::take(&mut self.rest))
    }

    /// Starts the block again; only when no row is out.
    pub(super) fn restart(&mut self) {
        self.clear();
    }

    /// Changes the width of the rows to come. A row that has begun keeps its width: what is shown of it cannot be taken
    /// back.
    pub(super) fn resize(&mut self, width: usize, rest: Option<Prefix>) {
        let rest = rest.unwrap_or_else(|| self.rest.clone());
        if self.text.is_empty() {
            (self.width, self.rest, self.next) = (width, rest, None);
        } else {
            self.next = Some((width, rest));
        }
    }

    /// Appends text; complete rows go out.
    pub(super) fn push(
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

    /// Appends a line end of the source: a space, but nothing between Chinese or Japanese letters.
    pub(super) fn soft_break(&mut self, next: Option<char>, style: Style, link: Option<&Arc<str>>) {
        let wide = matches!(self.last, Class::Wide | Class::Opening | Class::Closing);
        if !(wide && next.is_some_and(|next| class_of(next) != Class::Other)) {
            self.spaces(1, style, link, Spaces::Collapse);
        }
    }

    /// Ends the row here.
    pub(super) fn hard_break(&mut self, out: &mut Output) {
        self.settle();
        self.emit(self.settled, out);
        self.clear();
    }

    /// Ends the block; an empty one gives no row.
    pub(super) fn finish(&mut self, out: &mut Output) {
        self.settle();
        if self.settled > 0 {
            self.emit(self.settled, out);
        }
        self.clear();
    }

    /// Gives the row being filled as far as it is sure to stay, when the text goes on with `next`: the open word may still
    /// grow and go to the next row.
    pub(super) fn finish_sure(&mut self, next: Option<char>, out: &mut Output) {
        let wide = matches!(self.last, Class::Wide | Class::Closing);
        let ended = match next {
            // Between wide letters a line end is no space.
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

    /// Ends the block; an empty one gives its prefix.
    pub(super) fn finish_with_prefix(&mut self, out: &mut Output) {
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
            // In parts, so that a word of many rows is not moved as a whole for each of them.
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

    /// The open word cannot grow any more.
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

/// Cuts the most clusters that fit, at least one; returns bytes and cells.
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

/// ASCII punctuation after a wide letter stays with it.
fn ascii_closes(text: &str) -> bool {
    text.starts_with(['.', ',', ':', ';', '!', '?', ')', ']', '}', '%'])
}

fn class_of(character: char) -> Class {
    match character {
        '\u{3001}'
        | '\u{3002}'
        | '\u{3005}'
        | '\u{3009}'
        | '\u{300B}'
        | '\u{300D}'
        | '\u{300F}'
        | '\u{3011}'
        | '\u{3015}'
        | '\u{3017}'
        | '\u{3019}'
        | '\u{301B}'
        | '\u{301C}'
        | '\u{301E}'
        | '\u{301F}'
        | '\u{303B}'
        | '\u{3041}'
        | '\u{3043}'
        | '\u{3045}'
        | '\u{3047}'
        | '\u{3049}'
        | '\u{3063}'
        | '\u{3083}'
        | '\u{3085}'
        | '\u{3087}'
        | '\u{308E}'
        | '\u{3099}'..='\u{309E}'
        | '\u{30A0}'
        | '\u{30A1}'
        | '\u{30A3}'
        | '\u{30A5}'
        | '\u{30A7}'
        | '\u{30A9}'
        | '\u{30C3}'
        | '\u{30E3}'
        | '\u{30E5}'
        | '\u{30E7}'
        | '\u{30EE}'
        | '\u{30FB}'..='\u{30FE}'
        | '\u{FF01}'
        | '\u{FF05}'
        | '\u{FF09}'
        | '\u{FF0C}'
        | '\u{FF0E}'
        | '\u{FF1A}'
        | '\u{FF1B}'
        | '\u{FF1F}'
        | '\u{FF3D}'
        | '\u{FF5D}'
        | '\u{FF60}'
        | '\u{FF61}'
        | '\u{FF63}'
        | '\u{FF64}' => Class::Closing,
        '\u{3008}' | '\u{300A}' | '\u{300C}' | '\u{300E}' | '\u{3010}' | '\u{3014}' | '\u{3016}' | '\u{3018}'
        | '\u{301A}' | '\u{301D}' | '\u{FF08}' | '\u{FF3B}' | '\u{FF5B}' | '\u{FF5F}' | '\u{FF62}' => {
            Class::Opening
        }
        _ if is_ideographic(character) => Class::Wide,
        _ => Class::Other,
    }
}

/// Tells whether a character is of a script written without spaces whose letters are wide; Korean has spaces.
pub(super) fn is_ideographic(character: char) -> bool {
    matches!(character,
        '\u{2E80}'..='\u{2FFF}' | '\u{3000}'..='\u{303F}' | '\u{3040}'..='\u{30FF}' | '\u{3100}'..='\u{312F}'
        | '\u{31A0}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{FE30}'..='\u{FE4F}'
        | '\u{FF00}'..='\u{FF9F}' | '\u{FFE0}'..='\u{FFE6}' | '\u{1B000}'..='\u{1B2FF}'
        | '\u{20000}'..='\u{3FFFF}')
}

/// Tells whether text may be cut between these two letters without a cluster or a run of markup being cut.
pub(super) fn cuts_between(before: char, after: char) -> bool {
    let simple = |character| {
        is_ideographic(character)
            && !matches!(character, '\u{302A}'..='\u{302F}' | '\u{3099}' | '\u{309A}' | '\u{FF9E}' | '\u{FF9F}')
    };
    simple(before) && simple(after)
}

#[cfg(test)]
#[path = "wrap_tests.rs"]
mod tests;
