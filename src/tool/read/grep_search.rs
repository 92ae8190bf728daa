//! Searching a tree as ripgrep does: same walker, same matcher, same rules for binary files and encodings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::{WalkBuilder, WalkState};

use crate::platform::RealPath as _;
use crate::secret::files::SecretFiles;
use crate::secret::found::Linked;
use crate::secret::packed;
use crate::tool::output;
use crate::tool::work::Stop;

/// A line is cut around its match to this many bytes.
const LINE_BYTES: usize = 300;
/// Lines kept of all files together; of more only the numbers are known.
const KEPT_LINES: u64 = 20_000;
/// Files kept by name.
const KEPT_FILES: usize = 100_000;

/// What to search for, and where.
#[derive(Debug, Clone)]
pub(crate) struct Search {
    /// A regular expression, or a plain text with `literal`.
    pub(crate) pattern: String,
    /// Whether the pattern is plain text.
    pub(crate) literal: bool,
    /// Whether case counts for nothing.
    pub(crate) ignore_case: bool,
    /// A file, or a directory to walk.
    pub(crate) root: PathBuf,
    /// Where relative globs start.
    pub(crate) cwd: PathBuf,
    /// As ripgrep's `--glob`.
    pub(crate) glob: Option<String>,
    /// Lines of context before and after.
    pub(crate) context: usize,
    /// The wanted result: lines are kept only for `Lines`.
    pub(crate) wanted: Wanted,
    /// How many lines of one file are kept.
    pub(crate) limit: u64,
    /// Files that are not read: nobody was asked about files found on the way. If the root itself is such a file,
    /// somebody was.
    pub(crate) secrets: SecretFiles,
}

/// What is wanted of each file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Whether it matches.
    Files,
    /// How many lines match.
    Counts,
    /// The lines.
    Lines,
}

/// One line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    /// From 1.
    pub(crate) number: u64,
    /// Whether it matches, or is context.
    pub(crate) matches: bool,
    /// Without its end, cut around the match.
    pub(crate) text: String,
}

/// What was found in one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FileHits {
    /// Lines that match; 1 at most where only `Files` are wanted.
    pub(crate) count: u64,
    /// In order; a jump in the numbers is a break.
    pub(crate) hits: Vec<Hit>,
    /// Whether the search ended at a NUL after a match.
    pub(crate) binary: bool,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// By path.
    pub(crate) files: BTreeMap<PathBuf, FileHits>,
    /// Lines that match, in all files.
    pub(crate) lines: u64,
    /// Files that could not be read.
    pub(crate) unreadable: u64,
    /// Files that are secret and were not looked into.
    pub(crate) secret: u64,
}

/// Makes the matcher with ripgrep's settings.
///
/// # Errors
/// What is wrong with the pattern, in words.
pub(crate) fn matcher(search: &Search) -> Result<RegexMatcher, String> {
    RegexMatcherBuilder::new()
        .multi_line(true)
        .unicode(true)
        .octal(false)
        .case_insensitive(search.ignore_case)
        .fixed_strings(search.literal)
        .line_terminator(Some(b'\n'))
        .ban_byte(Some(0))
        .build(&search.pattern)
        .map_err(|error| error.to_string())
}

/// Makes what says which files are searched.
///
/// # Errors
/// What is wrong with the glob, in words.
pub(crate) fn only(search: &Search) -> Result<Override, String> {
    let mut only = OverrideBuilder::new(&search.cwd);
    if let Some(glob) = &search.glob {
        only.add(glob).map_err(|error| error.to_string())?;
    }
    only.build().map_err(|error| error.to_string())
}

/// Searches a file or a tree.
pub(crate) fn search(search: &Search, matcher: &RegexMatcher, only: Override, stop: &Stop) -> Found {
    let found = Mutex::new(Found::default());
    let kept = AtomicU64::new(0);
    let mut walk = WalkBuilder::new(&search.root);
    walk.add_custom_ignore_filename(".rgignore").overrides(only);
    let explicit = search.root.is_file();
    let real_root = RealRoot::new(&search.root);
    let asked = search.secrets.holds(&real_root.real);
    let linked = Linked::new(search.secrets.clone(), vec![search.cwd.clone(), search.root.clone()]);
    walk.build_parallel().run(|| {
        let mut searcher = searcher(search, explicit);
        let (found, kept, real_root, linked) = (&found, &kept, &real_root, &linked);
        Box::new(move |entry| {
            if stop.is_set() {
                return WalkState::Quit;
            }
            let Ok(entry) = entry else {
                found.lock().unwrap_or_else(PoisonError::into_inner).unreadable += 1;
                return WalkState::Continue;
            };
            // Only regular files: a FIFO would never end. The root may be a link to one.
            let regular = entry.file_type().is_some_and(|kind| kind.is_file()) || entry.depth() == 0 && explicit;
            // Compared by its real name: the path to it may be a link.
            let second = || entry.metadata().is_ok_and(|metadata| linked.holds(&metadata));
            let packed = || packed::holds_secret(entry.path(), entry.path());
            let is_secret = || search.secrets.holds(&real_root.below(entry.path())) || second() || packed();
            if regular && !asked && is_secret() {
                found.lock().unwrap_or_else(PoisonError::into_inner).secret += 1;
            } else if regular {
                one_file(search, matcher, &mut searcher, entry.path(), explicit, found, kept, stop);
            }
            WalkState::Continue
        })
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Where the walk starts, and where that really is: it follows no links.
struct RealRoot {
    named: PathBuf,
    real: PathBuf,
}

impl RealRoot {
    fn new(root: &Path) -> Self {
        Self { named: root.to_owned(), real: root.real_path().unwrap_or_else(|_| root.to_owned()) }
    }

    fn below(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.named) {
            Ok(rest) if rest.as_os_str().is_empty() => self.real.clone(),
            Ok(rest) => self.real.join(rest),
            Err(_) => path.to_owned(),
        }
    }
}

fn searcher(search: &Search, explicit: bool) -> Searcher {
    let context = if search.wanted == Wanted::Lines { search.context } else { 0 };
    SearcherBuilder::new()
        .line_number(true)
        .before_context(context)
        .after_context(context)
        // A file that somebody named is searched even if it is binary; see ripgrep's guide, "Binary data".
        .binary_detection(if explicit { BinaryDetection::convert(0) } else { BinaryDetection::quit(0) })
        .build()
}

#[expect(clippy::too_many_arguments, reason = "one call, inside the closure of a thread")]
fn one_file(
    search: &Search,
    matcher: &RegexMatcher,
    searcher: &mut Searcher,
    path: &Path,
    explicit: bool,
    found: &Mutex<Found>,
    kept: &AtomicU64,
    stop: &Stop,
) {
    let mut collect = Collect { search, matcher, explicit, kept, stop, hits: FileHits::default(), binary: false };
    let read = searcher.search_path(matcher, path, &mut collect);
    let hits = collect.hits;
    if read.is_ok() && hits.count == 0 {
        return;
    }
    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
    if read.is_err() {
        found.unreadable += 1;
    }
    if hits.count > 0 {
        found.lines += hits.count;
        if found.files.len() < KEPT_FILES {
            found.files.insert(path.to_path_buf(), hits);
        }
    }
}

struct Collect<'a> {
    search: &'a Search,
    matcher: &'a RegexMatcher,
    explicit: bool,
    kept: &'a AtomicU64,
    stop: &'a Stop,
    hits: FileHits,
    binary: bool,
}

impl Collect<'_> {
    fn keep(&mut self, number: Option<u64>, matches: bool, line: &[u8]) {
        let full = self.hits.hits.len() as u64 >= self.search.limit;
        if full || self.kept.fetch_add(1, Ordering::Relaxed) >= KEPT_LINES {
            return;
        }
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let at = if matches && line.len() > LINE_BYTES {
            self.matcher.find(line).ok().flatten().map_or(0, |found| found.start())
        } else {
            0
        };
        self.hits.hits.push(Hit { number: number.unwrap_or(0), matches, text: around(line, at) });
    }
}

impl Sink for Collect<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, line: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        self.hits.count += 1;
        if self.binary && self.explicit && self.search.wanted == Wanted::Lines {
            // Binary content is never shown: that there is a match is enough.
            return Ok(false);
        }
        match self.search.wanted {
            Wanted::Files => return Ok(false),
            Wanted::Counts => {}
            Wanted::Lines => self.keep(line.line_number(), true, line.bytes()),
        }
        Ok(!self.stop.is_set())
    }

    fn context(&mut self, _: &Searcher, line: &SinkContext<'_>) -> Result<bool, Self::Error> {
        self.keep(line.line_number(), false, line.bytes());
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, Self::Error> {
        self.binary = true;
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, end: &SinkFinish) -> Result<(), Self::Error> {
        if end.binary_byte_offset().is_some() {
            self.hits.binary = true;
            // As ripgrep's summary: a file that turned out to be binary does not count.
            if !self.explicit && self.search.wanted != Wanted::Lines {
                self.hits.count = 0;
            }
        }
        Ok(())
    }
}

/// Cuts a long line around its match, on character boundaries.
fn around(line: &[u8], at: usize) -> String {
    if line.len() <= LINE_BYTES {
        return String::from_utf8_lossy(line).into_owned();
    }
    let mut start = at.saturating_sub(LINE_BYTES / 3).min(line.len() - LINE_BYTES);
    let mut end = start + LINE_BYTES;
    let continues = |index: usize| line.get(index).is_some_and(|byte| byte & 0xc0 == 0x80);
    while start > 0 && continues(start) {
        start -= 1;
    }
    while end < line.len() && continues(end) {
        end += 1;
    }
    let text = String::from_utf8_lossy(&line[start..end]);
    let before = if start > 0 { output::LEFT_OUT } else { "" };
    let after = if end < line.len() { output::LEFT_OUT } else { "" };
    format!("{before}{text}{after}")
}

#[cfg(test)]
#[path = "grep_search_tests.rs"]
mod tests;
