//! Searches the lines of the history that are too old to be in memory: in the file, backwards, on a thread of its
//! own.
//!
//! A key waits only for moments. A line that is found later is offered by ghost text and Ctrl+R as news, or is
//! there at the next ↑.

use std::fs::File;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::file::Entry;
use super::search::{Found, Search, Wanted};

#[derive(Debug, Default)]
struct Notes {
    /// The file, and the offset from which its entries are in memory.
    file: Option<(Arc<File>, u64)>,
    /// The directory whose lines come first.
    directory: String,
    prefix: Option<Search>,
    letters: Option<Search>,
    /// A thread is looking.
    searching: bool,
    /// For who looks by beginnings (ghost text), and by letters (Ctrl+R).
    prefix_waiter: Waiter,
    letters_waiter: Waiter,
}

#[derive(Debug, Default)]
struct Waiter {
    /// Somebody has stopped waiting.
    late: bool,
    /// There is something new for them.
    news: bool,
}

impl Waiter {
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
pub(super) struct NotYet;

/// The older lines. Clones are the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct OlderLines {
    shared: Arc<(Mutex<Notes>, Condvar)>,
}

impl OlderLines {
    /// Says that the first `end` bytes of `file` hold older lines, of which those of `directory` come first.
    pub(super) fn are_in(&self, file: File, end: u64, directory: &str) {
        let mut notes = self.notes();
        notes.file = (end > 0).then(|| (Arc::new(file), end));
        directory.clone_into(&mut notes.directory);
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
        std::mem::take(&mut self.notes().prefix_waiter.news)
    }

    /// The same for lines found by their letters.
    pub(crate) fn take_news_of_letters(&self) -> bool {
        std::mem::take(&mut self.notes().letters_waiter.news)
    }

    /// Returns the line that comes after that at offset `before` (the first if absent) among those that begin with
    /// `prefix` and are `good`: this directory's, the newest first, then others'. Waits so long for the search at most.
    ///
    /// # Errors
    /// When none was found in that time; [`OlderLines::take_news`] tells when to ask again.
    pub(super) fn newest(
        &self,
        prefix: &str,
        before: Option<u64>,
        patience: Duration,
        good: impl Fn(&Entry) -> bool,
    ) -> Result<Option<Found>, NotYet> {
        let wanted = Wanted::Prefix(prefix.to_owned());
        let pick = |search: &Search| search.after(before, &good).cloned();
        let Some(mut notes) = self.look(&wanted) else { return Ok(None) };
        if notes.prefix.as_ref().is_some_and(|search| search.is_over() && pick(search).is_none()) {
            // All that was found has been seen.
            if let Some(search) = notes.prefix.as_mut() {
                search.want_more();
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
            notes.prefix_waiter.late = true;
            return Err(NotYet);
        }
        Ok(notes.prefix.as_ref().and_then(pick))
    }

    /// Returns the line that comes before that at offset `after` among those found so.
    pub(super) fn next(&self, prefix: &str, after: u64, good: impl Fn(&Entry) -> bool) -> Option<Found> {
        let notes = self.notes();
        let search = notes.prefix.as_ref().filter(|search| search.wanted == Wanted::Prefix(prefix.to_owned()))?;
        search.before(after, good).cloned()
    }

    /// Returns the line at `offset` if it was found.
    pub(super) fn at(&self, offset: u64) -> Option<Entry> {
        let notes = self.notes();
        notes.prefix.as_ref()?.at(offset).cloned()
    }

    /// Returns the lines found so far that have `wanted` (in lower case) in them, and those that have its letters in
    /// order, with how well they fit; and whether more may come. Waits for nothing.
    pub(super) fn with_letters(&self, wanted: &str) -> (Vec<Entry>, Vec<(i64, Entry)>, bool) {
        let Some(mut notes) = self.look(&Wanted::Letters(wanted.to_owned())) else {
            return (Vec::new(), Vec::new(), false);
        };
        notes.letters_waiter.late |= notes.searching;
        let pending = notes.searching;
        let Some(search) = &notes.letters else { return (Vec::new(), Vec::new(), pending) };
        let (exact, fuzzy) = search.with_letters();
        (exact, fuzzy, pending)
    }

    /// Has this looked for, unless there are no older lines.
    fn look(&self, wanted: &Wanted) -> Option<MutexGuard<'_, Notes>> {
        let mut notes = self.notes();
        let (_, end) = notes.file.as_ref()?;
        let end = *end;
        let directory = notes.directory.clone();
        let slot = notes.slot(wanted);
        match slot {
            Some(search) if search.wanted == *wanted => {}
            Some(search) => *search = search.narrowed(wanted, end),
            None => *slot = Some(Search::new(wanted.clone(), &directory, end)),
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
                notes.prefix_waiter.tell();
                notes.letters_waiter.tell();
                drop(notes);
                self.shared.1.notify_all();
                return;
            };
            drop(notes);
            let before = search.shown();
            search.step(&file, &mut bytes);
            let is_news = search.shown() > before || search.is_over();
            let mut notes = self.notes();
            let wanted = search.wanted.clone();
            let slot = notes.slot(&wanted);
            // A request for something else has replaced this search by now; then its result is dropped.
            if let Some(current) = slot.as_mut().filter(|current| current.wanted == search.wanted) {
                search.enough = current.enough;
                *current = search;
            }
            if is_news {
                match wanted {
                    Wanted::Prefix(_) => notes.prefix_waiter.tell(),
                    Wanted::Letters(_) => notes.letters_waiter.tell(),
                }
            }
            drop(notes);
            self.shared.1.notify_all();
        }
    }
}

#[cfg(test)]
#[path = "older_tests.rs"]
mod tests;
