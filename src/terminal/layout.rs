//! Computes where text ends on a terminal: how rows wrap, and how a line is cut to one row.

use unicode_segmentation::UnicodeSegmentation as _;

use super::line::{Line, Span};
use super::width::{char_width, cluster_width};

/// Where the cursor stands after text that began at column 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// How many rows below the first one.
    pub(crate) row: usize,
    /// The column; equal to the width if the row is full and the terminal has not wrapped yet.
    pub(crate) column: usize,
    /// How many cells of this row terminals disagree about: joined emoji, emoji selectors, flags.
    pub(crate) doubt: usize,
}

/// Returns the width of a grapheme cluster, and how many more cells some terminals give it.
fn cells(cluster: &str) -> (usize, usize) {
    let width = cluster_width(cluster);
    let single: usize = cluster.chars().map(char_width).sum();
    let selected = cluster.contains('\u{FE0F}');
    // Terminals without grapheme clusters add up the characters; those without VS16 show one cell.
    (width, width.max(single) - width + usize::from(selected))
}

impl Extent {
    /// Moves over `text` on a terminal with `width` columns.
    pub(crate) fn advance(&mut self, text: &str, width: usize) {
        if text.is_ascii() && !text.contains('\t') {
            let end = self.column + text.len();
            if end <= width {
                self.column = end;
                return;
            }
        }
        for cluster in text.graphemes(true) {
            if cluster == "\t" {
                // A tab never wraps: it stops at the last column.
                self.column = ((self.column / 8 + 1) * 8).min(width.saturating_sub(1)).max(self.column);
                continue;
            }
            let (cells, doubt) = cells(cluster);
            if self.column + cells > width {
                *self = Self { row: self.row + 1, column: 0, doubt: 0 };
            }
            self.column += cells;
            self.doubt += doubt;
        }
    }

    /// Returns where the first `bytes` bytes of `line` end.
    pub(crate) fn after(mut self, line: &Line, mut bytes: usize, width: usize) -> Self {
        for span in &line.spans {
            let part = bytes.min(span.text.len());
            self.advance(&span.text[..part], width);
            bytes -= part;
        }
        self
    }
}

/// Returns the length in bytes.
pub(crate) fn length(line: &Line) -> usize {
    line.spans.iter().map(|span| span.text.len()).sum()
}

/// Returns how many bytes at the start of two lines have the same text, style and link; ends on a character
/// boundary.
pub(crate) fn common_prefix(first: &Line, second: &Line) -> usize {
    let (mut same, mut index) = (0, [0, 0]);
    let mut offset = [0, 0];
    while let (Some(one), Some(two)) = (first.spans.get(index[0]), second.spans.get(index[1])) {
        let (left, right) = (&one.text[offset[0]..], &two.text[offset[1]..]);
        let alike = one.style == two.style && one.link == two.link;
        let reach = left.len().min(right.len());
        if reach > 0 {
            let equal = if !alike {
                0
            } else if left.as_bytes()[..reach] == right.as_bytes()[..reach] {
                reach
            } else {
                let differing = left.bytes().zip(right.bytes()).take_while(|(a, b)| a == b).count();
                left.floor_char_boundary(differing)
            };
            same += equal;
            if equal < reach {
                return same;
            }
        }
        for (which, (index, offset)) in index.iter_mut().zip(offset.iter_mut()).enumerate() {
            *offset += reach;
            let span = if which == 0 { one } else { two };
            if *offset == span.text.len() {
                (*index, *offset) = (*index + 1, 0);
            }
        }
    }
    same
}

/// Returns the last grapheme boundary of `line` at or before byte `bytes`.
pub(crate) fn grapheme_floor(line: &Line, bytes: usize) -> usize {
    let text = line.text();
    let bytes = bytes.min(text.len());
    text.grapheme_indices(true)
        .map(|(index, _)| index)
        .chain([text.len()])
        .take_while(|&it| it <= bytes)
        .last()
        .unwrap_or(0)
}

/// Returns the part of `line` from byte `from` to byte `to`.
pub(crate) fn slice(line: &Line, from: usize, to: usize) -> Line {
    let mut part = Line::new();
    let mut start = 0;
    for span in &line.spans {
        let end = start + span.text.len();
        let (low, high) = (from.clamp(start, end), to.clamp(start, end));
        if low < high {
            part.push(Span { text: span.text[low - start..high - start].to_owned(), ..span.clone() });
        }
        start = end;
    }
    part
}

/// Returns how many cells `line` takes without wrapping, and how many more it may take.
pub(crate) fn measure(line: &Line) -> (usize, usize) {
    let end = Extent::default().after(line, usize::MAX, usize::MAX);
    (end.column, end.doubt)
}

/// Cuts `line` to `width` cells; an ellipsis shows that something is missing.
pub fn cut(line: &Line, width: usize) -> Line {
    let (cells, doubt) = measure(line);
    if cells + doubt <= width {
        return line.clone();
    }
    let mut kept = Line::new();
    let mut extent = Extent::default();
    for span in &line.spans {
        for cluster in span.text.graphemes(true) {
            let before = extent;
            extent.advance(cluster, usize::MAX);
            if extent.column + extent.doubt + 1 > width {
                if before.column + before.doubt < width {
                    kept.push(Span::new("…", span.style));
                }
                return kept;
            }
            kept.push(Span { text: cluster.to_owned(), ..span.clone() });
        }
    }
    kept
}
