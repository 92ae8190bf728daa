//! The history in memory: what ↑, Ctrl+R and the ghost text look through, and what decides that a line is kept.
//!
//! In which order they are, [`super::lines`] says.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reedline::{
    CommandLineSearch, History, HistoryItem, HistoryItemId, HistorySessionId, ReedlineError, ReedlineErrorVariants,
    SearchDirection, SearchQuery,
};

use super::compact::{LARGE, LEFT, compact};
use super::file::{Entry, HistoryFile};
use super::lines::{Lines, key};
use super::older::OlderLines;
use super::search::Found;
use crate::frontend::repl::line::{MARK, PasteStore, Piece, SharedState, paste_pieces};
use crate::secret::{Known, looks_secret};

/// Stands for a long paste in a stored line.
const REPLACEMENT: char = '\u{FFFC}';
/// Pastes of a line that are larger together, in bytes, are not kept in the history.
const PASTES_KEPT: usize = 256 * 1024;
/// How long a key waits for the file to be read when it comes right after the start.
const LOAD_WAIT: Duration = Duration::from_millis(500);
/// How long reading the file waits for who is about to type after the first prompt: a start is felt, the file is not.
const QUIET: Duration = Duration::from_millis(30);
/// How long ↑ waits for a line that is too old to be in memory; what comes later is there at the next key.
const OLDER_WAIT: Duration = Duration::from_millis(3);

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
    reading: Reading,
    /// A key cannot do without the file.
    hurry: bool,
    /// Ghost text was looked for in vain while the file was not read, and whether there may be some now.
    asked: bool,
    news: bool,
    enabled: bool,
}

/// How far the file has come into the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Nobody has asked for it.
    Unwanted,
    /// It is read as soon as the prompt is on the screen.
    Due,
    /// A thread reads it.
    Begun,
    /// It is there.
    Done,
}

struct Shared {
    memory: Mutex<Memory>,
    changed: Condvar,
}

/// The history, shared by the parts of the editor.
#[derive(Clone)]
pub(crate) struct HistoryStore {
    shared: Arc<Shared>,
    pub(crate) older: OlderLines,
    pastes: PasteStore,
    paste_label: Arc<dyn Fn(&str) -> String + Send + Sync>,
    /// Apart from the memory, which is locked while a line is looked at.
    secrets: Arc<Mutex<Known>>,
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
        self.reading = Reading::Done;
        self.news |= std::mem::take(&mut self.asked);
    }
}

impl HistoryStore {
    /// Makes the store; reads nothing yet.
    pub(crate) fn new(
        options: HistoryOptions,
        pastes: PasteStore,
        paste_label: Arc<dyn Fn(&str) -> String + Send + Sync>,
    ) -> Self {
        let memory = Memory {
            reading: if options.path.is_none() { Reading::Done } else { Reading::Unwanted },
            hurry: false,
            asked: false,
            news: false,
            file: options.path.clone().map(HistoryFile::new),
            path: options.path,
            directory: options.directory,
            lines: Lines::default(),
            enabled: options.enabled,
        };
        let shared = Arc::new(Shared { memory: Mutex::new(memory), changed: Condvar::new() });
        Self { shared, older: OlderLines::default(), pastes, paste_label, secrets: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.shared.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wants the file: it is read once the prompt is there, see [`HistoryStore::after_paint`]. Later calls read what has
    /// been appended since, by whichever process.
    pub(crate) fn refresh(&self) {
        let mut memory = self.lock();
        match memory.reading {
            Reading::Unwanted => {
                let is_there = memory.path.as_ref().is_some_and(|path| path.exists());
                // A first start has nothing to read, and no thread to wait for.
                memory.reading = if is_there { Reading::Due } else { Reading::Done };
            }
            Reading::Due | Reading::Begun => {}
            Reading::Done => {
                let new = memory.file.as_mut().map(HistoryFile::read_new);
                for entry in new.and_then(Result::ok).unwrap_or_default() {
                    memory.push(entry);
                }
            }
        }
    }

    /// Has the file read if it is due, on a thread that ends with it.
    pub(crate) fn after_paint(&self) {
        let mut memory = self.lock();
        if memory.reading != Reading::Due {
            return;
        }
        memory.reading = Reading::Begun;
        let (Some(mut file), directory) = (memory.file.take(), memory.directory.clone()) else { return };
        drop(memory);
        let store = self.clone();
        let reader = move || {
            let waiting = |memory: &mut Memory| !memory.hurry;
            drop(store.shared.changed.wait_timeout_while(store.lock(), QUIET, waiting));
            let entries = Lines::read(file.read_newest().unwrap_or_default(), &directory);
            if let Some((file, end)) = file.older() {
                store.older.are_in(file, end, &directory);
            }
            let mut memory = store.lock();
            memory.fill(entries);
            memory.file = Some(file);
            drop(memory);
            store.shared.changed.notify_all();
            // Nobody waits for this.
            let path = store.lock().path.clone();
            if let Some(Err(error)) = path.map(|path| compact(&path, LARGE, LEFT)) {
                tracing::warn!(%error, "the history could not be shortened");
            }
        };
        if thread::Builder::new().name("history".to_owned()).spawn(reader).is_err() {
            self.lock().reading = Reading::Done;
        }
    }

    /// Locks the memory when the file has been read, waiting for it shortly.
    fn ready(&self) -> MutexGuard<'_, Memory> {
        self.after_paint();
        let mut memory = self.lock();
        if memory.reading == Reading::Begun {
            memory.hurry = true;
            self.shared.changed.notify_all();
        }
        let waiting = |memory: &mut Memory| memory.reading == Reading::Begun;
        let waited = self.shared.changed.wait_timeout_while(memory, LOAD_WAIT, waiting);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Tells whether ghost text may come without a key.
    pub(crate) fn is_working(&self) -> bool {
        let memory = self.lock();
        (memory.asked && memory.reading == Reading::Begun) || self.older.is_searching()
    }

    /// Tells whether there may be ghost text by now that was looked for in vain.
    pub(crate) fn take_news(&self) -> bool {
        std::mem::take(&mut self.lock().news) | self.older.take_news()
    }

    /// Never keeps a line with one of these in it.
    pub(crate) fn keep_out(&self, secrets: Known) {
        *self.secrets() = secrets;
    }

    fn secrets(&self) -> MutexGuard<'_, Known> {
        self.secrets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whether a line, pastes whole, holds a known secret or looks as if it held one.
    pub(crate) fn is_secret(&self, whole: &str) -> bool {
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
        for piece in paste_pieces(line) {
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
    pub(crate) fn keep(&self, line: &str) -> std::io::Result<()> {
        let mut memory = self.lock();
        if !memory.enabled {
            return Ok(());
        }
        let directory = memory.directory.clone();
        let Some(entry) = self.entry(line, directory) else { return Ok(()) };
        let written = memory.path.clone().map_or(Ok(()), |path| HistoryFile::new(path).append(&entry));
        // What others wrote meanwhile comes before this line, which is not to be read again.
        let new =
            if memory.reading == Reading::Done { memory.file.as_mut().map(HistoryFile::read_new) } else { None };
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
                (MARK, _) => {}
                (other, _) => line.push(other),
            }
        }
        line
    }

    /// Returns what would complete `line` to the best line that begins with it, the directory's lines first.
    /// Does not wait for the file.
    pub(crate) fn completion(&self, line: &str) -> Option<String> {
        let mut memory = self.lock();
        memory.asked |= memory.reading != Reading::Done;
        let rest = |entry: &Entry| {
            let rest = entry.line.strip_prefix(line)?;
            (!rest.is_empty() && entry.pastes.is_empty()).then(|| rest.to_owned())
        };
        memory.lines.iter().rev().flatten().find_map(rest).or_else(|| {
            drop(memory);
            let found = self.older.newest(line, None, Duration::ZERO, |entry| rest(entry).is_some());
            rest(&found.ok().flatten()?.entry)
        })
    }

    /// Returns older lines than those [`HistoryStore::visit`] visits that have `wanted` (in lower case) in them, and those
    /// that have its letters in order, with how well they fit; and whether more may come.
    pub(crate) fn older_with_letters(&self, wanted: &str) -> (Vec<String>, Vec<(i64, String)>, bool) {
        let (exact, fuzzy, pending) = self.older.with_letters(wanted);
        let memory = self.lock();
        let is_new = |entry: &Entry| !memory.lines.position.contains_key(&key(entry));
        let exact = exact.into_iter().filter(is_new).map(|entry| entry.line).collect();
        let fuzzy = fuzzy.into_iter().filter(|(_, entry)| is_new(entry));
        (exact, fuzzy.map(|(score, entry)| (score, entry.line)).collect(), pending)
    }

    /// Calls `visit` with the lines, best first, until it returns `false`.
    pub(crate) fn visit(&self, mut visit: impl FnMut(&str) -> bool) {
        let memory = self.ready();
        for entry in memory.lines.iter().rev().flatten() {
            if entry.pastes.is_empty() && !visit(&entry.line) {
                return;
            }
        }
    }
}

/// What reedline sees of the store.
pub(crate) struct LineHistory {
    pub(crate) store: HistoryStore,
    pub(crate) state: SharedState,
}

/// Where a line is, as reedline's ids tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineId {
    /// In memory, by its position.
    Memory(usize),
    /// In the file, by its offset: a negative id.
    File(u64),
}

impl LineId {
    fn of(id: HistoryItemId) -> Self {
        usize::try_from(id.0).map_or_else(|_| Self::File(!id.0.cast_unsigned()), Self::Memory)
    }

    fn id(self) -> i64 {
        match self {
            Self::Memory(position) => i64::try_from(position).unwrap_or(i64::MAX),
            Self::File(offset) => !i64::try_from(offset).unwrap_or(i64::MAX),
        }
    }
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
    fn item(&self, id: i64, entry: &Entry) -> HistoryItem {
        let mut item = HistoryItem::from_command_line(self.store.line(entry));
        item.id = Some(HistoryItemId::new(id));
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
        let found = match LineId::of(id) {
            LineId::Memory(position) => memory.lines.lines.get(position).cloned().flatten(),
            LineId::File(offset) => self.store.older.at(offset),
        };
        found.map(|entry| self.item(id.0, &entry)).ok_or_else(|| unsupported("that line"))
    }

    fn count(&self, query: SearchQuery) -> reedline::Result<i64> {
        let memory = self.store.ready();
        let search = query.filter.command_line.as_ref();
        let count = memory.lines.iter().flatten().filter(|entry| matches(entry, search)).count();
        Ok(i64::try_from(count).unwrap_or(i64::MAX))
    }

    fn search(&self, query: SearchQuery) -> reedline::Result<Vec<HistoryItem>> {
        let mut memory = self.store.ready();
        // The file is still on its way.
        let mut is_late = memory.reading == Reading::Begun;
        memory.asked |= is_late;
        let memory = memory;
        let search = query.filter.command_line.as_ref();
        let limit = query.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(0));
        let start = query.start_id.map(LineId::of);
        let count = memory.lines.lines.len();
        let found = |position: usize| {
            let entry = memory.lines.lines.get(position)?.as_ref()?;
            matches(entry, search).then(|| self.item(LineId::Memory(position).id(), entry))
        };
        // Older entries are read only for a person who goes back line by line.
        let prefix = match search {
            None => Some(""),
            Some(CommandLineSearch::Prefix(prefix)) => Some(prefix.as_str()),
            Some(CommandLineSearch::Substring(_) | CommandLineSearch::Exact(_)) => None,
        };
        let prefix = prefix.filter(|_| limit == 1);
        let is_new = |entry: &Entry| !memory.lines.position.contains_key(&key(entry));
        let older = |found: Found| self.item(LineId::File(found.offset).id(), &found.entry);
        let mut before = |offset, wait| {
            let line = prefix.map_or(Ok(None), |prefix| self.store.older.newest(prefix, offset, wait, is_new));
            is_late |= line.is_err();
            line.ok().flatten().map(older)
        };
        let items = match (query.direction, start) {
            (SearchDirection::Backward, Some(LineId::File(offset))) => {
                before(Some(offset), OLDER_WAIT).into_iter().collect()
            }
            (SearchDirection::Backward, Some(LineId::Memory(_)) | None) => {
                let end = if let Some(LineId::Memory(start)) = start { start.min(count) } else { count };
                // One more than is wanted: those that are older still are asked for when it is the last one's turn, so
                // that they are there at theirs.
                let mut lines: Vec<_> = (0..end).rev().filter_map(found).take(limit.saturating_add(1)).collect();
                if lines.len() <= 1 {
                    let wait = if lines.is_empty() { OLDER_WAIT } else { Duration::ZERO };
                    let line = before(None, wait);
                    lines.extend(line.filter(|_| lines.is_empty()));
                }
                lines.truncate(limit);
                lines
            }
            (SearchDirection::Forward, Some(LineId::File(offset))) => {
                let line = prefix.and_then(|prefix| self.store.older.next(prefix, offset, is_new));
                line.map(older).into_iter().chain((0..count).filter_map(found)).take(limit).collect()
            }
            (SearchDirection::Forward, Some(LineId::Memory(start))) => {
                (start + 1..count).filter_map(found).take(limit).collect()
            }
            (SearchDirection::Forward, None) => (0..count).filter_map(found).take(limit).collect(),
        };
        if is_late && prefix.is_some() && items.is_empty() && query.direction == SearchDirection::Backward {
            self.state.lock().late_up.has_no_answer();
        }
        Ok(items)
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
#[path = "store_tests.rs"]
mod tests;
