//! The directory of all sessions: listing, finding, deleting.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::entry::{Entry, EntryKind, Origin, place_of, read_kind};
use super::held::is_held;
use super::id::directory_mark;
use super::overview::{Copy, Overview};
use super::partial::Partial;
use super::redact::Redactor;
use super::search;
use super::transcript::Session;
use super::{SessionError, SessionId, outputs};
use crate::conversation::{Money, Usage};
use crate::file::is_torn;

/// The fewest letters of an id by which a session is changed or deleted: no word or number is taken for one.
const SURE: usize = 8;

/// How many sessions, and how many of their bytes, are searched for calls.
const MOST_SESSIONS: usize = 40;
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// Knows where the sessions are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionStore {
    directory: PathBuf,
    journals: Option<PathBuf>,
    outputs: Option<PathBuf>,
}

/// What a list shows of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Its id.
    pub id: SessionId,
    /// Its file.
    pub path: PathBuf,
    /// The directory it ran in; empty where its first line is damaged.
    pub directory: PathBuf,
    /// Its title, else the first line of its first message, at most 80 characters.
    pub title: String,
    /// Whether a person gave it that title.
    pub named: bool,
    /// The last model used, as `PROVIDER/MODEL`.
    pub model: String,
    /// What it began in, where that is known.
    pub origin: Option<Origin>,
    /// How many turns ended.
    pub turns: u64,
    /// Tokens of its requests, without those of the session it began as.
    pub usage: Usage,
    /// What those requests cost, where the price of each was known.
    pub spent: Option<Money>,
    /// How long its file is.
    pub bytes: u64,
    /// The session it began as.
    pub forked_from: Option<String>,
    /// When it was last written.
    pub modified: SystemTime,
}

impl SessionStore {
    /// Looks at `directory`, which need not exist.
    #[must_use]
    pub const fn new(directory: PathBuf) -> Self {
        Self { directory, journals: None, outputs: None }
    }

    /// Lets the journals below this directory go with their sessions: what is deleted leaves no copies of files.
    #[must_use]
    pub fn with_journals(self, journals: Option<PathBuf>) -> Self {
        Self { journals, ..self }
    }

    /// Lets the whole outputs of calls in this directory go with the sessions that name them.
    #[must_use]
    pub fn with_outputs(self, outputs: Option<PathBuf>) -> Self {
        Self { outputs, ..self }
    }

    /// Returns where the sessions are.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Lists all sessions, the one last written first.
    #[must_use]
    pub fn list(&self) -> Vec<Summary> {
        let mut copy = Copy::read(&self.directory);
        let files = self.files();
        let summaries = files.iter().filter_map(|(id, path)| summarise(id, path, &mut copy));
        let mut found: Vec<Summary> = summaries.collect();
        found.sort_by(|left, right| right.modified.cmp(&left.modified).then_with(|| right.id.cmp(&left.id)));
        let there: HashSet<&str> = files.iter().map(|(id, _)| id.as_str()).collect();
        copy.keep(&self.directory, &|id| there.contains(id));
        found
    }

    /// Lists the sessions in which all words of a text were said, called, answered or given as a title, whatever their
    /// case: the best match first, of equals the one last written.
    #[must_use]
    pub fn search(&self, text: &str) -> Vec<Summary> {
        let mut files = self.files();
        // What a list tells is read of those alone that are found.
        files.sort_by_cached_key(|(id, path)| std::cmp::Reverse((written(path), id.clone())));
        let paths: Vec<&Path> = files.iter().map(|(_, path)| path.as_path()).collect();
        let mut copy = Copy::read(&self.directory);
        let found = search::ranked(&paths, text).into_iter().map(|place| &files[place]);
        let found: Vec<Summary> = found.filter_map(|(id, path)| summarise(id, path, &mut copy)).collect();
        let there: HashSet<&str> = files.iter().map(|(id, _)| id.as_str()).collect();
        copy.keep(&self.directory, &|id| there.contains(id));
        found
    }

    /// Whether there is no session.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files().is_empty()
    }

    /// Finds the session of `directory` that was last written, also where the directory had another name then.
    #[must_use]
    pub fn last_of(&self, directory: &Path) -> Option<Summary> {
        let mark = directory_mark(directory);
        let newest = |list: Vec<Summary>| list.into_iter().max_by_key(|found| (found.modified, found.id.clone()));
        let mut files = self.files();
        files.retain(|(id, _)| id.as_str().rsplit('-').next().is_some_and(|last| last.starts_with(&mark)));
        let mut copy = Copy::read(&self.directory);
        let found = files.iter().filter_map(|(id, path)| summarise(id, path, &mut copy));
        let found = found
            .filter(|summary| summary.directory == directory || summary.directory.as_os_str().is_empty())
            .collect();
        newest(found).or_else(|| newest(self.moved_to(directory)))
    }

    /// The sessions of a directory that was somewhere else when they began, and is there no more.
    fn moved_to(&self, directory: &Path) -> Vec<Summary> {
        let Some(place) = place_of(directory) else { return Vec::new() };
        let mut copy = Copy::read(&self.directory);
        let files = self.files();
        let had = |(id, path): &(SessionId, PathBuf)| {
            let overview = overview(id, path, &mut copy)?;
            // The number of a deleted directory may be given to another.
            let moved = overview.place.as_ref() == Some(&place) && !overview.directory.exists();
            moved.then(|| summary(id, path, overview))?
        };
        files.iter().filter_map(had).collect()
    }

    /// Finds a session by its id, or by any part of it that only one has.
    ///
    /// # Errors
    /// [`SessionError::NotFound`] and [`SessionError::Ambiguous`].
    pub fn find(&self, id: &str) -> Result<(SessionId, PathBuf), SessionError> {
        let files = self.files();
        if let Some(exact) = files.iter().find(|(known, _)| known.as_str() == id) {
            return Ok(exact.clone());
        }
        let mut matching = files.into_iter().filter(|(known, _)| !id.is_empty() && known.as_str().contains(id));
        match (matching.next(), matching.next()) {
            (Some(found), None) => Ok(found),
            (Some(_), Some(_)) => Err(SessionError::Ambiguous(id.to_owned())),
            (None, _) => Err(SessionError::NotFound(id.to_owned())),
        }
    }

    /// Finds the session that is to be changed or deleted: by its id, or by a part of it that no word is.
    ///
    /// # Errors
    /// As [`SessionStore::find`], and [`SessionError::TooShort`].
    pub fn find_surely(&self, id: &str) -> Result<(SessionId, PathBuf), SessionError> {
        let found = self.find(id)?;
        if id.len() < SURE { Err(SessionError::TooShort(id.to_owned())) } else { Ok(found) }
    }

    /// Deletes a session's file, and before it the journal of what it changed and the whole outputs of its calls.
    ///
    /// # Errors
    /// As [`SessionStore::find_surely`], [`SessionError::Held`], [`SessionError::Needed`], and [`SessionError::Io`]; the
    /// session is then still there.
    pub fn delete(&self, id: &str) -> Result<SessionId, SessionError> {
        let (id, path) = self.find_surely(id)?;
        let forks = self.list().into_iter().find(|other| other.forked_from.as_deref() == Some(id.as_str()));
        if let Some(fork) = forks {
            return Err(SessionError::Needed { id, fork: fork.id });
        }
        self.remove(&id, &path)?;
        Copy::read(&self.directory).keep(&self.directory, &|known| known != id.as_str());
        Ok(id)
    }

    fn remove(&self, id: &SessionId, path: &Path) -> Result<(), SessionError> {
        if is_held(path) {
            return Err(SessionError::Held(id.clone()));
        }
        if let Some(journals) = &self.journals {
            crate::journal::forget(journals, id.as_str())
                .map_err(|cause| SessionError::Io { path: journals.clone(), cause })?;
        }
        for output in self.outputs.iter().flat_map(|outputs| outputs::of_session(path, outputs)) {
            match std::fs::remove_file(&output) {
                // It may be swept already.
                Err(cause) if cause.kind() != ErrorKind::NotFound => {
                    return Err(SessionError::Io { path: output, cause });
                }
                Ok(()) | Err(_) => {}
            }
        }
        Partial::remove(path);
        std::fs::remove_file(path).map_err(|cause| SessionError::Io { path: path.to_owned(), cause })
    }

    /// Deletes the sessions that were not written for so long: never one with a title, one that an axi has open, one
    /// that another began as, or `current`. Returns those that are gone.
    #[must_use]
    pub fn clean_up(&self, unused: Duration, current: &SessionId, now: SystemTime) -> Vec<Summary> {
        let old = |modified: SystemTime| now.duration_since(modified).is_ok_and(|age| age > unused);
        // One look at each file's time is all there is on most days.
        if !self.files().iter().any(|(_, path)| old(written(path))) {
            return Vec::new();
        }
        let list = self.list();
        let needed = |id: &SessionId| list.iter().any(|other| other.forked_from.as_deref() == Some(id.as_str()));
        let gone = list.iter().filter(|summary| {
            old(summary.modified)
                && !summary.named
                && summary.id != *current
                && !needed(&summary.id)
                && self.remove(&summary.id, &summary.path).is_ok()
        });
        let gone: Vec<Summary> = gone.cloned().collect();
        Copy::read(&self.directory).keep(&self.directory, &|id| !gone.iter().any(|gone| gone.id.as_str() == id));
        gone
    }

    /// Gives a session a title, as one more line of its file, whoever has it open.
    ///
    /// # Errors
    /// As [`SessionStore::find_surely`], [`SessionError::Io`], and [`SessionError::Held`] while a line is being written.
    pub fn rename(&self, id: &str, title: &str, now: SystemTime) -> Result<SessionId, SessionError> {
        let (id, path) = self.find_surely(id)?;
        let redactor = Redactor::default();
        let title = EntryKind::Title { title: redactor.text(title) };
        if !is_held(&path) {
            Session::resume(id.clone(), PathBuf::new(), path, redactor).append(title, now)?;
        } else if !add_line(&path, title, now)? {
            return Err(SessionError::Held(id));
        }
        Ok(id)
    }

    /// Tells whether a session is known by its first words alone.
    #[must_use]
    pub fn is_untitled(&self, path: &Path) -> bool {
        let mut copy = Copy::read(&self.directory);
        let id = path.file_stem().and_then(|stem| stem.to_str()).and_then(SessionId::parse);
        let overview = id.and_then(|id| overview(&id, path, &mut copy));
        overview.is_some_and(|overview| overview.given.is_none() && overview.topic.is_none())
    }

    /// Writes what a model calls a session, whoever has it open: one whole line behind whole lines. It is a title until a
    /// person gives one, and keeps no session from being cleaned up.
    ///
    /// # Errors
    /// [`SessionError::Io`].
    pub fn set_topic(&self, path: &Path, topic: &str, now: SystemTime) -> Result<(), SessionError> {
        let topic = Redactor::default().text(topic);
        add_line(path, EntryKind::Topic { topic }, now)?;
        Ok(())
    }

    /// Returns the last calls of a tool, over all sessions, the newest first: what `input` makes of each. Looks at
    /// no more than the last 8 MB of the 40 newest sessions.
    #[must_use]
    pub fn last_calls<T>(&self, tool: &str, most: usize, input: impl Fn(&Value) -> Option<T>) -> Vec<T> {
        let mut files = self.files();
        // An id begins with the time its session began.
        files.sort_by(|left, right| right.0.cmp(&left.0));
        let mut found = Vec::new();
        let mut left = MOST_BYTES;
        for (_, path) in files.into_iter().take(MOST_SESSIONS) {
            let Some(text) = end_of(&path, left) else { continue };
            left = left.saturating_sub(u64::try_from(text.len()).unwrap_or(u64::MAX));
            for line in text.lines().rev().filter(|line| line.contains(tool)) {
                let Some(EntryKind::Message { message }) = read_kind(line.as_bytes()) else {
                    continue;
                };
                let calls: Vec<_> = message.calls().filter(|call| call.name == tool).collect();
                found.extend(calls.into_iter().rev().filter_map(|call| input(&call.input)));
                if found.len() >= most {
                    found.truncate(most);
                    return found;
                }
            }
        }
        found
    }

    pub(super) fn files(&self) -> Vec<(SessionId, PathBuf)> {
        let entries = std::fs::read_dir(&self.directory).into_iter().flatten().flatten();
        entries
            .filter_map(|entry| {
                let path = entry.path();
                let stem = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
                let id = SessionId::parse(stem)?;
                // A named pipe would be waited for.
                path.is_file().then_some((id, path))
            })
            .collect()
    }
}

/// Reads the end of a file, at most so many bytes; a line that is cut is no line.
fn end_of(path: &Path, most: u64) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most))).ok()?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// When a file was last written; the earliest time where that is not known.
fn written(path: &Path) -> SystemTime {
    std::fs::metadata(path).and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
}

fn overview(id: &SessionId, path: &Path, copy: &mut Copy) -> Option<Overview> {
    let length = std::fs::metadata(path).ok()?.len();
    copy.of(id.as_str(), path, length)
}

fn summarise(id: &SessionId, path: &Path, copy: &mut Copy) -> Option<Summary> {
    let overview = overview(id, path, copy)?;
    summary(id, path, overview)
}

fn summary(id: &SessionId, path: &Path, overview: Overview) -> Option<Summary> {
    let metadata = std::fs::metadata(path).ok()?;
    let modified = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    let (title, spent) = (overview.title(), overview.spent());
    overview.readable.then_some(Summary {
        id: id.clone(),
        path: path.to_owned(),
        directory: overview.directory,
        title,
        named: overview.given.is_some(),
        model: overview.model,
        origin: overview.origin,
        turns: overview.turns,
        spent,
        usage: overview.usage,
        bytes: metadata.len(),
        forked_from: overview.forked_from,
        modified,
    })
}

/// Adds a whole line behind whole lines of a session that another may have open; false where one is being written.
fn add_line(path: &Path, kind: EntryKind, now: SystemTime) -> Result<bool, SessionError> {
    let write = || {
        let mut file = OpenOptions::new().append(true).read(true).open(path)?;
        let line = Entry::line(kind, now)?;
        if is_torn(&file)? { Ok(false) } else { file.write_all(&line).map(|()| true) }
    };
    write().map_err(|cause| SessionError::Io { path: path.to_owned(), cause })
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
