//! One session's file while it is written: append-only JSON lines, readable by its owner only.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::entry::{Entry, EntryKind, Origin, place_of};
use super::partial::{Partial, PartialKeeper, PartialSlot};
use super::{Fork, Redactor, SessionError, SessionId};
use crate::conversation::Message;
use crate::file::{Outlives, may_be_there, replace, whole_lines};
use crate::platform::os::ffi::OsStrExt as _;
use crate::platform::os::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _};

/// A session that is being written. Its file is made with the first message, so that merely looking around leaves
/// nothing.
#[derive(Debug)]
pub struct Session {
    id: SessionId,
    directory: PathBuf,
    path: Option<PathBuf>,
    file: Option<File>,
    /// The lines that could not be written yet: they are written before any later one, so that the file has no hole.
    waiting: VecDeque<(SystemTime, Vec<u8>)>,
    /// Whether the file may end within a line of ours.
    torn: bool,
    /// Whether this session has opened its file: what is saved beside it later is no other axi's.
    opened: bool,
    /// Whether somebody removed the file, and it was written anew.
    remade: bool,
    /// Writes a line; a test has some fail.
    write_line: fn(&mut File, &[u8]) -> std::io::Result<()>,
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
            waiting: VecDeque::new(),
            torn: false,
            opened: false,
            remade: false,
            write_line: |file, line| file.write_all(line),
            held: None,
            redactor,
            started: false,
            origin: None,
            early: Vec::new(),
            beside: PartialSlot::default(),
        }
    }

    /// Resumes a session on the disk, and locks it unless somebody else has: see [`super::is_held`].
    #[must_use]
    pub fn resume(id: SessionId, directory: PathBuf, path: PathBuf, redactor: Redactor) -> Self {
        let held = File::open(&path).ok().filter(|file| file.try_lock().is_ok());
        Self {
            id,
            directory,
            path: Some(path),
            file: None,
            waiting: VecDeque::new(),
            torn: false,
            opened: false,
            remade: false,
            write_line: |file, line| file.write_all(line),
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
    /// [`SessionError::Io`]: the turn can go on; what could not be written is kept, and written before the next line.
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
            self.put(started, now)?;
            self.started = true;
        }
        self.put_early(now)?;
        let message = self.redactor.message(message);
        self.beside.end_answer();
        self.put(EntryKind::Message { message }, now)?;
        self.flush()?;
        self.beside.clear(&path);
        Ok(())
    }

    /// Returns what saves the part of an answer that has arrived beside the file, until the answer itself is appended;
    /// `None` where nothing is saved, or nothing yet.
    #[must_use]
    pub fn partial_keeper(&self) -> Option<PartialKeeper> {
        let path = self.path.as_ref().filter(|_| self.started && self.waiting.is_empty())?;
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
        self.put_early(now)?;
        self.put(kind, now)?;
        self.flush()
    }

    /// Asks the system to write everything to the disk; called once a turn.
    ///
    /// # Errors
    /// As [`Session::append_message`].
    pub fn sync(&mut self) -> Result<(), SessionError> {
        self.flush()?;
        match (&self.file, &self.path) {
            (Some(file), Some(path)) => {
                file.sync_data().map_err(|cause| SessionError::Io { path: path.clone(), cause })
            }
            (None, _) | (_, None) => Ok(()),
        }
    }

    /// Tells, once, that somebody had removed the file and that it was written anew.
    pub const fn take_remade(&mut self) -> bool {
        std::mem::replace(&mut self.remade, false)
    }

    /// Puts what stands before the first message.
    fn put_early(&mut self, now: SystemTime) -> Result<(), SessionError> {
        std::mem::take(&mut self.early).into_iter().try_for_each(|early| self.put(early, now))
    }

    /// Has a line wait for its turn.
    fn put(&mut self, kind: EntryKind, now: SystemTime) -> Result<(), SessionError> {
        let Some(path) = &self.path else { return Ok(()) };
        let line = Entry::line(kind, now).map_err(|cause| SessionError::Io { path: path.clone(), cause })?;
        self.waiting.push_back((now, line));
        Ok(())
    }

    /// Writes the lines that wait, in their order. Those that cannot be written go on waiting.
    fn flush(&mut self) -> Result<(), SessionError> {
        let Some(path) = self.path.clone() else { return Ok(()) };
        let failed = |cause| SessionError::Io { path: path.clone(), cause };
        while let Some((now, _)) = self.waiting.front() {
            self.make_ready(&path, *now).map_err(failed)?;
            let (Some(file), Some((_, line))) = (&mut self.file, self.waiting.front()) else { return Ok(()) };
            self.torn = true;
            (self.write_line)(file, line).map_err(failed)?;
            self.torn = false;
            self.waiting.pop_front();
        }
        Ok(())
    }

    /// Has the file open, at its place, and ending with a whole line.
    fn make_ready(&mut self, path: &Path, now: SystemTime) -> std::io::Result<()> {
        if self.torn {
            let repaired = self.file.as_ref().map(|file| file.set_len(whole_lines(file)?));
            if repaired.is_some_and(|repaired| repaired.is_err()) {
                // Opened again, its torn line is ended instead.
                self.file = None;
            }
            self.torn = false;
        }
        let ours = self.file.as_ref().or(self.held.as_ref());
        if let Some(removed) = ours.filter(|file| file.metadata().is_ok_and(|known| known.nlink() == 0)) {
            // Where another file took its place, that is the session now.
            if !may_be_there(path) {
                let mut lines = vec![0; usize::try_from(whole_lines(removed)?).map_err(std::io::Error::other)?];
                removed.read_exact_at(&mut lines, 0)?;
                replace(path, &lines, Outlives::Kill)?;
                self.remade = true;
            }
            (self.file, self.held) = (None, None);
        }
        if self.file.is_none() {
            let file = open(path, now, !self.opened)?;
            if self.held.is_none() {
                // Without locks two processes may write to the file: their lines stay whole.
                drop(file.try_lock());
            }
            (self.file, self.opened) = (Some(file), true);
        }
        Ok(())
    }
}

/// What is left is tried a last time.
impl Drop for Session {
    fn drop(&mut self) {
        if let Err(error) = self.flush() {
            tracing::warn!(%error, lines = self.waiting.len(), "the end of a session is lost");
        }
    }
}

/// Opens the file for appending. If the last line is incomplete (power loss, disk full) it is ended first. If another
/// axi was killed in the middle of an answer, the saved part of it is appended.
fn open(path: &Path, now: SystemTime, takes_partial: bool) -> std::io::Result<File> {
    if let Some(parent) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    }
    let mut file = OpenOptions::new().create(true).append(true).read(true).mode(0o600).open(path)?;
    let lines = whole_lines(&file)?;
    if file.metadata()?.len() > lines {
        file.write_all(b"\n")?;
    }
    if let Some(partial) = takes_partial.then(|| Partial::read(path)).flatten() {
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
