//! Shortens the history's file when it is large, while others go on writing to it.
//!
//! The lines to keep are written to a new file, which then replaces the old one. No line may be lost on the way.
//! Lines that others append meanwhile are copied under the lock. Lines that a writer without the lock appends to
//! the old file at that moment are copied after the replacement. A later writer notices that the name means another
//! file, and writes again (see [`super::file`]). So a line may be in the file twice, which readers tolerate.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use crate::platform::fs::{FlockOperation, flock};
use crate::platform::os::fs::OpenOptionsExt as _;

/// From this size on, in bytes, a file is shortened: more than two million lines.
pub(super) const LARGE: u64 = 256 * 1024 * 1024;
/// What is left of it, in bytes: more than a million lines.
pub(super) const LEFT: u64 = 128 * 1024 * 1024;

/// Shortens the file at `path` to its newest `left` bytes, each line once, if it has more than `large`. Tells whether
/// it did. Another process that is at it is left alone.
///
/// # Errors
/// What the file system says; the file is then as it was.
pub(super) fn compact(path: &Path, large: u64, left: u64) -> io::Result<bool> {
    let mut old = match OpenOptions::new().read(true).append(true).open(path) {
        Ok(old) => old,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    let seen = old.metadata()?.len();
    if seen <= large {
        return Ok(false);
    }
    let new_path = path.with_extension("jsonl.new");
    let mut new =
        OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&new_path)?;
    if flock(&new, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(false);
    }
    // What a compaction that was killed had left in it.
    new.set_len(0)?;
    let begin = seen.saturating_sub(left);
    let tail = read(&mut old, begin, seen)?;
    let whole = tail.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let first = if begin == 0 { 0 } else { tail.iter().position(|&byte| byte == b'\n').map_or(whole, |at| at + 1) };
    let mut read_to = begin + whole as u64;
    for line in newest_of_each(&tail[first.min(whole)..whole]) {
        new.write_all(line)?;
        new.write_all(b"\n")?;
    }
    // Short: all that is left to do is what came since.
    flock(&old, FlockOperation::LockExclusive)?;
    read_to += copy(&mut old, read_to, &mut new)?;
    new.sync_data()?;
    std::fs::rename(&new_path, path)?;
    copy(&mut old, read_to, &mut new)?;
    Ok(true)
}

fn read(file: &mut File, from: u64, to: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::try_from(to - from).unwrap_or(0));
    file.seek(SeekFrom::Start(from))?;
    file.take(to - from).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Appends what the old file has from `from` on; returns how much that was.
fn copy(old: &mut File, from: u64, new: &mut File) -> io::Result<u64> {
    let end = old.metadata()?.len();
    let bytes = read(old, from, end.max(from))?;
    // The new file may be in use already: at its end, in one piece.
    new.seek(SeekFrom::End(0))?;
    if !bytes.is_empty() {
        new.write_all(&bytes)?;
        if !bytes.ends_with(b"\n") {
            new.write_all(b"\n")?;
        }
    }
    Ok(bytes.len() as u64)
}

/// Returns the lines in their order, of those that differ only in their time the last.
fn newest_of_each(lines: &[u8]) -> Vec<&[u8]> {
    let mut seen: HashSet<&[u8]> = HashSet::new();
    let lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let mut kept: Vec<&[u8]> = lines.rev().filter(|line| seen.insert(without_time(line))).collect();
    kept.reverse();
    kept
}

/// A line without the time that it begins with: `{"t":123,…`.
fn without_time(line: &[u8]) -> &[u8] {
    let comma = line.strip_prefix(b"{\"t\":").and_then(|rest| rest.iter().position(|&byte| byte == b','));
    comma.map_or(line, |comma| &line[b"{\"t\":".len() + comma..])
}

#[cfg(test)]
mod tests {
    use crate::platform::os::fs::PermissionsExt as _;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::frontend::repl::history::file::{Entry, HistoryFile};

    fn entry(line: &str, time: u64) -> Entry {
        Entry { time, directory: "/w".to_owned(), line: line.to_owned(), pastes: Vec::new() }
    }

    fn lines(path: &Path) -> Vec<String> {
        let entries = HistoryFile::new(path.to_owned()).read_newest().unwrap();
        entries.into_iter().map(|entry| entry.line).collect()
    }

    #[test]
    fn the_newest_lines_are_left_each_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.jsonl");
        assert!(!compact(&path, 0, 100).unwrap(), "there is none");
        let file = HistoryFile::new(path.clone());
        for time in 0..200 {
            file.append(&entry(&format!("line {}", time % 10), time)).unwrap();
        }
        assert!(!compact(&path, 1_000_000, 100).unwrap(), "it is small");
        assert!(compact(&path, 1_000, 2_000).unwrap());
        let expected: Vec<String> = (0..10).map(|number| format!("line {number}")).collect();
        assert_eq!(lines(&path), expected);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_hundred_writers_lose_nothing_while_it_is_shortened_again_and_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.jsonl");
        let over = AtomicBool::new(false);
        let mut compactions = 0;
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..100)
                .map(|writer| {
                    let path = path.clone();
                    scope.spawn(move || {
                        for number in 0..20 {
                            HistoryFile::new(path.clone())
                                .append(&entry(&format!("{writer}/{number}"), 1))
                                .unwrap();
                        }
                    })
                })
                .collect();
            let (path, over) = (path.clone(), &over);
            let compactor = scope.spawn(move || {
                let mut done = 0;
                // At least once, however late this thread runs.
                loop {
                    let last = over.load(Ordering::Relaxed);
                    done += u32::from(compact(&path, 1_000, 100_000_000).unwrap());
                    if last {
                        return done;
                    }
                }
            });
            for writer in writers {
                writer.join().unwrap();
            }
            over.store(true, Ordering::Relaxed);
            compactions = compactor.join().unwrap();
        });
        assert!(compactions > 0);
        let mut found = lines(&path);
        found.sort();
        found.dedup();
        assert_eq!(found.len(), 2_000, "after {compactions} compactions");
    }

    #[test]
    fn who_had_read_the_old_file_reads_on_in_the_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.jsonl");
        let writer = HistoryFile::new(path.clone());
        writer.append(&entry("a", 1)).unwrap();
        let mut reader = HistoryFile::new(path.clone());
        reader.read_newest().unwrap();
        for time in 0..50 {
            writer.append(&entry("b", time)).unwrap();
        }
        compact(&path, 100, 1_000_000).unwrap();
        // What it had not read when the file changed is there at its next start.
        assert_eq!(reader.read_new().unwrap(), []);
        writer.append(&entry("c", 60)).unwrap();
        assert_eq!(reader.read_new().unwrap(), [entry("c", 60)]);
    }
}
