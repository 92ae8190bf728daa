//! One page of a text: numbered lines from a reader, in bounded memory. Pure but for the reader.

use std::fmt::Write as _;
use std::io::{self, BufRead, Read as _};

use unicode_segmentation::UnicodeSegmentation as _;

use crate::secret::CUT;
use crate::tool::output;
use crate::tool::work::Stop;

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
    let wanted = range.offset.saturating_sub(1);
    let mut number = skip(&mut reader, wanted, stop)?;
    if number < wanted {
        page.total = Some(number);
        return Ok(page);
    }
    let mut line = Vec::new();
    while page.lines < range.limit {
        line.clear();
        if (&mut reader).take(LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
            page.total = Some(number);
            return Ok(page);
        }
        number += 1;
        let more = line.last() != Some(&b'\n') && reader.skip_until(b'\n')? > 0;
        let start = page.text.len();
        add(&mut page, &line, number, more);
        if page.text.len() > PAGE_BYTES && page.lines > 1 {
            page.text.truncate(start);
            page.lines -= 1;
            break;
        }
    }
    if range.count_all {
        page.total = Some(number + skip(&mut reader, u64::MAX, stop)?);
    } else if reader.fill_buf()?.is_empty() {
        // One look ahead tells that this was the end.
        page.total = Some(number);
    }
    Ok(page)
}

/// Skips lines; returns how many there were, the last one with or without its end.
fn skip(reader: &mut impl BufRead, wanted: u64, stop: &Stop) -> io::Result<u64> {
    let mut skipped = 0;
    let mut open = false;
    while skipped < wanted {
        if stop.is_set() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok(skipped + u64::from(open));
        }
        let ends = output::line_ends(buffer);
        let length = if skipped + ends < wanted {
            skipped += ends;
            open = buffer.last() != Some(&b'\n');
            buffer.len()
        } else {
            // The wanted end is in here: all of it but what follows that end.
            let left = usize::try_from(wanted - skipped).unwrap_or(usize::MAX);
            skipped = wanted;
            let at = buffer.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(left - 1);
            at.map_or(buffer.len(), |(at, _)| at + 1)
        };
        reader.consume(length);
    }
    Ok(skipped)
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
        let _ = write!(page.text, " {} line cut {}", CUT.0, CUT.1);
        page.cut += 1;
    }
    page.text.push('\n');
    page.lines += 1;
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
