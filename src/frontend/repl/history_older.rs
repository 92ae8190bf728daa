//! The lines of the history that are too old to be in memory: looked for in the file, backwards, on a thread of its own.
//!
//! A key waits for moments at most: what is found later is news, for ghost text and Ctrl+R, or is there at the next ↑.

use std::collections::HashSet;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use fuzzy_matcher::FuzzyMatcher as _;
use fuzzy_matcher::skim::SkimMatcherV2;
use memchr::memmem::Finder;
use memchr::memrchr;

use super::history_file::Entry;
use super::sources::{FUZZY, ROWS, has_letters, may_have_letters};

/// Bytes read at a time, from the end.
const CHUNK: u64 = 512 * 1024;
/// A line longer than this, in bytes, is passed over.
const LONGEST: usize = 8 * 1024 * 1024;
/// So many lines are looked for at a time; ↑ asks for more when it has come to their end.
const FOUND: usize = 100;

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Wanted {
    /// Lines that begin with this.
    Prefix(String),
    /// Lines that have this in them, or its letters in order; in lower case.
    Letters(String),
}

/// A line, and where in the file it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) offset: u64,
    pub(super) entry: Entry,
}

/// A search, and what it has found, the newest line first.
#[derive(Debug, Clone)]
struct Search {
    wanted: Wanted,
    /// All from here on has been looked at.
    reached: u64,
    /// It is looked on until there are so many.
    enough: usize,
    found: Vec<Found>,
    /// The same by letters, with how well they fit.
    fuzzy: Vec<(i64, Found)>,
}

impl Search {
    fn new(wanted: Wanted, end: u64) -> Self {
        Self { wanted, reached: end, enough: FOUND, found: Vec::new(), fuzzy: Vec::new() }
    }

    fn is_over(&self) -> bool {
        self.reached == 0 || self.found.len() >= self.enough
    }

    /// The same search for a longer beginning, as far as it can be told from this one.
    fn narrowed(&self, wanted: &Wanted, end: u64) -> Self {
        let mut search = Self::new(wanted.clone(), end);
        // Letters that nothing has are not looked for once more with another one behind them.
        let has_nothing = self.reached == 0 && self.found.is_empty() && self.fuzzy.is_empty();
        if let (Wanted::Letters(shorter), Wanted::Letters(longer)) = (&self.wanted, wanted)
            && longer.starts_with(shorter.as_str())
            && has_nothing
        {
            search.reached = 0;
        }
        if let (Wanted::Prefix(shorter), Wanted::Prefix(longer)) = (&self.wanted, wanted)
            && longer.starts_with(shorter.as_str())
        {
            search.reached = self.reached;
            search.found.clone_from(&self.found);
            search.found.retain(|found| found.entry.line.starts_with(longer.as_str()));
        }
        search
    }
}

#[derive(Debug, Default)]
struct Notes {
    /// The file, and where in it begins what is in memory.
    file: Option<(Arc<File>, u64)>,
    prefix: Option<Search>,
    letters: Option<Search>,
    /// A thread is looking.
    searching: bool,
    /// For who looks by beginnings (ghost text), and by letters (Ctrl+R).
    prefix_told: Told,
    letters_told: Told,
}

#[derive(Debug, Default)]
struct Told {
    /// Somebody has stopped waiting.
    late: bool,
    /// There is something new for them.
    news: bool,
}

impl Told {
    fn tell(&mut self) {
        self.news |= std::mem::take(&mut self.late);
    }
}

impl Notes {
    fn slot(&mut self, wanted: &Wanted) -> &mut Option<Search> {
        match wanted {
            Wanted::Prefix(_) => &mut self.prefix,
            Wanted::Letters(_) => &mut self.letters,
        }
    }
}

/// There may be an answer later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Later;

/// The older lines. Clones are the same.
#[derive(Debug, Clone, Default)]
pub(super) struct OlderLines {
    shared: Arc<(Mutex<Notes>, Condvar)>,
}

impl OlderLines {
    /// Says that the first `end` bytes of `file` hold older lines.
    pub(super) fn are_in(&self, file: File, end: u64) {
        self.notes().file = (end > 0).then(|| (Arc::new(file), end));
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whether a search is under way.
    pub(super) fn is_searching(&self) -> bool {
        self.notes().searching
    }

    /// Tells whether a line was found by its beginning since somebody asked in vain.
    pub(super) fn take_news(&self) -> bool {
        std::mem::take(&mut self.notes().prefix_told.news)
    }

    /// The same for lines found by their letters.
    pub(super) fn take_news_of_letters(&self) -> bool {
        std::mem::take(&mut self.notes().letters_told.news)
    }

    /// Returns the newest line that begins with `prefix`, stands before `before` (an offset; the end if absent) and is
    /// `good`. Waits so long for the search at most.
    ///
    /// # Errors
    /// When none was found in that time; [`OlderLines::take_news`] tells when to ask again.
    pub(super) fn newest(
        &self,
        prefix: &str,
        before: Option<u64>,
        patience: Duration,
        good: impl Fn(&Entry) -> bool,
    ) -> Result<Option<Found>, Later> {
        let wanted = Wanted::Prefix(prefix.to_owned());
        let before = before.unwrap_or(u64::MAX);
        let pick = |search: &Search| {
            let mut older = search.found.iter().filter(|found| found.offset < before);
            older.find(|found| good(&found.entry)).cloned()
        };
        let Some(mut notes) = self.look(&wanted) else { return Ok(None) };
        if notes.prefix.as_ref().is_some_and(|search| search.is_over() && pick(search).is_none()) {
            // All that was found has been seen.
            if let Some(search) = notes.prefix.as_mut() {
                search.enough = search.found.len() + FOUND;
            }
            drop(notes);
            let Some(again) = self.look(&wanted) else { return Ok(None) };
            notes = again;
        }
        let is_open = |notes: &Notes| {
            notes.searching
                && notes.prefix.as_ref().is_some_and(|search| !search.is_over() && pick(search).is_none())
        };
        let result = self.shared.1.wait_timeout_while(notes, patience, |notes| is_open(notes));
        let mut notes = result.unwrap_or_else(PoisonError::into_inner).0;
        if is_open(&notes) {
            notes.prefix_told.late = true;
            return Err(Later);
        }
        Ok(notes.prefix.as_ref().and_then(pick))
    }

    /// Returns the oldest line that was found to begin with `prefix` and stands behind `after`.
    pub(super) fn next(&self, prefix: &str, after: u64, good: impl Fn(&Entry) -> bool) -> Option<Found> {
        let notes = self.notes();
        let search = notes.prefix.as_ref().filter(|search| search.wanted == Wanted::Prefix(prefix.to_owned()))?;
        search.found.iter().rev().filter(|found| found.offset > after).find(|found| good(&found.entry)).cloned()
    }

    /// Returns the line at `offset` if it was found.
    pub(super) fn at(&self, offset: u64) -> Option<Entry> {
        let notes = self.notes();
        let search = notes.prefix.as_ref()?;
        search.found.iter().find(|found| found.offset == offset).map(|found| found.entry.clone())
    }

    /// Returns the lines found so far that have `wanted` (in lower case) in them, and those that have its letters in
    /// order, with how well they fit; and whether more may come. Waits for nothing.
    pub(super) fn with_letters(&self, wanted: &str) -> (Vec<Entry>, Vec<(i64, Entry)>, bool) {
        let Some(mut notes) = self.look(&Wanted::Letters(wanted.to_owned())) else {
            return (Vec::new(), Vec::new(), false);
        };
        notes.letters_told.late |= notes.searching;
        let pending = notes.searching;
        let Some(search) = &notes.letters else { return (Vec::new(), Vec::new(), pending) };
        let exact = search.found.iter().map(|found| found.entry.clone()).collect();
        let fuzzy = search.fuzzy.iter().map(|(score, found)| (*score, found.entry.clone())).collect();
        (exact, fuzzy, pending)
    }

    /// Has this looked for, unless there are no older lines.
    fn look(&self, wanted: &Wanted) -> Option<MutexGuard<'_, Notes>> {
        let mut notes = self.notes();
        let (_, end) = notes.file.as_ref()?;
        let end = *end;
        let slot = notes.slot(wanted);
        match slot {
            Some(search) if search.wanted == *wanted => {}
            Some(search) => *search = search.narrowed(wanted, end),
            None => *slot = Some(Search::new(wanted.clone(), end)),
        }
        let over = slot.as_ref().is_none_or(Search::is_over);
        if !over && !std::mem::replace(&mut notes.searching, true) {
            let searcher = self.clone();
            // Ends by itself when all that is wanted has been found.
            if thread::Builder::new().name("older".to_owned()).spawn(move || searcher.search()).is_err() {
                notes.searching = false;
            }
        }
        Some(notes)
    }

    fn search(&self) {
        let mut bytes = Vec::new();
        loop {
            let mut notes = self.notes();
            let open =
                [&notes.prefix, &notes.letters].into_iter().flatten().find(|search| !search.is_over()).cloned();
            let (Some(mut search), Some((file, _))) = (open, notes.file.clone()) else {
                notes.searching = false;
                notes.prefix_told.tell();
                notes.letters_told.tell();
                drop(notes);
                self.shared.1.notify_all();
                return;
            };
            drop(notes);
            let before = search.found.len() + search.fuzzy.len();
            search.step(&file, &mut bytes);
            let is_news = search.found.len() + search.fuzzy.len() > before || search.is_over();
            let mut notes = self.notes();
            let wanted = search.wanted.clone();
            let slot = notes.slot(&wanted);
            // Who wants something else by now has put it in its place.
            if let Some(current) = slot.as_mut().filter(|current| current.wanted == search.wanted) {
                search.enough = current.enough;
                *current = search;
            }
            if is_news {
                match wanted {
                    Wanted::Prefix(_) => notes.prefix_told.tell(),
                    Wanted::Letters(_) => notes.letters_told.tell(),
                }
            }
            drop(notes);
            self.shared.1.notify_all();
        }
    }
}

impl Search {
    /// Looks at one more piece of the file.
    fn step(&mut self, file: &File, bytes: &mut Vec<u8>) {
        let mut from = self.reached.saturating_sub(CHUNK);
        loop {
            bytes.resize(usize::try_from(self.reached - from).unwrap_or(0), 0);
            if file.read_exact_at(bytes, from).is_err() {
                // Cut short by another program: there is nothing to find.
                self.reached = 0;
                return;
            }
            // What was cut into is looked at with the piece before it.
            let first =
                if from == 0 { Some(0) } else { bytes.iter().position(|byte| *byte == b'\n').map(|at| at + 1) };
            match first.filter(|first| *first < bytes.len()) {
                Some(first) => {
                    let start = from + first as u64;
                    match &self.wanted {
                        Wanted::Prefix(prefix) => self.take_prefixed(&prefix.clone(), &bytes[first..], start),
                        Wanted::Letters(letters) => self.take_lettered(&letters.clone(), &bytes[first..], start),
                    }
                    return;
                }
                None if bytes.len() > LONGEST => {
                    self.reached = from;
                    return;
                }
                None => from = from.saturating_sub(bytes.len() as u64),
            }
        }
    }

    /// Takes the lines that begin so, the newest first, until there are enough. `lines` are whole and begin at `start`.
    fn take_prefixed(&mut self, prefix: &str, lines: &[u8], start: u64) {
        // As the file has it: without the quote behind it.
        let mut needle = serde_json::to_string(prefix).unwrap_or_default();
        needle.pop();
        let needle = format!("\"l\":{needle}");
        let places: Vec<usize> = Finder::new(&needle).find_iter(lines).collect();
        let mut known: HashSet<String> = self.found.iter().map(|found| found.entry.line.clone()).collect();
        for place in places.into_iter().rev() {
            let (begin, line) = line_at(lines, place);
            let Ok(entry) = serde_json::from_slice::<Entry>(line) else { continue };
            if entry.line.starts_with(prefix) && known.insert(entry.line.clone()) {
                self.found.push(Found { offset: start + begin as u64, entry });
                if self.found.len() >= self.enough {
                    self.reached = start + begin as u64;
                    return;
                }
            }
        }
        self.reached = start;
    }

    /// Takes the lines that have these letters.
    fn take_lettered(&mut self, letters: &str, lines: &[u8], start: u64) {
        let matcher = SkimMatcherV2::default();
        let mut known: HashSet<String> = self
            .found
            .iter()
            .chain(self.fuzzy.iter().map(|(_, found)| found))
            .map(|it| it.entry.line.clone())
            .collect();
        let mut end = lines.len();
        while end > 0 && self.found.len() < self.enough {
            let begin = memrchr(b'\n', &lines[..end - 1]).map_or(0, |newline| newline + 1);
            let line = &lines[begin..end];
            end = begin;
            let Ok(text) = std::str::from_utf8(line) else { continue };
            // The whole line first: most do not have the letters anywhere.
            if !may_have_letters(text, letters) {
                continue;
            }
            let Ok(entry) = serde_json::from_str::<Entry>(text) else { continue };
            let lower = entry.line.to_lowercase();
            if !entry.pastes.is_empty() || known.contains(&entry.line) {
                continue;
            }
            let found = Found { offset: start + begin as u64, entry };
            if lower.contains(letters) {
                known.insert(found.entry.line.clone());
                self.found.push(found);
            } else if lower.len() <= FUZZY
                && has_letters(&lower, letters)
                && let Some(score) = matcher.fuzzy_match(&lower, letters)
            {
                known.insert(found.entry.line.clone());
                self.fuzzy.push((score, found));
            }
        }
        // Stable: among equals the newer stays first.
        self.fuzzy.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        self.fuzzy.truncate(ROWS);
        self.reached = start + end as u64;
    }
}

/// The line around a place, and where it begins.
fn line_at(lines: &[u8], place: usize) -> (usize, &[u8]) {
    let begin = memrchr(b'\n', &lines[..place]).map_or(0, |newline| newline + 1);
    let end = memchr::memchr(b'\n', &lines[place..]).map_or(lines.len(), |newline| place + newline);
    (begin, &lines[begin..end])
}

#[cfg(test)]
#[path = "history_older_tests.rs"]
mod tests;
