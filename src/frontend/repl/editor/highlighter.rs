//! Colours the line: `/commands`, `!`, `@paths`, pasted blocks. Also tells the others what is being painted.

use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use nu_ansi_term::Style;
use reedline::{Highlighter, StyledText};

use crate::frontend::repl::line::{PasteStore, Piece, SharedState, mentions, paste_pieces};
use crate::frontend::repl::menu::CommandMenu;
use crate::terminal::{Theme, concealed};

/// The highlighter of one editor.
pub(super) struct LineHighlighter {
    pub(crate) state: SharedState,
    pub(crate) pastes: PasteStore,
    pub(crate) commands: Arc<RwLock<CommandMenu>>,
    pub(crate) theme: Theme,
}

impl LineHighlighter {
    /// Returns the coloured ranges of a line, in order, not overlapping.
    fn ranges(&self, line: &str) -> Vec<(Range<usize>, Style)> {
        if line.starts_with('!') {
            return vec![(0..1, self.theme.warning.bold()), (1..line.len(), self.theme.code)];
        }
        let mut ranges = Vec::new();
        if let Some(rest) = line.strip_prefix('/') {
            let end = 1 + rest.find(char::is_whitespace).unwrap_or(rest.len());
            let commands = self.commands.read().unwrap_or_else(PoisonError::into_inner);
            if commands.find(&line[1..end]).is_some() {
                ranges.push((0..end, self.theme.accent.bold()));
            }
        }
        ranges.extend(mentions(line).into_iter().map(|mention| (mention.range, self.theme.link)));
        ranges
    }
}

impl Highlighter for LineHighlighter {
    fn highlight(&self, line: &str, cursor: usize) -> StyledText {
        self.state.pending().set_line(line);
        {
            let mut state = self.state.lock();
            state.cursor = cursor;
            state.fresh = true;
            state.painted_at = Some(Instant::now());
            if line.is_empty() {
                state.dismissed = None;
            }
        }
        let mut text = StyledText::new();
        for piece in paste_pieces(line) {
            match piece {
                Piece::Text(piece) => self.paint_visibly(piece, &mut text),
                Piece::Block(block) => text.push((self.theme.dim.reverse(), self.pastes.label(block))),
            }
        }
        for (range, style) in self.ranges(line) {
            text.style_range(range.start, range.end, style);
        }
        text
    }
}

impl LineHighlighter {
    /// Paints a text byte for byte: a control character as blanks (a tab's width depends on where it stands, and an
    /// escape from a recalled line must not reach the terminal), what is not seen, or turns others round, as a mark.
    fn paint_visibly(&self, text: &str, out: &mut StyledText) {
        let mut painted = 0;
        for range in concealed(text) {
            if text[range.clone()].chars().all(char::is_control) {
                continue;
            }
            out.push((self.theme.person, blanked(&text[painted..range.start])));
            let marks = match range.len() {
                2 => "<>",
                3 => "<?>",
                _ => "<??>",
            };
            out.push((self.theme.warning.reverse(), marks.to_owned()));
            painted = range.end;
        }
        out.push((self.theme.person, blanked(&text[painted..])));
    }
}

fn blanked(text: &str) -> String {
    let blank = |character: char| character.is_control() && character != '\n';
    if !text.chars().any(blank) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if blank(character) {
            out.extend(std::iter::repeat_n(' ', character.len_utf8()));
        } else {
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
#[path = "highlighter_tests.rs"]
mod tests;
