//! What the model has seen of which files: their state, the ranges it was shown, and their text for saying what changed.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Texts longer than this are not kept for diffs (bytes).
const TEXT_LIMIT: usize = 256 * 1024;
/// All kept texts together (bytes); the oldest go first.
const TEXTS_LIMIT: usize = 8 * 1024 * 1024;

/// The state of a file: what tells two versions of it apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileState {
    /// Bytes.
    pub(crate) length: u64,
    /// Modification time, where the file system has one.
    pub(crate) modified: Option<SystemTime>,
    /// A 64-bit hash of the bytes; of the first and last ones only in a very large file.
    pub(crate) hash: u64,
}

impl FileState {
    /// Makes the state of a file whose bytes are all here.
    pub(crate) fn of(bytes: &[u8], modified: Option<SystemTime>) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write(bytes);
        Self { length: bytes.len() as u64, modified, hash: hasher.finish() }
    }
}

/// How a file relates to what the model knows of it.
pub(crate) enum Freshness {
    /// The model never read it.
    Unread,
    /// It is as the model saw it.
    Fresh,
    /// It changed since; the text the model saw, if it was kept.
    Changed(Option<Arc<str>>),
}

/// The files the model has read or written in this session.
#[derive(Debug, Default)]
pub(crate) struct FileMemory(Mutex<Files>);

#[derive(Debug, Default)]
struct Files {
    states: HashMap<PathBuf, FileState>,
    ranges: HashMap<PathBuf, Vec<(u64, u64)>>,
    texts: Vec<(PathBuf, Arc<str>)>,
}

impl FileMemory {
    fn lock(&self) -> MutexGuard<'_, Files> {
        // What a panicking thread left is still valid maps.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets all files.
    pub(crate) fn forget(&self) {
        *self.lock() = Files::default();
    }

    /// Gives the paths of files the model has seen, at most so many.
    pub(crate) fn paths(&self, most: usize) -> Vec<PathBuf> {
        self.lock().states.keys().take(most).cloned().collect()
    }

    /// Compares a file's state with what the model knows.
    pub(crate) fn freshness(&self, path: &Path, now: &FileState) -> Freshness {
        self.lock().freshness(path, now)
    }

    /// Tells whether the model was already shown this range of the file in this state.
    pub(crate) fn was_shown(&self, path: &Path, now: &FileState, range: (u64, u64)) -> bool {
        let files = self.lock();
        matches!(files.freshness(path, now), Freshness::Fresh)
            && files.ranges.get(path).is_some_and(|ranges| ranges.contains(&range))
    }

    /// Remembers that a range was shown; `text` is the whole file where it was loaded.
    pub(crate) fn remember_read(&self, path: &Path, now: FileState, range: (u64, u64), text: Option<&str>) {
        let mut files = self.lock();
        let fresh = matches!(files.freshness(path, &now), Freshness::Fresh);
        files.states.insert(path.to_path_buf(), now);
        let ranges = files.ranges.entry(path.to_path_buf()).or_default();
        if !fresh {
            ranges.clear();
        }
        ranges.push(range);
        files.keep(path, text);
    }

    /// Remembers the state the model's own change left.
    pub(crate) fn remember_written(&self, path: &Path, now: FileState, text: &str) {
        let mut files = self.lock();
        files.states.insert(path.to_path_buf(), now);
        files.ranges.remove(path);
        files.keep(path, Some(text));
    }
}

impl Files {
    fn freshness(&self, path: &Path, now: &FileState) -> Freshness {
        match self.states.get(path) {
            None => Freshness::Unread,
            // A touched file with the same bytes is no change.
            Some(before) if before.length == now.length && before.hash == now.hash => Freshness::Fresh,
            Some(_) => {
                let text = self.texts.iter().find(|(kept, _)| kept == path);
                Freshness::Changed(text.map(|(_, text)| Arc::clone(text)))
            }
        }
    }

    fn keep(&mut self, path: &Path, text: Option<&str>) {
        self.texts.retain(|(kept, _)| kept != path);
        let Some(text) = text.filter(|text| text.len() <= TEXT_LIMIT) else { return };
        self.texts.push((path.to_path_buf(), Arc::from(text)));
        let mut total: usize = self.texts.iter().map(|(_, text)| text.len()).sum();
        while total > TEXTS_LIMIT {
            total -= self.texts.remove(0).1.len();
        }
    }
}
