//! What the model has seen: file states, ranges, and texts for saying what changed since.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::{Seen, ToolMemory, kept, shell_job};

/// Texts longer than this are not kept for diffs (bytes).
const TEXT_LIMIT: usize = 256 * 1024;
/// After so many rounds of calls without a word on the plan the model is reminded of it.
const REMINDED_AFTER: u32 = 6;
/// All kept texts together (bytes); the oldest go first.
const TEXTS_LIMIT: usize = 8 * 1024 * 1024;

/// Which ranges the model was shown of which files, and their texts.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    ranges: HashMap<PathBuf, Vec<(u64, u64)>>,
    texts: Vec<(PathBuf, Arc<str>)>,
}

/// The model's plan as it last wrote it down.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// One line a step.
    pub(crate) text: String,
    /// Whether any step is left.
    pub(crate) open: bool,
    /// Rounds of calls since it was written, or since it was last reminded of.
    pub(crate) rounds: u32,
}

/// A command in the background, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobReport {
    /// Its number.
    pub number: u64,
    /// Its command line.
    pub line: String,
    /// How long it has been running, or ran.
    pub lasted: Duration,
    /// Whether it runs.
    pub running: bool,
    /// Its exit code, where its end was seen.
    pub code: Option<i32>,
    /// Whether it goes on when axi ends.
    pub outlives: bool,
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

/// Makes the state of a file whose bytes are all here.
pub(crate) fn seen(bytes: &[u8], modified: Option<std::time::SystemTime>) -> Seen {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    Seen { length: bytes.len() as u64, modified, hash: hasher.finish() }
}

impl ToolMemory {
    /// Forgets which ranges the model was shown, so that reading them again gives their text again.
    ///
    /// To be called when earlier results leave the conversation (compaction, rewind): "unchanged since you
    /// last read it" would then point at nothing.
    pub fn forget_shown(&self) {
        lock(&self.shown).ranges.clear();
    }

    /// Takes what the model should know at its next step: jobs that ended, a plan it seems to have forgotten.
    ///
    /// To be called once a round of calls.
    pub fn notes(&self) -> Vec<String> {
        let ended = self.jobs.ended();
        let mut notes: Vec<String> =
            ended.iter().map(|report| format!("[background {}]", shell_job::worded(report))).collect();
        let mut plan = lock(&self.plan);
        plan.rounds += 1;
        if plan.open && plan.rounds > REMINDED_AFTER {
            plan.rounds = 0;
            notes.push(format!("[your plan; keep it up to date with todo]\n{}", plan.text.trim_end()));
        }
        notes
    }

    /// Lists the commands in the background: those of this session, then those that outlive axi.
    #[must_use]
    pub fn jobs(&self, outputs: &Path, now: SystemTime) -> Vec<JobReport> {
        let own = self.jobs.list().into_iter().map(|report| JobReport {
            number: report.number,
            line: report.line,
            lasted: report.lasted,
            running: report.code.is_none(),
            code: report.code,
            outlives: false,
        });
        let kept = kept::list(outputs, now).into_iter().map(|kept| JobReport {
            number: kept.number,
            line: kept.line,
            lasted: kept.lasted,
            running: kept.running,
            code: kept.code,
            outlives: true,
        });
        own.chain(kept).collect()
    }

    /// Ends one of them at once; false when there is none of this number that could be ended. Blocks, for one that
    /// outlives axi up to three seconds.
    pub fn end_job(&self, outputs: &Path, number: u64, now: SystemTime) -> bool {
        if number >= kept::FIRST {
            return kept::report(outputs, number, now).is_some() && kept::end(outputs, number);
        }
        self.jobs.signal(number, rustix::process::Signal::KILL)
    }

    /// Remembers the plan.
    pub(crate) fn remember_plan(&self, text: String, open: bool) {
        *lock(&self.plan) = Plan { text, open, rounds: 0 };
    }

    /// Forgets all files, but nothing that runs: after an undo, or a way back in the conversation.
    pub fn forget_files(&self) {
        lock(&self.seen).clear();
        *lock(&self.shown) = Shown::default();
    }

    /// Compares a file's state with what the model knows.
    pub(crate) fn freshness(&self, path: &Path, now: &Seen) -> Freshness {
        let same = match lock(&self.seen).get(path) {
            None => return Freshness::Unread,
            // A touched file with the same bytes is no change.
            Some(before) => before.length == now.length && before.hash == now.hash,
        };
        if same {
            return Freshness::Fresh;
        }
        let shown = lock(&self.shown);
        Freshness::Changed(shown.texts.iter().find(|(kept, _)| kept == path).map(|(_, text)| Arc::clone(text)))
    }

    /// Tells whether the model was already shown this range of the file in this state.
    pub(crate) fn was_shown(&self, path: &Path, now: &Seen, range: (u64, u64)) -> bool {
        matches!(self.freshness(path, now), Freshness::Fresh)
            && lock(&self.shown).ranges.get(path).is_some_and(|ranges| ranges.contains(&range))
    }

    /// Remembers that a range was shown; `text` is the whole file where it was loaded.
    pub(crate) fn remember_read(&self, path: &Path, now: Seen, range: (u64, u64), text: Option<&str>) {
        let fresh = matches!(self.freshness(path, &now), Freshness::Fresh);
        lock(&self.seen).insert(path.to_path_buf(), now);
        let mut shown = lock(&self.shown);
        let ranges = shown.ranges.entry(path.to_path_buf()).or_default();
        if !fresh {
            ranges.clear();
        }
        ranges.push(range);
        shown.keep(path, text);
    }

    /// Remembers the state the model's own change left.
    pub(crate) fn remember_written(&self, path: &Path, now: Seen, text: &str) {
        lock(&self.seen).insert(path.to_path_buf(), now);
        let mut shown = lock(&self.shown);
        shown.ranges.remove(path);
        shown.keep(path, Some(text));
    }
}

impl Shown {
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

/// Locks; what a panicking thread left is still a valid map.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
