//! One page of a text: numbered lines from a reader, in bounded memory. Pure but for the reader.

use std::fmt::Write as _;
use std::io::{self, BufRead, Read as _};

use unicode_segmentation::UnicodeSegmentation as _;

use super::work::Stop;

/// A page's text ends before this many bytes.
pub(crate) const PAGE_BYTES: usize = 50 * 1024;
/// Longer lines are cut (characters as a person counts them).
pub(crate) const LINE_LENGTH: usize = 2000;
/// How much of a line is looked at: a grapheme can be long, a line without end must not be held.
const LINE_BYTES: u64 = 16 * 1024;

/// What is wanted of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    /// The first line, from 1.
    pub(crate) offset: u64,
    /// How many lines at most.
    pub(crate) limit: u64,
    /// Whether to go on to the end for the number of lines.
    pub(crate) count_all: bool,
}

/// A page of numbered lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Page {
    /// The lines, numbered as `cat -n` does.
    pub(crate) text: String,
    /// How many lines are in it.
    pub(crate) lines: u64,
    /// How many lines were cut.
    pub(crate) cut: u64,
    /// How many lines the whole text has, where it was read to its end.
    pub(crate) total: Option<u64>,
    /// Whether lines ended in CR LF.
    pub(crate) carriage_returns: bool,
    /// Whether bytes were no UTF-8.
    pub(crate) lossy: bool,
}

/// Takes a page from a reader.
///
/// # Errors
/// What the reader said; `Interrupted` when `stop` was set.
pub(crate) fn page(mut reader: impl BufRead, range: Range, stop: &Stop) -> io::Result<Page> {
    let mut page = Page::default();
    let mut number = 0_u64;
    let mut line = Vec::new();
    let mut full = false;
    loop {
        if stop.is_set() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        line.clear();
        let wanted = number + 1 >= range.offset && page.lines < range.limit && !full;
        if (page.lines >= range.limit || full) && !range.count_all {
            // One look ahead tells whether this was the end.
            if reader.fill_buf()?.is_empty() {
                page.total = Some(number);
            }
            return Ok(page);
        }
        let taken = if wanted { LINE_BYTES } else { 1 };
        let read = (&mut reader).take(taken).read_until(b'\n', &mut line)?;
        if read == 0 {
            page.total = Some(number);
            return Ok(page);
        }
        number += 1;
        let mut more = false;
        if line.last() != Some(&b'\n') {
            more = reader.skip_until(b'\n')? > 0;
        }
        if wanted {
            let start = page.text.len();
            add(&mut page, &line, number, more);
            if page.text.len() > PAGE_BYTES && page.lines > 1 {
                page.text.truncate(start);
                page.lines -= 1;
                full = true;
            }
        }
    }
}

fn add(page: &mut Page, line: &[u8], number: u64, more: bool) {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = match line.strip_suffix(b"\r") {
        Some(line) if !more => {
            page.carriage_returns = true;
            line
        }
        _ => line,
    };
    let text = String::from_utf8_lossy(line);
    page.lossy |= !more && matches!(text, std::borrow::Cow::Owned(_));
    // Writing to a String cannot fail.
    let _ = write!(page.text, "{number:>6}\t");
    let end = if text.len() > LINE_LENGTH {
        text.grapheme_indices(true).nth(LINE_LENGTH).map(|(index, _)| index)
    } else {
        None
    };
    // The bytes that were looked at may end inside a grapheme.
    let end =
        end.or_else(|| if more { text.grapheme_indices(true).next_back().map(|(index, _)| index) } else { None });
    match end {
        Some(end) => page.text.push_str(&text[..end]),
        None => page.text.push_str(&text),
    }
    if more || end.is_some() {
        page.text.push_str(" … [line cut]");
        page.cut += 1;
    }
    page.text.push('\n');
    page.lines += 1;
}

#[cfg(test)]
#[path = "read_page_tests.rs"]
mod tests;
