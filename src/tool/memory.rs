//! What the tools of a session remember between calls, and what of it the model is told with its results.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::file_memory::FileMemory;
use super::jobs::{DetachedJobs, Jobs};
use super::programs::Programs;
use super::project::Made;

/// After this many rounds of calls without a change of the plan, the model is reminded of it.
const REMINDED_AFTER: u32 = 6;

/// What the tools of a session remember between calls.
#[derive(Debug, Default)]
pub struct ToolMemory {
    /// Which files the model has seen, in which state.
    pub(crate) files: FileMemory,
    /// Commands that run in the background; they end with this memory.
    pub(crate) jobs: Jobs,
    /// How much of the output of each detached command was read, by its number (bytes).
    pub(crate) detached_read: Mutex<HashMap<u64, u64>>,
    /// Programs on terminals of their own; they end with this memory.
    pub(crate) programs: Programs,
    /// What was set up.
    pub(crate) made: Mutex<Vec<Made>>,
    /// The model's plan, to remind it.
    plan: Mutex<Plan>,
}

/// The model's plan as it last wrote it down.
#[derive(Debug, Default)]
struct Plan {
    /// One line a step.
    text: String,
    /// Whether any step is left.
    open: bool,
    /// Rounds of calls since it was written, or since it was last reminded of.
    rounds: u32,
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

impl ToolMemory {
    /// Forgets all files, but nothing that runs: after an undo, or a way back in the conversation.
    pub fn forget_files(&self) {
        self.files.forget();
    }

    /// Returns the plan as it was last written down, while any step of it is left.
    #[must_use]
    pub fn open_plan(&self) -> Option<String> {
        let plan = lock(&self.plan);
        plan.open.then(|| plan.text.trim_end().to_owned())
    }

    /// Takes what the model should know at its next step: jobs that ended, a plan it seems to have forgotten.
    ///
    /// To be called once a round of calls.
    pub fn notes(&self) -> Vec<String> {
        let ended = self.jobs.ended();
        let mut notes: Vec<String> =
            ended.iter().map(|report| format!("[background {}]", report.worded())).collect();
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
        let detached = DetachedJobs::in_directory(outputs).list(now).into_iter().map(|detached| JobReport {
            number: detached.number,
            line: detached.line,
            lasted: detached.lasted,
            running: detached.running,
            code: detached.code,
            outlives: true,
        });
        own.chain(detached).collect()
    }

    /// Ends one of them at once; false when there is none of this number that could be ended. Blocks, for one that
    /// outlives axi up to three seconds.
    pub fn end_job(&self, outputs: &Path, number: u64, now: SystemTime) -> bool {
        if number >= DetachedJobs::FIRST {
            let detached = DetachedJobs::in_directory(outputs);
            return detached.report(number, now).is_some() && detached.end(number);
        }
        self.jobs.signal(number, crate::platform::process::Signal::KILL)
    }

    /// Ends all that runs in the background of this session.
    pub fn end_all(&self) {
        self.jobs.end_all();
        self.programs.end_all();
    }

    /// Remembers the plan.
    pub(crate) fn remember_plan(&self, text: String, open: bool) {
        *lock(&self.plan) = Plan { text, open, rounds: 0 };
    }
}

/// Locks; what a thread left when it panicked is still valid.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
