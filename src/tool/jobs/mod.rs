//! Commands that go on while the model does something else. They end with the session.

mod detached;
mod group;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::PathBuf;
use std::process::Child;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::{output, output_file};
use crate::platform::process::Signal;

pub(crate) use detached::{DetachedJob, DetachedJobs, is_in_use};
pub use group::end_orphans;
pub(crate) use group::{Group, Mark};

/// Bytes of output kept in memory: what was not read in time is in the file only.
const KEPT: usize = 64 * 1024;
/// Bytes written to a job's file at most.
const FILE_LIMIT: u64 = 100 * 1024 * 1024;
/// How many may run at once.
pub(crate) const MOST: usize = 16;
/// How many ended ones are remembered.
const ENDED_KEPT: usize = 32;

/// The jobs of a session. Dropped, it kills those that run.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    jobs: Vec<Job>,
    last: u64,
}

/// One job.
#[derive(Debug)]
struct Job {
    number: u64,
    line: String,
    state: Arc<State>,
    group: Group,
    /// Whether the model knows that it ended.
    told: bool,
}

/// What the reading thread and the tools share.
#[derive(Debug)]
pub(crate) struct State {
    output: Mutex<Output>,
    changed: Notify,
}

#[derive(Debug)]
struct Output {
    tail: VecDeque<u8>,
    /// Bytes printed so far.
    total: u64,
    /// How many of them the model was given.
    read: u64,
    path: PathBuf,
    file: Option<File>,
    begun: Instant,
    /// How it ended: the exit code, 128 + signal.
    ended: Option<(i32, Duration)>,
}

/// A job as it is now.
#[derive(Debug, Clone)]
pub(crate) struct Report {
    /// Its number.
    pub(crate) number: u64,
    /// Its command line.
    pub(crate) line: String,
    /// How long it ran, or has been running.
    pub(crate) lasted: Duration,
    /// Its exit code when it ended.
    pub(crate) code: Option<i32>,
    /// Bytes printed.
    pub(crate) total: u64,
    /// Where the whole output is, if there is any.
    pub(crate) file: Option<PathBuf>,
}

/// A process that was started for a job, and what holds it.
pub(crate) struct Started {
    /// The process: an adopter, or the shell itself.
    pub(crate) child: Child,
    /// All it starts.
    pub(crate) group: Group,
    /// Its output, both kinds.
    pub(crate) reader: io::PipeReader,
    /// What must live as long as it does.
    pub(crate) held: Box<dyn Send>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panicking thread left is still a valid list.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Job {
    fn drop(&mut self) {
        if lock(&self.state.output).ended.is_none() {
            self.group.signal(Signal::KILL, false);
        }
    }
}

impl Jobs {
    /// Tells whether another one may start.
    pub(crate) fn has_room(&self) -> bool {
        let running = |job: &&Job| lock(&job.state.output).ended.is_none();
        lock(&self.inner).jobs.iter().filter(running).count() < MOST
    }

    /// Takes over a process; a thread reads it until its end.
    ///
    /// # Errors
    /// When there can be no thread; the process is killed then.
    pub(crate) fn add(&self, line: String, started: Started, path: PathBuf) -> io::Result<u64> {
        let Started { child, group, reader, held } = started;
        let output = Output {
            tail: VecDeque::new(),
            total: 0,
            read: 0,
            path,
            file: None,
            begun: Instant::now(),
            ended: None,
        };
        let state = Arc::new(State { output: Mutex::new(output), changed: Notify::new() });
        let mut inner = lock(&self.inner);
        inner.last += 1;
        let number = inner.last;
        // From here on dropping it kills.
        let job = Job { number, line, state: Arc::clone(&state), group, told: false };
        // It ends with the process, which ends with the job.
        std::thread::Builder::new().name("job".into()).spawn(move || watch(&state, child, reader, held))?;
        inner.jobs.push(job);
        let ended: Vec<u64> = inner
            .jobs
            .iter()
            .filter(|job| job.told && lock(&job.state.output).ended.is_some())
            .map(|job| job.number)
            .collect();
        let old: Vec<u64> = ended.iter().rev().skip(ENDED_KEPT).copied().collect();
        inner.jobs.retain(|job| !old.contains(&job.number));
        Ok(number)
    }

    /// Lists all, the oldest first.
    pub(crate) fn list(&self) -> Vec<Report> {
        lock(&self.inner).jobs.iter().map(Job::report).collect()
    }

    /// Reports one.
    pub(crate) fn report(&self, number: u64) -> Option<Report> {
        lock(&self.inner).jobs.iter().find(|job| job.number == number).map(Job::report)
    }

    /// Gives what one printed since the last time; of much only the end, with the number of bytes left out.
    pub(crate) fn read(&self, number: u64) -> Option<(Vec<u8>, u64)> {
        let mut inner = lock(&self.inner);
        let job = inner.jobs.iter_mut().find(|job| job.number == number)?;
        let mut output = lock(&job.state.output);
        let new = output.total - output.read;
        let kept = new.min(output.tail.len() as u64);
        output.read = output.total;
        let from = output.tail.len() - usize::try_from(kept).unwrap_or(0);
        let bytes = output.tail.range(from..).copied().collect();
        let ended = output.ended.is_some();
        drop(output);
        job.told |= ended;
        Some((bytes, new - kept))
    }

    /// Waits until one ends, or, with `any`, prints something new.
    ///
    /// # Cancel safety
    /// Safe: nothing is taken.
    pub(crate) async fn wait(&self, number: u64, any: bool, limit: Duration) {
        let state =
            lock(&self.inner).jobs.iter().find(|job| job.number == number).map(|job| Arc::clone(&job.state));
        let Some(state) = state else { return };
        let deadline = tokio::time::Instant::now() + limit;
        loop {
            let changed = state.changed.notified();
            tokio::pin!(changed);
            // Before looking: what happens in between must wake us.
            changed.as_mut().enable();
            let (ended, new) = {
                let output = lock(&state.output);
                (output.ended.is_some(), output.total > output.read)
            };
            if ended || any && new {
                return;
            }
            if tokio::time::timeout_at(deadline, changed).await.is_err() {
                return;
            }
        }
    }

    /// Sends a signal to all processes of one; false when it ended already. Reads /proc: some milliseconds.
    pub(crate) fn signal(&self, number: u64, signal: Signal) -> bool {
        let group = {
            let inner = lock(&self.inner);
            let job = inner.jobs.iter().find(|job| job.number == number);
            job.filter(|job| lock(&job.state.output).ended.is_none()).map(|job| job.group.clone())
        };
        let Some(group) = group else { return false };
        group.signal(signal, false);
        true
    }

    /// Kills those that run and forgets all.
    pub(crate) fn end_all(&self) {
        let jobs = std::mem::take(&mut lock(&self.inner).jobs);
        drop(jobs);
    }

    /// Takes those that ended without the model knowing.
    pub(crate) fn ended(&self) -> Vec<Report> {
        let mut inner = lock(&self.inner);
        let news = inner.jobs.iter_mut().filter(|job| !job.told && lock(&job.state.output).ended.is_some());
        news.map(|job| {
            job.told = true;
            job.report()
        })
        .collect()
    }
}

impl Report {
    /// Words it in one line.
    pub(crate) fn worded(&self) -> String {
        let seconds = self.lasted.as_secs();
        let state = match self.code {
            None => format!("running for {seconds} s"),
            Some(0) => format!("done after {seconds} s"),
            Some(code) => format!("ended after {seconds} s with exit code {code}"),
        };
        let printed = output::size(self.total);
        format!("job {}: {state}, {printed} printed: {}", self.number, output::first_line(&self.line))
    }
}

impl Job {
    fn report(&self) -> Report {
        let output = lock(&self.state.output);
        Report {
            number: self.number,
            line: self.line.clone(),
            lasted: output.ended.map_or_else(|| output.begun.elapsed(), |(_, lasted)| lasted),
            code: output.ended.map(|(code, _)| code),
            total: output.total,
            file: output.file.is_some().then(|| output.path.clone()),
        }
    }
}

/// Reads a job's output to its end, then waits for the process.
fn watch(state: &State, mut child: Child, mut reader: impl Read, held: Box<dyn Send>) {
    let mut buffer = vec![0; 32 * 1024];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => {
                lock(&state.output).push(&buffer[..length]);
                state.changed.notify_waiters();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    let status = child.wait();
    let code = status.ok().and_then(|status| {
        use crate::platform::os::process::ExitStatusExt as _;
        status.code().or_else(|| status.signal().map(|signal| 128 + signal))
    });
    drop(held);
    let mut output = lock(&state.output);
    output.ended = Some((code.unwrap_or(-1), output.begun.elapsed()));
    drop(output);
    state.changed.notify_waiters();
}

impl Output {
    fn push(&mut self, bytes: &[u8]) {
        let room = FILE_LIMIT.saturating_sub(self.total);
        let taken = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        if self.total == 0 {
            self.file = output_file::make(&self.path).ok();
        }
        if let Some(file) = &mut self.file {
            // A full disk costs the file, not the job.
            let _ = file.write_all(&bytes[..taken]);
        }
        self.total += bytes.len() as u64;
        self.tail.extend(bytes);
        let over = self.tail.len().saturating_sub(KEPT);
        self.tail.drain(..over);
    }
}
