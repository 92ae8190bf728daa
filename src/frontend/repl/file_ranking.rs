//! Which of a hundred thousand paths are meant by a few letters. Pure.
//!
//! Every path gets a cheap score at each key; only the best are scored by the fuzzy matcher, which is too slow
//! for all. A longer word is looked for among the paths that fitted the shorter one.

use std::cmp::Reverse;
use std::collections::HashSet;

use fuzzy_matcher::FuzzyMatcher as _;
use fuzzy_matcher::skim::SkimMatcherV2;

use super::git_index::{GitIndex, Stamp};
use super::sources::has_letters;

/// Paths returned at most.
pub(super) const ROWS: usize = 100;
/// Paths whose fuzzy score is computed.
const SCORED: usize = 300;
/// The score from which on a match is more than letters in order.
const CONTAINS: i64 = 4_000;

/// One file or folder, relative to the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileEntry {
    /// With `/`; a folder ends in it.
    path: String,
    /// The path in lower case, if that is another.
    lower: Option<Box<str>>,
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
        let lower = (lower != path).then(|| lower.into_boxed_str());
        Self { path, lower, name, depth, changed, size: 0, edited: false }
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

    /// Its path.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    fn lower(&self) -> &str {
        self.lower.as_deref().unwrap_or(&self.path)
    }

    /// How well the letters fit; `None`: not at all.
    fn class(&self, wanted: &str) -> Option<i64> {
        if wanted.is_empty() {
            return Some(0);
        }
        let path = self.lower();
        if !has_letters(path, wanted) {
            return None;
        }
        let name = path.get(self.name as usize..).unwrap_or(path);
        Some(match path.find(wanted) {
            Some(_) if path == wanted => 10_000,
            Some(_) if name.trim_end_matches('/') == wanted => 9_000,
            Some(0) => 8_000,
            Some(_) if name.starts_with(wanted) => 7_000,
            Some(_) if name.contains(wanted) => 6_000,
            Some(_) => 5_000,
            None => 0,
        })
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

/// Remembers what fitted the last word.
#[derive(Debug, Default)]
pub(super) struct Ranking {
    wanted: String,
    /// How many entries were looked at.
    seen: usize,
    fitting: Vec<usize>,
}

impl Ranking {
    /// Returns the paths that fit best, best first.
    ///
    /// `entries` must be the same at each call, or longer; for others a new ranking is needed.
    pub(super) fn best<'entries>(
        &mut self,
        entries: &'entries [FileEntry],
        typed: &str,
        now: u64,
        attached: &HashSet<String>,
    ) -> Vec<&'entries str> {
        let wanted = typed.trim_start_matches("./").to_lowercase();
        if !wanted.starts_with(&self.wanted) || self.seen > entries.len() {
            *self = Self::default();
        }
        let before = std::mem::take(&mut self.fitting);
        let mut fitting: Vec<(i64, usize, &FileEntry)> = before
            .into_iter()
            .chain(self.seen..entries.len())
            .filter_map(|index| {
                let entry = entries.get(index)?;
                Some((entry.class(&wanted)? + entry.liking(now, attached), index, entry))
            })
            .collect();
        self.fitting = fitting.iter().map(|(_, index, _)| *index).collect();
        self.seen = entries.len();
        if fitting.len() > SCORED {
            // Among equals the earlier entries, which costs less than comparing a hundred thousand paths.
            fitting.select_nth_unstable_by_key(SCORED, |&(score, index, _)| (Reverse(score), index));
            fitting.truncate(SCORED);
        }
        let matcher = SkimMatcherV2::default();
        for (score, _, entry) in &mut fitting {
            if *score < CONTAINS && !wanted.is_empty() {
                *score += matcher.fuzzy_match(entry.lower(), &wanted).unwrap_or(0).min(CONTAINS / 2);
            }
        }
        fitting.sort_by_key(|&(score, _, entry)| (Reverse(score), entry.path.as_str()));
        self.wanted = wanted;
        fitting.into_iter().take(ROWS).map(|(_, _, entry)| entry.path.as_str()).collect()
    }
}

#[cfg(test)]
#[path = "file_ranking_tests.rs"]
mod tests;
