//! Paragraphs and headings: their text is read as it arrives, and laid out as soon as no later text can change it.

use nu_ansi_term::Style;

use super::page::Page;
use super::starts;
use crate::terminal::markdown::inline::{Ending, REACH, is_plain, overlay};
use crate::terminal::markdown::rows::{Spaces, cuts_between};
use crate::terminal::theme::Theme;
use crate::terminal::width::column_after;

/// How much text is read at once at most, in bytes.
const WINDOW: usize = 16 * 1024;
/// How many bytes must arrive before held-back text beyond its reach is read again.
const STRIDE: usize = 256;

/// How many bytes at the start, and at the end, of the text that is not laid out are enough to guess its last row.
const START: usize = 512;
const END: usize = 2 * REACH;

/// Removes the middle of a text that is too long to guess with.
pub(crate) fn abridged(text: &str) -> String {
    if text.len() <= START + END {
        return text.to_owned();
    }
    let start = &text[..text.floor_char_boundary(START)];
    let end = &text[text.floor_char_boundary(text.len() - END)..];
    [start, end].concat()
}

/// An open paragraph or heading.
#[derive(Debug, Clone)]
pub(super) struct Text {
    /// The text that is not laid out yet.
    buffer: String,
    /// The text that is laid out, while all of it may still become a heading.
    laid: String,
    /// The character before the buffer.
    before: char,
    base: Style,
    pub(super) is_heading: bool,
    /// A line that becomes the head of a table if the next line is a table's rule.
    pub(super) header: Option<String>,
    /// How much of the buffer was looked at.
    tried: usize,
    /// Set if something in the buffer is open: nothing is laid out before it closes, or grows to this length.
    held_to: Option<usize>,
}

impl Text {
    /// Opens a paragraph, or a heading of this level.
    pub(super) fn open(level: Option<u8>, page: &mut Page) -> Self {
        page.start();
        let base = page.base();
        let style = level.map_or(base, |level| heading_style(base, level, &page.layout.theme));
        if let Some(level) = level {
            heading_mark(level, style, page);
        }
        Self::new(style, level.is_some())
    }

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

    /// Copies it, without the middle of the text that is not laid out.
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

    /// Returns the next character to lay out.
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

    /// Finds the point up to which the text can be read: before white space, or between wide letters.
    fn cut(&mut self) -> Option<(usize, char)> {
        let text = if self.is_heading { self.buffer.trim_end_matches([' ', '\t', '#']) } else { &self.buffer };
        let from = text.floor_char_boundary(self.tried);
        if let Some(held_to) = self.held_to
            && self.buffer.len() < held_to
            && is_plain(&text[from..])
        {
            return None;
        }
        let mut after = None;
        let mut position = text.len();
        for character in text[from..].chars().rev() {
            position -= character.len_utf8();
            let Some(before) = text[..position].chars().next_back() else { break };
            // A backslash and the line end after it belong together.
            let spaced = is_space(character) && !is_space(before) && before != '\\';
            if spaced || cuts_between(before, character) {
                after = Some(character);
                break;
            }
        }
        self.tried = self.buffer.len();
        after.map(|after| (position, after))
    }

    /// Continues the open line.
    pub(super) fn more(&mut self, text: &str) {
        self.buffer.push_str(text);
    }

    /// Ends the open line.
    pub(super) fn end_line(&mut self) {
        if !self.is_heading {
            self.buffer.push('\n');
        }
    }

    /// Tells whether so much text waits that it must be laid out before more is read.
    pub(super) fn is_full(&self) -> bool {
        self.buffer.len() > WINDOW
    }

    /// Lays out what can no longer change.
    pub(super) fn advance(&mut self, page: &mut Page) {
        let Some((cut, after)) = self.cut() else { return };
        let done = page.text(&self.buffer[..cut], self.before, Ending::Open(after), self.base);
        self.held_to = (done < cut).then(|| if cut < REACH { REACH } else { self.buffer.len() - done + STRIDE });
        if let Some(last) = self.buffer[..done].chars().next_back() {
            self.before = last;
            if page.wrapper.rows() == 0 {
                self.laid.push_str(&self.buffer[..done]);
            }
            self.buffer.drain(..done);
            self.tried -= done;
        }
    }

    /// Lays out the rest, and ends the block.
    pub(super) fn finish(self, page: &mut Page) {
        self.flush(page, Ending::Closed);
        page.finish();
    }

    /// Lays out everything that has arrived.
    pub(super) fn flush(mut self, page: &mut Page, ending: Ending) {
        self.take_header();
        let source = self.buffer.trim_end_matches([' ', '\t', '\n']);
        let source = if self.is_heading { starts::heading_text(source) } else { source };
        // The opening mark of a construct is not shown during the moment in which it stands alone.
        let source =
            if ending == Ending::Guess { source.trim_end_matches(['*', '_', '~', '`', '[', '!']) } else { source };
        page.text(source, self.before, ending, self.base);
    }

    /// Makes the paragraph a heading because of the line under it; false if it stays a paragraph. This is possible
    /// only while it fits into one row: a printed row can no longer change.
    pub(super) fn underline(&self, level: u8, page: &mut Page) -> bool {
        // A row that the terminal has wrapped again cannot get a mark in front of it.
        let unreachable = page.wrapper.is_resized() && page.layout.theme.heading.is_plain();
        if page.wrapper.rows() > 0 || unreachable {
            return false;
        }
        let mut text = self.clone();
        text.base = heading_style(text.base, level, &page.layout.theme);
        text.buffer.insert_str(0, &std::mem::take(&mut text.laid));
        text.before = '\n';
        let before = page.wrapper.clone();
        let out = std::mem::take(&mut page.out);
        page.wrapper.restart();
        heading_mark(level, text.base, page);
        text.finish(page);
        let mut heading = std::mem::replace(&mut page.out, out);
        let mut rows = heading.take();
        match rows.pop() {
            Some(row) if rows.is_empty() && column_after(&row.text(), 0) <= page.layout.width => {
                page.out.row(row);
                true
            }
            Some(_) | None => {
                page.wrapper = before;
                false
            }
        }
    }
}

/// Writes the source's mark if the theme has no style for headings.
fn heading_mark(level: u8, style: Style, page: &mut Page) {
    if page.layout.theme.heading.is_plain() {
        let mark = "#".repeat(usize::from(level)) + " ";
        page.words(&mark, style, Spaces::Keep);
    }
}

fn heading_style(base: Style, level: u8, theme: &Theme) -> Style {
    match level {
        1 if theme.heading.is_plain() => overlay(base, theme.heading),
        1 => overlay(base, theme.heading.underline()),
        2 => overlay(base, theme.heading),
        _ => overlay(base, theme.subheading),
    }
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n')
}
