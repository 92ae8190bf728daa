//! Finds which of a hundred thousand paths a few letters mean. Pure.
//!
//! Each key looks at a limited number of candidates, the likeliest first. Paths that contain the letters in one
//! piece are found by searching one text with all paths; paths that contain them apart are searched only if the
//! former are few. Only the best are scored by the fuzzy matcher, which is too slow for all of them.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use fuzzy_matcher::FuzzyMatcher as _;
use fuzzy_matcher::skim::SkimMatcherV2;
use memchr::memmem;

use super::git_index::{GitIndex, Stamp};
use crate::frontend::repl::line::has_letters;

/// Paths returned at most.
pub(super) const ROWS: usize = 100;
/// Paths whose fuzzy score is computed.
const SCORED: usize = 100;
/// Candidates looked at for a key, besides the paths attached before. The entries come in the order of what else makes
/// them likely, so that what is beyond is what would stand far below in a list of hundreds.
const MOST: usize = 12_000;
/// The score from which on a match is more than letters in order.
const CONTAINS: i64 = 4_000;

/// One file or folder, relative to the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileEntry {
    /// With `/`; a folder ends in it.
    path: String,
    /// Where the name starts, in the lower-case path.
    name: u32,
    /// Folders above it.
    depth: u16,
    /// When it was changed, in seconds since 1970.
    changed: u64,
    /// Its size, as git keeps it.
    size: u32,
    /// Whether git does not know it as it is.
    edited: bool,
}

impl FileEntry {
    /// Makes an entry of a path with `/`, a folder's with one at its end.
    pub(super) fn new(path: String, changed: u64) -> Self {
        let lower = path.to_lowercase();
        let bare = lower.trim_end_matches('/');
        let name = bare.rfind('/').map_or(0, |slash| slash + 1);
        let depth = u16::try_from(bare.matches('/').count()).unwrap_or(u16::MAX);
        let name = u32::try_from(name).unwrap_or(0);
        Self { path, name, depth, changed, size: 0, edited: false }
    }

    /// With a size in bytes.
    pub(super) fn with_size(self, size: u64) -> Self {
        // Git keeps the lowest 32 bits too.
        Self { size: u32::try_from(size & u64::from(u32::MAX)).unwrap_or(0), ..self }
    }

    /// Looks whether git knows it as it is.
    pub(super) fn compare(&mut self, index: &GitIndex) {
        let changed = u32::try_from(self.changed & u64::from(u32::MAX)).unwrap_or(0);
        let stamp = Stamp { changed, size: self.size };
        self.edited = !self.path.ends_with('/') && index.is_changed(&self.path, stamp);
    }

    /// How well the letters fit that are all in `path`, the entry's in lower case.
    fn class(&self, path: &str, wanted: &str) -> i64 {
        if wanted.is_empty() {
            return 0;
        }
        let name = path.get(self.name as usize..).unwrap_or(path);
        match path.find(wanted) {
            Some(_) if path == wanted => 10_000,
            Some(_) if name.trim_end_matches('/') == wanted => 9_000,
            Some(0) => 8_000,
            Some(_) if name.starts_with(wanted) => 7_000,
            Some(_) if name.contains(wanted) => 6_000,
            Some(_) => 5_000,
            None => 0,
        }
    }

    /// What else makes an entry likely: lately changed, not yet committed, attached before, near the root.
    fn liking(&self, now: u64, attached: &HashSet<String>) -> i64 {
        let recent = match now.saturating_sub(self.changed) {
            0..600 => 300,
            600..3_600 => 250,
            3_600..86_400 => 200,
            86_400..604_800 => 100,
            604_800.. => 0,
        };
        let length = i64::try_from(self.path.len()).unwrap_or(0) / 4;
        let used = if !attached.is_empty() && attached.contains(&self.path) { 400 } else { 0 };
        let edited = if self.edited { 350 } else { 0 };
        recent + used + edited - i64::from(self.depth) * 15 - length
    }
}

/// Puts the likeliest first.
pub(super) fn sort(entries: &mut [FileEntry], now: u64) {
    let attached = HashSet::new();
    // The paths decide among equals, so that the same letters give the same list whichever thread found it first.
    entries.sort_by_cached_key(|entry| (Reverse(entry.liking(now, &attached)), entry.path.clone()));
}

/// The paths in one text, and what fitted the last word.
#[derive(Debug)]
pub(super) struct Ranking {
    /// The paths in lower case, a newline before and behind each: no path has one in it.
    text: String,
    /// Where in it each begins; at the end, where the next will.
    starts: Vec<usize>,
    /// Which letters each has, see [`letters`].
    letters: Vec<u64>,
    /// Where the paths attached before are, as far as they are known.
    attached: HashMap<String, Option<usize>>,
    /// A word, and all entries that have its letters.
    fitting: Option<(String, Vec<usize>)>,
}

impl Default for Ranking {
    fn default() -> Self {
        let (letters, attached) = (Vec::new(), HashMap::new());
        Self { text: "\n".to_owned(), starts: vec![1], letters, attached, fitting: None }
    }
}

impl Ranking {
    /// Takes in what is new of `entries`, which must be the same as before, or longer.
    pub(super) fn take_in(&mut self, entries: &[FileEntry]) {
        let new = entries.get(self.letters.len()..).unwrap_or_default();
        if new.is_empty() {
            return;
        }
        for entry in new {
            let lower = entry.path.to_lowercase();
            self.letters.push(letters(&lower));
            self.text.push_str(&lower);
            self.text.push('\n');
            self.starts.push(self.text.len());
        }
        self.attached.clear();
        self.fitting = None;
    }

    /// Returns the paths that fit best, best first. `entries` must be the same at each call, or longer; for others a new
    /// ranking is needed.
    pub(super) fn best<'entries>(
        &mut self,
        entries: &'entries [FileEntry],
        typed: &str,
        now: u64,
        attached: &HashSet<String>,
    ) -> Vec<&'entries str> {
        self.take_in(entries);
        let wanted = typed.trim_start_matches("./").to_lowercase();
        let mut fitting: Vec<(i64, usize, &FileEntry)> = self
            .candidates(&wanted, attached)
            .into_iter()
            .filter_map(|index| {
                let entry = entries.get(index)?;
                Some((entry.class(self.path(index), &wanted) + entry.liking(now, attached), index, entry))
            })
            .collect();
        if fitting.len() > SCORED {
            // Of equal ones the earlier entry is better: that is cheaper than comparing paths.
            fitting.select_nth_unstable_by_key(SCORED, |&(score, index, _)| (Reverse(score), index));
            fitting.truncate(SCORED);
        }
        let matcher = SkimMatcherV2::default();
        for (score, index, _) in &mut fitting {
            if *score < CONTAINS && !wanted.is_empty() {
                *score += matcher.fuzzy_match(self.path(*index), &wanted).unwrap_or(0).min(CONTAINS / 2);
            }
        }
        fitting.sort_by_key(|&(score, _, entry)| (Reverse(score), entry.path.as_str()));
        fitting.into_iter().take(ROWS).map(|(_, _, entry)| entry.path.as_str()).collect()
    }

    /// The path of an entry, in lower case.
    fn path(&self, index: usize) -> &str {
        let start = self.starts.get(index).copied().unwrap_or(0);
        let end = self.starts.get(index + 1).map_or(start, |next| next - 1);
        self.text.get(start..end).unwrap_or_default()
    }

    /// The entries that are looked at for a word in lower case, the likeliest first; all of them have its letters.
    fn candidates(&mut self, wanted: &str, attached: &HashSet<String>) -> Vec<usize> {
        let count = self.letters.len();
        if wanted.is_empty() {
            return self.with_attached((0..count.min(MOST)).collect(), wanted, attached);
        }
        let mut found = self.containing(wanted);
        if found.len() < ROWS {
            let lettered = self.lettered(wanted);
            let known: HashSet<usize> = found.iter().copied().collect();
            found.extend(lettered.into_iter().filter(|index| !known.contains(index)));
        }
        self.with_attached(found, wanted, attached)
    }

    /// Entries with these letters in one piece.
    fn containing(&self, wanted: &str) -> Vec<usize> {
        let finder = memmem::Finder::new(wanted);
        let (mut found, mut from, mut index) = (Vec::new(), 0, 0);
        while found.len() < MOST
            && let Some(at) = self.text.as_bytes().get(from..).and_then(|rest| finder.find(rest))
        {
            let at = from + at;
            while self.starts.get(index + 1).is_some_and(|next| *next <= at) {
                index += 1;
            }
            found.push(index);
            from = self.starts.get(index + 1).copied().unwrap_or(self.text.len());
        }
        found
    }

    /// Entries with these letters in their order. A longer word is looked for among those that fitted the shorter one.
    fn lettered(&mut self, wanted: &str) -> Vec<usize> {
        let before = self.fitting.take().filter(|(shorter, _)| wanted.starts_with(shorter.as_str()));
        let needed = letters(wanted);
        let fits = |&index: &usize| {
            self.letters.get(index).is_some_and(|has| has & needed == needed)
                && has_letters(self.path(index), wanted)
        };
        let found: Vec<usize> = match before {
            Some((_, narrowed)) => narrowed.into_iter().filter(fits).collect(),
            None => (0..self.letters.len()).filter(fits).take(MOST).collect(),
        };
        if found.len() < MOST {
            self.fitting = Some((wanted.to_owned(), found.clone()));
        }
        found
    }

    /// The same with the paths attached before that have the letters, wherever they stand.
    fn with_attached(&mut self, mut found: Vec<usize>, wanted: &str, attached: &HashSet<String>) -> Vec<usize> {
        if found.len() < MOST {
            return found;
        }
        for path in attached {
            let place = self.attached.get(path).copied().unwrap_or_else(|| {
                let line = format!("\n{}\n", path.to_lowercase());
                let at = memmem::find(self.text.as_bytes(), line.as_bytes());
                at.and_then(|at| self.starts.binary_search(&(at + 1)).ok())
            });
            self.attached.insert(path.clone(), place);
            found.extend(place.filter(|index| has_letters(self.path(*index), wanted) && !found.contains(index)));
        }
        found
    }
}

/// Which letters a text in lower case has, a bit each; some letters share one.
fn letters(text: &str) -> u64 {
    text.bytes().filter(|letter| *letter != b' ').fold(0, |all, letter| all | 1 << (letter & 63))
}

#[cfg(test)]
#[path = "ranking_tests.rs"]
mod tests;
