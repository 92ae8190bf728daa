//! Finding the messages of sessions in which words stand, without reading the others.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use super::entry::{Entry, EntryKind, directory_of, read_kind};
use super::id::directory_mark;
use super::search::pieces;
use super::sought::Sought;
use super::{SessionId, SessionStore};
use crate::conversation::Message;

/// How many threads scan.
const MOST_THREADS: usize = 8;
/// The longest message that is looked at, in bytes: what a few huge outputs say must not cost a second to read.
const LONGEST: usize = 1024 * 1024;

/// A message of a session that has words that were looked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Mention {
    /// The session.
    pub id: SessionId,
    /// The directory it ran in; empty where its first line is damaged.
    pub directory: PathBuf,
    /// When it was said, in milliseconds since 1970.
    pub time: u64,
    /// What was said.
    pub message: Message,
}

/// A line with some of the words.
struct Hit {
    /// How many of the words it has.
    words: u32,
    /// Which file, the newest first.
    file: usize,
    /// Where in it.
    number: usize,
    line: Vec<u8>,
}

impl Hit {
    /// Sorts hits with more of the words first, then newer ones.
    fn order(&self) -> (std::cmp::Reverse<u32>, usize, std::cmp::Reverse<usize>) {
        (std::cmp::Reverse(self.words), self.file, std::cmp::Reverse(self.number))
    }
}

/// Finds the messages that have most of some words, in lower case: those with more of them first, of equals the
/// newest. Only sessions that began in `directory`, where one is given, and never `without`.
#[must_use]
pub fn mentions(
    store: &SessionStore,
    words: &[String],
    directory: Option<&Path>,
    without: Option<&SessionId>,
    most: usize,
) -> Vec<Mention> {
    let Some(sought) = Sought::new(words) else { return Vec::new() };
    let mark = directory.map(directory_mark);
    let mut files: Vec<(SessionId, PathBuf)> = store.files();
    files.retain(|(id, _)| {
        let its_mark = id.as_str().rsplit('-').next().unwrap_or_default();
        Some(id) != without && mark.as_ref().is_none_or(|mark| its_mark.starts_with(mark))
    });
    let written = |path: &Path| std::fs::metadata(path).and_then(|metadata| metadata.modified());
    files.sort_by_cached_key(|(_, path)| std::cmp::Reverse(written(path).unwrap_or(SystemTime::UNIX_EPOCH)));
    let mut hits = scanned(&files, &sought, most);
    best(&mut hits, most);
    let mut directories: HashMap<usize, PathBuf> = HashMap::new();
    let read = hits.iter().filter_map(|hit| {
        let (id, path) = &files[hit.file];
        let began_in = directories.entry(hit.file).or_insert_with(|| first_directory(path)).clone();
        // Two directories may have the same mark.
        if directory.is_some_and(|directory| began_in != directory) {
            return None;
        }
        let entry: Entry = serde_json::from_slice(&hit.line).ok()?;
        let EntryKind::Message { message } = entry.kind else { return None };
        Some(Mention { id: id.clone(), directory: began_in, time: entry.time, message })
    });
    read.collect()
}

fn scanned(files: &[(SessionId, PathBuf)], sought: &Sought, most: usize) -> Vec<Hit> {
    let next = AtomicUsize::new(0);
    // Older files are skipped once enough lines with all words are found: they could not rank higher.
    let full = AtomicUsize::new(0);
    let all = sought.all().count_ones();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS).min(files.len());
    std::thread::scope(|scope| {
        let scan = || {
            let (mut hits, mut buffer) = (Vec::new(), Vec::new());
            loop {
                let file = next.fetch_add(1, Ordering::Relaxed);
                let Some((_, path)) = files.get(file).filter(|_| full.load(Ordering::Relaxed) < most) else {
                    return hits;
                };
                let mut number = 0;
                // If a file cannot be read to its end, the hits before stay.
                let _ = pieces(path, &mut buffer, &mut |lines| {
                    scan(lines, sought, &mut |words, line| {
                        number += 1;
                        full.fetch_add(usize::from(words == all), Ordering::Relaxed);
                        hits.push(Hit { words, file, number, line: line.to_vec() });
                        if hits.len() > most * 2 {
                            best(&mut hits, most);
                        }
                    });
                    true
                });
            }
        };
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(scan)).collect();
        running.into_iter().filter_map(|thread| thread.join().ok()).flatten().collect()
    })
}

/// Keeps the best.
fn best(hits: &mut Vec<Hit>, most: usize) {
    hits.sort_by_key(Hit::order);
    hits.truncate(most);
}

/// Hands over each message that has one of the words, with how many of them it has.
fn scan(lines: &[u8], sought: &Sought, take: &mut dyn FnMut(u32, &[u8])) {
    let mut at = 0;
    while let Some(found) = sought.next(lines, at) {
        let start = memchr::memrchr(b'\n', &lines[..found]).map_or(0, |newline| newline + 1);
        let end = memchr::memchr(b'\n', &lines[found..]).map_or(lines.len(), |length| found + length);
        let line = &lines[start..end];
        at = end;
        if line.len() > LONGEST || !is_message(line) {
            continue;
        }
        if let Some(has) = sought.in_line(line) {
            take(has.words.count_ones(), line);
        }
    }
}

/// Whether a line is a message, by its head.
fn is_message(line: &[u8]) -> bool {
    memchr::memmem::find(&line[..line.len().min(64)], b"\"kind\":\"message\"").is_some()
}

fn first_directory(path: &Path) -> PathBuf {
    use std::io::{BufRead as _, BufReader};
    let mut line = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| BufReader::new(file).read_until(b'\n', &mut line));
    match read.ok().and_then(|_| read_kind(&line)) {
        Some(EntryKind::Started { directory, directory_bytes, .. }) => directory_of(directory, directory_bytes),
        Some(_) | None => PathBuf::new(),
    }
}

#[cfg(test)]
#[path = "mentions_tests.rs"]
mod tests;
