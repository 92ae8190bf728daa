//! How markdown is laid out: its width, its styles, and who breaks its rows.

use crate::terminal::theme::Theme;

/// The narrowest layout; a terminal narrower than this wraps itself.
pub(super) const NARROWEST: usize = 8;

/// Who breaks the rows of a paragraph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wrap {
    /// axi breaks them, between words.
    #[default]
    Word,
    /// The terminal breaks them: a paragraph is one row of any length, so that a copy contains the whole paragraph.
    Soft,
}

/// How markdown is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The terminal's width in cells.
    pub width: usize,
    /// The greatest width of prose, in cells; tables and code may be wider.
    pub prose: usize,
    /// Who breaks rows.
    pub wrap: Wrap,
    /// The styles.
    pub theme: Theme,
    /// Whether the terminal knows OSC 8; otherwise addresses are written after the texts of links.
    pub hyperlinks: bool,
    /// Whether code in known languages is coloured.
    pub highlight: bool,
    /// Whether the fences around code are shown: where no style tells code from prose.
    pub fences: bool,
}

impl Layout {
    /// Makes a layout with this width: wraps words, with hyperlinks and coloured code.
    #[must_use]
    pub fn new(width: usize, theme: Theme) -> Self {
        Self { width, prose: usize::MAX, wrap: Wrap::Word, theme, hyperlinks: true, highlight: true, fences: false }
    }

    /// Returns the greatest width of prose, in cells.
    pub(super) fn prose_width(&self) -> usize {
        self.width.min(self.prose)
    }
}
