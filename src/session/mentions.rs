//! Finding the messages of sessions in which words stand, without reading the others.

use std::collections::HashMap;
use std::collections::hash_map::Entry as MapEntry;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use super::entry::{Entry, EntryKind, directory_of, read_kind};
use super::holder::Line;
use super::id::directory_mark;
use super::parts::{Buffer, Lines, on_threads, parts, read_part};
use super::sought::Sought;
use super::{SessionId, SessionStore};
use crate::conversation::Message;

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
    /// Its file's number: the newest has the lowest.
    line: Line,
}

impl Hit {
    /// Sorts hits with more of the words first, then newer ones.
    fn order(&self) -> (std::cmp::Reverse<u32>, usize, std::cmp::Reverse<u64>) {
        (std::cmp::Reverse(self.words), self.line.file, std::cmp::Reverse(self.line.offset))
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
    let mut opened: HashMap<usize, (File, PathBuf)> = HashMap::new();
    let read = hits.iter().filter_map(|hit| {
        let (id, path) = &files[hit.line.file];
        let (file, began_in) = match opened.entry(hit.line.file) {
            MapEntry::Occupied(known) => known.into_mut(),
            MapEntry::Vacant(new) => new.insert((File::open(path).ok()?, first_directory(path))),
        };
        // Two directories may have the same mark.
        if directory.is_some_and(|directory| began_in != directory) {
            return None;
        }
        let entry: Entry = serde_json::from_slice(&hit.line.bytes(file)?).ok()?;
        let EntryKind::Message { message } = entry.kind else { return None };
        Some(Mention { id: id.clone(), directory: began_in.clone(), time: entry.time, message })
    });
    read.collect()
}

fn scanned(files: &[(SessionId, PathBuf)], sought: &Sought, most: usize) -> Vec<Hit> {
    let length = |path: &Path| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let all_parts = files.iter().enumerate().flat_map(|(file, (_, path))| {
        // The end of a file is the newest of it.
        parts(length(path)).rev().map(move |part| (file, part))
    });
    let all_parts: Vec<_> = all_parts.collect();
    // Older parts are skipped once enough lines with all words are found: theirs could not rank higher.
    let full = AtomicUsize::new(0);
    let all = sought.all().count_ones();
    let scan = |number: usize, buffer: &mut Buffer| {
        let (file, part) = &all_parts[number];
        let mut hits = Vec::new();
        let opened = File::open(&files[*file].1).ok().filter(|_| full.load(Ordering::Relaxed) < most);
        let Some(opened) = opened else { return hits };
        let read = read_part(&opened, part.clone(), buffer, &mut |lines| {
            scan(lines, sought, &mut |words, line| {
                full.fetch_add(usize::from(words == all), Ordering::Relaxed);
                let (offset, length) = (lines.offset + line.start as u64, line.len() as u64);
                hits.push(Hit { words, line: Line { file: *file, offset, length } });
                if hits.len() > most * 2 {
                    best(&mut hits, most);
                }
            });
            true
        });
        if let Err(error) = read {
            tracing::debug!(%error, "a session could not be read to its end");
        }
        hits
    };
    on_threads(all_parts.len(), scan).into_iter().flatten().collect()
}

/// Keeps the best.
fn best(hits: &mut Vec<Hit>, most: usize) {
    hits.sort_by_key(Hit::order);
    hits.truncate(most);
}

/// Hands over where each message stands that has one of the words, with how many of them it has.
fn scan(lines: &Lines<'_>, sought: &Sought, take: &mut dyn FnMut(u32, Range<usize>)) {
    let mut at = 0;
    while let Some(found) = sought.next(lines.lower, at) {
        let line = lines.line_of(found);
        at = line.end;
        let text = &lines.text[line.clone()];
        if line.len() > LONGEST || !is_message(text) {
            continue;
        }
        if let Some(has) = sought.in_line(text, &lines.lower[line.clone()]) {
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
