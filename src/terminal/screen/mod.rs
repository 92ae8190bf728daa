//! The only writer to the terminal. It only appends: once a row has its newline, it is never touched again.
//!
//! At most two things live below the last committed row: the open row (text that has arrived but is not a whole
//! line), and the status row. The open row grows in place, and the part of it that is shown is not written again.
//! The cursor always rests at the end of the open row, and the status row is always below it. So "erase everything
//! below the cursor" removes the status row and nothing else, however the terminal re-wrapped its rows on a resize.
//! That is why nothing has to be counted, and the terminal is never asked for the cursor's position.

mod pen;
mod update;

use std::io::{self, Write};

use nu_ansi_term::Style;

use self::pen::Pen;
use super::layout::{Extent, cut};
use super::line::{Line, Span};
use super::marks::Mark;
use super::sanitize::sanitize_line;

/// With more commits than this in one update, painting the status row again is cheaper than pushing it down each
/// time.
const PUSHES: usize = 6;
/// Every terminal has this many columns. Before text is written beyond them, automatic wrapping is switched off.
const SURE_COLUMNS: usize = 20;
/// A terminal keeps this many rows when it suddenly becomes narrow, unless it is lower already.
const SURE_ROWS: usize = 10;

/// A terminal with fewer columns is treated as if it had this many.
const NARROWEST: u16 = 4;

/// What may be used in addition to text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Colours and attributes.
    pub styles: bool,
    /// OSC 8 links.
    pub links: bool,
    /// Titles, prompt marks, notifications.
    pub marks: bool,
}

impl Capabilities {
    /// Text alone: for pipes, and for `NO_COLOR` on a dumb terminal.
    pub const PLAIN: Self = Self { styles: false, links: false, marks: false };
    /// Everything.
    pub const FULL: Self = Self { styles: true, links: true, marks: true };

    /// Returns a line as it may be written: without anything that moves the cursor, and with the allowed styles
    /// only.
    fn dressed(self, line: &Line) -> Line {
        let mut dressed = Line::new();
        for span in &line.spans {
            dressed.push(Span {
                text: sanitize_line(&span.text).into_owned(),
                style: if self.styles { span.style } else { Style::default() },
                link: span.link.clone().filter(|_| self.links),
            });
        }
        dressed
    }
}

/// The size of the terminal, as far as axi knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    columns: usize,
    rows: usize,
}

impl Size {
    fn new(columns: u16, rows: u16) -> Self {
        Self { columns: usize::from(columns.max(NARROWEST)), rows: usize::from(rows.max(1)) }
    }

    /// Returns the width of the status row. If the terminal suddenly becomes narrow, it wraps the text behind the
    /// cursor; more rows of it than the terminal has would push the cursor off the screen (tmux then puts it into
    /// the first cell). So the cells are limited to what fits into rows of [`SURE_COLUMNS`]: one half for the
    /// status row, the rest for the tail.
    fn status_width(self) -> usize {
        (self.columns - 1).min(self.rows.min(SURE_ROWS) / 2 * SURE_COLUMNS)
    }

    fn tail_width(self) -> usize {
        let rows = self.rows.min(SURE_ROWS);
        (rows - rows / 2).saturating_sub(1).max(1) * SURE_COLUMNS
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Rows may be erased and the cursor moved.
    Live,
    /// Whole lines only, no cursor movement at all.
    Linear,
}

/// Where the status row is, relative to the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StatusPlace {
    /// Not on the screen.
    Nowhere,
    /// In the cursor's own row; the open row is empty.
    Here,
    /// In the row below the open row.
    Below,
}

/// The open row as the terminal shows it.
#[derive(Debug, Default)]
struct OpenRow {
    line: Line,
    /// Where it begins, and where it ends: rows and columns, counted from the physical row in which it began.
    start: Extent,
    end: Extent,
    /// Whether the width changed since it began: then only its last row can be reached.
    reflowed: bool,
    /// Whether text was written since the status row was painted.
    grew: bool,
}

#[derive(Debug)]
enum Item {
    Line(Line),
    Mark(Vec<u8>),
}

/// The terminal as axi writes it. See the module.
#[derive(Debug)]
pub struct Screen<W: Write> {
    pen: Pen<W>,
    kind: Kind,
    capabilities: Capabilities,
    size: Size,
    queue: Vec<Item>,
    wanted_open: Line,
    wanted_tail: Line,
    wanted_status: Line,
    open: OpenRow,
    /// The text behind the open row, which may still change.
    tail: Line,
    status: Line,
    status_place: StatusPlace,
    cursor_hidden: bool,
    stale: bool,
}

impl<W: Write> Screen<W> {
    /// Makes a screen of `columns` × `rows` on a terminal whose cursor stands at the start of an empty row.
    pub fn new(writer: W, columns: u16, rows: u16, capabilities: Capabilities) -> Self {
        Self::make(writer, Kind::Live, columns, rows, capabilities)
    }

    /// Makes a screen that only ever writes whole lines: for pipes, `TERM=dumb`, screen readers.
    pub fn linear(writer: W, capabilities: Capabilities) -> Self {
        Self::make(writer, Kind::Linear, 80, 24, capabilities)
    }

    fn make(writer: W, kind: Kind, columns: u16, rows: u16, capabilities: Capabilities) -> Self {
        Self {
            pen: Pen::new(writer),
            kind,
            capabilities,
            size: Size::new(columns, rows),
            queue: Vec::new(),
            wanted_open: Line::new(),
            wanted_tail: Line::new(),
            wanted_status: Line::new(),
            open: OpenRow::default(),
            tail: Line::new(),
            status: Line::new(),
            status_place: StatusPlace::Nowhere,
            cursor_hidden: false,
            stale: false,
        }
    }

    /// Returns the columns of the terminal.
    pub fn columns(&self) -> usize {
        self.size.columns
    }

    /// Tells whether live rows are shown at all.
    pub fn is_linear(&self) -> bool {
        self.kind == Kind::Linear
    }

    /// Returns how many bytes were written so far.
    pub fn written(&self) -> u64 {
        self.pen.written
    }

    /// Returns the error that ended writing, such as a closed pipe; everything after it is dropped.
    pub fn broken(&self) -> Option<io::ErrorKind> {
        self.pen.broken
    }

    /// Returns the writer.
    pub fn writer(&self) -> &W {
        &self.pen.writer
    }

    /// Returns the writer by value. Anything that was not flushed is lost.
    pub fn into_writer(self) -> W {
        self.pen.writer
    }

    /// Queues a line permanently; it appears at the next [`Screen::flush`]. If the open row is the beginning of the
    /// line, only the rest is written. The terminal wraps lines that are wider than itself.
    pub fn commit(&mut self, line: &Line) {
        let line = self.capabilities.dressed(line);
        self.queue.push(Item::Line(line));
        self.wanted_open = Line::new();
        self.wanted_tail = Line::new();
    }

    /// Queues several lines permanently.
    pub fn commit_all<'a>(&mut self, lines: impl IntoIterator<Item = &'a Line>) {
        for line in lines {
            self.commit(line);
        }
    }

    /// Queues a mark at this position; returns whether the terminal takes marks.
    pub fn mark(&mut self, mark: &Mark) -> bool {
        if self.capabilities.marks {
            self.queue.push(Item::Mark(mark.bytes()));
        }
        self.capabilities.marks
    }

    /// Switches bracketed paste and focus events on or off. They are on while a turn runs (the line editor switches
    /// them itself), so that a paste is not taken for keys. Does nothing in linear mode.
    pub fn listen(&mut self, on: bool) {
        if self.kind == Kind::Live {
            let switch: &[u8] = if on { b"\x1b[?2004h\x1b[?1004h" } else { b"\x1b[?2004l\x1b[?1004l" };
            self.queue.push(Item::Mark(switch.to_vec()));
        }
    }

    /// Sets what stands below the committed rows: the open row, and the status row, which is cut to the width. An
    /// empty line removes the row. It appears at the next [`Screen::flush`]; in linear mode nothing happens.
    ///
    /// The open row may be wider than the terminal. It is meant to grow: if the new text does not begin with what
    /// is shown, that part is written again as far as it can be reached.
    pub fn live(&mut self, open: &Line, status: &Line) {
        self.open(open);
        self.status(status);
    }

    /// Changes only the open row.
    pub fn open(&mut self, open: &Line) {
        if self.kind == Kind::Live {
            self.wanted_open = self.capabilities.dressed(open);
        }
    }

    /// Sets the text behind the open row that may still change, such as an unclosed `**`. It is shown as far as it
    /// fits into the row. It is not part of the open row, and can be removed at any time, even while the terminal
    /// is being resized: so text that changes belongs here, and not into [`Screen::open`]. A commit removes it.
    pub fn tail(&mut self, tail: &Line) {
        if self.kind == Kind::Live {
            self.wanted_tail = self.capabilities.dressed(tail);
        }
    }

    /// Changes only the status row.
    pub fn status(&mut self, status: &Line) {
        if self.kind == Kind::Live {
            self.wanted_status = cut(&self.capabilities.dressed(status), self.size.status_width());
        }
    }

    /// Removes the live rows, puts the cursor at the start of an empty row, and flushes: then another program, a
    /// prompt or the line editor may write. Text of the open row that was not committed is erased.
    pub fn end_live(&mut self) {
        self.wanted_open = Line::new();
        self.wanted_tail = Line::new();
        self.wanted_status = Line::new();
        self.flush();
        if self.cursor_hidden || self.pen.style != Style::default() {
            self.pen.set_style(Style::default());
            if self.cursor_hidden {
                self.pen.write(b"\x1b[?25h");
                self.cursor_hidden = false;
            }
            self.pen.send();
        }
    }

    /// Removes the live rows, and writes a sequence that shows a picture and leaves the cursor in the picture's
    /// last row. Does nothing in linear mode.
    pub fn picture(&mut self, sequence: &[u8]) {
        self.end_live();
        if self.kind == Kind::Live {
            self.pen.write(sequence);
            self.pen.write(b"\r\n");
            self.pen.send();
        }
    }

    /// Sets a new size. What is shown stays; the next flush paints the status row again.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        let size = Size::new(columns, rows);
        if size == self.size {
            return;
        }
        if size.columns != self.size.columns && !self.open.line.is_empty() {
            self.open.reflowed = true;
            self.open.start = Extent::default();
            self.open.end = Extent::default().after(&self.open.line, usize::MAX, size.columns);
        }
        self.size = size;
        self.wanted_status = cut(&self.wanted_status, self.size.status_width());
        self.stale = self.status_place != StatusPlace::Nowhere || !self.tail.is_empty();
    }

    /// Returns how many columns of a tail are shown if the open row is empty: fewer than the terminal has if its
    /// screen is low.
    pub fn tail_columns(&self) -> usize {
        self.size.tail_width().min(self.size.columns - 1)
    }

    /// Returns one more than the number of columns for the status row.
    pub fn status_columns(&self) -> usize {
        self.size.status_width() + 1
    }

    /// Forgets what is shown, after another program has written to the screen or axi was suspended: the cursor is
    /// at the start of an empty row, and no live row is shown.
    pub fn forget(&mut self) {
        self.open = OpenRow::default();
        self.tail = Line::new();
        self.status_place = StatusPlace::Nowhere;
        self.status = Line::new();
        self.pen.style = Style::default();
        self.cursor_hidden = false;
        self.stale = false;
    }

    /// Writes the changes in one write, or nothing if there are none.
    pub fn flush(&mut self) {
        let queue = std::mem::take(&mut self.queue);
        match self.kind {
            Kind::Linear => self.flush_linear(&queue),
            Kind::Live => self.flush_live(&queue),
        }
        self.pen.send();
    }
}

#[cfg(test)]
mod tests;
