//! The directory of all sessions: listing, finding, deleting.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;

use super::entry::{EntryKind, directory_of, read_kind};
use super::id::directory_mark;
use super::partial::Partial;
use super::redact::Redactor;
use super::transcript::Session;
use super::{SessionError, SessionId};
use crate::conversation::ContentBlock;

/// How many sessions, and how many of their bytes, are searched for calls.
const MOST_SESSIONS: usize = 40;
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// Knows where the sessions are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionStore {
    directory: PathBuf,
    journals: Option<PathBuf>,
}

/// What a list shows of a session, from its first lines only.
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
    /// When it was last written.
    pub modified: SystemTime,
}

impl SessionStore {
    /// Looks at `directory`, which need not exist.
    #[must_use]
    pub const fn new(directory: PathBuf) -> Self {
        Self { directory, journals: None }
    }

    /// Lets the journals below this directory go with their sessions: what is deleted leaves no copies of files.
    #[must_use]
    pub fn with_journals(self, journals: Option<PathBuf>) -> Self {
        Self { journals, ..self }
    }

    /// Returns where the sessions are.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Lists all sessions, the one last written first.
    #[must_use]
    pub fn list(&self) -> Vec<Summary> {
        let mut found: Vec<Summary> =
            self.files().into_iter().filter_map(|(id, path)| summarise(id, path)).collect();
        found.sort_by(|left, right| right.modified.cmp(&left.modified).then_with(|| right.id.cmp(&left.id)));
        found
    }

    /// Lists the sessions in which a text was said, called, answered or given as a title, whatever its case.
    #[must_use]
    pub fn search(&self, text: &str) -> Vec<Summary> {
        let wanted = text.to_lowercase();
        let mut found = self.list();
        found.retain(|summary| says(&summary.path, &wanted));
        found
    }

    /// Finds the session of `directory` that was last written.
    #[must_use]
    pub fn last_of(&self, directory: &Path) -> Option<Summary> {
        let mark = directory_mark(directory);
        let mut files = self.files();
        files.retain(|(id, _)| id.as_str().rsplit('-').next().is_some_and(|last| last.starts_with(&mark)));
        let found = files.into_iter().filter_map(|(id, path)| summarise(id, path));
        found
            .filter(|summary| summary.directory == directory || summary.directory.as_os_str().is_empty())
            .max_by_key(|summary| (summary.modified, summary.id.clone()))
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

    /// Deletes a session's file, and before it the journal of what it changed.
    ///
    /// # Errors
    /// As [`SessionStore::find`], and [`SessionError::Io`]; the session is then still there.
    pub fn delete(&self, id: &str) -> Result<SessionId, SessionError> {
        let (id, path) = self.find(id)?;
        if let Some(journals) = &self.journals {
            crate::journal::forget(journals, id.as_str())
                .map_err(|cause| SessionError::Io { path: journals.clone(), cause })?;
        }
        Partial::remove(&path);
        std::fs::remove_file(&path).map_err(|cause| SessionError::Io { path, cause })?;
        Ok(id)
    }

    /// Gives a session a title, as one more line of its file.
    ///
    /// # Errors
    /// As [`SessionStore::delete`].
    pub fn rename(&self, id: &str, title: &str, now: SystemTime) -> Result<SessionId, SessionError> {
        let (id, path) = self.find(id)?;
        let redactor = Redactor::default();
        let title = redactor.text(title);
        Session::resume(id.clone(), PathBuf::new(), path, redactor).append(EntryKind::Title { title }, now)?;
        Ok(id)
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

    fn files(&self) -> Vec<(SessionId, PathBuf)> {
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

/// Reads as many lines as the title needs: the first message is the second line.
fn summarise(id: SessionId, path: PathBuf) -> Option<Summary> {
    let file = File::open(&path).ok()?;
    let modified = file.metadata().and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let (mut readable, mut directory) = (false, PathBuf::new());
    let mut title = String::new();
    for line in BufReader::new(file).split(b'\n').take(8).map_while(Result::ok) {
        let kind = read_kind(&line);
        readable |= kind.is_some();
        match kind {
            Some(EntryKind::Started { directory: found, directory_bytes, .. }) => {
                directory = directory_of(found, directory_bytes);
            }
            Some(EntryKind::Message { message }) => {
                title = message.text().lines().next().unwrap_or_default().chars().take(80).collect();
                break;
            }
            Some(
                EntryKind::Usage { .. }
                | EntryKind::Model { .. }
                | EntryKind::TurnEnded { .. }
                | EntryKind::Rewound { .. }
                | EntryKind::Cut { .. }
                | EntryKind::CutUndone
                | EntryKind::Pinned { .. }
                | EntryKind::Title { .. },
            )
            | None => {}
        }
    }
    let title = newest_title(&path).unwrap_or(title);
    readable.then_some(Summary { id, path, directory, title, modified })
}

/// Whether the words of a session hold a text in lower case. What is written between them (`role`, `kind`) is not theirs.
fn says(path: &Path, wanted: &str) -> bool {
    let holds = |text: &str| text.to_lowercase().contains(wanted);
    let Ok(file) = File::open(path) else { return false };
    BufReader::new(file).split(b'\n').map_while(Result::ok).any(|line| match read_kind(&line) {
        Some(EntryKind::Message { message }) => message.content.iter().any(|block| match block {
            ContentBlock::Text { text } => holds(text),
            ContentBlock::ToolCall(call) => holds(&call.name) || value_says(&call.input, &holds),
            ContentBlock::ToolResult(result) => holds(&result.content),
            ContentBlock::Reasoning(_) | ContentBlock::Image(_) | ContentBlock::WireItem(_) => false,
        }),
        Some(EntryKind::Title { title }) => holds(&title),
        Some(
            EntryKind::Started { .. }
            | EntryKind::Usage { .. }
            | EntryKind::Model { .. }
            | EntryKind::TurnEnded { .. }
            | EntryKind::Rewound { .. }
            | EntryKind::Cut { .. }
            | EntryKind::CutUndone
            | EntryKind::Pinned { .. },
        )
        | None => false,
    })
}

/// Whether a value of a call says it: its texts, not the names of its fields.
fn value_says(value: &Value, holds: &impl Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => holds(text),
        Value::Array(values) => values.iter().any(|value| value_says(value, holds)),
        Value::Object(fields) => fields.values().any(|value| value_says(value, holds)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The title given last. Its line may stand anywhere, so that all are passed over, unread.
fn newest_title(path: &Path) -> Option<String> {
    /// The beginning of a line, up to its kind.
    const HEAD: usize = 64;
    const MARK: &[u8] = b"\"kind\":\"title\"";
    let mut file = BufReader::with_capacity(256 * 1024, File::open(path).ok()?);
    let (mut line, mut title) = (Vec::new(), None);
    while file.read_until(b'\n', &mut line).ok()? > 0 {
        let head = &line[..line.len().min(HEAD)];
        if head.windows(MARK.len()).any(|part| part == MARK)
            && let Some(EntryKind::Title { title: found }) = read_kind(&line)
        {
            title = Some(found.lines().next().unwrap_or_default().chars().take(80).collect());
        }
        line.clear();
    }
    title
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
