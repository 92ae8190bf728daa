//! Markdown as it arrives, in rows that never change: push text, take the rows that are final.
//!
//! # How
//! Lines go through CommonMark's container algorithm (`block.rs`), which needs no look back. The text of a paragraph is
//! read again each time a word is complete, but only from the first construct that is still open, and only what no
//! later text can change is laid out (`inline.rs`, `text.rs`). Rows are filled greedily (`wrap.rs`), so that a full row
//! is final. A fence goes out line by line, a table when it ends.
//!
//! So three laws hold: (a) however a text is cut into pieces, the same rows come out; (b) streamed or whole, the same
//! rows come out; (c) a row that is out never changes.
//!
//! # Choices
//! Where CommonMark cannot be known without going back, or serves a terminal or a model's habits badly, a choice was
//! made. Each stands in the list of deviations (`tests/it/markdown_deviations.rs`), with its reason.

mod autolink;
mod block;
mod brackets;
mod container;
mod cursor;
mod early;
mod emit;
mod emphasis;
mod entity;
mod fence;
mod highlight;
mod inline;
mod links;
mod output;
mod raw_html;
mod rows;
mod source;
mod starts;
mod table;
mod table_layout;
mod text;
mod wrap;

pub use highlight::Highlighter;
pub use rows::in_rows;

use block::{Blocks, Leaf};
use inline::Ending;
use output::Output;
use source::LineEnds;

use super::{layout::slice, line::Line, theme::Theme};

/// How wide a rule is at most, in cells.
const RULE_WIDTH: usize = 80;
/// The narrowest layout; a terminal narrower than this wraps itself.
const NARROWEST: usize = 8;
/// From this length on, in bytes, the start of a line is not looked at each time that it grows.
const LONG: usize = 4096;
/// The tags in which models leak their reasoning.
const REASONING: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];

/// Who breaks the rows of a paragraph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wrap {
    /// axi, between words.
    #[default]
    Word,
    /// The terminal: a paragraph is one row of any length, so that a copy gives the paragraph.
    Soft,
}

/// How markdown is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The terminal's width in cells.
    pub width: usize,
    /// Who breaks rows.
    pub wrap: Wrap,
    /// The styles.
    pub theme: Theme,
    /// Whether the terminal knows OSC 8; else addresses are written after their texts.
    pub hyperlinks: bool,
    /// Whether code in known languages is coloured.
    pub highlight: bool,
}

impl Layout {
    /// Makes a layout of this width: words wrapped, hyperlinks and colours in code on.
    #[must_use]
    pub fn new(width: usize, theme: Theme) -> Self {
        Self { width, wrap: Wrap::Word, theme, hyperlinks: true, highlight: true }
    }
}

/// What came inside `<think>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reasoning {
    /// It is still open.
    pub is_open: bool,
    /// The rows of it that are out.
    pub rows: usize,
}

/// A stream of markdown.
///
/// ```
/// use axi::terminal::{Layout, MarkdownStream, Theme};
///
/// let mut stream = MarkdownStream::new(Layout::new(40, Theme::plain()));
/// assert!(stream.push("Hello, ").is_empty());
/// assert_eq!(stream.tail().text(), "Hello,");
/// assert!(stream.push("world.\n").is_empty());
/// assert_eq!(stream.finish()[0].text(), "Hello, world.");
/// ```
#[derive(Debug, Clone)]
pub struct MarkdownStream {
    blocks: Blocks,
    line_ends: LineEnds,
    /// The line that has no end yet, as far as it is not taken.
    pending: String,
    /// How much of it has been looked at.
    looked_at: usize,
    /// The start of the open line is taken; more of it goes to the open block.
    line_open: bool,
    /// What closes the open reasoning.
    reasoning: Option<&'static str>,
    reasoning_rows: usize,
    rows_before_reasoning: usize,
}

impl MarkdownStream {
    /// Makes an empty stream.
    #[must_use]
    pub fn new(layout: Layout) -> Self {
        let layout = Layout { width: layout.width.max(NARROWEST), ..layout };
        Self {
            blocks: Blocks::new(&layout),
            line_ends: LineEnds::default(),
            pending: String::new(),
            looked_at: 0,
            line_open: false,
            reasoning: None,
            reasoning_rows: 0,
            rows_before_reasoning: 0,
        }
    }

    /// Takes a piece of text; returns the rows that are now final.
    pub fn push(&mut self, delta: &str) -> Vec<Line> {
        self.take(delta);
        self.blocks.out.take()
    }

    /// Takes a piece of text; appends the rows that are now final.
    pub fn push_into(&mut self, delta: &str, rows: &mut Vec<Line>) {
        self.take(delta);
        self.blocks.out.append_to(rows);
    }

    /// Returns the last row of what is not final yet, for the live row. What is open in it is shown as if it closed here.
    #[must_use]
    pub fn tail(&self) -> Line {
        if let Leaf::Table(_) = self.blocks.leaf
            && !self.line_open
        {
            // A table is laid out when it ends; until then its newest line shows that it grows.
            let text = self.pending.trim();
            return Line::styled(
                super::width::fitting(text, self.blocks.layout.width),
                self.blocks.layout.theme.dim,
            );
        }
        one_row(self.guess(), self.blocks.layout.width)
    }

    /// Lays out the last row as if all of it closed here.
    fn guess(&self) -> Line {
        let mut copy = self.abridged();
        copy.end(Ending::Guess);
        copy.blocks.out.take().pop().unwrap_or_default()
    }

    /// Copies what the last row needs: of a word or a line without end, start and end are enough, so that a long one is
    /// not laid out anew each time that it grows.
    fn abridged(&self) -> Self {
        Self {
            blocks: self.blocks.abridged(),
            pending: text::abridged(&self.pending),
            line_ends: self.line_ends.clone(),
            ..*self
        }
    }

    /// Takes the empty row that stands before the unfinished row, once it is sure that a row follows it. Showing the
    /// unfinished row without it would move that row later.
    pub fn take_gap(&mut self) -> Option<Line> {
        let sure = matches!(self.blocks.leaf, Leaf::Text(_)) && !self.blocks.wrapper.is_fresh();
        if sure { self.blocks.out.take_gap() } else { None }
    }

    /// Returns the unfinished row in two parts: what no later text can change, and the rest of [`MarkdownStream::tail`],
    /// which any later text may.
    #[must_use]
    pub fn live(&self) -> (Line, Line) {
        let mut out = Output::default();
        if let Leaf::Text(text) = &self.blocks.leaf {
            self.blocks.wrapper.clone().finish_sure(text.next(), &mut out);
        }
        let settled = out.take().pop().unwrap_or_default();
        let length = settled.text().len();
        if length == 0 {
            return (settled, self.tail());
        }
        let tail = self.guess();
        if !tail.text().starts_with(&settled.text()) {
            return (settled, Line::new());
        }
        let rest = slice(&tail, length, usize::MAX);
        (settled, rest)
    }

    /// Changes the width of the rows to come. What is shown of a row already keeps its width: laid out anew, the words
    /// that stand on the terminal would be written once more.
    pub fn resize(&mut self, width: usize) {
        self.blocks.resize(width.max(NARROWEST));
    }

    /// Ends the text; returns the rows that were left. The stream is as new then, for another text.
    pub fn finish(&mut self) -> Vec<Line> {
        self.end(Ending::Closed);
        let rows = self.blocks.out.take();
        *self = Self::new(self.blocks.layout);
        rows
    }

    /// Tells of reasoning leaked into the text.
    #[must_use]
    pub fn reasoning(&self) -> Reasoning {
        let open = if self.reasoning.is_some() { self.blocks.out.total() - self.rows_before_reasoning } else { 0 };
        Reasoning { is_open: self.reasoning.is_some(), rows: self.reasoning_rows + open }
    }

    fn take(&mut self, delta: &str) {
        let unified = self.line_ends.unify(delta);
        let visible = source::visible(&unified);
        let mut rest: &str = &visible;
        while let Some(end) = rest.find('\n') {
            self.take_part(&rest[..end]);
            self.end_line();
            rest = &rest[end + 1..];
        }
        self.take_part(rest);
        self.take_start();
        self.blocks.advance();
    }

    /// Takes a part of a line.
    fn take_part(&mut self, part: &str) {
        if part.is_empty() {
            return;
        }
        if self.reasoning.is_some() || !self.line_open {
            self.pending.push_str(part);
        } else {
            self.blocks.more(part);
        }
    }

    fn end_line(&mut self) {
        self.take_reasoning();
        let line = std::mem::take(&mut self.pending);
        self.finish_line(&line);
        // Keeps the memory for the next line.
        self.pending = line;
        self.pending.clear();
        self.looked_at = 0;
    }

    /// Gives the blocks the rest of a line, and its end.
    fn finish_line(&mut self, line: &str) {
        if self.line_open {
            self.blocks.more(line);
            self.blocks.end_line();
        } else {
            self.blocks.line(line, true);
        }
        self.line_open = false;
    }

    /// Takes the start of the open line if it is surely text.
    fn take_start(&mut self) {
        // A long line that may still be anything is looked at as often as it grows by a part of itself, not by a letter.
        if self.pending.len() > LONG && self.pending.len() < self.looked_at + self.looked_at / 8 {
            return;
        }
        self.looked_at = self.pending.len();
        self.take_reasoning();
        if self.pending.is_empty() {
            return;
        }
        // The tag that ends reasoning may have begun.
        let until = match self.reasoning {
            Some(close) => self.pending.rfind('<').filter(|at| self.pending.len() - at < close.len()),
            None => None,
        };
        let ready = &self.pending[..until.unwrap_or(self.pending.len())];
        if self.line_open {
            self.blocks.more(ready);
        } else if self.blocks.is_surely_text(ready) {
            self.blocks.line(ready, false);
            self.line_open = true;
        } else {
            return;
        }
        let taken = ready.len();
        self.pending.drain(..taken);
        self.looked_at = 0;
    }

    /// Enters and leaves reasoning at its tags.
    fn take_reasoning(&mut self) {
        loop {
            match self.reasoning {
                None => {
                    let idle = !self.line_open
                        && self.blocks.containers.len() == 1
                        && matches!(self.blocks.leaf, Leaf::None);
                    let start = self.pending.trim_start();
                    let found = REASONING.iter().find(|(open, _)| idle && start.starts_with(open));
                    let Some((open, close)) = found else { return };
                    self.pending = start[open.len()..].to_owned();
                    self.reasoning = Some(close);
                    self.blocks.reasoning = true;
                    self.rows_before_reasoning = self.blocks.out.total();
                }
                Some(close) => {
                    let Some(at) = self.pending.find(close) else { return };
                    let rest = self.pending.split_off(at);
                    let line = std::mem::take(&mut self.pending);
                    self.finish_line(&line);
                    self.blocks.close_to(1);
                    self.reasoning_rows += self.blocks.out.total() - self.rows_before_reasoning;
                    self.reasoning = None;
                    self.blocks.reasoning = false;
                    rest[close.len()..].clone_into(&mut self.pending);
                }
            }
        }
    }

    fn end(&mut self, ending: Ending) {
        if !self.pending.is_empty() || self.line_open {
            if ending == Ending::Closed || self.line_open || early::is_worth_showing(&self.pending) {
                self.end_line();
            } else {
                self.pending.clear();
            }
        }
        if ending == Ending::Guess
            && let Leaf::Text(text) = std::mem::replace(&mut self.blocks.leaf, Leaf::None)
        {
            self.blocks.flush_text(text, ending);
            self.blocks.wrapper.finish(&mut self.blocks.out);
        }
        self.blocks.close_to(0);
    }
}

/// Cuts a row to what fits, its end rather than its start.
fn one_row(row: Line, width: usize) -> Line {
    let text = row.text();
    let cells = super::width::column_after(&text, 0);
    if cells <= width {
        return row;
    }
    let mut line = Line::new();
    let mut left = width;
    let mut kept = Vec::new();
    for span in row.spans.into_iter().rev() {
        let shown = span.text.replace('\t', " ");
        let piece = last_fitting(&shown, left);
        left -= super::width::width(piece);
        let stop = piece.len() < shown.len();
        kept.push(super::line::Span { text: piece.to_owned(), ..span });
        if stop {
            break;
        }
    }
    kept.into_iter().rev().for_each(|span| line.push(span));
    line
}

fn last_fitting(text: &str, cells: usize) -> &str {
    use unicode_segmentation::UnicodeSegmentation;
    let mut used = 0;
    for (offset, cluster) in text.grapheme_indices(true).rev() {
        used += super::width::cluster_width(cluster);
        if used > cells {
            return &text[offset + cluster.len()..];
        }
    }
    text
}

#[cfg(test)]
#[path = "endless_tests.rs"]
mod endless_tests;
#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
