//! Parses blocks line by line with CommonMark's container algorithm, which never has to look back.
//!
//! A line is taken as soon as its start shows what it is (`early.rs`); the rest of its text then goes into the open
//! block.

use super::container::{self, Container, Kind, OpenList};
use super::cursor::Cursor;
use super::fence::Fence;
use super::page::Page;
use super::starts::{self, Marker};
use super::table::Table;
use super::text::Text;
use crate::terminal::line::Line;
use crate::terminal::markdown::html::{self, BlockEnd};
use crate::terminal::markdown::inline::{definition, overlay};
use crate::terminal::markdown::layout::Layout;
use crate::terminal::markdown::rows::Spaces;
use crate::terminal::width::width;

/// The block that takes the lines.
#[derive(Debug, Clone)]
pub(super) enum Leaf {
    None,
    /// A paragraph or heading.
    Text(Text),
    Fence(Fence),
    /// Indented code, with blank lines that count as code only if more code follows.
    Indented(Vec<String>),
    Html(BlockEnd),
    /// Displayed maths, with the text that closes it.
    Maths(&'static str),
    Table(Table),
}

/// A block that begins inside a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Child {
    Block,
    /// A block that has blank rows around it even in a tight list: code and tables.
    Airy,
    Item(Marker),
}

#[derive(Debug, Clone)]
pub(crate) struct Blocks {
    pub(crate) page: Page,
    pub(super) leaf: Leaf,
    /// Whether a blank line came after the last block.
    blank: bool,
    /// Whether the last block needs a blank row after it.
    airy: bool,
}

impl Blocks {
    pub(crate) fn new(layout: &Layout) -> Self {
        Self { page: Page::new(layout), leaf: Leaf::None, blank: false, airy: false }
    }

    /// Copies what is needed to guess the last row, see [`crate::terminal::markdown::MarkdownStream::tail`].
    pub(crate) fn abridged(&self) -> Self {
        let leaf = match &self.leaf {
            Leaf::Text(text) => Leaf::Text(text.abridged()),
            Leaf::Indented(_) => Leaf::Indented(Vec::new()),
            Leaf::None | Leaf::Fence(_) | Leaf::Html(_) | Leaf::Maths(_) | Leaf::Table(_) => self.leaf.clone(),
        };
        Self { page: self.page.without_rows(), leaf, blank: self.blank, airy: self.airy }
    }

    /// Skips the marks of the open containers in a line; returns how many containers the line continues.
    pub(super) fn matching(&self, cursor: &mut Cursor<'_>) -> usize {
        let mut matched = 0;
        for container in &self.page.containers {
            let before = *cursor;
            if !container.goes_on(cursor) {
                *cursor = before;
                break;
            }
            matched += 1;
        }
        matched
    }

    /// Takes a line; with `whole` false only the start of a line that is known to be text.
    pub(crate) fn line(&mut self, line: &str, whole: bool) {
        let mut cursor = Cursor::new(line);
        let mut matched = self.matching(&mut cursor);
        if matched == self.page.containers.len() && (self.leaf_goes_on(&cursor) || self.heads_table(&cursor)) {
            return;
        }
        let mut started = false;
        while !cursor.is_blank() {
            let inside = matched == self.page.containers.len();
            let in_paragraph = inside && self.in_paragraph();
            if cursor.indent() >= 4 {
                if self.in_paragraph() {
                    break;
                }
                self.close_to(matched);
                self.child_starts(Child::Airy);
                cursor.advance(4);
                self.leaf = Leaf::Indented(Vec::new());
                self.code_row(&cursor.rest());
                return;
            }
            let content = cursor.content();
            // Nobody nests deeper than this on purpose: the rest of the line is text.
            let nests = matched < container::DEEPEST;
            if nests && content.starts_with('>') {
                self.close_to(matched);
                self.child_starts(Child::Block);
                container::quote_mark(&mut cursor);
                self.page.containers.push(Container::new(Kind::Quote));
            } else if let Some((label, length)) = starts::footnote(content).filter(|_| nests) {
                self.close_to(matched);
                self.child_starts(Child::Block);
                cursor.skip_indent();
                cursor.skip(length);
                self.push_item(4, format!("[{label}] "));
            } else if self.block_starts(content, &cursor, matched, whole) {
                return;
            } else if let Some((marker, length)) = item_start(content, in_paragraph).filter(|_| nests) {
                self.start_item(marker, length, &mut cursor, matched);
            } else {
                break;
            }
            started = true;
            matched = self.page.containers.len();
        }
        if cursor.is_blank() {
            if !started {
                self.close_to(matched);
                self.blank = true;
            }
            return;
        }
        let outside = matched < self.page.containers.len();
        let lazy = outside && self.in_paragraph();
        if outside && !lazy {
            self.close_to(matched);
        }
        self.text_line(cursor.content(), whole, lazy);
    }

    pub(super) fn in_paragraph(&self) -> bool {
        matches!(self.leaf, Leaf::Text(_))
    }

    /// Passes the line to a block that reads no markup; false if that block is over.
    fn leaf_goes_on(&mut self, cursor: &Cursor<'_>) -> bool {
        match &mut self.leaf {
            Leaf::None | Leaf::Text(_) | Leaf::Table(_) => return false,
            Leaf::Fence(fence) => match fence.line(cursor, &self.page.layout) {
                Some(row) => self.page.code(row),
                None => self.close_to(self.page.containers.len()),
            },
            Leaf::Indented(blanks) => {
                let mut cursor = *cursor;
                if cursor.is_blank() {
                    cursor.advance(4);
                    blanks.push(cursor.rest().into_owned());
                    self.blank = true;
                } else if cursor.indent() >= 4 {
                    for blank in std::mem::take(blanks) {
                        self.code_row(&blank);
                    }
                    cursor.advance(4);
                    self.code_row(&cursor.rest());
                    self.blank = false;
                } else {
                    self.leaf = Leaf::None;
                    return false;
                }
            }
            Leaf::Html(end) => {
                let end = *end;
                if end == BlockEnd::Blank && cursor.is_blank() {
                    self.leaf = Leaf::None;
                    self.blank = true;
                } else {
                    self.html_line(&cursor.rest(), end);
                }
            }
            Leaf::Maths(close) => {
                let close = *close;
                let row = cursor.rest();
                if cursor.is_blank() {
                    self.leaf = Leaf::None;
                    self.blank = true;
                } else {
                    self.page.maths(&row);
                    if row.trim_end().ends_with(close) {
                        self.leaf = Leaf::None;
                    }
                }
            }
        }
        true
    }

    /// Begins blocks that are not containers.
    fn block_starts(&mut self, content: &str, cursor: &Cursor<'_>, matched: usize, whole: bool) -> bool {
        let in_paragraph = matched == self.page.containers.len() && self.in_paragraph();
        if let Some((level, length)) = starts::heading(content) {
            self.close_to(matched);
            self.child_starts(Child::Block);
            self.leaf = Leaf::Text(Text::open(Some(level), &mut self.page));
            self.text_line(&content[length..], whole, true);
            return true;
        }
        if let Some(start) = starts::fence(content) {
            self.close_to(matched);
            self.child_starts(Child::Airy);
            let fence = Fence::new(start, cursor.indent(), &self.page.layout);
            fence.opening(&self.page.layout).into_iter().for_each(|row| self.page.code(row));
            self.leaf = Leaf::Fence(fence);
            return true;
        }
        if content.starts_with('<')
            && let Some(end) = html::block_start(content, in_paragraph)
        {
            self.close_to(matched);
            self.child_starts(Child::Block);
            self.leaf = Leaf::Html(end);
            self.html_line(&cursor.rest(), end);
            return true;
        }
        if in_paragraph
            && let Some(level) = starts::setext(content)
            && let Leaf::Text(text) = &self.leaf
            && text.underline(level, &mut self.page)
        {
            self.leaf = Leaf::None;
            return true;
        }
        if starts::is_rule(content) {
            self.close_to(matched);
            self.child_starts(Child::Block);
            self.page.rule();
            return true;
        }
        if let Some(close) = starts::maths(content) {
            self.close_to(matched);
            self.child_starts(Child::Airy);
            self.page.maths(content);
            if !content[2..].trim_end().ends_with(close) {
                self.leaf = Leaf::Maths(close);
            }
            return true;
        }
        if !self.in_paragraph()
            && let Some((label, target)) = definition(content)
        {
            self.close_to(matched);
            if !self.page.definitions.add(label, target) {
                self.child_starts(Child::Block);
                self.page.start();
                self.page.words(content, self.page.layout.theme.dim, Spaces::Collapse);
                self.page.finish();
            }
            return true;
        }
        false
    }

    fn start_item(&mut self, marker: Marker, length: usize, cursor: &mut Cursor<'_>, matched: usize) {
        self.close_to(matched);
        self.child_starts(Child::Item(marker));
        let offset = cursor.indent();
        cursor.skip_indent();
        cursor.skip(length);
        let spaces = cursor.indent();
        let padding = if cursor.is_blank() || spaces > 4 { 1 } else { spaces };
        cursor.advance(padding);
        let depth =
            self.page.containers.iter().filter(|container| matches!(container.kind, Kind::Item { .. })).count();
        let Some(parent) = self.page.containers.last_mut() else { return };
        let number = match (parent.list, marker) {
            (Some(list), _) if marker.continues(list.marker) => list.next,
            (_, Marker::Ordered(number, _)) => number,
            (_, Marker::Bullet(_)) => 1,
        };
        parent.list = Some(OpenList { marker, next: number.saturating_add(1) });
        let mut shown = container::item_marker(marker, number, depth);
        let content = cursor.content();
        if let Some(sign) = starts::task(content) {
            cursor.skip_indent();
            cursor.skip(starts::TASK);
            match marker {
                Marker::Bullet(_) => sign.clone_into(&mut shown),
                Marker::Ordered(_, _) => shown.push_str(sign),
            }
        }
        self.push_item(offset + length + padding, shown);
    }

    fn push_item(&mut self, indent: usize, marker: String) {
        let cells = width(&marker);
        self.page.containers.push(Container::new(Kind::Item { indent, cells, marker: Some(marker) }));
    }

    /// Requests the blank row before a block, and notes that its container has a block.
    fn child_starts(&mut self, child: Child) {
        let blank = std::mem::take(&mut self.blank);
        let airy = std::mem::replace(&mut self.airy, child == Child::Airy) || child == Child::Airy;
        let Some(parent) = self.page.containers.last_mut() else { return };
        let goes_on = match (child, parent.list) {
            (Child::Item(marker), Some(list)) => marker.continues(list.marker),
            (Child::Item(_) | Child::Block | Child::Airy, _) => {
                parent.list = None;
                false
            }
        };
        let spaced = match parent.kind {
            // A list's looseness is known only at its end, so each gap is kept as it is in the source.
            Kind::Item { .. } => blank,
            Kind::Document | Kind::Quote => blank || !goes_on,
        };
        let gap = parent.filled && (airy || spaced);
        parent.filled = true;
        if gap {
            self.page.out.gap(container::blank_row(&self.page.containers, &self.page.layout));
        }
    }

    /// Closes the open block, and all containers except the first `count`.
    pub(crate) fn close_to(&mut self, count: usize) {
        match std::mem::replace(&mut self.leaf, Leaf::None) {
            Leaf::None | Leaf::Indented(_) | Leaf::Html(_) | Leaf::Maths(_) => {}
            Leaf::Fence(fence) => fence.closing(&self.page.layout).into_iter().for_each(|row| self.page.code(row)),
            Leaf::Text(text) => text.finish(&mut self.page),
            Leaf::Table(mut table) => table.print(&mut self.page),
        }
        if self.page.containers.len() > count {
            self.page.print_markers(count);
            self.page.containers.truncate(count);
        }
    }

    /// Prints a line of code as it is.
    fn code_row(&mut self, code: &str) {
        self.page.code(Line::styled(code, self.page.layout.theme.code_block));
    }

    /// Prints the kind of a quote (an alert); the quote's text follows without a blank row.
    fn alert(&mut self, word: &str) {
        let style = overlay(self.page.base(), self.page.layout.theme.strong);
        self.page.words(word, style, Spaces::Keep);
        self.close_to(self.page.containers.len());
        if let Some(quote) = self.page.containers.last_mut() {
            quote.filled = false;
        }
    }

    fn html_line(&mut self, line: &str, end: BlockEnd) {
        self.page.html(line);
        if end.is_in(line) {
            self.leaf = Leaf::None;
        }
    }

    /// Turns the last line of the open paragraph into a table's head if this line is the table's rule.
    fn heads_table(&mut self, cursor: &Cursor<'_>) -> bool {
        let Leaf::Text(text) = &mut self.leaf else { return false };
        let Some(header) = text.header.as_deref().filter(|_| cursor.indent() < 4) else { return false };
        let Some(table) = Table::new(header, cursor.content()) else { return false };
        text.header = None;
        if text.is_empty() && self.page.wrapper.is_fresh() {
            // The paragraph has no other line: the table takes over its place and its markers.
            self.airy = true;
            let (first, rest) = self.page.wrapper.take_prefixes();
            self.leaf = Leaf::Table(table.with_prefixes(first, rest));
        } else {
            self.close_to(self.page.containers.len());
            self.child_starts(Child::Airy);
            let (first, rest) = self.page.prefixes();
            self.leaf = Leaf::Table(table.with_prefixes(first, rest));
        }
        true
    }

    /// Changes the width of the rows that follow.
    pub(crate) fn resize(&mut self, width: usize) {
        self.page.layout.width = width;
        let rest = self.in_paragraph().then(|| {
            // The wrapper already has the markers that are not printed yet.
            self.page.prefixes().1
        });
        self.page.wrapper.resize(self.page.layout.prose_width(), rest);
    }

    /// Takes a line of text into the open paragraph or table, or begins a paragraph.
    fn text_line(&mut self, content: &str, whole: bool, lazy: bool) {
        if let Leaf::Table(table) = &mut self.leaf {
            table.push(content);
            if table.is_full() {
                table.print(&mut self.page);
            }
            return;
        }
        if !self.in_paragraph() {
            let first =
                self.page.containers.last().is_some_and(|parent| parent.kind == Kind::Quote && !parent.filled);
            self.child_starts(Child::Block);
            self.leaf = Leaf::Text(Text::open(None, &mut self.page));
            if let Some(word) = starts::alert(content).filter(|_| first && whole) {
                self.alert(word);
                return;
            }
        }
        if let Leaf::Text(text) = &mut self.leaf {
            text.line(content, whole, lazy);
        }
        self.after_text(whole);
    }
}

/// Reads the marker of an item, if one may stand here: only an unmistakable list interrupts a paragraph.
pub(super) fn item_start(content: &str, in_paragraph: bool) -> Option<(Marker, usize)> {
    let (marker, length) = starts::list_marker(content)?;
    let sure = match marker {
        Marker::Bullet(_) => true,
        Marker::Ordered(number, _) => number == 1,
    };
    (!in_paragraph || sure && !content[length..].trim().is_empty()).then_some((marker, length))
}

#[cfg(test)]
#[path = "blocks_tests.rs"]
mod tests;
