//! Reads text that is piped into axi, in bounded memory: all of it, or whole lines from its beginning and its end.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read};

/// How many bytes are kept at most: of the beginning, which says what the text is, and of the end, where errors
/// stand.
const BEGINNING: usize = 1024 * 1024;
const END: usize = 3 * 1024 * 1024;
/// How much is read at once, in bytes.
const CHUNK: usize = 64 * 1024;

/// What was piped in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piped {
    /// The text, with a notice for the model where something was left out; bytes that are no UTF-8 are replaced.
    pub text: String,
    /// How many bytes there were.
    pub all: u64,
    /// How many bytes were left out.
    pub left_out: u64,
}

/// Reads everything, and keeps as much of it as fits into a message.
///
/// # Errors
/// The error of reading.
pub(super) fn read(source: &mut impl Read) -> std::io::Result<Piped> {
    read_within(source, BEGINNING, END)
}

fn read_within(source: &mut impl Read, beginning: usize, end: usize) -> std::io::Result<Piped> {
    let (mut first, mut last) = (Vec::new(), VecDeque::new());
    let (mut all, mut lines) = (0_u64, 0_usize);
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = match source.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => &chunk[..read],
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        all = all.saturating_add(u64::try_from(read.len()).unwrap_or(u64::MAX));
        let (head, rest) = read.split_at(read.len().min(beginning - first.len()));
        first.extend_from_slice(head);
        last.extend(rest);
        let surplus = last.len().saturating_sub(end);
        lines += last.drain(..surplus).filter(|byte| *byte == b'\n').count();
    }
    let last = Vec::from(last);
    let kept = u64::try_from(first.len() + last.len()).unwrap_or(u64::MAX);
    if kept == all {
        first.extend(last);
        return Ok(Piped { text: String::from_utf8_lossy(&first).into_owned(), all, left_out: 0 });
    }
    let (first, after) = first.split_at(last_line_end(&first));
    let (before, last) = last.split_at(first_line_start(&last));
    lines += after.iter().chain(before).filter(|byte| **byte == b'\n').count();
    let left_out = all - u64::try_from(first.len() + last.len()).unwrap_or(u64::MAX);
    let (first, last) = (String::from_utf8_lossy(first), String::from_utf8_lossy(last));
    let gap = if first.ends_with('\n') { "" } else { "\n" };
    let notice = format!("[… {left_out} bytes ({lines} lines) in the middle of the input are left out here …]");
    Ok(Piped { text: format!("{first}{gap}{notice}\n{last}"), all, left_out })
}

/// Returns where the last whole line ends; if there is none, where the last whole character ends.
fn last_line_end(bytes: &[u8]) -> usize {
    let line = bytes.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
    line.unwrap_or_else(|| match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Ok(_) | Err(_) => bytes.len(),
    })
}

/// Returns where the first whole line starts; if there is none, where the first whole character starts.
fn first_line_start(bytes: &[u8]) -> usize {
    // After the last newline no line follows.
    let line = bytes.iter().position(|byte| *byte == b'\n').map(|at| at + 1).filter(|at| *at < bytes.len());
    // A byte 10xxxxxx continues a character; a character has at most three of them.
    let goes_on = |byte: &&u8| **byte & 0xc0 == 0x80;
    line.unwrap_or_else(|| bytes.iter().take(3).take_while(goes_on).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piped(text: &str, beginning: usize, end: usize) -> Piped {
        read_within(&mut text.as_bytes(), beginning, end).unwrap()
    }

    #[test]
    fn what_fits_is_kept_as_it_is() {
        let kept = |text: &str| Piped { text: text.to_owned(), all: text.len() as u64, left_out: 0 };
        for text in ["", "a", "one\ntwo", "one\ntwo\nthree\n"] {
            assert_eq!(piped(text, 4, 10), kept(text));
        }
    }

    #[test]
    fn the_beginning_and_the_end_are_kept_in_whole_lines() {
        let text = "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\nline 9\n";
        let expected = Piped {
            text: "line 1\n[… 42 bytes (6 lines) in the middle of the input are left out here …]\nline 8\nline 9\n"
                .into(),
            all: 63,
            left_out: 42,
        };
        assert_eq!(piped(text, 10, 17), expected);
    }

    #[test]
    fn one_long_line_is_cut_between_characters() {
        let cut = piped(&"é".repeat(20), 5, 5);
        assert_eq!((cut.all, cut.left_out), (40, 32));
        assert!(cut.text.starts_with("éé\n[… 32 bytes (0 lines)") && cut.text.ends_with("]\néé"), "{}", cut.text);
    }

    #[test]
    fn however_much_comes_little_is_kept() {
        let many = "0123456789\n".repeat(1_000_000);
        let cut = read(&mut many.as_bytes()).unwrap();
        assert!(cut.text.len() <= BEGINNING + END + 100, "{}", cut.text.len());
        assert_eq!(cut.all, many.len() as u64);
        assert!(cut.text.lines().all(|line| line == "0123456789" || line.starts_with("[… ")));
    }
}
