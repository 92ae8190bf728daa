//! Tells of the start of a line whether it is surely text, so that its words can be shown before its end comes.

use super::{
    block::{Blocks, Leaf, item_start},
    container,
    cursor::Cursor,
    starts::{self, Certainty},
};

impl Blocks {
    /// Tells whether a line that starts so is text whatever follows; only then [`Blocks::line`] takes it in part.
    pub(super) fn is_surely_text(&self, start: &str) -> bool {
        let mut cursor = Cursor::new(start);
        let matched = self.matching(&mut cursor);
        if cursor.is_blank() {
            return false;
        }
        let inside = matched == self.containers.len();
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
}

/// Tells whether the start of a line may be shown before it is known what it is: not while it may be a mark only.
pub(super) fn is_worth_showing(start: &str) -> bool {
    start.bytes().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
}
