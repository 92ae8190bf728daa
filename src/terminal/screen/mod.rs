//! The only writer to the terminal. Append-only: a row that has got its newline is never touched again.
//!
//! Below the last committed row live at most two things: the open row (text that has arrived but is not a whole
//! line) and the status row. The open row grows in place: what was shown of it is not written again. The cursor
//! always rests at the end of the open row, and the status row is always below it, so that "erase everything
//! below the cursor" takes away the status row and nothing else, however the terminal re-wrapped its rows on a
//! resize. That is why nothing has to be counted and no cursor position asked.

mod pen;
mod update;

use std::io::{self, Write};

use nu_ansi_term::Style;

use self::pen::Pen;
use super::layout::{Extent, cut};
use super::line::{Line, Span};
use super::marks::Mark;
use super::sanitize::sanitize_line;

/// More commits than this in one update: painting the status row anew is cheaper than pushing it down each time.
const PUSHES: usize = 6;
/// Columns that every terminal has: writing further switches automatic wrapping off first.
const SURE_COLUMNS: usize = 20;
/// Rows that a terminal keeps when it becomes narrow all at once, unless it is lower already.
const SURE_ROWS: usize = 10;

/// A terminal of fewer columns is treated as one of so many.
const NARROWEST: u16 = 4;

/// What may be used besides text.
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
    /// Text alone: pipes, `NO_COLOR` on a dumb terminal.
    pub const PLAIN: Self = Self { styles: false, links: false, marks: false };
    /// Everything.
    pub const FULL: Self = Self { styles: true, links: true, marks: true };

    /// A line as it may be written: without what moves the cursor, and with the looks that are allowed.
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

/// The size of the terminal, as far as we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    columns: usize,
    rows: usize,
}

impl Size {
    fn new(columns: u16, rows: u16) -> Self {
        Self { columns: usize::from(columns.max(NARROWEST)), rows: usize::from(rows.max(1)) }
    }

    /// What stands behind the cursor is wrapped anew by a sudden narrowing. More rows of it than the terminal has would
    /// push the cursor off the screen (tmux puts it into the first cell then), so that its cells are few enough for
    /// rows of [`SURE_COLUMNS`]: one half for the status row, the rest for the tail.
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

/// Where the status row is, seen from the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StatusPlace {
    /// Not on the screen.
    Nowhere,
    /// In the cursor's own row; the open row is empty.
    Here,
    /// In the row below the open row.
    Below,
}

/// The open row as it stands on the terminal.
#[derive(Debug, Default)]
struct OpenRow {
    line: Line,
    /// Where it begins and ends, in rows and columns of the physical row that it began in.
    start: Extent,
    end: Extent,
    /// The width changed since it began: what is above its last row cannot be reached any more.
    reflowed: bool,
    /// Text was written since the status row was painted.
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
    /// What is shown behind the open row and may still change.
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

    /// Columns of the terminal.
    pub fn columns(&self) -> usize {
        self.size.columns
    }

    /// Tells whether live rows are shown at all.
    pub fn is_linear(&self) -> bool {
        self.kind == Kind::Linear
    }

    /// Bytes written so far.
    pub fn written(&self) -> u64 {
        self.pen.written
    }

    /// The error that ended writing, if any: everything after it is dropped. A closed pipe is one.
    pub fn broken(&self) -> Option<io::ErrorKind> {
        self.pen.broken
    }

    /// The writer.
    pub fn writer(&self) -> &W {
        &self.pen.writer
    }

    /// Gives the writer back. What was not flushed is lost.
    pub fn into_writer(self) -> W {
        self.pen.writer
    }

    /// Queues a line for good. Appears at the next [`Screen::flush`]. When the open row is its beginning, only the
    /// rest is written. Lines wider than the terminal are wrapped by it.
    pub fn commit(&mut self, line: &Line) {
        let line = self.capabilities.dressed(line);
        self.queue.push(Item::Line(line));
        self.wanted_open = Line::new();
        self.wanted_tail = Line::new();
    }

    /// Queues lines for good.
    pub fn commit_all<'a>(&mut self, lines: impl IntoIterator<Item = &'a Line>) {
        for line in lines {
            self.commit(line);
        }
    }

    /// Queues a mark at this place of the text; tells whether the terminal takes marks.
    pub fn mark(&mut self, mark: &Mark) -> bool {
        if self.capabilities.marks {
            self.queue.push(Item::Mark(mark.bytes()));
        }
        self.capabilities.marks
    }

    /// Switches paste brackets and focus events on or off: on while a turn runs (the line editor has its own), so
    /// that a paste is not taken for keys. Not in linear mode.
    pub fn listen(&mut self, on: bool) {
        if self.kind == Kind::Live {
            let switch: &[u8] = if on { b"\x1b[?2004h\x1b[?1004h" } else { b"\x1b[?2004l\x1b[?1004l" };
            self.queue.push(Item::Mark(switch.to_vec()));
        }
    }

    /// Says what shall stand below the committed rows: the open row, and the status row cut to the width. An empty
    /// line is none. Appears at the next [`Screen::flush`]; does nothing in linear mode.
    ///
    /// The open row may be wider than the terminal. It is meant to grow: a text that does not begin with what is
    /// shown already has that part rewritten, as far as it can be reached.
    pub fn live(&mut self, open: &Line, status: &Line) {
        self.open(open);
        self.status(status);
    }

    /// Changes the open row only.
    pub fn open(&mut self, open: &Line) {
        if self.kind == Kind::Live {
            self.wanted_open = self.capabilities.dressed(open);
        }
    }

    /// Says what stands behind the open row and may still change: an unclosed `**`, say. It is shown as far as it
    /// fits in the row, is not part of the open row, and can be taken back at any time, also while the terminal is
    /// being resized: text that changes belongs here, not into [`Screen::open`]. A commit takes it away.
    pub fn tail(&mut self, tail: &Line) {
        if self.kind == Kind::Live {
            self.wanted_tail = self.capabilities.dressed(tail);
        }
    }

    /// Changes the status row only.
    pub fn status(&mut self, status: &Line) {
        if self.kind == Kind::Live {
            self.wanted_status = cut(&self.capabilities.dressed(status), self.size.status_width());
        }
    }

    /// Takes the live rows away, shows the cursor at the start of an empty row and flushes: now another program,
    /// a prompt or the line editor may write. What the open row showed and was not committed is erased.
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

    /// Takes the live rows away and writes a sequence that shows a picture and leaves the cursor in its last row. Does
    /// nothing in linear mode.
    pub fn picture(&mut self, sequence: &[u8]) {
        self.end_live();
        if self.kind == Kind::Live {
            self.pen.write(sequence);
            self.pen.write(b"\r\n");
            self.pen.send();
        }
    }

    /// Tells the new size. What is shown stays; the status row is painted anew at the next flush.
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

    /// Columns of a tail that are shown where the open row is empty: on a low screen fewer than there are.
    pub fn tail_columns(&self) -> usize {
        self.size.tail_width().min(self.size.columns - 1)
    }

    /// Columns that the status row may use, and one more.
    pub fn status_columns(&self) -> usize {
        self.size.status_width() + 1
    }

    /// The screen was written to by somebody else, or comes back after a suspension: the cursor stands at the
    /// start of an empty row, nothing live is shown.
    pub fn forget(&mut self) {
        self.open = OpenRow::default();
        self.tail = Line::new();
        self.status_place = StatusPlace::Nowhere;
        self.status = Line::new();
        self.pen.style = Style::default();
        self.cursor_hidden = false;
        self.stale = false;
    }

    /// Writes what changed, in one write; nothing when nothing did.
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
