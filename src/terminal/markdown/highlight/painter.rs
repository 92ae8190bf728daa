//! Colours one line of code.

use nu_ansi_term::Style;

use crate::terminal::line::{Line, Span};
use crate::terminal::theme::Theme;

/// Collects the pieces of a line; white space keeps the style of the piece before it.
pub(super) struct Painter<'a> {
    pub(super) text: &'a str,
    pub(super) theme: &'a Theme,
    line: Line,
    start: usize,
    style: Style,
    /// Whether the word before announces a function's name.
    pub(super) declares: bool,
}

impl<'a> Painter<'a> {
    pub(super) fn new(text: &'a str, theme: &'a Theme) -> Self {
        Self { text, theme, line: Line::new(), start: 0, style: Style::new(), declares: false }
    }

    /// Styles a piece; returns where it ends, which is always a character boundary.
    pub(super) fn paint(&mut self, start: usize, end: usize, style: Style) -> usize {
        let end = (end.min(self.text.len())..=self.text.len())
            .find(|end| self.text.is_char_boundary(*end))
            .unwrap_or(self.text.len());
        if style != self.style {
            self.flush(start);
            self.style = style;
        }
        end
    }

    fn flush(&mut self, end: usize) {
        if end > self.start {
            self.line.push(Span::new(&self.text[self.start..end], self.style));
            self.start = end;
        }
    }

    pub(super) fn diff(&mut self) {
        let theme = self.theme;
        let style = match self.text.as_bytes() {
            [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => theme.strong,
            [b'+', ..] => theme.added,
            [b'-', ..] => theme.removed,
            [b'@', b'@', ..] => theme.code_type,
            _ => Style::new(),
        };
        self.paint(0, self.text.len(), style);
    }

    pub(super) fn finish(mut self) -> Line {
        self.flush(self.text.len());
        self.line
    }
}
