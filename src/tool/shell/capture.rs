//! Collects a command's output: both ends in memory, all of it (up to a limit) in a file, the last lines for the
//! screen.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::PathBuf;

use tokio::sync::mpsc;

use crate::tool::output::{self, Cleaner, LIMITS};
use crate::tool::{kind, output_file};

/// Bytes kept of the beginning, and of the end.
const END_BYTES: usize = 64 * 1024;
/// Bytes written to the file at most.
const FILE_LIMIT: u64 = 100 * 1024 * 1024;
/// Bytes gathered for one write.
const BATCH: usize = 256 * 1024;

/// Gathers an output of any size in bounded memory.
pub(crate) struct Collected {
    head: Vec<u8>,
    tail: Vec<u8>,
    total: u64,
    newlines: u64,
    path: PathBuf,
    file: Option<File>,
    batch: Vec<u8>,
    filed: u64,
    problem: Option<String>,
}

/// What the model is given of it.
pub(crate) struct Excerpt {
    /// The text.
    pub(crate) text: String,
    /// Lines printed, all of them.
    pub(crate) lines: u64,
    /// Where the whole is, if the text is not all.
    pub(crate) file: Option<PathBuf>,
}

impl Collected {
    /// Makes an empty one; `path` is made only if it is needed.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self {
            head: Vec::new(),
            tail: Vec::new(),
            total: 0,
            newlines: 0,
            path,
            file: None,
            batch: Vec::new(),
            filed: 0,
            problem: None,
        }
    }

    /// Takes bytes. When it returns true, [`Collected::flush`] is due.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> bool {
        self.total += bytes.len() as u64;
        self.newlines += output::line_ends(bytes);
        let room = END_BYTES - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        if rest.is_empty() {
            return false;
        }
        if self.filed == 0 && self.batch.is_empty() {
            self.batch.extend_from_slice(&self.head);
        }
        let left = FILE_LIMIT.saturating_sub(self.filed + self.batch.len() as u64);
        let taken = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
        self.batch.extend_from_slice(&rest[..taken]);
        self.tail.extend_from_slice(rest);
        if self.tail.len() > END_BYTES * 4 {
            self.tail.drain(..self.tail.len() - END_BYTES);
        }
        self.batch.len() >= BATCH
    }

    /// Writes what was gathered to the file, off the runtime.
    ///
    /// # Cancel safety
    /// If it is dropped while it runs, the write ends on its own thread, and later writes start a new file: drop it
    /// only together with the whole value.
    pub(crate) async fn flush(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        if self.problem.is_some() || batch.is_empty() {
            return;
        }
        let (file, path) = (self.file.take(), self.path.clone());
        let length = batch.len() as u64;
        let written = tokio::task::spawn_blocking(move || {
            let mut file = match file {
                Some(file) => file,
                None => output_file::make(&path)?,
            };
            file.write_all(&batch)?;
            Ok::<File, io::Error>(file)
        })
        .await;
        self.filed += length;
        match written {
            Ok(Ok(file)) => self.file = Some(file),
            Ok(Err(error)) => self.problem = Some(error.to_string()),
            Err(_) => self.problem = Some("the writing thread failed".to_owned()),
        }
    }

    /// Ends it: makes the model's text, and the file if the text is not all.
    pub(crate) async fn tell(mut self) -> Excerpt {
        let kept = (self.head.len() + self.tail.len()) as u64;
        let whole = self.total == kept;
        if whole {
            self.head.append(&mut self.tail);
        } else if self.tail.len() > END_BYTES {
            self.tail.drain(..self.tail.len() - END_BYTES);
        }
        let lines = self.newlines + u64::from(self.total > 0 && self.last() != Some(b'\n'));
        let sample = &self.head[..self.head.len().min(kind::SAMPLE)];
        let binary = looks_binary(sample);
        let first = if binary { String::new() } else { output::clean(&self.head) };
        if !binary && whole && output::fits(&first, LIMITS) {
            return Excerpt { text: first, lines, file: None };
        }
        if self.filed == 0 && self.batch.is_empty() {
            self.batch.extend_from_slice(&self.head);
        }
        self.flush().await;
        let kept = match &self.problem {
            Some(problem) => format!("it could not be kept: {problem}"),
            None if self.total > FILE_LIMIT => {
                format!("the first {} are in {}", output::size(FILE_LIMIT), self.path.display())
            }
            None => format!("the whole is in {}", self.path.display()),
        };
        let text = if binary {
            format!("[binary output, {}; {kept}]", output::size(self.total))
        } else {
            let last = if whole { String::new() } else { output::clean(from_line(&self.tail)) };
            let (head, tail) = output::ends(&first, if whole { &first } else { &last }, LIMITS);
            let told = output::count_lines(head) + output::count_lines(tail);
            let cut = self.total.saturating_sub((head.len() + tail.len()) as u64);
            output::joined(head, tail, &output::cut_mark(lines.saturating_sub(told as u64), cut, Some(&kept)))
        };
        let file = if self.problem.is_none() { Some(self.path) } else { None };
        Excerpt { text, lines, file }
    }

    fn last(&self) -> Option<u8> {
        self.tail.last().or(self.head.last()).copied()
    }
}

/// An output with a few NULs is shown (`find -print0`); one that is mostly binary is not.
fn looks_binary(sample: &[u8]) -> bool {
    let without: Vec<u8> = sample.iter().copied().filter(|byte| *byte != 0).collect();
    let nulls = sample.len() - without.len();
    kind::is_binary(&without) || nulls * 4 > sample.len()
}

/// Removes the rest of a line, or of a terminal sequence, that the cut left at the start.
fn from_line(bytes: &[u8]) -> &[u8] {
    match bytes.iter().take(4096).position(|byte| *byte == b'\n') {
        Some(at) => &bytes[at + 1..],
        None => bytes,
    }
}

/// Lines for the live row at most between two looks.
const PENDING: usize = 20;
/// Bytes looked at of one piece: of a flood only the end can be seen.
const LOOKED_AT: usize = 8 * 1024;
/// Bytes of one line.
const LINE: usize = 2048;

/// The last lines of a running command, for whoever watches.
pub(crate) struct Progress {
    cleaner: Cleaner,
    pending: VecDeque<String>,
    sender: mpsc::Sender<String>,
    shown: String,
}

impl Progress {
    /// Makes one that sends to the front end; a full channel drops.
    pub(crate) fn new(sender: mpsc::Sender<String>) -> Self {
        Self { cleaner: Cleaner::new(LINE), pending: VecDeque::new(), sender, shown: String::new() }
    }

    /// Takes bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(LOOKED_AT)..];
        let pending = &mut self.pending;
        self.cleaner.push(bytes, |line| {
            if pending.len() == PENDING {
                pending.pop_front();
            }
            pending.push_back(line);
        });
    }

    /// Sends what came since the last time: whole lines, then the one that has not ended, if it changed.
    pub(crate) fn flush(&mut self) {
        for line in self.pending.drain(..) {
            // Fails if nobody watches, or too slowly: the model gets the line all the same.
            let _ = self.sender.try_send(line);
            self.shown.clear();
        }
        let partial = self.cleaner.partial();
        if !partial.trim().is_empty() && partial != self.shown {
            let _ = self.sender.try_send(partial.clone());
            self.shown = partial;
        }
    }
}

#[cfg(test)]
#[path = "capture_tests.rs"]
mod tests;
