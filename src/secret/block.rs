//! Recognises private keys from their first line to their last.

use std::ops::Range;

use super::level::Level;

/// The longest key, in bytes.
const LONGEST: usize = 128 * 1024;

const BEGIN: &str = "-----BEGIN ";

/// The endings of the labels of blocks that are secret.
const LABELS: &[&str] = &["PRIVATE KEY", "PRIVATE KEY BLOCK", "OpenVPN Static key V1"];

/// Finds private keys; for a key without an end, everything that can belong to it.
pub(super) fn find(text: &str, level: Level, found: &mut Vec<Range<usize>>) {
    let mut from = 0;
    while let Some(at) = text[from..].find(BEGIN).map(|at| from + at) {
        let inside = at + BEGIN.len();
        from = inside;
        // A label is short.
        let window = &text[inside..text.floor_char_boundary((inside + 80).min(text.len()))];
        let Some(label) = window.find("-----").map(|end| &window[..end]) else { continue };
        if !LABELS.iter().any(|known| label.ends_with(known)) {
            continue;
        }
        let body = inside + label.len() + "-----".len();
        let end = format!("-----END {label}-----");
        let window = &text[body..text.floor_char_boundary((body + LONGEST).min(text.len()))];
        let to = window.find(&end).map_or_else(|| body + cut(&text[body..], level), |at| body + at + end.len());
        if to > body {
            found.push(at..to);
        }
        from = to;
    }
    putty(text, found);
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
