//! One search in the lines of the history that are too old to be in memory: backwards through the file, piece by piece.
//!
//! This directory's lines come before those of others, as in memory. So the others are shown when all has been looked at
//! for the former; so many of them as are wanted at a time are noted on the way, that nothing is read twice for these.

use std::collections::HashSet;
use std::fs::File;

use fuzzy_matcher::FuzzyMatcher as _;
use fuzzy_matcher::skim::SkimMatcherV2;
use memchr::memmem::{self, Finder};
use memchr::memrchr;

use super::file::Entry;
use crate::frontend::repl::line::{LONGEST_FUZZY, MOST_FOUND, has_letters, may_have_letters};
use crate::platform::os::fs::FileExt as _;

/// Bytes read at a time, from the end.
const CHUNK: u64 = 512 * 1024;
/// A line longer than this, in bytes, is passed over.
const LONGEST: usize = 8 * 1024 * 1024;
/// So many lines are looked for at a time; ↑ asks for more when it has come to their end.
const FOUND: usize = 100;

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
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

/// The lines of this directory, or those of all others.
#[derive(Debug, Clone)]
struct Part {
    /// All from here on has been looked at.
    reached: u64,
    /// The newest first.
    found: Vec<Found>,
}

impl Part {
    fn lines(&self) -> HashSet<String> {
        self.found.iter().map(|found| found.entry.line.clone()).collect()
    }
}

/// A search, and what it has found.
#[derive(Debug, Clone)]
pub(super) struct Search {
    pub(super) wanted: Wanted,
    /// It is looked on until there are so many of either part.
    pub(super) enough: usize,
    directory: String,
    here: Part,
    elsewhere: Part,
    /// Lines that only have the letters, with how well they fit, the best first.
    fuzzy: Vec<(i64, Found)>,
}

impl Search {
    /// Begins one in the bytes before `end`, for somebody who works in `directory`.
    pub(super) fn new(wanted: Wanted, directory: &str, end: u64) -> Self {
        let part = Part { reached: end, found: Vec::new() };
        let (directory, elsewhere) = (directory.to_owned(), part.clone());
        Self { wanted, enough: FOUND, directory, here: part, elsewhere, fuzzy: Vec::new() }
    }

    /// Tells whether nothing is looked for any more, or nothing before more is wanted.
    pub(super) fn is_over(&self) -> bool {
        let part = if self.here.reached > 0 { &self.here } else { &self.elsewhere };
        part.reached == 0 || part.found.len() >= self.enough
    }

    /// Wants more than there are.
    pub(super) fn want_more(&mut self) {
        let part = if self.here.reached > 0 { &self.here } else { &self.elsewhere };
        self.enough = part.found.len() + FOUND;
    }

    fn has_seen_all(&self) -> bool {
        self.here.reached == 0 && self.elsewhere.reached == 0
    }

    /// The lines found by their beginning, as ↑ goes through them.
    fn in_order(&self) -> impl DoubleEndedIterator<Item = &Found> {
        let elsewhere = if self.here.reached == 0 { self.elsewhere.found.as_slice() } else { &[] };
        self.here.found.iter().chain(elsewhere)
    }

    /// Returns the line that comes after that at `offset`, or the first, and is good.
    pub(super) fn after(&self, offset: Option<u64>, good: impl Fn(&Entry) -> bool) -> Option<&Found> {
        let Some(offset) = offset else { return self.in_order().find(|found| good(&found.entry)) };
        let mut behind = self.in_order().skip_while(|found| found.offset != offset).skip(1);
        behind.find(|found| good(&found.entry))
    }

    /// Returns the line that comes before that at `offset` and is good.
    pub(super) fn before(&self, offset: u64, good: impl Fn(&Entry) -> bool) -> Option<&Found> {
        let mut ahead = self.in_order().rev().skip_while(|found| found.offset != offset).skip(1);
        ahead.find(|found| good(&found.entry))
    }

    /// Returns the line at `offset` if it was found.
    pub(super) fn at(&self, offset: u64) -> Option<&Entry> {
        self.in_order().find(|found| found.offset == offset).map(|found| &found.entry)
    }

    /// Returns the lines that have the letters in one piece, and those that have them in order, the best first.
    pub(super) fn with_letters(&self) -> (Vec<Entry>, Vec<(i64, Entry)>) {
        let exact = self.here.found.iter().chain(&self.elsewhere.found).map(|found| found.entry.clone());
        let fuzzy = self.fuzzy.iter().map(|(score, found)| (*score, found.entry.clone()));
        (exact.collect(), fuzzy.collect())
    }

    /// How many lines there are to show: more of them are news.
    pub(super) fn shown(&self) -> usize {
        match self.wanted {
            Wanted::Prefix(_) => self.in_order().count(),
            Wanted::Letters(_) => self.here.found.len() + self.elsewhere.found.len() + self.fuzzy.len(),
        }
    }

    /// Makes the search for other words from this one, if its results are enough for that.
    pub(super) fn narrowed(&self, wanted: &Wanted, end: u64) -> Self {
        let mut search = Self::new(wanted.clone(), &self.directory, end);
        match (&self.wanted, wanted) {
            // Letters that nothing has are not looked for once more with another one behind them.
            (Wanted::Letters(shorter), Wanted::Letters(longer))
                if longer.starts_with(shorter.as_str()) && self.has_seen_all() && self.shown() == 0 =>
            {
                (search.here.reached, search.elsewhere.reached) = (0, 0);
            }
            (Wanted::Prefix(shorter), Wanted::Prefix(longer)) if longer.starts_with(shorter.as_str()) => {
                (search.here, search.elsewhere) = (self.here.clone(), self.elsewhere.clone());
                for part in [&mut search.here, &mut search.elsewhere] {
                    part.found.retain(|found| found.entry.line.starts_with(longer.as_str()));
                }
            }
            (Wanted::Prefix(_) | Wanted::Letters(_), _) => {}
        }
        search
    }

    /// Looks at one more piece of the file.
    pub(super) fn step(&mut self, file: &File, bytes: &mut Vec<u8>) {
        let here = self.here.reached > 0;
        let reached = if here { self.here.reached } else { self.elsewhere.reached };
        let elsewhere = self.elsewhere.reached == reached && self.elsewhere.found.len() < self.enough;
        let known = (self.here.lines(), self.elsewhere.lines());
        let mut takes = Takes { here, elsewhere, of_here: known.0, of_elsewhere: known.1 };
        let mut from = reached.saturating_sub(CHUNK);
        let start = loop {
            bytes.resize(usize::try_from(reached - from).unwrap_or(0), 0);
            if file.read_exact_at(bytes, from).is_err() {
                // Cut short by another program: there is nothing to find.
                (self.here.reached, self.elsewhere.reached) = (0, 0);
                return;
            }
            // What was cut into is looked at with the piece before it.
            let first =
                if from == 0 { Some(0) } else { bytes.iter().position(|byte| *byte == b'\n').map(|at| at + 1) };
            match first.filter(|first| *first < bytes.len()) {
                Some(first) => {
                    let start = from + first as u64;
                    let lines = &bytes[first..];
                    match self.wanted.clone() {
                        Wanted::Prefix(prefix) => self.take_prefixed(&prefix, lines, start, &mut takes),
                        Wanted::Letters(letters) => self.take_lettered(&letters, lines, start, &mut takes),
                    }
                    break start;
                }
                None if bytes.len() > LONGEST => break from,
                None => from = from.saturating_sub(bytes.len() as u64),
            }
        };
        if takes.here {
            self.here.reached = start;
        }
        if takes.elsewhere {
            self.elsewhere.reached = start;
        }
    }

    /// Takes the lines that begin so, the newest first, until there are enough. `lines` are whole and begin at `start`.
    fn take_prefixed(&mut self, prefix: &str, lines: &[u8], start: u64, takes: &mut Takes) {
        // As the file has it: without the quote behind it.
        let mut needle = serde_json::to_string(prefix).unwrap_or_default();
        needle.pop();
        let needle = format!("\"l\":{needle}");
        let of_here = self.of_here();
        let places: Vec<usize> = Finder::new(&needle).find_iter(lines).collect();
        for place in places.into_iter().rev() {
            let (begin, line) = line_at(lines, place);
            if !takes.elsewhere && memmem::find(line, of_here.as_bytes()).is_none() {
                continue;
            }
            let Ok(entry) = serde_json::from_slice::<Entry>(line) else { continue };
            if entry.line.starts_with(prefix) {
                self.take(Found { offset: start + begin as u64, entry }, takes);
                if !takes.here && !takes.elsewhere {
                    return;
                }
            }
        }
    }

    /// Takes the lines that have these letters.
    fn take_lettered(&mut self, letters: &str, lines: &[u8], start: u64, takes: &mut Takes) {
        let matcher = SkimMatcherV2::default();
        let of_here = self.of_here();
        let mut known: HashSet<String> = self.fuzzy.iter().map(|(_, found)| found.entry.line.clone()).collect();
        let mut end = lines.len();
        while end > 0 && (takes.here || takes.elsewhere) {
            let begin = memrchr(b'\n', &lines[..end - 1]).map_or(0, |newline| newline + 1);
            let line = &lines[begin..end];
            end = begin;
            let Ok(text) = std::str::from_utf8(line) else { continue };
            // The whole line first: most do not have the letters anywhere. With enough others only this directory's count.
            if !may_have_letters(text, letters) || (!takes.elsewhere && !text.contains(&of_here)) {
                continue;
            }
            let Ok(entry) = serde_json::from_str::<Entry>(text) else { continue };
            let lower = entry.line.to_lowercase();
            if !entry.pastes.is_empty() || known.contains(&entry.line) {
                continue;
            }
            let found = Found { offset: start + begin as u64, entry };
            if lower.contains(letters) {
                self.take(found, takes);
            } else if lower.len() <= LONGEST_FUZZY
                && has_letters(&lower, letters)
                && let Some(score) = matcher.fuzzy_match(&lower, letters)
            {
                known.insert(found.entry.line.clone());
                self.fuzzy.push((score, found));
            }
        }
        // Stable: among equals the newer stays first, this directory's before others'.
        let directory = &self.directory;
        self.fuzzy.sort_by_key(|(score, found)| (std::cmp::Reverse(*score), found.entry.directory != *directory));
        self.fuzzy.truncate(MOST_FOUND);
    }

    /// What a line of this directory has in the file.
    fn of_here(&self) -> String {
        format!("\"d\":{}", serde_json::to_string(&self.directory).unwrap_or_default())
    }

    /// Takes a line if its part is being looked for and does not have it.
    fn take(&mut self, found: Found, takes: &mut Takes) {
        let offset = found.offset;
        if found.entry.directory == self.directory {
            if !takes.here || !takes.of_here.insert(found.entry.line.clone()) {
                return;
            }
            // It is there once, where it comes first.
            if takes.of_elsewhere.remove(&found.entry.line) {
                self.elsewhere.found.retain(|other| other.entry.line != found.entry.line);
            }
            self.here.found.push(found);
            if self.here.found.len() >= self.enough {
                self.here.reached = offset;
                if takes.elsewhere {
                    self.elsewhere.reached = offset;
                }
                (takes.here, takes.elsewhere) = (false, false);
            }
        } else if takes.elsewhere
            && !takes.of_here.contains(&found.entry.line)
            && takes.of_elsewhere.insert(found.entry.line.clone())
        {
            self.elsewhere.found.push(found);
            if self.elsewhere.found.len() >= self.enough {
                self.elsewhere.reached = offset;
                takes.elsewhere = false;
            }
        }
    }
}

/// Which lines are being looked for, and which are known.
struct Takes {
    here: bool,
    elsewhere: bool,
    of_here: HashSet<String>,
    of_elsewhere: HashSet<String>,
}

/// The line around a place, and where it begins.
fn line_at(lines: &[u8], place: usize) -> (usize, &[u8]) {
    let begin = memrchr(b'\n', &lines[..place]).map_or(0, |newline| newline + 1);
    let end = memchr::memchr(b'\n', &lines[place..]).map_or(lines.len(), |newline| place + newline);
    (begin, &lines[begin..end])
}
