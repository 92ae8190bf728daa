//! How many terminal cells a text takes: grapheme clusters, wide letters, emoji sequences, combining marks, tabs.
//!
//! The widths of single characters come from `unicode-width`. The width of a cluster is decided here: terminals
//! draw an emoji sequence as one picture of two cells, while the sum of its parts would be four or more.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;

/// A tab moves to the next column that is a multiple of this, as on terminals.
pub const TAB: usize = 8;

const ZERO_WIDTH_JOINER: char = '\u{200D}';
const EMOJI_PRESENTATION: char = '\u{FE0F}';
const KEYCAP: char = '\u{20E3}';

/// Returns the width of a single character in cells; control characters have none.
#[must_use]
pub fn char_width(character: char) -> usize {
    if character.is_ascii() { usize::from(!character.is_ascii_control()) } else { character.width().unwrap_or(0) }
}

/// Returns the width of one grapheme cluster in cells.
///
/// A cluster that grows never becomes narrower, so a full row stays full while text arrives.
#[must_use]
pub fn cluster_width(cluster: &str) -> usize {
    let mut characters = cluster.chars();
    let Some(first) = characters.next() else { return 0 };
    let lead = char_width(first);
    let mut sum = lead;
    let mut picture = false;
    for character in characters {
        match character {
            EMOJI_PRESENTATION | KEYCAP => return 2.max(lead),
            // Joined or toned pictures are drawn as one; a joiner between letters of Indic scripts joins no
            // pictures.
            ZERO_WIDTH_JOINER | '\u{1F3FB}'..='\u{1F3FF}' if lead == 2 => picture = true,
            _ => sum += char_width(character),
        }
    }
    if picture { 2 } else { sum }
}

/// Returns the width of a text without tabs and newlines, in cells.
#[must_use]
pub fn width(text: &str) -> usize {
    if is_printable_ascii(text) { text.len() } else { text.graphemes(true).map(cluster_width).sum() }
}

/// Returns the column after `text` if it is printed from `column` on; a tab moves to the next multiple of [`TAB`].
#[must_use]
pub fn column_after(text: &str, column: usize) -> usize {
    let mut pieces = text.split('\t');
    let start = column + pieces.next().map_or(0, width);
    pieces.fold(start, |column, piece| (column / TAB + 1) * TAB + width(piece))
}

/// Returns the longest start of `text` that fits into `cells`; never cuts a cluster.
#[must_use]
pub fn fitting(text: &str, cells: usize) -> &str {
    if text.len() <= cells && is_printable_ascii(text) {
        return text;
    }
    let mut used = 0;
    for (offset, cluster) in text.grapheme_indices(true) {
        used += cluster_width(cluster);
        if used > cells {
            return &text[..offset];
        }
    }
    text
}

/// Shortens a text that is wider than `cells` to its beginning and `…`.
#[must_use]
pub fn beginning(text: &str, cells: usize) -> String {
    if width(text) <= cells {
        return text.to_owned();
    }
    let mark = if cells > 0 { "…" } else { "" };
    format!("{}{mark}", fitting(text, cells.saturating_sub(1)))
}

/// Returns the longest end of `text` that fits into `cells`; never cuts a cluster.
#[must_use]
pub fn fitting_end(text: &str, cells: usize) -> &str {
    let mut used = 0;
    let mut start = text.len();
    for (offset, cluster) in text.grapheme_indices(true).rev() {
        used += cluster_width(cluster);
        if used > cells {
            break;
        }
        start = offset;
    }
    &text[start..]
}

/// Shortens a text that is wider than `cells` to its beginning and its end, with `…` between them: names of one
/// family begin alike and differ at the end.
#[must_use]
pub fn ends(text: &str, cells: usize) -> String {
    if width(text) <= cells {
        return text.to_owned();
    }
    let head = fitting(text, cells / 3);
    let mark = if cells > 0 { "…" } else { "" };
    format!("{head}{mark}{}", fitting_end(text, cells.saturating_sub(width(head) + 1)))
}

/// Tells whether each byte takes exactly one cell.
pub(crate) fn is_printable_ascii(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

#[cfg(test)]
#[path = "width_tests.rs"]
mod tests;
