//! The directory of all sessions: listing, finding, deleting.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::redact::Redactor;
use super::transcript::{Entry, EntryKind, Session};
use super::{SessionError, SessionId, directory_mark};

/// Knows where the sessions are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionStore {
    directory: PathBuf,
}

/// What a list shows of a session, from its first lines only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Its id.
    pub id: SessionId,
    /// Its file.
    pub path: PathBuf,
    /// The directory it ran in.
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
        Self { directory }
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

    /// Finds the session of `directory` that was last written.
    #[must_use]
    pub fn last_of(&self, directory: &Path) -> Option<Summary> {
        let mark = directory_mark(directory);
        let mut files = self.files();
        files.retain(|(id, _)| id.as_str().rsplit('-').next().is_some_and(|last| last.starts_with(&mark)));
        let found = files.into_iter().filter_map(|(id, path)| summarise(id, path));
        found
            .filter(|summary| summary.directory == directory)
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

    /// Deletes a session's file.
    ///
    /// # Errors
    /// As [`SessionStore::find`], and [`SessionError::Io`].
    pub fn delete(&self, id: &str) -> Result<SessionId, SessionError> {
        let (id, path) = self.find(id)?;
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

    fn files(&self) -> Vec<(SessionId, PathBuf)> {
        let entries = std::fs::read_dir(&self.directory).into_iter().flatten().flatten();
        entries
            .filter_map(|entry| {
                let path = entry.path();
                let stem = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
                Some((SessionId::parse(stem)?, path))
            })
            .collect()
    }
}

/// Reads as many lines as the title needs: the first message is the second line.
fn summarise(id: SessionId, path: PathBuf) -> Option<Summary> {
    let file = File::open(&path).ok()?;
    let modified = file.metadata().and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let mut directory = None;
    let mut title = String::new();
    for line in BufReader::new(file).lines().take(8).map_while(Result::ok) {
        match serde_json::from_str::<Entry>(&line).map(|entry| entry.kind) {
            Ok(EntryKind::Started { directory: found, .. }) => directory = Some(found),
            Ok(EntryKind::Message { message }) => {
                title = message.text().lines().next().unwrap_or_default().chars().take(80).collect();
                break;
            }
            Ok(
                EntryKind::Usage { .. }
                | EntryKind::Model { .. }
                | EntryKind::TurnEnded { .. }
                | EntryKind::Title { .. },
            )
            | Err(_) => {}
        }
    }
    let title = newest_title(&path).unwrap_or(title);
    Some(Summary { id, path, directory: directory?, title, modified })
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
            && let Ok(Entry { kind: EntryKind::Title { title: found }, .. }) = serde_json::from_slice(&line)
        {
            title = Some(found.lines().next().unwrap_or_default().chars().take(80).collect());
        }
        line.clear();
    }
    title
}
