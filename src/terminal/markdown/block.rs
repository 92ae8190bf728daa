//! Blocks, line by line: CommonMark's container algorithm, which never needs to look back.
//!
//! A line is taken as soon as its start says what it is (`early.rs`); its text then flows on into the open block.

use super::{
    Layout,
    container::{self, Container, Kind, OpenList},
    cursor::Cursor,
    fence::Fence,
    inline::Parsed,
    links::{self, Definitions},
    output::Output,
    raw_html::{self, BlockEnd},
    starts::{self, Marker},
    table::Table,
    text::Text,
    wrap::{Spaces, Wrapper},
};
use crate::terminal::{
    line::{Line, Span},
    width::width,
};

/// The block that takes lines.
#[derive(Debug, Clone)]
pub(super) enum Leaf {
    None,
    /// A paragraph or heading.
    Text(Text),
    Fence(Fence),
    /// Indented code, with the blank lines that are code only if code follows.
    Indented(Vec<String>),
    Html(BlockEnd),
    /// Displayed maths, with what closes it.
    Maths(&'static str),
    Table(Table),
}

/// What begins inside a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Child {
    Block,
    /// A block that wants blank rows around it even in a tight list: code and tables.
    Airy,
    Item(Marker),
}

#[derive(Debug, Clone)]
pub(super) struct Blocks {
    pub(super) layout: Layout,
    pub(super) containers: Vec<Container>,
    pub(super) leaf: Leaf,
    pub(super) wrapper: Wrapper,
    pub(super) parsed: Parsed,
    pub(super) definitions: Definitions,
    pub(super) out: Output,
    /// A blank line came since the last block.
    blank: bool,
    /// The last block wants a blank row after it.
    airy: bool,
    /// What comes is the model's reasoning.
    pub(super) reasoning: bool,
}

impl Blocks {
    pub(super) fn new(layout: &Layout) -> Self {
        Self {
            layout: *layout,
            containers: vec![Container::new(Kind::Document)],
            leaf: Leaf::None,
            wrapper: Wrapper::new(layout.width, layout.wrap),
            parsed: Parsed::default(),
            definitions: Definitions::default(),
            out: Output::default(),
            blank: false,
            airy: false,
            reasoning: false,
        }
    }

    /// Copies what the last row needs, see [`super::MarkdownStream::tail`].
    pub(super) fn abridged(&self) -> Self {
        let leaf = match &self.leaf {
            Leaf::Text(text) => Leaf::Text(text.abridged()),
            Leaf::Indented(_) => Leaf::Indented(Vec::new()),
            Leaf::None | Leaf::Fence(_) | Leaf::Html(_) | Leaf::Maths(_) | Leaf::Table(_) => self.leaf.clone(),
        };
        Self {
            layout: self.layout,
            containers: self.containers.clone(),
            leaf,
            wrapper: self.wrapper.clone(),
            parsed: Parsed::default(),
            definitions: self.definitions.clone(),
            out: Output::default(),
            blank: self.blank,
            airy: self.airy,
            reasoning: self.reasoning,
        }
    }

    /// Steps over what the open containers ask of a line; returns how many the line is in.
    pub(super) fn matching(&self, cursor: &mut Cursor<'_>) -> usize {
        let mut matched = 0;
        for container in &self.containers {
            let before = *cursor;
            if !container.goes_on(cursor) {
                *cursor = before;
                break;
            }
            matched += 1;
        }
        matched
    }

    /// Takes a line, or with `whole` false the start of one that is known to be text.
    pub(super) fn line(&mut self, line: &str, whole: bool) {
        let mut cursor = Cursor::new(line);
        let mut matched = self.matching(&mut cursor);
        if matched == self.containers.len() && (self.leaf_goes_on(&cursor) || self.heads_table(&cursor)) {
            return;
        }
        let mut started = false;
        while !cursor.is_blank() {
            let inside = matched == self.containers.len();
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
            // Deeper than any text means it: what is left of the line is text.
            let nests = matched < container::DEEPEST;
            if nests && content.starts_with('>') {
                self.close_to(matched);
                self.child_starts(Child::Block);
                container::quote_mark(&mut cursor);
                self.containers.push(Container::new(Kind::Quote));
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
            matched = self.containers.len();
        }
        if cursor.is_blank() {
            if !started {
                self.close_to(matched);
                self.blank = true;
            }
            return;
        }
        let outside = matched < self.containers.len();
        let lazy = outside && self.in_paragraph();
        if outside && !lazy {
            self.close_to(matched);
        }
        self.text_line(cursor.content(), whole, lazy);
    }

    pub(super) fn in_paragraph(&self) -> bool {
        matches!(self.leaf, Leaf::Text(_))
    }

    /// Gives the line to a block that reads no markup; false when that block is over.
    fn leaf_goes_on(&mut self, cursor: &Cursor<'_>) -> bool {
        match &mut self.leaf {
            Leaf::None | Leaf::Text(_) | Leaf::Table(_) => return false,
            Leaf::Fence(fence) => match fence.line(cursor, &self.layout) {
                Some(row) => self.code_line(row),
                None => self.leaf = Leaf::None,
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
                    self.verbatim(&row);
                    if row.trim_end().ends_with(close) {
                        self.leaf = Leaf::None;
                    }
                }
            }
        }
        true
    }

    /// Begins blocks that are no containers.
    fn block_starts(&mut self, content: &str, cursor: &Cursor<'_>, matched: usize, whole: bool) -> bool {
        let in_paragraph = matched == self.containers.len() && self.in_paragraph();
        if let Some((level, length)) = starts::heading(content) {
            self.close_to(matched);
            self.child_starts(Child::Block);
            self.start_text(Some(level));
            self.text_line(&content[length..], whole, true);
            return true;
        }
        if let Some(start) = starts::fence(content) {
            self.close_to(matched);
            self.child_starts(Child::Airy);
            self.leaf = Leaf::Fence(Fence::new(start, cursor.indent(), &self.layout));
            return true;
        }
        if content.starts_with('<')
            && let Some(end) = raw_html::block_start(content, in_paragraph)
        {
            self.close_to(matched);
            self.child_starts(Child::Block);
            self.leaf = Leaf::Html(end);
            self.html_line(&cursor.rest(), end);
            return true;
        }
        if in_paragraph
            && let Some(level) = starts::setext(content)
            && self.underline(level)
        {
            return true;
        }
        if starts::is_rule(content) {
            self.close_to(matched);
            self.child_starts(Child::Block);
            self.rule();
            return true;
        }
        if let Some(close) = starts::maths(content) {
            self.close_to(matched);
            self.child_starts(Child::Airy);
            self.verbatim(content);
            if !content[2..].trim_end().ends_with(close) {
                self.leaf = Leaf::Maths(close);
            }
            return true;
        }
        if !self.in_paragraph()
            && let Some((label, target)) = links::definition(content)
        {
            self.close_to(matched);
            if !self.definitions.add(label, target) {
                self.child_starts(Child::Block);
                let (first, rest) = container::prefixes(&mut self.containers, &self.layout);
                self.wrapper.start(self.layout.width, first, rest);
                self.wrapper.push(content, self.layout.theme.dim, None, Spaces::Collapse, &mut self.out);
                self.wrapper.finish(&mut self.out);
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
        let depth = self.containers.iter().filter(|container| matches!(container.kind, Kind::Item { .. })).count();
        let Some(parent) = self.containers.last_mut() else { return };
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
        self.containers.push(Container::new(Kind::Item { indent, cells, marker: Some(marker) }));
    }

    /// Asks for the blank row before a block, and notes that its container has one.
    fn child_starts(&mut self, child: Child) {
        let blank = std::mem::take(&mut self.blank);
        let airy = std::mem::replace(&mut self.airy, child == Child::Airy) || child == Child::Airy;
        let Some(parent) = self.containers.last_mut() else { return };
        let goes_on = match (child, parent.list) {
            (Child::Item(marker), Some(list)) => marker.continues(list.marker),
            (Child::Item(_) | Child::Block | Child::Airy, _) => {
                parent.list = None;
                false
            }
        };
        let spaced = match parent.kind {
            // Whether a list is loose is known at its end only; so each gap is as it is in the source.
            Kind::Item { .. } => blank,
            Kind::Document | Kind::Quote => blank || !goes_on,
        };
        let gap = parent.filled && (airy || spaced);
        parent.filled = true;
        if gap {
            self.out.gap(container::blank_row(&self.containers, &self.layout));
        }
    }

    /// Ends the open block and all containers but the first `count`.
    pub(super) fn close_to(&mut self, count: usize) {
        match std::mem::replace(&mut self.leaf, Leaf::None) {
            Leaf::None | Leaf::Fence(_) | Leaf::Indented(_) | Leaf::Html(_) | Leaf::Maths(_) => {}
            Leaf::Text(text) => self.end_text(text),
            Leaf::Table(table) => self.end_table(table),
        }
        if self.containers.len() > count {
            self.print_markers(count);
            self.containers.truncate(count);
        }
    }

    /// Prints the markers of items that have no row of their own yet.
    fn print_markers(&mut self, from: usize) {
        let waiting = |container: &Container| matches!(&container.kind, Kind::Item { marker: Some(_), .. });
        if self.containers.iter().skip(from).any(waiting) {
            let (first, rest) = container::prefixes(&mut self.containers, &self.layout);
            self.wrapper.start(self.layout.width, first, rest);
            self.wrapper.finish_with_prefix(&mut self.out);
        }
    }

    /// Prints a line of code as it is.
    fn code_row(&mut self, code: &str) {
        self.code_line(Line::styled(code, self.layout.theme.code_block));
    }

    fn code_line(&mut self, row: Line) {
        self.print_markers(0);
        self.out.row(row);
    }

    /// Prints a line of maths beside what its containers put before it.
    fn verbatim(&mut self, text: &str) {
        let (first, _) = container::prefixes(&mut self.containers, &self.layout);
        let mut row = Line { spans: first.spans };
        row.push(Span::new(text, self.layout.theme.code));
        self.out.row(row);
    }

    /// Prints what kind of quote this is; the quote's text follows without a blank row.
    fn alert(&mut self, word: &str) {
        let style = super::emit::overlay(self.base(), self.layout.theme.strong);
        self.wrapper.push(word, style, None, Spaces::Keep, &mut self.out);
        self.close_to(self.containers.len());
        if let Some(quote) = self.containers.last_mut() {
            quote.filled = false;
        }
    }

    fn html_line(&mut self, line: &str, end: BlockEnd) {
        let (first, rest) = container::prefixes(&mut self.containers, &self.layout);
        self.wrapper.start(self.layout.width, first, rest);
        self.wrapper.push(line.trim_end(), self.layout.theme.dim, None, Spaces::Keep, &mut self.out);
        // A comment may hold blank lines.
        self.wrapper.finish_with_prefix(&mut self.out);
        if end.is_in(line) {
            self.leaf = Leaf::None;
        }
    }

    fn rule(&mut self) {
        let (first, _) = container::prefixes(&mut self.containers, &self.layout);
        let cells = self.layout.width.saturating_sub(first.width).clamp(3, super::RULE_WIDTH);
        let mut row = Line { spans: first.spans };
        row.push(Span::new("─".repeat(cells), self.layout.theme.furniture));
        self.out.row(row);
    }

    /// Turns the open paragraph's waiting line into a table's head when this line is its rule.
    fn heads_table(&mut self, cursor: &Cursor<'_>) -> bool {
        let Leaf::Text(text) = &mut self.leaf else { return false };
        let Some(header) = text.header.as_deref().filter(|_| cursor.indent() < 4) else { return false };
        let Some(table) = Table::new(header, cursor.content()) else { return false };
        text.header = None;
        if text.is_empty() && self.wrapper.is_fresh() {
            // The paragraph was nothing but this line: the table takes its place and its markers.
            self.airy = true;
            let (first, rest) = self.wrapper.take_prefixes();
            self.leaf = Leaf::Table(table.with_prefixes(first, rest));
        } else {
            self.close_to(self.containers.len());
            self.child_starts(Child::Airy);
            let (first, rest) = container::prefixes(&mut self.containers, &self.layout);
            self.leaf = Leaf::Table(table.with_prefixes(first, rest));
        }
        true
    }

    /// Changes the width of the rows to come.
    pub(super) fn resize(&mut self, width: usize) {
        self.layout.width = width;
        let rest = self.in_paragraph().then(|| {
            // Markers not printed yet are the wrapper's already.
            container::prefixes(&mut self.containers, &self.layout).1
        });
        self.wrapper.resize(width, rest);
    }

    /// Takes a line of text into the open paragraph or table, or begins a paragraph.
    fn text_line(&mut self, content: &str, whole: bool, lazy: bool) {
        if let Leaf::Table(table) = &mut self.leaf {
            table.push(content);
            self.settle_table();
            return;
        }
        if !self.in_paragraph() {
            let first = self.containers.last().is_some_and(|parent| parent.kind == Kind::Quote && !parent.filled);
            self.child_starts(Child::Block);
            self.start_text(None);
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

/// Reads an item's marker where one may stand: a paragraph is interrupted only by what is surely a list.
pub(super) fn item_start(content: &str, in_paragraph: bool) -> Option<(Marker, usize)> {
    let (marker, length) = starts::list_marker(content)?;
    let sure = match marker {
        Marker::Bullet(_) => true,
        Marker::Ordered(number, _) => number == 1,
    };
    (!in_paragraph || sure && !content[length..].trim().is_empty()).then_some((marker, length))
}

#[cfg(test)]
#[path = "block_tests.rs"]
mod tests;
