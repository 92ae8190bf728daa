//! One update of the screen: from what the terminal shows to what it should show.

use std::io::Write;

use nu_ansi_term::Style;
use unicode_segmentation::UnicodeSegmentation as _;

use super::{Item, OpenRow, PUSHES, SURE_COLUMNS, Screen, StatusPlace};
use crate::terminal::layout::{Extent, common_prefix, cut, grapheme_floor, length, measure, slice};
use crate::terminal::line::Line;
use crate::terminal::width::{char_width, cluster_width};

// The size of the terminal may have changed without our knowledge: tmux tells its programs up to 250 ms after it
// has re-wrapped their rows. So text may have been written over the status row, and may end in the margin, to which
// not every terminal returns when it restores the cursor. Hence:

/// Moves from the margin, if the cursor is there, to the row after it, and erases the rest of a status row there:
/// writes a space, erases behind it, goes back, erases the space. This does not work one column before the margin,
/// where terminals disagree about the backspace. The erasing starts behind the space, because erasing to the end of
/// the row from column 0 would tell tmux that the row does not continue the one above.
const LEAVE_MARGIN: &[u8] = b" \x1b[K\x08\x1b[X";
/// Moves from the end of the open row to the start of the row below, so that `ESC 8` can return; if there is no row
/// below, makes one first. VT is a LF that keeps its column and that the kernel does not translate: the kernel
/// splits our output at a LF, and a resize between `ESC 7` and `ESC 8` would let the cursor return to a wrong row.
const LEAVE_OPEN_ROW: &[u8] = b"\x0b\x1b[A\x1b7\r\x0b";
/// How many cells of text may be written at once over a status row, see `grow`: they never fill a row of
/// [`SURE_COLUMNS`].
const PART: usize = SURE_COLUMNS - 2;
/// Puts an empty row above the status row, after making room for it below.
const PUSH_STATUS_DOWN: &[u8] = b"\x0b\x1b[A\x1b[L\r";

impl<W: Write> Screen<W> {
    pub(super) fn flush_linear(&mut self, queue: &[Item]) {
        for item in queue {
            match item {
                Item::Line(line) => {
                    self.pen.put(line, 0);
                    self.pen.set_style(Style::default());
                    self.pen.write(b"\n");
                }
                Item::Mark(bytes) => self.pen.write(bytes),
            }
        }
    }

    pub(super) fn flush_live(&mut self, queue: &[Item]) {
        let same_text = self.wanted_open == self.open.line && self.wanted_tail == self.tail;
        if queue.is_empty() && !self.stale && same_text && self.wanted_status == self.status {
            return;
        }
        let open = self.held_back(&self.wanted_open);
        let end = Extent::default().after(&open, usize::MAX, self.size.columns);
        // The text that waits at the end of a full row is shown as tail all the same.
        let held = slice(&self.wanted_open, length(&open), usize::MAX);
        let tail = if held.is_empty() { &self.wanted_tail } else { &held };
        let tail = cut(tail, self.size.columns.saturating_sub(end.column + 1).min(self.size.tail_width()));
        if !queue.is_empty() || open != self.open.line || tail != self.tail {
            self.erase_tail();
        }
        let status = if self.size.rows < 3 { Line::new() } else { self.wanted_status.clone() };
        let gone = self.status_place != StatusPlace::Nowhere && (status.is_empty() || !self.can_push(queue, &open));
        if self.stale || gone {
            self.erase_below();
        }
        self.stale = false;
        for item in queue {
            match item {
                Item::Line(line) => {
                    self.reach(line);
                    self.newline();
                }
                Item::Mark(bytes) => self.pen.write(bytes),
            }
        }
        self.reach(&open);
        self.paint_tail(&tail);
        if self.status_place == StatusPlace::Below
            && self.open.line.is_empty()
            && tail.is_empty()
            && !queue.is_empty()
        {
            // There is no empty row above the status row: it moves up.
            self.pen.write(b"\x1b[M");
            self.status_place = StatusPlace::Here;
        }
        self.paint_status(&status);
        if !self.cursor_hidden && (self.status_place != StatusPlace::Nowhere || !self.open.line.is_empty()) {
            self.pen.write(b"\x1b[?25l");
            self.cursor_hidden = true;
        }
    }

    /// Returns the last clusters of a full row, which wait for the text that follows: a full row leaves the cursor
    /// in the margin, and terminals disagree about returning there. What is shown already stays.
    fn held_back(&self, open: &Line) -> Line {
        let shown = length(&self.open.line);
        let shown = if common_prefix(&self.open.line, open) == shown { shown } else { 0 };
        let mut bytes = length(open);
        while bytes > shown
            && Extent::default().after(open, bytes, self.size.columns).column + 1 >= self.size.columns
        {
            bytes = grapheme_floor(open, bytes - 1).max(shown);
        }
        slice(open, 0, bytes)
    }

    /// Tells whether the status row can stay on the screen during this update: no row may wrap into it.
    fn can_push(&self, queue: &[Item], open: &Line) -> bool {
        let mut commits = 0;
        let mut start = (&self.open.line, self.open.start, self.open.end);
        let empty = Line::new();
        let mut parts = 0;
        for line in queue.iter().filter_map(|item| match item {
            Item::Line(line) => Some(line),
            Item::Mark(_) => None,
        }) {
            commits += 1;
            parts += if has_wide(line) { measure(line).0 / PART } else { 0 };
            if commits.max(parts) > PUSHES || !self.stays_in_row(start, line) {
                return false;
            }
            start = (&empty, Extent::default(), Extent::default());
        }
        self.stays_in_row(start, open)
    }

    fn stays_in_row(&self, (shown, start, shown_end): (&Line, Extent, Extent), line: &Line) -> bool {
        let same = common_prefix(shown, line);
        let end = start.after(line, usize::MAX, self.size.columns);
        let differs_in_last_row = start.after(shown, same, self.size.columns).row == shown_end.row;
        // Nor may a row be full: if the terminal is narrower than we know, nothing could be erased behind the row's
        // end.
        end.row == shown_end.row && end.column + end.doubt < self.size.columns && differs_in_last_row
    }

    /// Turns the open row into `line` by writing what is missing.
    fn reach(&mut self, line: &Line) {
        let (shown, same) = (length(&self.open.line), common_prefix(&self.open.line, line));
        let sure = !self.open.reflowed && self.open.end.row == 0 && self.open.end.column <= SURE_COLUMNS;
        if !sure && same < shown && line.text().starts_with(&self.open.line.text()) {
            // Only the styles differ (an underline made it a heading). The text may have moved without our
            // knowledge, and styles are not worth writing a word twice.
            self.open.line = slice(line, 0, shown);
        } else if same < shown {
            let same = grapheme_floor(&self.open.line, same);
            let start = self.open.start.after(&self.open.line, same, self.size.columns);
            let up = self.open.end.row - start.row;
            if up > 0 && (self.open.reflowed || up >= self.size.rows) {
                // The text is out of reach: it stays, and the new text begins below.
                self.newline();
                return self.reach(line);
            }
            self.go_back_to(start, up);
            self.open.line = slice(&self.open.line, 0, same);
            self.open.end = start;
        }
        let from = length(&self.open.line);
        if from < length(line) {
            if self.status_place == StatusPlace::Here {
                self.push_status_down();
            }
            self.grow(line, from);
            self.open.line = line.clone();
        }
    }

    /// Writes `line` from byte `from` on. If the terminal is narrower than we know, the text runs over the status
    /// row; a wide character that does not fit at the end of a row then leaves one of its cells. So such text is
    /// written in parts that fill no row, and what stands behind each part is erased.
    fn grow(&mut self, line: &Line, from: usize) {
        let part = slice(line, from, usize::MAX);
        let end = self.open.end.after(&part, usize::MAX, self.size.columns);
        let sure = !self.open.reflowed && end.row == 0 && end.column + end.doubt <= SURE_COLUMNS;
        if sure || self.status_place != StatusPlace::Below || !has_wide(&part) {
            self.open.end = end;
            self.pen.put(line, from);
            self.open.grew = true;
            return;
        }
        let text = part.text();
        let mut clusters = text.graphemes(true).peekable();
        let (mut start, mut next) = (from, from);
        while clusters.peek().is_some() {
            if self.open.grew {
                self.pen.drop_background();
                self.leave_margin();
            }
            let (mut cells, mut end) = (0, self.open.end);
            // Not up to the last column: there is no way back from the margin.
            while let Some(cluster) = clusters.next_if(|_| cells < PART || end.column + 1 == self.size.columns) {
                end.advance(cluster, self.size.columns);
                cells += cluster_width(cluster);
                next += cluster.len();
            }
            self.pen.put(&slice(line, 0, next), start);
            self.open.end = end;
            self.open.grew = true;
            start = next;
        }
    }

    fn go_back_to(&mut self, start: Extent, up: usize) {
        self.pen.set_style(Style::default());
        self.pen.erases = true;
        if up > 0 {
            self.pen.csi(up, 'A');
            self.pen.go_to(start.column);
            self.pen.write(b"\x1b[J");
            return;
        }
        if self.open.end.doubt > 0 || self.open.end.column == self.size.columns {
            self.pen.go_to(start.column);
        } else {
            self.pen.csi(self.open.end.column - start.column, 'D');
        }
        self.pen.write(b"\x1b[K");
    }

    fn newline(&mut self) {
        if self.status_place == StatusPlace::Here {
            self.push_status_down();
        }
        self.pen.set_style(Style::default());
        if self.status_place == StatusPlace::Below {
            self.erase_run_over();
        }
        self.pen.write(b"\r\n");
        self.open = OpenRow::default();
        if self.status_place == StatusPlace::Below {
            // At once: inserting tells the terminal that the row above ends here. It may not know that, if a status
            // row was wrapped again and then written over.
            self.push_status_down();
        }
    }

    /// Inserts an empty row above the status row; the newline makes room if that is the terminal's last row.
    fn push_status_down(&mut self) {
        self.pen.set_style(Style::default());
        self.pen.write(PUSH_STATUS_DOWN);
        self.status_place = StatusPlace::Below;
    }

    fn erase_below(&mut self) {
        self.pen.drop_background();
        // Never in column 0: there tmux forgets that the row continues the one above, and in the first row it moves
        // the screen into its history instead.
        let erase: &[u8] = match self.status_place {
            StatusPlace::Here => b" \x1b[J\r\x1b[K",
            StatusPlace::Below | StatusPlace::Nowhere if self.open.end.column + 1 != self.size.columns => {
                b" \x1b[J\x08\x1b[X"
            }
            StatusPlace::Below | StatusPlace::Nowhere => b"\x1b[J",
        };
        self.pen.write(erase);
        self.pen.erases = true;
        self.status_place = StatusPlace::Nowhere;
        self.status = Line::new();
        self.tail = Line::new();
        self.open.grew = false;
    }

    /// Erases the rest of the status row behind text that ran over it. Not in the margin, where that would erase
    /// text.
    fn erase_run_over(&mut self) {
        if std::mem::take(&mut self.open.grew) && self.open.end.column < self.size.columns {
            self.pen.write(b"\x1b[K");
        }
    }

    /// Moves from the margin of a row to the next row, and erases the rest of the status row behind text that ran
    /// over it, even in a row that only begins here.
    fn leave_margin(&mut self) {
        if self.open.end.column + 1 == self.size.columns {
            return self.erase_run_over();
        }
        self.open.grew = false;
        self.pen.write(LEAVE_MARGIN);
    }

    /// Erases the tail: the cursor is at the end of the open row. Erasing a number of cells keeps what else tmux
    /// remembers about the row.
    fn erase_tail(&mut self) {
        let (cells, doubt) = measure(&std::mem::take(&mut self.tail));
        if cells > 0 {
            self.pen.drop_background();
            self.pen.csi(cells + doubt, 'X');
        }
    }

    fn paint_tail(&mut self, tail: &Line) {
        if *tail == self.tail {
            return;
        }
        if self.status_place == StatusPlace::Here {
            self.push_status_down();
        }
        self.pen.drop_background();
        self.leave_margin();
        let before = self.pen.style;
        self.pen.write(b"\x1b7\x1b[?7l");
        self.pen.put(tail, 0);
        self.pen.write(b"\x1b8\x1b[?7h");
        self.pen.style = before;
        self.tail = tail.clone();
    }

    fn paint_status(&mut self, status: &Line) {
        if self.status_place == StatusPlace::Nowhere && status.is_empty() || self.status == *status {
            return;
        }
        if self.status_place == StatusPlace::Nowhere {
            let alone = self.open.line.is_empty() && self.tail.is_empty();
            self.status_place = if alone { StatusPlace::Here } else { StatusPlace::Below };
        }
        if self.status_place == StatusPlace::Below {
            self.pen.drop_background();
            if self.tail.is_empty() {
                self.leave_margin();
            }
            self.pen.write(LEAVE_OPEN_ROW);
        }
        let before = self.pen.style;
        let ((old_cells, old_doubt), (cells, doubt)) = (measure(&self.status), measure(status));
        let certain = old_doubt + doubt == 0;
        let same = if certain { grapheme_floor(status, common_prefix(&self.status, status)) } else { 0 };
        let (column, _) = measure(&slice(status, 0, same));
        let tail = if certain && old_cells == cells { common_tail(&self.status, status, same) } else { 0 };
        let changed = slice(status, 0, length(status) - tail);
        self.pen.csi(column, 'C');
        let careful = cells + doubt > SURE_COLUMNS && (tail == 0 || measure(&changed).0 > SURE_COLUMNS);
        if careful {
            self.pen.write(b"\x1b[?7l");
        }
        self.pen.put(&changed, same);
        if !certain || cells < old_cells {
            self.pen.drop_background();
            self.pen.write(b"\x1b[K");
        }
        if self.status_place == StatusPlace::Below {
            self.pen.write(b"\x1b8");
            self.pen.style = before;
        } else {
            self.pen.write(b"\r");
        }
        if careful {
            self.pen.write(b"\x1b[?7h");
        }
        self.status = status.clone();
    }
}

/// Tells whether a character of the line takes more than one cell.
fn has_wide(line: &Line) -> bool {
    line.spans.iter().any(|span| !span.text.is_ascii() && span.text.chars().any(|it| char_width(it) > 1))
}

/// Returns how many bytes at the end of two lines of equal width are the same, but not those before byte `from`.
fn common_tail(first: &Line, second: &Line, from: usize) -> usize {
    let total = length(first);
    if total != length(second) {
        return 0;
    }
    let mut tail = 0;
    for (one, two) in first.spans.iter().rev().zip(second.spans.iter().rev()) {
        if one.style != two.style || one.link.is_some() || two.link.is_some() {
            break;
        }
        let same = one.text.bytes().rev().zip(two.text.bytes().rev()).take_while(|(a, b)| a == b).count();
        tail += same;
        if same < one.text.len() || same < two.text.len() {
            break;
        }
    }
    let start = (total - tail.min(total - from.min(total))).max(from);
    let text = second.text();
    // Both boundaries must lie between clusters, and at the same column in both lines.
    let whole = text.grapheme_indices(true).map(|(index, _)| index).find(|&index| index >= start).unwrap_or(total);
    if measure(&slice(first, 0, whole)) == measure(&slice(second, 0, whole)) { total - whole } else { 0 }
}
