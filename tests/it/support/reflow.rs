//! A terminal that re-wraps its rows when its width changes, as modern ones do: a model around vt100, which does not.

use std::collections::VecDeque;

/// So many wrapped texts stay in the model; older ones cannot be reached by anybody any more.
const KEPT: usize = 120;

/// The model.
pub(crate) struct Reflowing {
    parser: vt100::Parser,
    history: Vec<String>,
}

/// A text between two newlines, on as many rows as it takes.
#[derive(Default)]
struct Text {
    text: String,
    /// Where in it the cursor stands, in bytes.
    cursor: Option<usize>,
}

impl Reflowing {
    pub(crate) fn new(columns: u16, rows: u16) -> Self {
        Self { parser: vt100::Parser::new(rows, columns, 10_000), history: Vec::new() }
    }

    /// Takes one update whole. vt100 does not know how to switch wrapping off: that is done here.
    pub(crate) fn process(&mut self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let mut parts = text.split("\x1b[?7l");
        self.parser.process(parts.next().unwrap_or_default().as_bytes());
        for part in parts {
            let (unwrapped, rest) = part.split_once("\x1b[?7h").unwrap_or((part, ""));
            let (mut in_sequence, mut in_command) = (false, false);
            for character in unwrapped.chars() {
                let (_, columns) = self.parser.screen().size();
                let (row, column) = self.parser.screen().cursor_position();
                in_sequence |= character == '\x1b';
                in_command = character == ']' && in_sequence || in_command && character != '\\';
                let cells = unicode_width::UnicodeWidthChar::width(character).unwrap_or(0);
                if !in_sequence && usize::from(column) + cells > usize::from(columns) {
                    if cells > 1 {
                        // As tmux and Alacritty have it: no room, no character.
                        continue;
                    }
                    self.parser.process(format!("\x1b[{};{columns}H", row + 1).as_bytes());
                }
                self.parser.process(character.to_string().as_bytes());
                in_sequence &= in_command || !matches!(character, 'A'..='Z' | 'a'..='z' | '7' | '8' | '\\');
            }
            self.parser.process(rest.as_bytes());
        }
    }

    pub(crate) fn cursor_is_hidden(&self) -> bool {
        self.parser.screen().hide_cursor()
    }

    /// Changes the size: texts flow anew, the cursor stays at its place in its text.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        let mut texts: VecDeque<Text> = self.texts().into();
        while texts.len() > KEPT {
            self.history.extend(texts.pop_front().map(|it| it.text));
        }
        let at = texts.iter().position(|it| it.cursor.is_some()).unwrap_or(0);
        let mut parser = vt100::Parser::new(rows, columns, 10_000);
        for text in texts.range(..at) {
            parser.process(text.text.as_bytes());
            parser.process(b"\r\n");
        }
        let here = &texts[at];
        let (before, after) = here.text.split_at(here.cursor.unwrap_or(0));
        parser.process(before.as_bytes());
        let (mut row, mut column) = parser.screen().cursor_position();
        let mut above = scrolled(&mut parser);
        if column == columns && !after.is_empty() {
            // The cursor stood on the cell behind.
            parser.process(b" \x08");
            (row, column) = parser.screen().cursor_position();
            above = scrolled(&mut parser);
        }
        parser.process(after.as_bytes());
        for text in texts.range(at + 1..) {
            parser.process(b"\r\n");
            parser.process(text.text.as_bytes());
        }
        let moved = scrolled(&mut parser) - above;
        let row = usize::from(row).saturating_sub(moved) + 1;
        if column == columns {
            // Putting the last character once more leaves the cursor in the margin.
            let last = before.chars().next_back().unwrap_or(' ');
            let cells = unicode_width::UnicodeWidthChar::width(last).unwrap_or(1).max(1);
            let column = usize::from(columns) + 1 - cells;
            parser.process(format!("\x1b[{row};{column}H{last}").as_bytes());
        } else {
            parser.process(format!("\x1b[{row};{}H", column + 1).as_bytes());
        }
        if self.parser.screen().hide_cursor() {
            parser.process(b"\x1b[?25l");
        }
        self.parser = parser;
    }

    /// All that was ever on it, one line a text.
    pub(crate) fn text(&mut self) -> String {
        let mut lines = self.history.clone();
        lines.extend(self.texts().into_iter().map(|it| it.text.trim_end().to_owned()));
        lines.join("\n").trim_end().to_owned()
    }

    fn texts(&mut self) -> Vec<Text> {
        let screen = self.parser.screen_mut();
        let columns = screen.size().1;
        let mut rows = Vec::new();
        screen.set_scrollback(usize::MAX);
        for offset in (1..=screen.scrollback()).rev() {
            screen.set_scrollback(offset);
            rows.push((screen.rows(0, columns).next().unwrap_or_default(), screen.row_wrapped(0), None));
        }
        screen.set_scrollback(0);
        let (cursor_row, cursor_column) = screen.cursor_position();
        let visible: Vec<String> = screen.rows(0, columns).collect();
        for (index, row) in (0..).zip(visible) {
            let before = (index == cursor_row).then(|| {
                let text = screen.rows(0, cursor_column).nth(usize::from(index)).unwrap_or_default();
                let cells = unicode_width::UnicodeWidthStr::width(text.as_str());
                text + &" ".repeat(usize::from(cursor_column).saturating_sub(cells))
            });
            let row = match &before {
                // Erased cells before the cursor are blanks.
                Some(before) if row.len() < before.len() => before.clone(),
                Some(_) | None => row,
            };
            rows.push((row, screen.row_wrapped(index), before.map(|it| it.len())));
        }
        let mut texts = vec![Text::default()];
        for (row, wrapped, cursor) in rows {
            // Never empty: it begins with one.
            let Some(last) = texts.last_mut() else { continue };
            if let Some(cursor) = cursor {
                last.cursor = Some(last.text.len() + cursor);
            }
            last.text.push_str(&row);
            if !wrapped {
                texts.push(Text::default());
            }
        }
        let last = texts.iter().rposition(|it| !it.text.is_empty() || it.cursor.is_some()).unwrap_or(0);
        texts.truncate(last + 1);
        texts
    }
}

fn scrolled(parser: &mut vt100::Parser) -> usize {
    parser.screen_mut().set_scrollback(usize::MAX);
    let rows = parser.screen().scrollback();
    parser.screen_mut().set_scrollback(0);
    rows
}
