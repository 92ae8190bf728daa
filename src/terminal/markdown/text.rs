//! Paragraphs and headings: their text is read as it arrives, and laid out as far as no later text can change it.

use nu_ansi_term::Style;

use super::{
    block::{Blocks, Leaf},
    container,
    emit::{Emitter, overlay},
    inline::{self, Ending, REACH},
    starts,
    wrap::{Spaces, cuts_between},
};
use crate::terminal::width::column_after;

/// How much text may wait before it is read, when a lot comes at once.
const WINDOW: usize = 16 * 1024;
/// How much must come before held text beyond its reach is read again.
const STRIDE: usize = 256;

/// How much of the start and of the end of a text that is not laid out yet is enough to guess its last row.
const START: usize = 512;
const END: usize = 2 * REACH;

/// Leaves the middle out of a text that is too long to guess with.
pub(super) fn abridged(text: &str) -> String {
    if text.len() <= START + END {
        return text.to_owned();
    }
    let start = &text[..inline::floor_char_boundary(text, START)];
    let end = &text[inline::floor_char_boundary(text, text.len() - END)..];
    [start, end].concat()
}

/// An open paragraph or heading.
#[derive(Debug, Clone)]
pub(super) struct Text {
    /// What is not laid out yet.
    buffer: String,
    /// What is laid out, while all of it may still become a heading.
    laid: String,
    /// The character before the buffer.
    before: char,
    base: Style,
    is_heading: bool,
    /// A line that heads a table if the next line is a table's rule.
    pub(super) header: Option<String>,
    /// How much of the buffer has been looked at.
    tried: usize,
    /// Something in the buffer is open; nothing moves before it closes, or grows to this length.
    held_to: Option<usize>,
}

impl Text {
    fn new(base: Style, is_heading: bool) -> Self {
        Self {
            buffer: String::new(),
            laid: String::new(),
            before: '\n',
            base,
            is_heading,
            header: None,
            tried: 0,
            held_to: None,
        }
    }

    /// The same, without the middle of what is not laid out.
    pub(super) fn abridged(&self) -> Self {
        Self {
            buffer: abridged(&self.buffer),
            laid: self.laid.clone(),
            before: self.before,
            base: self.base,
            is_heading: self.is_heading,
            header: self.header.as_deref().map(abridged),
            tried: 0,
            held_to: None,
        }
    }

    /// Tells whether all it had is laid out.
    pub(super) fn is_empty(&self) -> bool {
        self.buffer.trim().is_empty()
    }

    /// Returns how many bytes are not laid out.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.buffer.len()
    }

    /// Returns the character that is to be laid out next.
    pub(super) fn next(&self) -> Option<char> {
        self.buffer.chars().next()
    }

    /// Takes a line, or the start of one.
    pub(super) fn line(&mut self, content: &str, whole: bool, lazy: bool) {
        self.take_header();
        if whole && !lazy && !self.is_heading && starts::may_head_table(content) {
            self.header = Some(content.to_owned());
            return;
        }
        self.buffer.push_str(content);
        if whole && !self.is_heading {
            self.buffer.push('\n');
        }
    }

    fn take_header(&mut self) {
        if let Some(header) = self.header.take() {
            self.buffer.push_str(&header);
            self.buffer.push('\n');
        }
    }

    /// Finds up to where the text can be read: before white space, or between wide letters.
    fn cut(&mut self) -> Option<(usize, char)> {
        let text = if self.is_heading { self.buffer.trim_end_matches([' ', '\t', '#']) } else { &self.buffer };
        let from = inline::floor_char_boundary(text, self.tried);
        if let Some(held_to) = self.held_to
            && self.buffer.len() < held_to
            && inline::is_plain(&text[from..])
        {
            return None;
        }
        let mut after = None;
        let mut position = text.len();
        for character in text[from..].chars().rev() {
            position -= character.len_utf8();
            let Some(before) = text[..position].chars().next_back() else { break };
            // A backslash and the line end after it are one.
            let spaced = is_space(character) && !is_space(before) && before != '\\';
            if spaced || cuts_between(before, character) {
                after = Some(character);
                break;
            }
        }
        self.tried = self.buffer.len();
        after.map(|after| (position, after))
    }
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n')
}

impl Blocks {
    /// Opens a paragraph, or a heading of this level.
    pub(super) fn start_text(&mut self, level: Option<u8>) {
        let (first, rest) = container::prefixes(&mut self.containers, &self.layout);
        self.wrapper.start(self.layout.width, first, rest);
        let base = self.base();
        let theme = self.layout.theme;
        let style = level.map_or(base, |level| heading_style(base, level, &theme));
        if let Some(level) = level {
            self.heading_mark(level, style);
        }
        self.leaf = Leaf::Text(Text::new(style, level.is_some()));
    }

    /// Writes the mark of the source where headings have no style.
    fn heading_mark(&mut self, level: u8, style: Style) {
        if self.layout.theme.heading.is_plain() {
            let mark = "#".repeat(usize::from(level)) + " ";
            self.wrapper.push(&mark, style, None, Spaces::Keep, &mut self.out);
        }
    }

    /// Returns the style text has here.
    pub(super) fn base(&self) -> Style {
        let theme = &self.layout.theme;
        let base = if self.reasoning { theme.dim } else { Style::default() };
        let quoted = self.containers.iter().any(|container| container.kind == container::Kind::Quote);
        if quoted { overlay(base, theme.quote) } else { base }
    }

    /// Goes on with the open line.
    pub(super) fn more(&mut self, text: &str) {
        if let Leaf::Text(open) = &mut self.leaf {
            open.buffer.push_str(text);
        }
        self.after_text(false);
    }

    /// Ends the open line.
    pub(super) fn end_line(&mut self) {
        if let Leaf::Text(open) = &mut self.leaf
            && !open.is_heading
        {
            open.buffer.push('\n');
        }
        self.after_text(true);
    }

    pub(super) fn after_text(&mut self, whole: bool) {
        match &self.leaf {
            Leaf::Text(text) if text.is_heading && whole => self.close_to(self.containers.len()),
            Leaf::Text(text) if text.buffer.len() > WINDOW => self.advance(),
            Leaf::Text(_)
            | Leaf::None
            | Leaf::Fence(_)
            | Leaf::Indented(_)
            | Leaf::Html(_)
            | Leaf::Maths(_)
            | Leaf::Table(_) => {}
        }
    }

    /// Lays out what can no longer change.
    pub(super) fn advance(&mut self) {
        let Leaf::Text(text) = &mut self.leaf else { return };
        let Some((cut, after)) = text.cut() else { return };
        let ready = &text.buffer[..cut];
        let mut emitter =
            Emitter { layout: &self.layout, base: text.base, wrapper: &mut self.wrapper, out: &mut self.out };
        let done = if inline::is_plain(ready) {
            emitter.plain(ready);
            cut
        } else {
            self.parsed.read(ready, text.before, Ending::Open(after), &self.definitions);
            let safe = self.parsed.safe;
            emitter.tokens(&self.parsed, ready, safe);
            for (_, label) in self.parsed.unresolved.drain(..).filter(|(place, _)| *place < safe) {
                self.definitions.miss(label);
            }
            safe
        };
        text.held_to = (done < cut).then(|| if cut < REACH { REACH } else { text.buffer.len() - done + STRIDE });
        if let Some(last) = text.buffer[..done].chars().next_back() {
            text.before = last;
            if self.wrapper.rows() == 0 {
                text.laid.push_str(&text.buffer[..done]);
            }
            text.buffer.drain(..done);
            text.tried -= done;
        }
    }

    /// Lays out the rest of a paragraph or heading.
    pub(super) fn end_text(&mut self, text: Text) {
        self.flush_text(text, Ending::Closed);
        self.wrapper.finish(&mut self.out);
    }

    /// Lays out all of a text as far as it is here.
    pub(super) fn flush_text(&mut self, mut text: Text, ending: Ending) {
        text.take_header();
        let source = text.buffer.trim_end_matches([' ', '\t', '\n']);
        let source = if text.is_heading { starts::heading_text(source) } else { source };
        // What a construct may begin with is not shown for the moment that it stands alone.
        let source =
            if ending == Ending::Guess { source.trim_end_matches(['*', '_', '~', '`', '[', '!']) } else { source };
        let mut emitter =
            Emitter { layout: &self.layout, base: text.base, wrapper: &mut self.wrapper, out: &mut self.out };
        if inline::is_plain(source) {
            emitter.plain(source);
        } else {
            self.parsed.read(source, text.before, ending, &self.definitions);
            emitter.tokens(&self.parsed, source, source.len());
            if ending == Ending::Closed {
                self.parsed.unresolved.drain(..).for_each(|(_, label)| self.definitions.miss(label));
            }
        }
    }

    /// Makes the open paragraph a heading, as the line under it asks; only while it fits one row, for a row that is out
    /// cannot change any more.
    pub(super) fn underline(&mut self, level: u8) -> bool {
        let Leaf::Text(text) = &self.leaf else { return false };
        // Before a row that the terminal wrapped anew no mark can be put any more.
        let unreachable = self.wrapper.is_resized() && self.layout.theme.heading.is_plain();
        if self.wrapper.rows() > 0 || unreachable {
            return false;
        }
        let mut text = text.clone();
        text.base = heading_style(text.base, level, &self.layout.theme);
        text.buffer.insert_str(0, &std::mem::take(&mut text.laid));
        text.before = '\n';
        let before = self.wrapper.clone();
        let out = std::mem::take(&mut self.out);
        self.wrapper.restart();
        self.heading_mark(level, text.base);
        self.end_text(text);
        let mut heading = std::mem::replace(&mut self.out, out);
        let mut rows = heading.take();
        match rows.pop() {
            Some(row) if rows.is_empty() && column_after(&row.text(), 0) <= self.layout.width => {
                self.out.row(row);
                self.leaf = Leaf::None;
                true
            }
            Some(_) | None => {
                self.wrapper = before;
                false
            }
        }
    }
}

fn heading_style(base: Style, level: u8, theme: &crate::terminal::Theme) -> Style {
    match level {
        1 if theme.heading.is_plain() => overlay(base, theme.heading),
        1 => overlay(base, theme.heading.underline()),
        2 => overlay(base, theme.heading),
        _ => overlay(base, theme.subheading),
    }
}
