//! The journal's file: one JSON object a line, appended and never changed; an incomplete last line (after a crash)
//! is skipped.

use std::collections::BTreeSet;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::path_text::{read_path, write_path};
use super::state::State;
use super::touch::JournalError;
use crate::file::is_torn;
use crate::platform::os::fs::{DirBuilderExt as _, OpenOptionsExt as _};

/// A turn of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Its number in this journal, from 1.
    pub number: u64,
    /// When it began, in milliseconds since 1970.
    pub time: u64,
    /// How many messages the conversation had before it.
    pub messages: u64,
    /// A hash of the turn's message, by which the turn is recognised.
    pub mark: u64,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Record {
    /// A turn's first change is about to be made.
    Turn(Turn),
    /// The state at a path before a turn changed it; the first record of a turn counts.
    Before {
        turn: u64,
        #[serde(serialize_with = "write_path", deserialize_with = "read_path")]
        path: PathBuf,
        state: State,
        kept: Backup,
    },
    /// A turn is about to change the path once more: what it left there before no longer counts.
    Again {
        turn: u64,
        #[serde(serialize_with = "write_path", deserialize_with = "read_path")]
        path: PathBuf,
    },
    /// The state that a turn left at a path; the last record counts.
    After {
        turn: u64,
        #[serde(serialize_with = "write_path", deserialize_with = "read_path")]
        path: PathBuf,
        state: State,
        /// Whether it only lay around a command: something else may have changed it while that ran.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        around: bool,
    },
    /// A command whose changes nobody could know beforehand.
    Unseen { turn: u64, line: String },
    /// These turns were taken back.
    Undone { turns: Vec<u64> },
}

/// How the content of a path is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "as", rename_all = "snake_case")]
pub(super) enum Backup {
    /// The state says everything: there is no content.
    Whole,
    /// The content is in a file of its own.
    Copy { object: u64 },
    /// The content is the same file under another name (a hard link); only for a file that is about to lose its
    /// name.
    Link { object: u64 },
    /// Only mode and times are kept: nothing else was to change.
    Attributes,
    /// Not kept: it was beyond the limits.
    TooMuch,
    /// Not kept: it could not be read.
    Unreadable,
}

impl Backup {
    /// Returns the object with the content.
    pub(super) const fn object(self) -> Option<u64> {
        match self {
            Self::Copy { object } | Self::Link { object } => Some(object),
            Self::Whole | Self::Attributes | Self::TooMuch | Self::Unreadable => None,
        }
    }
}

/// The file; it is opened at the first write.
#[derive(Debug)]
pub(super) struct Log {
    directory: PathBuf,
    file: Option<File>,
    next_object: Option<u64>,
}

impl Log {
    pub(super) const fn new(directory: PathBuf) -> Self {
        Self { directory, file: None, next_object: None }
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    fn path(&self) -> PathBuf {
        self.directory.join("journal.jsonl")
    }

    fn failed(path: PathBuf) -> impl FnOnce(std::io::Error) -> JournalError {
        |cause| JournalError { path, cause }
    }

    /// Creates the directories and opens the file; if the last line is incomplete, ends it first.
    fn open(&mut self) -> Result<&mut File, JournalError> {
        let path = self.path();
        if self.file.is_none() {
            let objects = self.directory.join("objects");
            DirBuilder::new().recursive(true).mode(0o700).create(&objects).map_err(Self::failed(objects))?;
            let opened = OpenOptions::new().create(true).append(true).read(true).mode(0o600).open(&path);
            let mut file = opened.map_err(Self::failed(path.clone()))?;
            let mut heal = || if is_torn(&file)? { file.write_all(b"\n") } else { Ok(()) };
            heal().map_err(Self::failed(path.clone()))?;
            // The lock is held as long as the file is open, so that no other axi removes the journal; without locks
            // only its age protects it.
            drop(file.try_lock_shared());
            self.file = Some(file);
        }
        let missing = || JournalError { path, cause: std::io::ErrorKind::NotFound.into() };
        self.file.as_mut().ok_or_else(missing)
    }

    pub(super) fn append(&mut self, record: &Record) -> Result<(), JournalError> {
        let path = self.path();
        let mut line = serde_json::to_vec(record)
            .map_err(|cause| JournalError { path: path.clone(), cause: std::io::Error::other(cause) })?;
        line.push(b'\n');
        let written = self.open()?.write_all(&line);
        if written.is_err() {
            // Reopening the file ends the incomplete line, so that it does not swallow the next one.
            self.file = None;
        }
        written.map_err(Self::failed(path))
    }

    /// Syncs everything written to the disk.
    pub(super) fn sync(&mut self) -> Result<(), JournalError> {
        let path = self.path();
        self.open()?.sync_data().map_err(Self::failed(path))
    }

    /// Reads all records, and skips those that cannot be read.
    pub(super) fn read(&self) -> Result<Vec<Record>, JournalError> {
        let path = self.path();
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(cause) => return Err(JournalError { path, cause }),
        };
        let mut records = Vec::new();
        let mut reader = BufReader::new(file);
        let mut line = Vec::new();
        loop {
            line.clear();
            if reader.read_until(b'\n', &mut line).map_err(Self::failed(path.clone()))? == 0 {
                return Ok(records);
            }
            records.extend(serde_json::from_slice::<Record>(&line).ok());
        }
    }

    /// Returns the number for the next turn: one that no turn has, also none that was taken back.
    pub(super) fn next_turn(&self) -> Result<u64, JournalError> {
        let records = self.read()?;
        let numbers = records.iter().map(|record| match record {
            Record::Turn(turn) => turn.number,
            Record::Before { .. }
            | Record::Again { .. }
            | Record::After { .. }
            | Record::Unseen { .. }
            | Record::Undone { .. } => 0,
        });
        Ok(numbers.max().unwrap_or(0) + 1)
    }

    /// Returns a number that no object has.
    pub(super) fn new_object(&mut self) -> Result<u64, JournalError> {
        self.open()?;
        if self.next_object.is_none() {
            let names = self.directory.join("objects").read_dir().into_iter().flatten().flatten();
            let numbers = names.filter_map(|entry| entry.file_name().to_str()?.parse::<u64>().ok());
            self.next_object = Some(numbers.max().unwrap_or(0));
        }
        let number = self.next_object.unwrap_or(0) + 1;
        self.next_object = Some(number);
        Ok(number)
    }
}

/// Returns the turns that were taken back.
pub(super) fn undone(records: &[Record]) -> BTreeSet<u64> {
    let lists = records.iter().filter_map(|record| match record {
        Record::Undone { turns } => Some(turns.iter().copied()),
        Record::Turn(_)
        | Record::Before { .. }
        | Record::Again { .. }
        | Record::After { .. }
        | Record::Unseen { .. } => None,
    });
    lists.flatten().collect()
}

/// Returns the path of an object.
pub(super) fn object(directory: &Path, number: u64) -> PathBuf {
    directory.join("objects").join(number.to_string())
}

/// Tells whether the content of a record can be restored.
pub(super) const fn has_content(kept: Backup) -> bool {
    match kept {
        Backup::Whole | Backup::Copy { .. } | Backup::Link { .. } => true,
        Backup::Attributes | Backup::TooMuch | Backup::Unreadable => false,
    }
}

/// Converts a time to milliseconds since 1970.
pub(super) fn milliseconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
