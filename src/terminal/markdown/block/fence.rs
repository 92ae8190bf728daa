//! Fenced code: each line is printed at its newline, as it is.

use nu_ansi_term::Style;

use super::cursor::Cursor;
use super::starts::{FenceStart, closes_fence};
use crate::terminal::line::Line;
use crate::terminal::markdown::highlight::Highlighter;
use crate::terminal::markdown::layout::Layout;

/// An open fence.
#[derive(Debug, Clone)]
pub(super) struct Fence {
    start: FenceStart,
    indent: usize,
    /// Fences opened inside a markdown fence, innermost last.
    inner: Vec<FenceStart>,
    highlighter: Option<Highlighter>,
}

impl Fence {
    pub(super) fn new(start: FenceStart, indent: usize, layout: &Layout) -> Self {
        let highlighter = if layout.highlight { Highlighter::new(&start.info) } else { None };
        Self { start, indent, inner: Vec::new(), highlighter }
    }

    /// Takes a line; returns the row to print, or `None` if the fence is over.
    pub(super) fn line(&mut self, cursor: &Cursor<'_>, layout: &Layout) -> Option<Line> {
        let mut cursor = *cursor;
        let content = cursor.content();
        if cursor.indent() < 4 {
            let open = self.inner.last().unwrap_or(&self.start);
            if closes_fence(content, open.mark, open.length) && self.inner.pop().is_none() {
                return None;
            }
            // Models show markdown in a fence that is no longer than the fences inside it: the closing mark then
            // belongs to the inner fence, if that has a language.
            if self.is_markdown()
                && let Some(inner) = super::starts::fence(content).filter(|inner| !inner.info.is_empty())
            {
                self.inner.push(inner);
            }
        }
        cursor.advance(self.indent.min(cursor.indent()));
        let code = cursor.rest();
        Some(match &mut self.highlighter {
            Some(highlighter) => highlighter.line(&code, &layout.theme),
            None => Line::styled(code, layout.theme.code_block),
        })
    }

    /// The row that says where the code begins, where such rows are shown.
    pub(super) fn opening(&self, layout: &Layout) -> Option<Line> {
        layout.fences.then(|| Line::styled(format!("{}{}", self.mark(), self.start.info), Style::default()))
    }

    /// The row that says where it ends.
    pub(super) fn closing(&self, layout: &Layout) -> Option<Line> {
        layout.fences.then(|| Line::styled(self.mark(), Style::default()))
    }

    fn mark(&self) -> String {
        char::from(self.start.mark).to_string().repeat(self.start.length)
    }

    fn is_markdown(&self) -> bool {
        matches!(self.start.info.split_whitespace().next(), Some("markdown" | "md" | "Markdown"))
    }
}
