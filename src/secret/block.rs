//! Recognises private keys from their first line to their last, and what is here of one that was cut.

use std::ops::Range;

use super::level::Level;

/// The longest key, in bytes.
const LONGEST: usize = 128 * 1024;
/// The longest label, in bytes.
const LONGEST_LABEL: usize = 80;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
/// What ends both marks.
const DASHES: &str = "-----";

/// The endings of the labels of blocks that are secret.
const LABELS: &[&str] = &["PRIVATE KEY", "PRIVATE KEY BLOCK", "OpenVPN Static key V1"];

/// What may stand between the first line of a key and its rows (RFC 1421, section 4.6; RFC 9580, section 6.2.2).
const HEADERS: &[&str] = &["Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:", "Charset:", "MessageID:"];

/// The letters in a row from which on a line beside a mark is a row of the key.
const ROW: usize = 16;
/// The same for what stands in one line with the mark, or behind headers.
const ROW_BESIDE: usize = 40;
/// How many rows at the end of a key may have fewer: its last one, and a checksum.
const SHORT_ROWS: usize = 2;

/// Finds private keys; of a key whose first or last line is not here, everything that can belong to it.
pub(super) fn find(text: &str, level: Level, found: &mut Vec<Range<usize>>) {
    let others = found.len();
    let mut from = 0;
    while let Some(begin) = Mark::next(text, BEGIN, from) {
        let body = begin.place.end;
        let end = format!("{END}{}{DASHES}", begin.label);
        let window = &text[body..text.floor_char_boundary((body + LONGEST).min(text.len()))];
        let to = window
            .find(&end)
            .map_or_else(|| body + cut(&text[body..], level).max(rows_below(window)), |at| body + at + end.len());
        if to > body {
            found.push(begin.place.start..to);
        }
        from = to;
    }
    let whole = found[others..].to_vec();
    let mut from = 0;
    while let Some(end) = Mark::next(text, END, from) {
        from = end.place.end;
        let key = whole.get(whole.partition_point(|key| key.end <= end.place.start));
        if key.is_none_or(|key| key.start > end.place.start)
            && let Some(rows) = rows_above(&text[..end.place.start])
        {
            found.push(rows..end.place.end);
        }
    }
    putty(text, found);
}

/// The first or the last line of a block that is secret.
struct Mark<'a> {
    place: Range<usize>,
    label: &'a str,
}

impl<'a> Mark<'a> {
    /// Finds the next one of those that start with this sign.
    fn next(text: &'a str, sign: &str, mut from: usize) -> Option<Self> {
        loop {
            let at = from + text[from..].find(sign)?;
            from = at + sign.len();
            let window = &text[from..text.floor_char_boundary((from + LONGEST_LABEL).min(text.len()))];
            let Some(label) = window.find(DASHES).map(|end| &window[..end]) else { continue };
            if LABELS.iter().any(|known| label.ends_with(known)) {
                return Some(Self { place: at..from + label.len() + DASHES.len(), label });
            }
        }
    }
}

/// Returns how far the rows of a key reach into the text behind its first line; 0 where there are none.
fn rows_below(text: &str) -> usize {
    let mut to = 0;
    for (number, row) in rows(text.split(DASHES).next().unwrap_or_default()).into_iter().enumerate() {
        // Behind the headers, too, a long word alone is no row.
        let least = if number == 1 || to > 0 { ROW } else { ROW_BESIDE };
        if row.letters.len() >= least {
            to = row.letters.end;
        } else if to > 0 || number > 0 && !row.is_header {
            break;
        }
    }
    to
}

/// Finds where the rows of a key begin whose last line stands behind the text.
fn rows_above(text: &str) -> Option<usize> {
    let window = &text[text.ceil_char_boundary(text.len().saturating_sub(LONGEST))..];
    // What another mark ends is another block. So each byte is looked at for one mark alone.
    let window = window.rsplit(DASHES).next().unwrap_or_default();
    let mut from = None;
    for (number, row) in rows(window).into_iter().rev().enumerate() {
        if row.letters.len() >= if number == 0 { ROW_BESIDE } else { ROW } {
            from = Some(text.len() - window.len() + row.letters.start);
        } else if from.is_some() || number > SHORT_ROWS {
            break;
        }
    }
    from
}

/// A line, or what is one in a string: `\n`.
struct Row {
    /// The most letters of base64 in a row; what stands before them is put there by `grep -n`, `diff` and the like.
    letters: Range<usize>,
    /// Whether it may stand before the rows of a key.
    is_header: bool,
}

fn rows(text: &str) -> Vec<Row> {
    let (mut rows, mut at) = (Vec::new(), 0);
    for line in text.split('\n') {
        for row in line.split("\\n") {
            let letters = most_letters(row);
            rows.push(Row { letters: at + letters.start..at + letters.end, is_header: is_header(row) });
            at += row.len() + "\\n".len();
        }
        at = at - "\\n".len() + 1;
    }
    rows
}

/// Tells whether a line is a header, or one without a text, behind whatever is put before it: `key.pem:12:`.
fn is_header(row: &str) -> bool {
    let row = row.trim();
    let is_empty = !row.contains(char::is_whitespace) && !row.ends_with(char::is_alphanumeric);
    is_empty
        || !row.contains(|letter: char| letter.is_ascii_alphabetic())
        || HEADERS.iter().any(|header| row.contains(header))
}

/// The longest of the words of base64 in a line.
fn most_letters(row: &str) -> Range<usize> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let (mut most, mut start) = (0..0, 0);
    for (at, byte) in row.bytes().enumerate() {
        if !is_letter(byte) {
            start = at + 1;
        } else if at + 1 - start > most.len() {
            most = start..at + 1;
        }
    }
    most
}

/// Returns how many bytes of a private key that was cut are here, 0 if words follow. A text that is sent may end
/// after the key's first line.
fn cut(body: &str, level: Level) -> usize {
    let of_key = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=\\ \r\n\t".contains(byte);
    let length = body.bytes().take_while(of_key).count();
    let begins = level == Level::Sent && body.trim_start_matches('\r').starts_with('\n');
    let is_key = begins || body[..length].split_whitespace().any(|line| line.len() >= 20);
    if is_key { length } else { 0 }
}

/// Finds keys in PuTTY's own format: a number of lines of base64.
fn putty(text: &str, found: &mut Vec<Range<usize>>) {
    const LINES: &str = "Private-Lines:";
    for (at, _) in text.match_indices(LINES) {
        let from = at + LINES.len();
        let mut to = from;
        let count: usize = text[from..].lines().next().and_then(|line| line.trim().parse().ok()).unwrap_or(0);
        for line in text[from..].split_inclusive('\n').take(count.min(200) + 1) {
            to += line.len();
        }
        found.push(from..to);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What programs put before each line.
    const BEFORE: &[&str] =
        &["", "-", "+", "< ", "> ", "{n}:", "key.pem:{n}:", "key.pem-{n}-", "   {n}\t", "│ {n} ", "  \""];
    const LINE_ENDS: &[&str] = &["\n", "\r\n", "\\n", "\",\n"];
    /// The letters of a row that are not to be left.
    const LEFT: usize = 40;

    fn without_keys(text: &str) -> String {
        let mut found = Vec::new();
        find(text, Level::Kept, &mut found);
        let mut left = String::new();
        let mut from = 0;
        for key in super::super::merged(found) {
            left.push_str(&text[from..key.start]);
            left.push('*');
            from = key.end;
        }
        left + &text[from..]
    }

    proptest! {
        #[test]
        fn of_a_key_that_is_cut_anywhere_no_row_is_left_beside_a_mark(
            body in "[A-Za-z0-9+/]{40,900}={0,2}",
            width in prop::sample::select(vec![64_usize, 70, 76]),
            label in prop::sample::select(vec!["RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PRIVATE KEY", "PGP PRIVATE KEY BLOCK"]),
            headers in prop::sample::select(vec![&[][..], &["Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,00ff", ""], &["Comment: x", ""]]),
            checksum in prop::sample::select(vec![None, Some("=njUN")]),
            before in prop::sample::select(BEFORE),
            line_end in prop::sample::select(LINE_ENDS),
            cut in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        ) {
            let rows: Vec<&str> = body.as_bytes().chunks(width).map(|row| std::str::from_utf8(row).unwrap()).collect();
            let (begin, end) = (format!("-----BEGIN {label}-----"), format!("-----END {label}-----"));
            let around = ["The key of the server:", ""];
            let lines = around.iter().copied().chain([begin.as_str()]).chain(headers.iter().copied());
            let lines = lines.chain(rows.iter().copied()).chain(checksum).chain([end.as_str(), "and more words"]);
            let lines = lines.enumerate().map(|(number, line)| {
                before.replace("{n}", &(number + 7).to_string()) + line + line_end
            });
            let text: String = lines.collect();
            let (one, other) = (cut.0.index(text.len() + 1), cut.1.index(text.len() + 1));
            let (from, to) = (text.floor_char_boundary(one.min(other)), text.floor_char_boundary(one.max(other)));
            for shown in [&text[from..], &text[..to], &text[from..to]] {
                if !shown.contains(&begin) && !shown.contains(&end) {
                    continue;
                }
                let left = without_keys(shown);
                let is_left = |row: &&str| row.as_bytes().windows(LEFT).any(|part| {
                    left.contains(std::str::from_utf8(part).unwrap())
                });
                prop_assert_eq!(rows.iter().find(|row| is_left(row)), None, "{} of {}", left, shown);
            }
        }
    }

    #[test]
    fn what_stands_beside_a_mark_and_is_no_row_of_a_key_stays() {
        let row = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKB";
        for (text, left) in [
            (format!("words\n{row}\nQUJD\n-----END PRIVATE KEY-----\nwords"), "words\n*\nwords".to_owned()),
            (format!("12:-----BEGIN PRIVATE KEY-----\n13:{row}\n14:words"), "12:*\n14:words".to_owned()),
            (format!(r#""{row}\n-----END PRIVATE KEY-----\n", "{row}""#), format!(r#""*\n", "{row}""#)),
        ] {
            assert_eq!(without_keys(&text), left);
        }
        for text in [
            "A key ends with\n-----END PRIVATE KEY-----\nand nothing else.".to_owned(),
            "It ends with `-----END RSA PRIVATE KEY-----`.".to_owned(),
            format!("-----BEGIN CERTIFICATE-----\n{row}\n-----END CERTIFICATE-----\n-----END PRIVATE KEY-----"),
            format!("{row}\n-----END CERTIFICATE-----"),
            format!("{row}\nIt begins with\n-----BEGIN PRIVATE KEY----- and goes on.\nThen\n{row}"),
        ] {
            assert_eq!(without_keys(&text), text);
        }
    }
}
