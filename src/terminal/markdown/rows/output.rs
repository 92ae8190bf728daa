//! Where finished rows go; the blank row between two blocks is written only when a row follows.

use crate::terminal::line::Line;

#[derive(Debug, Clone, Default)]
pub(crate) struct Output {
    rows: Vec<Line>,
    gap: Option<Line>,
    total: usize,
}

impl Output {
    /// Asks for a blank row before the next one; asked twice, the first stands.
    pub(crate) fn gap(&mut self, blank: Line) {
        self.gap.get_or_insert(blank);
    }

    /// Takes the blank row that was asked for: the caller knows that a row follows.
    pub(crate) fn take_gap(&mut self) -> Option<Line> {
        self.gap.take()
    }

    pub(crate) fn row(&mut self, line: Line) {
        self.rows.extend(self.gap.take());
        self.rows.push(line);
        self.total += 1;
    }

    /// Counts the rows ever written, blank ones between blocks apart.
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
