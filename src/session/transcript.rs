//! One session's file while it is written: append-only JSON lines, readable by its owner only.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::entry::{Entry, EntryKind, Origin, place_of};
use super::partial::{Partial, PartialKeeper, PartialSlot};
use super::{Fork, Redactor, SessionError, SessionId};
use crate::conversation::Message;
use crate::file::whole_lines;

/// A session that is being written. Its file is made with the first message, so that merely looking around leaves
/// nothing.
#[derive(Debug)]
pub struct Session {
    id: SessionId,
    directory: PathBuf,
    path: Option<PathBuf>,
    file: Option<File>,
    /// The lock that keeps other axi processes out of a resumed session, until it is dropped.
    held: Option<File>,
    redactor: Redactor,
    started: bool,
    /// What it begins in.
    origin: Option<Origin>,
    /// The lines to write after the first line, if the session begins like another one.
    early: Vec<EntryKind>,
    /// Whether this session has saved a part of an answer beside the file.
    beside: PartialSlot,
}

impl Session {
    /// Makes a session that will be written to `sessions_dir`; with `None` nothing is saved (`--no-session`).
    #[must_use]
    pub fn new(id: SessionId, directory: PathBuf, sessions_dir: Option<&Path>, redactor: Redactor) -> Self {
        let path = sessions_dir.map(|sessions| sessions.join(format!("{id}.jsonl")));
        Self {
            id,
            directory,
            path,
            file: None,
            held: None,
            redactor,
            started: false,
            origin: None,
            early: Vec::new(),
            beside: PartialSlot::default(),
        }
    }

    /// Resumes a session on the disk, and locks it unless somebody else has: see [`is_held`].
    #[must_use]
    pub fn resume(id: SessionId, directory: PathBuf, path: PathBuf, redactor: Redactor) -> Self {
        let held = File::open(&path).ok().filter(|file| file.try_lock().is_ok());
        Self {
            id,
            directory,
            path: Some(path),
            file: None,
            held,
            redactor,
            started: true,
            origin: None,
            early: Vec::new(),
            beside: PartialSlot::default(),
        }
    }

    /// Says what it begins in.
    #[must_use]
    pub const fn begun_in(mut self, origin: Origin) -> Self {
        self.origin = Some(origin);
        self
    }

    /// Begins like another session.
    #[must_use]
    pub fn begin_as(mut self, fork: Fork) -> Self {
        self.early = fork.lines();
        self
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

    /// Returns the file, unless nothing is saved.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Removes from a text what must not be written to the disk.
    #[must_use]
    pub fn redacted(&self, text: &str) -> String {
        self.redactor.text(text)
    }

    /// Appends a finished message and flushes it to the operating system.
    ///
    /// # Errors
    /// [`SessionError::Io`]: the turn can go on, unsaved.
    pub fn append_message(&mut self, model: &str, message: &Message, now: SystemTime) -> Result<(), SessionError> {
        let Some(path) = self.path.clone() else { return Ok(()) };
        if !self.started {
            let started = EntryKind::Started {
                id: self.id.clone(),
                directory: self.directory.to_string_lossy().into_owned(),
                directory_bytes: self
                    .directory
                    .to_str()
                    .is_none()
                    .then(|| self.directory.as_os_str().as_bytes().to_vec()),
                place: place_of(&self.directory),
                model: model.to_owned(),
                axi: env!("CARGO_PKG_VERSION").to_owned(),
                origin: self.origin,
            };
            self.write(started, now)?;
            self.started = true;
        }
        self.write_early(now)?;
        let message = self.redactor.message(message);
        if self.beside.end_answer() && self.file.is_none() {
            // Opening the file again would append the saved part of this message: remove it first.
            self.beside.clear(&path);
        }
        self.write(EntryKind::Message { message }, now)?;
        self.beside.clear(&path);
        Ok(())
    }

    /// Returns what saves the part of an answer that has arrived beside the file, until the answer itself is appended;
    /// `None` where nothing is saved, or nothing yet.
    #[must_use]
    pub fn partial_keeper(&self) -> Option<PartialKeeper> {
        let path = self.path.as_ref().filter(|_| self.started)?;
        Some(self.beside.keeper(path, &self.redactor))
    }

    /// Appends any other entry. Before the first message nothing is written, except that changes to the beginning
    /// taken from another session are written together with that message.
    ///
    /// # Errors
    /// As [`Session::append_message`].
    pub fn append(&mut self, kind: EntryKind, now: SystemTime) -> Result<(), SessionError> {
        if !self.started {
            // What is pinned holds from the first message on.
            if !self.early.is_empty() || matches!(kind, EntryKind::Pinned { .. }) {
                self.early.push(kind);
            }
            return Ok(());
        }
        self.write_early(now)?;
        self.write(kind, now)
    }

    /// Writes what stands before the first message; what could not be written waits for the next line.
    fn write_early(&mut self, now: SystemTime) -> Result<(), SessionError> {
        while let Some(early) = self.early.first().cloned() {
            self.write(early, now)?;
            self.early.remove(0);
        }
        Ok(())
    }

    /// Asks the system to write everything to the disk; called once a turn.
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
            let file = open(&path, now).map_err(failed)?;
            if self.held.is_none() {
                // Without locks two processes may write to the file: their lines stay whole.
                drop(file.try_lock());
            }
            self.file = Some(file);
        }
        let Some(file) = self.file.as_mut() else { return Ok(()) };
        let line = Entry::line(kind, now).map_err(failed)?;
        let written = file.write_all(&line);
        if written.is_err() {
            // A half-written line (disk full) must not swallow the next one: reopening the file repairs its end.
            self.file = None;
        }
        written.map_err(failed)
    }
}

/// Tells whether an axi has the session of this file open: two must not write to the same conversation.
#[must_use]
pub fn is_held(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Opens the file for appending. If the last line is incomplete (power loss, disk full) it is ended first. If axi
/// was killed in the middle of an answer, the saved part of it is appended.
fn open(path: &Path, now: SystemTime) -> std::io::Result<File> {
    if let Some(parent) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    }
    let mut file = OpenOptions::new().create(true).append(true).read(true).mode(0o600).open(path)?;
    let lines = whole_lines(&file)?;
    if file.metadata()?.len() > lines {
        file.write_all(b"\n")?;
    }
    if let Some(partial) = Partial::read(path) {
        if partial.follows(lines) {
            file.write_all(&Entry::line(EntryKind::Message { message: partial.message }, now)?)?;
        }
        Partial::remove(path);
    }
    Ok(file)
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
