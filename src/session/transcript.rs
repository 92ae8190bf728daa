//! One session's file: append-only JSON lines, readable by its owner only, healed when it is loaded.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::{Redactor, SessionError, SessionId};
use crate::conversation::{Conversation, Message, Usage};

/// The version every line carries; a reader skips lines of a version it does not know.
const VERSION: u32 = 1;

/// One line of a session's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Format version.
    #[serde(rename = "v")]
    pub version: u32,
    /// Milliseconds since 1970, UTC.
    #[serde(rename = "t")]
    pub time: u64,
    /// What happened.
    #[serde(flatten)]
    pub kind: EntryKind,
}

/// What a line says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EntryKind {
    /// The session began; always the first line.
    Started {
        /// Its id.
        id: SessionId,
        /// The working directory; bytes that are no UTF-8 are replaced.
        directory: String,
        /// Its bytes, where some are no UTF-8: JSON has no way to say them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        directory_bytes: Option<Vec<u8>>,
        /// `PROVIDER/MODEL`.
        model: String,
        /// axi's version.
        axi: String,
    },
    /// A finished message.
    Message {
        /// The message.
        message: Message,
    },
    /// What a request cost.
    Usage {
        /// `PROVIDER/MODEL`.
        model: String,
        /// Tokens.
        usage: Usage,
    },
    /// The model was changed.
    Model {
        /// `PROVIDER/MODEL`.
        model: String,
    },
    /// A turn ended.
    TurnEnded {
        /// One word: `done`, `interrupted`, …
        end: String,
    },
    /// The conversation went back to before a message the person sent.
    Rewound {
        /// How many messages are left.
        messages: u64,
    },
    /// The session was given a title.
    Title {
        /// The title.
        title: String,
    },
}

/// A session being written. The file is made with its first message, so that looking around leaves nothing.
#[derive(Debug)]
pub struct Session {
    id: SessionId,
    directory: PathBuf,
    path: Option<PathBuf>,
    file: Option<File>,
    /// Keeps other axis out of a session that is gone on with, until it is dropped.
    held: Option<File>,
    redactor: Redactor,
    started: bool,
}

impl Session {
    /// Makes a session that will be written to `sessions_dir`; `None` keeps nothing (`--no-session`).
    #[must_use]
    pub fn new(id: SessionId, directory: PathBuf, sessions_dir: Option<&Path>, redactor: Redactor) -> Self {
        let path = sessions_dir.map(|sessions| sessions.join(format!("{id}.jsonl")));
        Self { id, directory, path, file: None, held: None, redactor, started: false }
    }

    /// Goes on with a session that is on disk, and holds it where nobody else does: see [`is_held`].
    #[must_use]
    pub fn resume(id: SessionId, directory: PathBuf, path: PathBuf, redactor: Redactor) -> Self {
        let held = File::open(&path).ok().filter(|file| file.try_lock().is_ok());
        Self { id, directory, path: Some(path), file: None, held, redactor, started: true }
    }

    /// Returns its id.
    #[must_use]
    pub const fn id(&self) -> &SessionId {
        &self.id
    }

    /// Returns the directory it runs in.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the file, unless nothing is kept.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Takes out of a text what must not be written to the disk.
    #[must_use]
    pub fn redacted(&self, text: &str) -> String {
        self.redactor.text(text)
    }

    /// Appends a finished message and flushes it to the system.
    ///
    /// # Errors
    /// [`SessionError::Io`]: the turn can go on, unsaved.
    pub fn append_message(&mut self, model: &str, message: &Message, now: SystemTime) -> Result<(), SessionError> {
        if self.path.is_none() {
            return Ok(());
        }
        if !self.started {
            let started = EntryKind::Started {
                id: self.id.clone(),
                directory: self.directory.to_string_lossy().into_owned(),
                directory_bytes: self
                    .directory
                    .to_str()
                    .is_none()
                    .then(|| self.directory.as_os_str().as_bytes().to_vec()),
                model: model.to_owned(),
                axi: env!("CARGO_PKG_VERSION").to_owned(),
            };
            self.write(started, now)?;
            self.started = true;
        }
        let message = self.redactor.message(message);
        self.write(EntryKind::Message { message }, now)
    }

    /// Appends anything else; nothing is written before the first message.
    ///
    /// # Errors
    /// As [`Session::append_message`].
    pub fn append(&mut self, kind: EntryKind, now: SystemTime) -> Result<(), SessionError> {
        if !self.started {
            return Ok(());
        }
        self.write(kind, now)
    }

    /// Asks the system to put what was written on the disk; called once a turn.
    ///
    /// # Errors
    /// As [`Session::append_message`].
    pub fn sync(&mut self) -> Result<(), SessionError> {
        match (&self.file, &self.path) {
            (Some(file), Some(path)) => {
                file.sync_data().map_err(|cause| SessionError::Io { path: path.clone(), cause })
            }
            (None, _) | (_, None) => Ok(()),
        }
    }

    fn write(&mut self, kind: EntryKind, now: SystemTime) -> Result<(), SessionError> {
        let Some(path) = self.path.clone() else { return Ok(()) };
        let failed = |cause| SessionError::Io { path: path.clone(), cause };
        if self.file.is_none() {
            let file = open(&path).map_err(failed)?;
            if self.held.is_none() {
                // Without locks two may write to it: their lines stay whole.
                drop(file.try_lock());
            }
            self.file = Some(file);
        }
        let Some(file) = self.file.as_mut() else { return Ok(()) };
        let time =
            now.duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX));
        let mut line = serde_json::to_vec(&Entry { version: VERSION, time, kind })
            .map_err(|cause| failed(std::io::Error::other(cause)))?;
        line.push(b'\n');
        let written = file.write_all(&line);
        if written.is_err() {
            // A half-written line (full disk) must not swallow the next one: reopening heals the end.
            self.file = None;
        }
        written.map_err(failed)
    }
}

/// Opens for appending; an unfinished last line (power loss, full disk) gets its newline first.
/// Tells whether an axi has the session of this file open: two must not write to one conversation.
#[must_use]
pub fn is_held(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

fn open(path: &Path) -> std::io::Result<File> {
    if let Some(parent) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).create(parent)?;
    }
    let mut file = OpenOptions::new().create(true).append(true).read(true).mode(0o600).open(path)?;
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        let mut last = [0_u8];
        std::io::Read::read_exact(&mut file, &mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
        }
    }
    Ok(file)
}

/// What a session's file came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The session's id.
    pub id: SessionId,
    /// The directory it ran in.
    pub directory: PathBuf,
    /// The last model used.
    pub model: String,
    /// Its title, if it was given one.
    pub title: Option<String>,
    /// The conversation, repaired.
    pub conversation: Conversation,
    /// Tokens of all its requests.
    pub usage: Usage,
    /// Lines that could not be read and were skipped.
    pub skipped: usize,
}

/// Reads a line of a session's file; a bad byte (a failing disk, an editor) costs a character, not the line.
pub(super) fn read_entry(line: &[u8]) -> Option<Entry> {
    serde_json::from_str(&String::from_utf8_lossy(line)).ok()
}

/// The directory that a first line tells of.
pub(super) fn directory_of(text: String, bytes: Option<Vec<u8>>) -> PathBuf {
    bytes.map_or_else(|| PathBuf::from(text), |bytes| PathBuf::from(OsString::from_vec(bytes)))
}

/// Reads a session's file, skipping lines that a crash cut or a newer version wrote.
///
/// # Errors
/// [`SessionError::Io`], or [`SessionError::Unreadable`] when there is no first line to tell whose it is.
pub fn load(path: &Path) -> Result<Loaded, SessionError> {
    let failed = |cause| SessionError::Io { path: path.to_owned(), cause };
    let mut reader = BufReader::new(File::open(path).map_err(failed)?);
    let mut loaded: Option<Loaded> = None;
    let mut messages = Vec::new();
    let mut skipped = 0;
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(failed)? == 0 {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let Some(Entry { version: VERSION, kind, .. }) = read_entry(&line) else {
            skipped += 1;
            continue;
        };
        match (kind, loaded.as_mut()) {
            (EntryKind::Started { id, directory, directory_bytes, model, .. }, None) => {
                loaded = Some(Loaded {
                    id,
                    directory: directory_of(directory, directory_bytes),
                    model,
                    title: None,
                    conversation: Conversation::new(),
                    usage: Usage::default(),
                    skipped: 0,
                });
            }
            (EntryKind::Message { message }, _) => messages.push(message),
            (EntryKind::Rewound { messages: left }, _) => {
                // It counted messages of a conversation that was whole.
                let mut whole = Conversation::restore(std::mem::take(&mut messages));
                whole.rewind(usize::try_from(left).unwrap_or(usize::MAX));
                messages = whole.messages().to_vec();
            }
            (EntryKind::Usage { usage, .. }, Some(known)) => known.usage.add(usage),
            (EntryKind::Model { model }, Some(known)) => known.model = model,
            (EntryKind::Title { title }, Some(known)) => known.title = Some(title),
            (EntryKind::TurnEnded { .. } | EntryKind::Started { .. }, _)
            | (EntryKind::Usage { .. } | EntryKind::Model { .. } | EntryKind::Title { .. }, None) => {}
        }
    }
    let mut loaded = loaded.ok_or_else(|| SessionError::Unreadable(path.to_owned()))?;
    loaded.conversation = Conversation::restore(messages);
    loaded.skipped = skipped;
    Ok(loaded)
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
