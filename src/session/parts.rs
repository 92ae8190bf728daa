//! Reads the lines of sessions' files: many lines at once, and the parts of a file on threads beside one another.

use std::fs::File;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::platform::os::fs::FileExt as _;

/// How much of a file is read at once, in bytes: what a core keeps nearest. A longer line is taken whole.
const PIECE: usize = 64 * 1024;
/// How long a part of a file is, in bytes.
const PART: u64 = 4 * 1024 * 1024;
/// How many threads read.
const MOST_THREADS: usize = 8;

/// Some whole lines of a file.
pub(super) struct Lines<'a> {
    /// Where they begin in the file, in bytes.
    pub(super) offset: u64,
    pub(super) text: &'a [u8],
    /// The same bytes with the letters of ASCII in lower case: words are found faster than in either case.
    pub(super) lower: &'a [u8],
}

impl Lines<'_> {
    /// The line that a byte belongs to, without its newline.
    pub(super) fn line_of(&self, at: usize) -> Range<usize> {
        line_of(self.text, at)
    }
}

/// The line of some lines that a byte belongs to, without its newline.
pub(super) fn line_of(lines: &[u8], at: usize) -> Range<usize> {
    let start = memchr::memrchr(b'\n', &lines[..at]).map_or(0, |newline| newline + 1);
    let end = memchr::memchr(b'\n', &lines[at..]).map_or(lines.len(), |length| at + length);
    start..end
}

/// What a thread reads into, one file after the other.
#[derive(Default)]
pub(super) struct Buffer {
    text: Vec<u8>,
    lower: Vec<u8>,
}

/// Does pieces of work by their numbers on threads. Returns what came of them, in the order of the numbers.
pub(super) fn on_threads<T: Send>(count: usize, work: impl Fn(usize, &mut Buffer) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS).min(count);
    let mut done: Vec<(usize, T)> = std::thread::scope(|scope| {
        let run = || {
            let (mut done, mut buffer) = (Vec::new(), Buffer::default());
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return done;
                }
                done.push((number, work(number, &mut buffer)));
            }
        };
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        running.into_iter().filter_map(|thread| thread.join().ok()).flatten().collect()
    });
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, done)| done).collect()
}

/// Cuts a file of so many bytes into parts.
pub(super) fn parts(length: u64) -> impl DoubleEndedIterator<Item = Range<u64>> {
    (0..length.div_ceil(PART)).map(move |number| number * PART..((number + 1) * PART).min(length))
}

/// Hands over the lines that begin in a part of a file, many at once, until no more are wanted.
pub(super) fn read_part(
    file: &File,
    part: Range<u64>,
    buffer: &mut Buffer,
    take: &mut dyn FnMut(&Lines<'_>) -> bool,
) -> std::io::Result<()> {
    let Buffer { text, lower } = buffer;
    read_pieces(file, part, text, &mut |offset, text| {
        lower.clear();
        lower.extend_from_slice(text);
        lower.make_ascii_lowercase();
        take(&Lines { offset, text, lower })
    })
}

/// Hands over the same lines with the letters of ASCII in lower case, and nothing else of them: no line is copied.
pub(super) fn read_lower(
    file: &File,
    part: Range<u64>,
    buffer: &mut Buffer,
    take: &mut dyn FnMut(u64, &[u8]) -> bool,
) -> std::io::Result<()> {
    read_pieces(file, part, &mut buffer.text, &mut |offset, text| {
        text.make_ascii_lowercase();
        take(offset, text)
    })
}

/// Hands over lines where they were read, with the place of the first in the file.
fn read_pieces(
    file: &File,
    part: Range<u64>,
    text: &mut Vec<u8>,
    take: &mut dyn FnMut(u64, &mut [u8]) -> bool,
) -> std::io::Result<()> {
    text.resize(PIECE, 0);
    // The byte before tells whether a line begins with the part.
    let mut offset = part.start.saturating_sub(1);
    let mut inside = part.start > 0;
    let mut held = 0;
    while offset < part.end {
        let read = file.read_at(&mut text[held..], offset + held as u64)?;
        held += read;
        let whole = if read == 0 { held } else { after_last_newline(&text[..held]) };
        if read > 0 && whole == 0 {
            if inside {
                offset += std::mem::take(&mut held) as u64;
            } else if held == text.len() {
                text.resize(held * 2, 0);
            }
            continue;
        }
        let from = if std::mem::take(&mut inside) { after_newline(&text[..whole], 0) } else { 0 };
        // The line that has the part's last byte is the last one.
        let last = usize::try_from(part.end - offset).unwrap_or(usize::MAX);
        let to = if last < whole { after_newline(&text[..whole], last - 1) } else { whole };
        if from < to && !take(offset + from as u64, &mut text[from..to]) {
            return Ok(());
        }
        if read == 0 {
            return Ok(());
        }
        text.copy_within(whole..held, 0);
        held -= whole;
        offset += whole as u64;
    }
    Ok(())
}

/// The place behind the first newline from a place on, else the end.
fn after_newline(text: &[u8], from: usize) -> usize {
    memchr::memchr(b'\n', &text[from..]).map_or(text.len(), |at| from + at + 1)
}

fn after_last_newline(text: &[u8]) -> usize {
    memchr::memrchr(b'\n', text).map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Wherever a file is cut into parts, each line is handed over once, with its place.
        #[test]
        fn each_line_is_in_one_part(
            lengths in prop::collection::vec(prop_oneof![0_usize..9, 0_usize..200, 60_000_usize..150_000], 0..9),
            cuts in prop::collection::vec(0_u64..400_000, 0..9),
            torn: bool,
        ) {
            let mut text: Vec<u8> = lengths.iter().enumerate().flat_map(|(number, length)| {
                let letter = b'A' + u8::try_from(number).unwrap();
                std::iter::repeat_n(letter, *length).chain([b'\n'])
            }).collect();
            if torn {
                text.pop();
            }
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&text).unwrap();
            let length = text.len() as u64;
            let mut cuts: Vec<u64> = cuts.into_iter().map(|cut| cut.min(length)).chain([0, length]).collect();
            cuts.sort_unstable();
            let mut told = Vec::new();
            let mut buffer = Buffer::default();
            for part in cuts.windows(2) {
                read_part(&file, part[0]..part[1], &mut buffer, &mut |lines| {
                    assert_eq!(lines.offset, told.len() as u64);
                    assert_eq!(lines.lower, lines.text.to_ascii_lowercase());
                    told.extend_from_slice(lines.text);
                    true
                }).unwrap();
            }
            prop_assert!(told == text);
            let mut lower = Vec::new();
            for part in cuts.windows(2) {
                read_lower(&file, part[0]..part[1], &mut buffer, &mut |offset, lines| {
                    assert_eq!(offset, lower.len() as u64);
                    lower.extend_from_slice(lines);
                    true
                }).unwrap();
            }
            prop_assert!(lower == text.to_ascii_lowercase());
        }
    }

    #[test]
    fn work_is_done_once_each_and_told_in_order() {
        assert_eq!(on_threads(99, |number, _| number * 2), (0..99).map(|number| number * 2).collect::<Vec<_>>());
        assert!(on_threads(0, |number, _| number).is_empty());
        let whole: Vec<_> = parts(PART * 2 + 1).collect();
        assert_eq!(whole, [0..PART, PART..PART * 2, PART * 2..PART * 2 + 1]);
        assert_eq!(parts(0).count(), 0);
    }
}
