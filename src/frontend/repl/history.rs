//! The history in memory: what ↑, Ctrl+R and the ghost text look through, and what decides that a line is kept.
//!
//! The order is one of preference, the best last: lines of other directories, lines of this directory, lines sent
//! since the start. Each line is there once.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reedline::{
    CommandLineSearch, History, HistoryItem, HistoryItemId, HistorySessionId, ReedlineError, ReedlineErrorVariants,
    SearchDirection, SearchQuery,
};

use super::history_compact::{LARGE, LEFT, compact};
use super::history_file::{Entry, HistoryFile};
use super::paste::{self, PasteStore, Piece};
use super::secret::{KnownSecrets, looks_secret};
use super::state::SharedState;

/// Stands for a long paste in a stored line.
const REPLACEMENT: char = '\u{FFFC}';
/// Pastes of a line that are larger together, in bytes, are not kept in the history.
const PASTES_KEPT: usize = 256 * 1024;
/// How long a key waits for the file to be read when it comes right after the start.
const LOAD_WAIT: Duration = Duration::from_millis(500);

/// Where the history is and whether it is kept.
#[derive(Debug, Clone, Default)]
pub struct HistoryOptions {
    /// The file; `None`: only this session's lines, in memory.
    pub path: Option<PathBuf>,
    /// The working directory, whose lines are preferred.
    pub directory: String,
    /// `false`: no line of this session is written to the file.
    pub enabled: bool,
}

#[derive(Debug)]
struct Memory {
    /// Absent while a thread reads it.
    file: Option<HistoryFile>,
    path: Option<PathBuf>,
    directory: String,
    lines: Lines,
    loaded: bool,
    loading: bool,
    enabled: bool,
}

/// The lines, each once.
#[derive(Debug, Default)]
struct Lines {
    /// By position; `None` where a newer line says the same.
    lines: Vec<Option<Entry>>,
    position: HashMap<String, usize>,
}

struct Shared {
    memory: Mutex<Memory>,
    done: Condvar,
}

/// The history, shared by the parts of the editor.
#[derive(Clone)]
pub(super) struct HistoryStore {
    shared: Arc<Shared>,
    pastes: PasteStore,
    paste_label: Arc<dyn Fn(&str) -> String + Send + Sync>,
    /// Apart from the memory, which is locked while a line is looked at.
    secrets: Arc<Mutex<KnownSecrets>>,
}

impl Memory {
    fn push(&mut self, entry: Entry) {
        self.lines.push(entry);
    }

    /// Takes over what was read, below what was sent meanwhile.
    fn fill(&mut self, read: Lines) {
        let session = std::mem::replace(&mut self.lines, read);
        for entry in session.lines.into_iter().flatten() {
            self.lines.push(entry);
        }
        self.loaded = true;
    }
}

impl Lines {
    /// Orders what was read of the file. Takes its time: no key may wait for it.
    fn read(entries: Vec<Entry>, directory: &str) -> Self {
        let mut lines = Self::default();
        let (here, elsewhere): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| entry.directory == directory);
        for entry in elsewhere.into_iter().chain(here) {
            lines.push(entry);
        }
        lines
    }

    fn push(&mut self, entry: Entry) {
        let key = key(&entry);
        if let Some(old) = self.position.insert(key, self.lines.len()) {
            self.lines[old] = None;
        }
        self.lines.push(Some(entry));
    }

    fn iter(&self) -> std::slice::Iter<'_, Option<Entry>> {
        self.lines.iter()
    }
}

/// What makes two lines the same.
fn key(entry: &Entry) -> String {
    if entry.pastes.is_empty() {
        return entry.line.clone();
    }
    format!("{}\u{0}{}", entry.line, entry.pastes.join("\u{0}"))
}

impl HistoryStore {
    /// Makes the store; reads nothing yet.
    pub(super) fn new(
        options: HistoryOptions,
        pastes: PasteStore,
        paste_label: Arc<dyn Fn(&str) -> String + Send + Sync>,
    ) -> Self {
        let memory = Memory {
            loaded: options.path.is_none(),
            file: options.path.clone().map(HistoryFile::new),
            path: options.path,
            directory: options.directory,
            lines: Lines::default(),
            loading: false,
            enabled: options.enabled,
        };
        let shared = Arc::new(Shared { memory: Mutex::new(memory), done: Condvar::new() });
        Self { shared, pastes, paste_label, secrets: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.shared.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts reading the file on a thread of its own, which ends when it has been read; later calls read what
    /// has been appended since, by whichever process.
    pub(super) fn refresh(&self) {
        let mut memory = self.lock();
        if memory.loaded {
            let new = memory.file.as_mut().map(HistoryFile::read_new);
            for entry in new.and_then(Result::ok).unwrap_or_default() {
                memory.push(entry);
            }
            return;
        }
        if memory.loading {
            return;
        }
        memory.loading = true;
        let Some(mut file) = memory.file.take() else { return };
        let directory = memory.directory.clone();
        drop(memory);
        let store = self.clone();
        let reader = move || {
            let entries = Lines::read(file.read_newest().unwrap_or_default(), &directory);
            let mut memory = store.lock();
            memory.fill(entries);
            memory.file = Some(file);
            drop(memory);
            store.shared.done.notify_all();
            // Nobody waits for this.
            let path = store.lock().path.clone();
            if let Some(Err(error)) = path.map(|path| compact(&path, LARGE, LEFT)) {
                tracing::warn!(%error, "the history could not be shortened");
            }
        };
        if thread::Builder::new().name("history".to_owned()).spawn(reader).is_err() {
            self.lock().loaded = true;
        }
    }

    /// Locks the memory when the file has been read, waiting for it shortly.
    fn ready(&self) -> MutexGuard<'_, Memory> {
        let memory = self.lock();
        let waiting = |memory: &mut Memory| memory.loading && !memory.loaded;
        let waited = self.shared.done.wait_timeout_while(memory, LOAD_WAIT, waiting);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Never keeps a line with one of these in it.
    pub(super) fn keep_out(&self, secrets: KnownSecrets) {
        *self.secrets() = secrets;
    }

    fn secrets(&self) -> MutexGuard<'_, KnownSecrets> {
        self.secrets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whether a line, pastes whole, holds a known secret or looks as if it held one.
    pub(super) fn is_secret(&self, whole: &str) -> bool {
        looks_secret(whole) || self.secrets().is_in(whole)
    }

    /// Turns a line as edited into an entry; `None` when it must not be kept.
    fn entry(&self, line: &str, directory: String) -> Option<Entry> {
        let blank = line.trim().is_empty() || line.starts_with(char::is_whitespace);
        if blank || self.is_secret(&self.pastes.expand(line)) {
            return None;
        }
        let mut stored = String::new();
        let mut pastes = Vec::new();
        for piece in paste::pieces(line) {
            match piece {
                Piece::Text(text) => stored.push_str(text),
                Piece::Block(block) => {
                    stored.push(REPLACEMENT);
                    pastes.push(self.pastes.expand(block));
                }
            }
        }
        if pastes.iter().map(String::len).sum::<usize>() > PASTES_KEPT {
            stored = self.pastes.labelled(line);
            pastes.clear();
        }
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        Some(Entry { time: u64::try_from(time).unwrap_or(u64::MAX), directory, line: stored, pastes })
    }

    /// Keeps a sent line, in memory and in the file.
    fn keep(&self, line: &str) -> std::io::Result<()> {
        let mut memory = self.lock();
        if !memory.enabled {
            return Ok(());
        }
        let directory = memory.directory.clone();
        let Some(entry) = self.entry(line, directory) else { return Ok(()) };
        let written = memory.path.clone().map_or(Ok(()), |path| HistoryFile::new(path).append(&entry));
        // What others wrote meanwhile comes before this line, which is not to be read again.
        let new = if memory.loaded { memory.file.as_mut().map(HistoryFile::read_new) } else { None };
        for other in new.and_then(Result::ok).unwrap_or_default() {
            memory.push(other);
        }
        memory.push(entry);
        written
    }

    /// Turns an entry into a line for the editor: long pastes become blocks again.
    fn line(&self, entry: &Entry) -> String {
        let mut pastes = entry.pastes.iter();
        let mut line = String::with_capacity(entry.line.len());
        for character in entry.line.chars() {
            match (character, if character == REPLACEMENT { pastes.next() } else { None }) {
                (REPLACEMENT, Some(text)) => match self.pastes.keep(text.clone(), &(self.paste_label)(text)) {
                    Some(block) => line.push_str(&block),
                    None => line.push_str(text),
                },
                (paste::MARK, _) => {}
                (other, _) => line.push(other),
            }
        }
        line
    }

    /// Returns what would complete `line` to the best line that begins with it, the directory's lines first.
    /// Does not wait for the file.
    pub(super) fn completion(&self, line: &str) -> Option<String> {
        let memory = self.lock();
        memory.lines.iter().rev().flatten().find_map(|entry| {
            let rest = entry.line.strip_prefix(line)?;
            (!rest.is_empty() && entry.pastes.is_empty()).then(|| rest.to_owned())
        })
    }

    /// Calls `visit` with the lines, best first, until it returns `false`.
    pub(super) fn visit(&self, mut visit: impl FnMut(&str) -> bool) {
        let memory = self.ready();
        for entry in memory.lines.iter().rev().flatten() {
            if entry.pastes.is_empty() && !visit(&entry.line) {
                return;
            }
        }
    }
}

/// What reedline sees of the store.
pub(super) struct LineHistory {
    pub(super) store: HistoryStore,
    pub(super) state: SharedState,
}

fn unsupported(feature: &'static str) -> ReedlineError {
    ReedlineError(ReedlineErrorVariants::HistoryFeatureUnsupported { history: "axi", feature })
}

fn matches(entry: &Entry, search: Option<&CommandLineSearch>) -> bool {
    match search {
        None => true,
        Some(CommandLineSearch::Prefix(prefix)) => entry.line.starts_with(prefix.as_str()),
        Some(CommandLineSearch::Substring(part)) => entry.line.contains(part.as_str()),
        Some(CommandLineSearch::Exact(line)) => &entry.line == line,
    }
}

impl LineHistory {
    fn item(&self, position: usize, entry: &Entry) -> HistoryItem {
        let mut item = HistoryItem::from_command_line(self.store.line(entry));
        item.id = i64::try_from(position).ok().map(HistoryItemId::new);
        item
    }
}

impl History for LineHistory {
    fn save(&mut self, item: HistoryItem) -> reedline::Result<HistoryItem> {
        // A line that was ended by another key than Enter was not sent.
        if self.state.lock().ended.is_none() {
            self.store.keep(&item.command_line)?;
        }
        Ok(item)
    }

    fn load(&self, id: HistoryItemId) -> reedline::Result<HistoryItem> {
        let memory = self.store.ready();
        let position = usize::try_from(id.0).unwrap_or(usize::MAX);
        match memory.lines.lines.get(position) {
            Some(Some(entry)) => Ok(self.item(position, entry)),
            Some(None) | None => Err(unsupported("that line")),
        }
    }

    fn count(&self, query: SearchQuery) -> reedline::Result<i64> {
        let memory = self.store.ready();
        let search = query.filter.command_line.as_ref();
        let count = memory.lines.iter().flatten().filter(|entry| matches(entry, search)).count();
        Ok(i64::try_from(count).unwrap_or(i64::MAX))
    }

    fn search(&self, query: SearchQuery) -> reedline::Result<Vec<HistoryItem>> {
        let memory = self.store.ready();
        let search = query.filter.command_line.as_ref();
        let limit = query.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(0));
        let start = query.start_id.and_then(|id| usize::try_from(id.0).ok());
        let found = |position: usize| {
            let entry = memory.lines.lines.get(position)?.as_ref()?;
            matches(entry, search).then(|| self.item(position, entry))
        };
        let count = memory.lines.lines.len();
        Ok(match query.direction {
            SearchDirection::Backward => {
                (0..start.unwrap_or(count).min(count)).rev().filter_map(found).take(limit).collect()
            }
            SearchDirection::Forward => {
                (start.map_or(0, |start| start + 1)..count).filter_map(found).take(limit).collect()
            }
        })
    }

    fn update(&mut self, _: HistoryItemId, _: &dyn Fn(HistoryItem) -> HistoryItem) -> reedline::Result<()> {
        Err(unsupported("update"))
    }

    fn clear(&mut self) -> reedline::Result<()> {
        Err(unsupported("clear"))
    }

    fn delete(&mut self, _: HistoryItemId) -> reedline::Result<()> {
        Err(unsupported("delete"))
    }

    fn sync(&mut self) -> std::io::Result<()> {
        Ok(())
    }

    fn session(&self) -> Option<HistorySessionId> {
        None
    }
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
