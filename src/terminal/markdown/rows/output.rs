//! Collects finished rows; the blank row between two blocks is written only when a row follows.

use crate::terminal::line::Line;

#[derive(Debug, Clone, Default)]
pub(crate) struct Output {
    rows: Vec<Line>,
    gap: Option<Line>,
    total: usize,
}

impl Output {
    /// Requests a blank row before the next row; if one is requested already, that one stays.
    pub(crate) fn gap(&mut self, blank: Line) {
        self.gap.get_or_insert(blank);
    }

    /// Takes the requested blank row: the caller knows that a row follows.
    pub(crate) fn take_gap(&mut self) -> Option<Line> {
        self.gap.take()
    }

    pub(crate) fn row(&mut self, line: Line) {
        self.rows.extend(self.gap.take());
        self.rows.push(line);
        self.total += 1;
    }

    /// Counts all rows written so far, without the blank ones between blocks.
    pub(crate) fn total(&self) -> usize {
        self.total
    }

    pub(crate) fn take(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.rows)
    }

    pub(crate) fn append_to(&mut self, rows: &mut Vec<Line>) {
        rows.append(&mut self.rows);
    }
}
