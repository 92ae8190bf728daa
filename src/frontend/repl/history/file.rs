//! The file of the history: one JSON object a line, only ever appended to, shared by all running axi.
//!
//! Each append is one `write` to a file opened with `O_APPEND`, under a lock; readers need no lock, since a line
//! without its newline is not yet a line. Only the end of the file is ever read.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::file::is_torn;
use crate::platform::fs::{FlockOperation, flock};
use crate::platform::os::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};

/// The newest entries that are kept in memory.
pub(super) const ENTRIES: usize = 20_000;
/// At most this much of the file's end is read, in bytes.
const TAIL: u64 = 16 * 1024 * 1024;
/// Bytes read at a time, from the end.
const CHUNK: u64 = 1024 * 1024;
/// How often and how long axi tries to get the lock. Without it axi writes all the same: a single append is atomic
/// on every local file system, and the lock is for the other file systems.
const LOCK_TRIES: usize = 100;
const LOCK_WAIT: Duration = Duration::from_millis(2);
/// How often a line is written again if the file is replaced while it is written; that happens very rarely.
const REWRITES: usize = 50;

/// One line of the history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// When it was sent, in ms since 1970.
    #[serde(rename = "t", default)]
    pub(super) time: u64,
    /// The working directory.
    #[serde(rename = "d", default)]
    pub(super) directory: String,
    /// The line; a long paste is an object replacement character (U+FFFC).
    #[serde(rename = "l")]
    pub(super) line: String,
    /// The long pastes, in order.
    #[serde(rename = "p", default, skip_serializing_if = "Vec::is_empty")]
    pub(super) pastes: Vec<String>,
}

/// The file, and how far it has been read.
#[derive(Debug)]
pub(super) struct HistoryFile {
    path: PathBuf,
    read_to: u64,
    /// Where in the file the entries begin that were read first.
    older_end: u64,
    /// Which file that was: the name may mean another by now.
    read_of: Option<u64>,
}

impl HistoryFile {
    /// Names the file; touches nothing.
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, read_to: 0, older_end: 0, read_of: None }
    }

    /// Appends an entry. Makes the file, mode 0600, and its folder when they are missing.
    ///
    /// # Errors
    /// What the file system says.
    pub(super) fn append(&self, entry: &Entry) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        // Compaction gives the name to another file; what was written to the old one at that moment is written
        // again.
        for _ in 0..REWRITES {
            let written = self.append_line(&line)?;
            if open_if_there(&self.path)?.is_none_or(|now| identity(&now) == written) {
                break;
            }
        }
        Ok(())
    }

    /// Appends a line to the file that has the name now; returns which that was.
    fn append_line(&self, line: &[u8]) -> io::Result<Option<u64>> {
        let mut file = match open_for_append(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if let Some(folder) = self.path.parent() {
                    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
                }
                open_for_append(&self.path)?
            }
            other => other?,
        };
        for _ in 0..LOCK_TRIES {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Err(crate::platform::io::Errno::WOULDBLOCK) => std::thread::sleep(LOCK_WAIT),
                Ok(()) | Err(_) => break,
            }
        }
        // A writer that died left a line without an end: it must not swallow this one.
        let mut line = line.to_owned();
        if is_torn(&file).unwrap_or(false) {
            line.insert(0, b'\n');
        }
        file.write_all(&line)?;
        Ok(identity(&file))
        // Closing the file gives the lock back.
    }

    /// Reads the newest entries, oldest first.
    ///
    /// # Errors
    /// What the file system says; a missing file is empty.
    pub(super) fn read_newest(&mut self) -> io::Result<Vec<Entry>> {
        let Some(mut file) = open_if_there(&self.path)? else { return Ok(Vec::new()) };
        self.read_of = identity(&file);
        let end = file.seek(SeekFrom::End(0))?;
        let mut start = end;
        let mut bytes = Vec::new();
        while start > 0 && end - start < TAIL && newlines(&bytes) <= ENTRIES {
            let from = start.saturating_sub(CHUNK);
            let mut chunk = vec![0; usize::try_from(start - from).unwrap_or(0)];
            file.seek(SeekFrom::Start(from))?;
            file.read_exact(&mut chunk)?;
            chunk.append(&mut bytes);
            bytes = chunk;
            start = from;
        }
        if start > 0 {
            // What was cut into is not a line.
            let first = bytes.iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |newline| newline + 1);
            bytes.drain(..first);
        }
        let complete = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        self.read_to = end - (bytes.len() - complete) as u64;
        let begin = last_lines(&bytes[..complete], ENTRIES);
        self.older_end = end - (bytes.len() - begin) as u64;
        Ok(parse(&bytes[begin..complete]))
    }

    /// Opens the file in which older entries stand than those that were read first, and tells where they end; `None`
    /// where there are none, or the file has been exchanged since.
    pub(super) fn older(&self) -> Option<(File, u64)> {
        let file = open_if_there(&self.path).ok().flatten()?;
        (self.older_end > 0 && identity(&file) == self.read_of).then_some((file, self.older_end))
    }

    /// Reads what was appended since the last read, by this process or another.
    ///
    /// # Errors
    /// What the file system says; a file that is gone or shorter has nothing new.
    pub(super) fn read_new(&mut self) -> io::Result<Vec<Entry>> {
        let Some(mut file) = open_if_there(&self.path)? else { return Ok(Vec::new()) };
        let end = file.seek(SeekFrom::End(0))?;
        let same = self.read_of.is_none_or(|before| identity(&file) == Some(before));
        self.read_of = identity(&file);
        if end <= self.read_to || !same {
            self.read_to = end;
            return Ok(Vec::new());
        }
        let from = self.read_to.max(end.saturating_sub(TAIL));
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(end - from).read_to_end(&mut bytes)?;
        let complete = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        self.read_to = from + complete as u64;
        Ok(parse(&bytes[..complete]))
    }
}

fn open_for_append(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).read(true).create(true).mode(0o600).open(path)
}

fn open_if_there(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// What tells a file from another of the same name.
fn identity(file: &File) -> Option<u64> {
    file.metadata().ok().map(|metadata| metadata.ino())
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.split(|&byte| byte == b'\n').count() - 1
}

/// Where the last `count` lines begin; all lines end in a newline.
fn last_lines(bytes: &[u8], count: usize) -> usize {
    let mut ends = memchr::memrchr_iter(b'\n', bytes);
    ends.nth(count).map_or(0, |newline| newline + 1)
}

/// Reads entries and skips lines that are none (a torn write, another program's line).
fn parse(bytes: &[u8]) -> Vec<Entry> {
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

/// Reads the newest lines of a history file, oldest first; none where it cannot be read.
#[must_use]
pub fn recent_lines(path: &Path, most: usize) -> Vec<String> {
    let entries = HistoryFile::new(path.to_owned()).read_newest().unwrap_or_default();
    let skipped = entries.len().saturating_sub(most);
    entries.into_iter().skip(skipped).map(|entry| entry.line).collect()
}

/// A line that was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentLine {
    /// The line, with what was pasted into it.
    pub line: String,
    /// When, in ms since 1970.
    pub time: u64,
    /// The working directory.
    pub directory: String,
}

/// Reads the newest lines of a history file with when and where they were sent, oldest first; none where it cannot be
/// read.
#[must_use]
pub fn sent_lines(path: &Path) -> Vec<SentLine> {
    let entries = HistoryFile::new(path.to_owned()).read_newest().unwrap_or_default();
    let sent = |Entry { line, time, directory, pastes }: Entry| {
        let mut pastes = pastes.into_iter();
        let whole = line.split('\u{fffc}').enumerate().map(|(number, part)| {
            let paste = if number == 0 { String::new() } else { pastes.next().unwrap_or_default() };
            paste + part
        });
        SentLine { line: whole.collect(), time, directory }
    };
    entries.into_iter().map(sent).collect()
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
