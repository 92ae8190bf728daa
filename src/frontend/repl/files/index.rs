//! The files and folders `@` offers: walked in the background, `.gitignore` honoured, cached.

use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ignore::{WalkBuilder, WalkState};

use super::git_index::GitIndex;
use super::ranking::{self, FileEntry, ROWS, Ranking};
use crate::frontend::repl::line::{Offer, Row, SharedState, Subject, has_letters, mention_path, write_mention};
use crate::platform::step_back;

/// Entries kept at most: a home directory must not fill the memory.
const ENTRIES: usize = 300_000;
/// A walk ends after this long.
const WALK_LIMIT: Duration = Duration::from_secs(20);
/// A finished walk is used for this long; then the next `@` starts a new walk, and shows the old list meanwhile.
const GOOD_FOR: Duration = Duration::from_secs(5);
/// How long the first `@` waits for a walk that may be over at once.
const FIRST_WAIT: Duration = Duration::from_millis(8);
/// Entries a walking thread hands over at a time.
const BATCH: usize = 256;

/// How long a key waits for its list. Ranking a hundred thousand files may take longer; the list then appears
/// without another key.
pub(crate) const KEY_WAIT: Duration = Duration::from_millis(3);

/// What walking and ranking threads work on. No key waits for it.
#[derive(Debug, Default)]
struct Index {
    entries: Vec<FileEntry>,
    ranking: Ranking,
    /// What a walk under way has found so far, when there is an older list to show.
    next: Vec<FileEntry>,
}

/// What keys and threads tell each other; held for moments.
#[derive(Debug, Default)]
struct Notes {
    walking: bool,
    walked: Option<Instant>,
    /// Set when there is something new to show.
    news: bool,
    /// Counts changes of the entries.
    version: u64,
    /// The letters that are to be ranked for, and the paths attached before.
    wanted: Option<(String, HashSet<String>)>,
    /// Whether a thread is ranking.
    ranking: bool,
    /// Whether somebody has stopped waiting for the answer.
    late: bool,
    answer: Answer,
}

/// The paths for some letters.
#[derive(Debug, Default)]
struct Answer {
    typed: String,
    version: u64,
    paths: Vec<String>,
}

impl Notes {
    fn is_answered(&self, typed: &str) -> bool {
        self.version > 0 && self.answer.version == self.version && self.answer.typed == typed
    }
}

/// The index of one directory.
#[derive(Clone)]
pub(crate) struct FileIndex {
    root: PathBuf,
    home: Option<PathBuf>,
    index: Arc<Mutex<Index>>,
    notes: Arc<(Mutex<Notes>, Condvar)>,
    stop: Arc<AtomicBool>,
    state: SharedState,
}

impl FileIndex {
    /// Makes an empty index of `root`; nothing is read before the first [`FileIndex::offer`].
    pub(crate) fn new(root: PathBuf, home: Option<PathBuf>, state: SharedState) -> Self {
        Self { root, home, index: Arc::default(), notes: Arc::default(), stop: Arc::default(), state }
    }

    fn lock(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whether a walk or a ranking is under way.
    pub(crate) fn is_working(&self) -> bool {
        let notes = self.notes();
        notes.walking || notes.ranking
    }

    /// Tells whether there is something new since the last call.
    pub(crate) fn take_news(&self) -> bool {
        std::mem::take(&mut self.notes().news)
    }

    /// Ends a walk under way.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Returns what the picker shows for `typed`; starts a walk if there was none, or the last one is old. Waits
    /// for the list for `patience` at most. If it takes longer, the matching part of the old list is shown, and the
    /// new one comes as news.
    pub(crate) fn offer(&self, span: Range<usize>, typed: &str, patience: Duration) -> Offer {
        let outside = typed.starts_with(['/', '~']) || typed.starts_with("../") || typed == "..";
        if outside {
            let rows = self.outside_rows(typed);
            return Offer { subject: Subject::File, span, rows, pending: false, exact: self.names(typed) };
        }
        let first = self.refresh();
        if first {
            let waited = self.notes.1.wait_timeout_while(self.notes(), FIRST_WAIT, |notes| notes.walking);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
        self.rank_for(typed);
        let waiting = |notes: &mut Notes| notes.ranking && !notes.is_answered(typed);
        let notes = self.notes.1.wait_timeout_while(self.notes(), patience, waiting);
        let mut notes = notes.unwrap_or_else(PoisonError::into_inner).0;
        let answered = notes.is_answered(typed);
        notes.late |= !answered;
        let old = notes.answer.typed != typed;
        let letters = typed.trim_start_matches("./").to_lowercase();
        let paths = notes.answer.paths.iter().map(String::as_str);
        let fitting = paths.filter(|path| !old || has_letters(&path.to_lowercase(), &letters));
        // A folder that is already written out shows its contents: accepting it once more would change nothing.
        let rows = fitting.filter(|path| !typed.ends_with('/') || *path != typed).map(row).collect();
        let pending = notes.walking || !answered;
        drop(notes);
        Offer { subject: Subject::File, span, rows, pending, exact: self.names(typed) }
    }

    /// Has the entries ranked for these letters, on a thread that ends when nobody wants more.
    fn rank_for(&self, typed: &str) {
        let attached = self.state.lock().attached.iter().map(|mention| mention_path(mention)).collect();
        let mut notes = self.notes();
        if notes.is_answered(typed) {
            notes.wanted = None;
            return;
        }
        notes.wanted = Some((typed.to_owned(), attached));
        if std::mem::replace(&mut notes.ranking, true) {
            return;
        }
        drop(notes);
        let ranker = self.clone();
        let spawned = std::thread::Builder::new().name("rank".to_owned()).spawn(move || ranker.rank());
        if spawned.is_err() {
            // Then the key does it.
            self.rank();
        }
    }

    fn rank(&self) {
        loop {
            let mut notes = self.notes();
            let Some((typed, attached)) = notes.wanted.take() else {
                notes.ranking = false;
                drop(notes);
                self.notes.1.notify_all();
                return;
            };
            // The counter is read before the entries: changes in between cause another ranking.
            let version = notes.version;
            drop(notes);
            let mut index = self.lock();
            let Index { entries, ranking, .. } = &mut *index;
            let best = ranking.best(entries, &typed, now(), &attached);
            let paths = best.into_iter().map(str::to_owned).collect();
            drop(index);
            let mut notes = self.notes();
            notes.answer = Answer { typed, version, paths };
            notes.news |= std::mem::take(&mut notes.late);
            drop(notes);
            self.notes.1.notify_all();
        }
    }

    /// Turns a written path into a real one.
    fn real(&self, written: &str) -> PathBuf {
        match (written.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            (Some(_), None) | (None, _) => self.root.join(written),
        }
    }

    /// Tells whether what is typed is a path that exists.
    fn names(&self, typed: &str) -> bool {
        !typed.is_empty() && self.real(typed).exists()
    }

    /// Starts a walk if one is due; tells whether it is the first.
    fn refresh(&self) -> bool {
        let mut notes = self.notes();
        let due = notes.walked.is_none_or(|walked| walked.elapsed() > GOOD_FOR);
        if notes.walking || !due {
            return false;
        }
        let first = notes.walked.is_none();
        notes.walking = true;
        drop(notes);
        self.stop.store(false, Ordering::Relaxed);
        let walker = self.clone();
        // Ends by itself, at the latest after WALK_LIMIT or when `stop` is called.
        let spawned = std::thread::Builder::new().name("files".to_owned()).spawn(move || walker.walk(first));
        if spawned.is_err() {
            self.notes().walking = false;
        }
        first
    }

    fn walk(&self, first: bool) {
        let begin = Instant::now();
        let mut builder = WalkBuilder::new(&self.root);
        builder.hidden(false).require_git(false).threads(if first { 2 } else { 1 });
        if !first {
            step_back();
        }
        builder.filter_entry(|entry| entry.file_name() != ".git");
        builder.build_parallel().run(|| {
            let mut batch = Batch { index: self, entries: Vec::with_capacity(BATCH), first };
            Box::new(move |found| {
                if self.stop.load(Ordering::Relaxed) || begin.elapsed() > WALK_LIMIT {
                    return WalkState::Quit;
                }
                let Ok(found) = found else { return WalkState::Continue };
                let Some(entry) = file_entry(&self.root, &found) else { return WalkState::Continue };
                batch.entries.push(entry);
                if batch.entries.len() >= BATCH && !batch.flush() { WalkState::Quit } else { WalkState::Continue }
            })
        });
        // All that takes long is not done under the lock.
        let mut entries = {
            let mut index = self.lock();
            if first { index.entries.clone() } else { std::mem::take(&mut index.next) }
        };
        if let Some(git) = GitIndex::read(&self.root) {
            for entry in &mut entries {
                entry.compare(&git);
            }
        }
        ranking::sort(&mut entries, now());
        let mut ranking = Ranking::default();
        ranking.take_in(&entries);
        let mut index = self.lock();
        index.entries = entries;
        index.ranking = ranking;
        drop(index);
        let mut notes = self.notes();
        notes.version += 1;
        notes.walking = false;
        notes.walked = Some(Instant::now());
        notes.news = true;
        drop(notes);
        self.notes.1.notify_all();
    }

    /// Lists a folder outside of the root: one level, by its own name.
    fn outside_rows(&self, typed: &str) -> Vec<Row> {
        let (folder, name) = typed.rsplit_once('/').map_or((typed, ""), |(folder, name)| (folder, name));
        let written = if folder.len() < typed.len() { format!("{folder}/") } else { format!("{typed}/") };
        let wanted = name.to_lowercase();
        let Ok(listing) = std::fs::read_dir(self.real(&written)) else { return Vec::new() };
        let mut paths: Vec<String> = listing
            .take(10_000)
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let name = entry.file_name().into_string().ok()?;
                let fits =
                    name.to_lowercase().starts_with(&wanted) && (!name.starts_with('.') || wanted.starts_with('.'));
                let folder = entry.path().is_dir();
                let plain = !name.chars().any(char::is_control);
                (fits && plain).then(|| format!("{written}{name}{}", if folder { "/" } else { "" }))
            })
            .collect();
        paths.sort();
        paths.truncate(ROWS);
        paths.iter().map(|path| row(path)).collect()
    }
}

/// What one walking thread has not handed over yet; hands over the rest when the thread ends.
struct Batch<'index> {
    index: &'index FileIndex,
    entries: Vec<FileEntry>,
    first: bool,
}

impl Batch<'_> {
    /// Hands over; tells whether there is room for more.
    fn flush(&mut self) -> bool {
        let mut index = self.index.lock();
        let list = if self.first { &mut index.entries } else { &mut index.next };
        list.append(&mut self.entries);
        let room = list.len() < ENTRIES;
        drop(index);
        if self.first {
            let mut notes = self.index.notes();
            notes.version += 1;
            notes.news = true;
        }
        room
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn file_entry(root: &Path, found: &ignore::DirEntry) -> Option<FileEntry> {
    let relative = found.path().strip_prefix(root).ok()?.to_str()?;
    // A name that holds control characters cannot be shown, nor written into a line.
    if relative.is_empty() || relative.chars().any(char::is_control) {
        return None;
    }
    let folder = found.file_type().is_some_and(|kind| kind.is_dir());
    let path = if folder { format!("{relative}/") } else { relative.to_owned() };
    let metadata = found.metadata().ok();
    let size = metadata.as_ref().map_or(0, std::fs::Metadata::len);
    let changed = metadata.and_then(|metadata| metadata.modified().ok());
    let changed = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |age| age.as_secs());
    Some(FileEntry::new(path, changed).with_size(size))
}

fn row(path: &str) -> Row {
    let folder = path.ends_with('/');
    let mut value = write_mention(path);
    if folder {
        // The quote stays open: the person types or takes a name in the folder next.
        value.truncate(value.strip_suffix('"').unwrap_or(&value).len());
    } else {
        value.push(' ');
    }
    Row { value, label: Some(path.to_owned()), description: String::new(), more: folder }
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
