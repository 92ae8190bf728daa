//! Containers (quotes, list items, footnotes): how a line continues in one, and what stands before its rows.

use nu_ansi_term::Style;

use super::cursor::Cursor;
use super::starts::Marker;
use crate::terminal::markdown::layout::Layout;
use crate::terminal::markdown::rows::Prefix;
use crate::terminal::{
    line::{Line, Span},
    width::width,
};

/// How many containers may be nested, including the document: each row costs that many steps. No text nests deeper
/// on purpose, but a model that repeats `>` does (markdown-it has the same limit).
pub(super) const DEEPEST: usize = 100;
/// Bullets by depth.
const BULLETS: [&str; 3] = ["•", "◦", "▪"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    Document,
    Quote,
    /// A list item or a footnote: its marker, and the column of its text in the source.
    Item {
        indent: usize,
        /// Cells of the marker and the space after it.
        cells: usize,
        /// The marker, until it is printed beside the first row.
        marker: Option<String>,
    },
}

/// A list that the next item may continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenList {
    pub(super) marker: Marker,
    pub(super) next: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Container {
    pub(super) kind: Kind,
    pub(super) list: Option<OpenList>,
    /// It has a block already.
    pub(super) filled: bool,
}

impl Container {
    pub(super) fn new(kind: Kind) -> Self {
        Self { kind, list: None, filled: false }
    }

    /// Skips the container's mark in a line; false if the line is not in the container.
    pub(super) fn goes_on(&self, cursor: &mut Cursor<'_>) -> bool {
        match &self.kind {
            Kind::Document => true,
            Kind::Quote => quote_mark(cursor),
            Kind::Item { indent, .. } => {
                if cursor.indent() >= *indent {
                    cursor.advance(*indent);
                    true
                } else if cursor.is_blank() && self.filled {
                    cursor.skip_indent();
                    true
                } else {
                    false
                }
            }
        }
    }
}

/// Steps over `>` and the space after it.
pub(super) fn quote_mark(cursor: &mut Cursor<'_>) -> bool {
    if cursor.indent() > 3 || !cursor.content().starts_with('>') {
        return false;
    }
    cursor.skip_indent();
    cursor.skip(1);
    if cursor.indent() > 0 {
        cursor.advance(1);
    }
    true
}

/// Returns the marker to print beside an item at this depth.
pub(super) fn item_marker(marker: Marker, number: u64, depth: usize) -> String {
    match marker {
        Marker::Bullet(_) => format!("{} ", BULLETS[depth % BULLETS.len()]),
        Marker::Ordered(_, mark) => format!("{number}{} ", char::from(mark)),
    }
}

/// Returns the prefix of a block's first row, and that of its other rows; the markers count as printed.
pub(super) fn prefixes(containers: &mut [Container], layout: &Layout) -> (Prefix, Prefix) {
    let style = layout.theme.furniture;
    let (mut first, mut rest) = (Prefix::default(), Prefix::default());
    // Deep nesting must leave enough room for text: the outer levels lose their indentation first.
    let room = layout.width.saturating_sub((layout.width * 3 / 5).clamp(10, 24));
    let mut excess = containers.iter().map(cells).sum::<usize>().saturating_sub(room);
    for container in containers {
        match &mut container.kind {
            Kind::Document => {}
            Kind::Quote if excess > 0 => excess = excess.saturating_sub(2),
            Kind::Quote => {
                first.push("│ ", style);
                rest.push("│ ", style);
            }
            Kind::Item { cells, marker, .. } => {
                let shown = cells.saturating_sub(excess);
                excess -= *cells - shown;
                match marker.take() {
                    Some(marker) => first.push(&marker, style),
                    None => first.push(&" ".repeat(shown), Style::default()),
                }
                rest.push(&" ".repeat(shown), Style::default());
            }
        }
    }
    (first, rest)
}

fn cells(container: &Container) -> usize {
    match &container.kind {
        Kind::Document => 0,
        Kind::Quote => 2,
        Kind::Item { cells, .. } => *cells,
    }
}

/// Returns the blank row between two blocks in these containers: it has the bars of their quotes.
pub(super) fn blank_row(containers: &[Container], layout: &Layout) -> Line {
    let mut text = String::new();
    for container in containers {
        match &container.kind {
            Kind::Document => {}
            Kind::Quote => text.push_str("│ "),
            Kind::Item { cells, .. } => text.push_str(&" ".repeat(*cells)),
        }
    }
    let shown = text.trim_end();
    let mut line = Line::new();
    if width(shown) < layout.width {
        line.push(Span::new(shown, layout.theme.furniture));
    }
    line
}
