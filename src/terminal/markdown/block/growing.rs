//! Handles text that is still growing: whether the start of a line is certainly text, so that its words can be
//! shown before its end arrives, and which part of the open text can be laid out or shown.

use super::blocks::{Blocks, Leaf, item_start};
use super::container;
use super::cursor::Cursor;
use super::starts::{self, Certainty};
use crate::terminal::line::Line;
use crate::terminal::markdown::inline::Ending;
use crate::terminal::markdown::rows::Output;

impl Blocks {
    /// Tells whether a line with this start is text, whatever follows; only then [`Blocks::line`] takes it in
    /// parts.
    pub(crate) fn is_surely_text(&self, start: &str) -> bool {
        let mut cursor = Cursor::new(start);
        let matched = self.matching(&mut cursor);
        if cursor.is_blank() {
            return false;
        }
        let inside = matched == self.page.containers.len();
        match &self.leaf {
            Leaf::Text(text)
                if inside && text.header.is_some() && cursor.content().starts_with(['|', ':', '-']) =>
            {
                return false;
            }
            Leaf::Fence(_) | Leaf::Indented(_) | Leaf::Html(_) | Leaf::Maths(_) | Leaf::Table(_) if inside => {
                return false;
            }
            Leaf::None
            | Leaf::Text(_)
            | Leaf::Fence(_)
            | Leaf::Indented(_)
            | Leaf::Html(_)
            | Leaf::Maths(_)
            | Leaf::Table(_) => {}
        }
        let mut text_open = self.in_paragraph();
        let mut in_paragraph = inside && text_open;
        for depth in matched.. {
            let content = cursor.content();
            if cursor.indent() >= 4 {
                return text_open && matches!(starts::text_certainty(content), Certainty::Text);
            }
            match starts::certainty(content, in_paragraph) {
                Certainty::Unsure => return false,
                Certainty::Text | Certainty::Heading => return true,
                Certainty::Quote | Certainty::Item if depth >= container::DEEPEST => {
                    return matches!(starts::text_certainty(content), Certainty::Text);
                }
                Certainty::Quote => {
                    container::quote_mark(&mut cursor);
                }
                Certainty::Item => {
                    let Some((_, length)) = item_start(content, in_paragraph) else {
                        return matches!(starts::text_certainty(content), Certainty::Text);
                    };
                    cursor.skip_indent();
                    cursor.skip(length);
                    let spaces = cursor.indent();
                    cursor.advance(if spaces > 4 { 1 } else { spaces });
                    if starts::task(cursor.content()).is_some() {
                        cursor.skip_indent();
                        cursor.skip(starts::TASK);
                    }
                }
            }
            if cursor.is_blank() {
                return false;
            }
            (text_open, in_paragraph) = (false, false);
        }
        false
    }

    /// Continues the open line.
    pub(crate) fn more(&mut self, text: &str) {
        if let Leaf::Text(open) = &mut self.leaf {
            open.more(text);
        }
        self.after_text(false);
    }

    /// Ends the open line.
    pub(crate) fn end_line(&mut self) {
        if let Leaf::Text(open) = &mut self.leaf {
            open.end_line();
        }
        self.after_text(true);
    }

    pub(super) fn after_text(&mut self, whole: bool) {
        match &self.leaf {
            Leaf::Text(text) if text.is_heading && whole => self.close_to(self.page.containers.len()),
            Leaf::Text(text) if text.is_full() => self.advance(),
            Leaf::Text(_)
            | Leaf::None
            | Leaf::Fence(_)
            | Leaf::Indented(_)
            | Leaf::Html(_)
            | Leaf::Maths(_)
            | Leaf::Table(_) => {}
        }
    }

    /// Returns how many bytes of the open text are not laid out.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        if let Leaf::Text(text) = &self.leaf { text.held() } else { 0 }
    }

    /// Returns how deep the containers are nested.
    #[cfg(test)]
    pub(crate) fn depth(&self) -> usize {
        self.page.containers.len()
    }

    /// Tells whether nothing is open.
    pub(crate) fn is_idle(&self) -> bool {
        self.page.containers.len() == 1 && matches!(self.leaf, Leaf::None)
    }

    /// Tells whether the open block is a table, which is held back.
    pub(crate) fn in_table(&self) -> bool {
        matches!(self.leaf, Leaf::Table(_))
    }

    /// Takes the blank row before the unfinished row, once it is certain that a row follows.
    pub(crate) fn take_gap(&mut self) -> Option<Line> {
        let sure = self.in_paragraph() && !self.page.wrapper.is_fresh();
        if sure { self.page.out.take_gap() } else { None }
    }

    /// Returns the part of the unfinished row that no later text can change.
    pub(crate) fn settled(&self) -> Line {
        let Leaf::Text(text) = &self.leaf else { return Line::new() };
        let mut out = Output::default();
        self.page.wrapper.clone().finish_sure(text.next(), &mut out);
        out.take().pop().unwrap_or_default()
    }

    /// Lays out the part of the open text that can no longer change.
    pub(crate) fn advance(&mut self) {
        if let Leaf::Text(text) = &mut self.leaf {
            text.advance(&mut self.page);
        }
    }

    /// Lays out the open text as if everything in it closed here; it is shown for a moment only.
    pub(crate) fn guess(&mut self) {
        if let Leaf::Text(text) = std::mem::replace(&mut self.leaf, Leaf::None) {
            text.flush(&mut self.page, Ending::Guess);
            self.page.finish();
        }
    }
}

/// Tells whether the start of a line may be shown before its kind is known: not while it may be only a mark.
pub(crate) fn is_worth_showing(start: &str) -> bool {
    start.bytes().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
}
