//! How markdown is laid out: how wide, in which styles, and who breaks its rows.

use crate::terminal::theme::Theme;

/// The narrowest layout; a terminal narrower than this wraps itself.
pub(super) const NARROWEST: usize = 8;

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
    /// Rows of prose are no wider than this, in cells; tables and code may be.
    pub prose: usize,
    /// Who breaks rows.
    pub wrap: Wrap,
    /// The styles.
    pub theme: Theme,
    /// Whether the terminal knows OSC 8; else addresses are written after their texts.
    pub hyperlinks: bool,
    /// Whether code in known languages is coloured.
    pub highlight: bool,
    /// Whether the fences around code are shown: where no style tells code from prose.
    pub fences: bool,
}

impl Layout {
    /// Makes a layout of this width: words wrapped, hyperlinks and colours in code on.
    #[must_use]
    pub fn new(width: usize, theme: Theme) -> Self {
        Self { width, prose: usize::MAX, wrap: Wrap::Word, theme, hyperlinks: true, highlight: true, fences: false }
    }

    /// How wide a row of prose is at most, in cells.
    pub(super) fn prose_width(&self) -> usize {
        self.width.min(self.prose)
    }
}
