//! A stream of markdown: text goes in as it arrives, and final rows come out.

use super::block::{Blocks, abridged, is_worth_showing};
use super::inline::Ending;
use super::layout::{Layout, NARROWEST};
use super::source::{self, LineEnds};
use crate::terminal::layout::slice;
use crate::terminal::line::{Line, Span};
use crate::terminal::width::{cluster_width, column_after, fitting, width};

/// The start of a line that is longer than this, in bytes, is no longer looked at each time it grows.
const LONG: usize = 4096;
/// The tags in which models leak their reasoning.
const REASONING: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];

/// The reasoning that came inside `<think>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reasoning {
    /// Whether it is still open.
    pub is_open: bool,
    /// How many rows of it were returned.
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
    /// The part of the open line that the blocks have not taken.
    pending: String,
    /// How much of it was looked at.
    looked_at: usize,
    /// Whether the start of the open line was taken: the rest goes to the open block.
    line_open: bool,
    /// The tag that closes the open reasoning.
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
        self.blocks.page.out.take()
    }

    /// Takes a piece of text; appends the rows that are now final.
    pub fn push_into(&mut self, delta: &str, rows: &mut Vec<Line>) {
        self.take(delta);
        self.blocks.page.out.append_to(rows);
    }

    /// Returns the last row that is not final yet, for the live row; everything open in it is shown as if it closed
    /// here.
    #[must_use]
    pub fn tail(&self) -> Line {
        if self.blocks.in_table() && !self.line_open {
            // A table is laid out when it ends; until then its newest line shows that it grows.
            let text = self.pending.trim();
            return Line::styled(fitting(text, self.blocks.page.layout.width), self.blocks.page.layout.theme.dim);
        }
        one_row(self.guess(), self.blocks.page.layout.width)
    }

    /// Lays out the last row as if everything in it closed here.
    fn guess(&self) -> Line {
        let mut copy = self.abridged();
        copy.end(Ending::Guess);
        copy.blocks.page.out.take().pop().unwrap_or_default()
    }

    /// Copies what the last row needs. Of a very long word or line, the start and the end are enough: it must not
    /// be laid out again each time it grows.
    fn abridged(&self) -> Self {
        Self {
            blocks: self.blocks.abridged(),
            pending: abridged(&self.pending),
            line_ends: self.line_ends.clone(),
            ..*self
        }
    }

    /// Takes the blank row before the unfinished row, once it is certain that a row follows. If the unfinished row
    /// were shown without it, that row would have to move later.
    pub fn take_gap(&mut self) -> Option<Line> {
        self.blocks.take_gap()
    }

    /// Returns the unfinished row in two parts: the part that no later text can change, and the rest of
    /// [`MarkdownStream::tail`], which later text may change.
    #[must_use]
    pub fn live(&self) -> (Line, Line) {
        let settled = self.blocks.settled();
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

    /// Changes the width of the rows that follow. A row that is partly shown keeps its width: laying it out again
    /// would write the words on the terminal once more.
    pub fn resize(&mut self, width: usize) {
        self.blocks.resize(width.max(NARROWEST));
    }

    /// Ends the text; returns the remaining rows. The stream can then be used for another text.
    pub fn finish(&mut self) -> Vec<Line> {
        self.end(Ending::Closed);
        let rows = self.blocks.page.out.take();
        *self = Self::new(self.blocks.page.layout);
        rows
    }

    /// Returns the state of reasoning that leaked into the text.
    #[must_use]
    pub fn reasoning(&self) -> Reasoning {
        let open =
            if self.reasoning.is_some() { self.blocks.page.out.total() - self.rows_before_reasoning } else { 0 };
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
        // Reuses the memory for the next line.
        self.pending = line;
        self.pending.clear();
        self.looked_at = 0;
    }

    /// Passes the rest of a line, and its end, to the blocks.
    fn finish_line(&mut self, line: &str) {
        if self.line_open {
            self.blocks.more(line);
            self.blocks.end_line();
        } else {
            self.blocks.line(line, true);
        }
        self.line_open = false;
    }

    /// Passes on the start of the open line if it is certainly text.
    fn take_start(&mut self) {
        // A long line that may still become anything is looked at only after it has grown by an eighth, not at each
        // letter.
        if self.pending.len() > LONG && self.pending.len() < self.looked_at + self.looked_at / 8 {
            return;
        }
        self.looked_at = self.pending.len();
        self.take_reasoning();
        if self.pending.is_empty() {
            return;
        }
        // The tag that ends the reasoning may have begun.
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
                    let idle = !self.line_open && self.blocks.is_idle();
                    let start = self.pending.trim_start();
                    let found = REASONING.iter().find(|(open, _)| idle && start.starts_with(open));
                    let Some((open, close)) = found else { return };
                    self.pending = start[open.len()..].to_owned();
                    self.reasoning = Some(close);
                    self.blocks.page.reasoning = true;
                    self.rows_before_reasoning = self.blocks.page.out.total();
                }
                Some(close) => {
                    let Some(at) = self.pending.find(close) else { return };
                    let rest = self.pending.split_off(at);
                    let line = std::mem::take(&mut self.pending);
                    self.finish_line(&line);
                    self.blocks.close_to(1);
                    self.reasoning_rows += self.blocks.page.out.total() - self.rows_before_reasoning;
                    self.reasoning = None;
                    self.blocks.page.reasoning = false;
                    rest[close.len()..].clone_into(&mut self.pending);
                }
            }
        }
    }

    fn end(&mut self, ending: Ending) {
        if !self.pending.is_empty() || self.line_open {
            if ending == Ending::Closed || self.line_open || is_worth_showing(&self.pending) {
                self.end_line();
            } else {
                self.pending.clear();
            }
        }
        if ending == Ending::Guess {
            self.blocks.guess();
        }
        self.blocks.close_to(0);
    }
}

/// Cuts a row to the width; the end is kept, because the newest text is there.
fn one_row(row: Line, room: usize) -> Line {
    let text = row.text();
    let cells = column_after(&text, 0);
    if cells <= room {
        return row;
    }
    let mut line = Line::new();
    let mut left = room;
    let mut kept = Vec::new();
    for span in row.spans.into_iter().rev() {
        let shown = span.text.replace('\t', " ");
        let piece = last_fitting(&shown, left);
        left -= width(piece);
        let stop = piece.len() < shown.len();
        kept.push(Span { text: piece.to_owned(), ..span });
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
        used += cluster_width(cluster);
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
