//! Ghost text from a model: when it is asked, when it is not, and what became of the answers.
//!
//! The hinter tells a worker what is on the line at each paint and shows what the worker has by then. The worker
//! waits for silence, asks [`Suggest`], which the composition root wires to a model, keeps the answers for a
//! while, and has the line painted again. A key cancels what is being asked.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::frontend::repl::line::MARK;
use crate::secret::looks_secret;
use tokio_util::sync::CancellationToken;

/// Answers kept at most.
const ANSWERS: usize = 50;
/// How long an answer is good.
const GOOD_FOR: Duration = Duration::from_mins(1);
/// Characters of an answer at most.
const LONGEST: usize = 200;
/// Characters a line must have to be continued.
const SHORTEST: usize = 3;

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// How this line may go on.
    Continuation(String),
    /// What the person may say next: the line is empty.
    NextMessage,
}

/// What the last turn was about: what may be said next depends on it. Empty before the first turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exchange {
    /// What the person said.
    pub said: String,
    /// What was answered.
    pub answered: String,
}

/// Asks a model for ghost text.
pub trait Suggest: Send {
    /// Returns the continuation, without the line itself; `None` when there is none, or none in time.
    ///
    /// Called by the editor's worker, on a thread of its own, one call at a time. It blocks; it must return soon
    /// after `cancel` is cancelled and keeps its own limit of time. Failures are logged, not told. `so_far` may be
    /// called with the beginning of what will be returned, longer each time: it is shown at once.
    fn suggest(
        &mut self,
        wanted: &Wanted,
        exchange: &Exchange,
        so_far: &mut dyn FnMut(&str),
        cancel: &CancellationToken,
    ) -> Option<String>;

    /// Gives the session in this file a title, where it has none. Called as the other is, while nothing is wanted.
    fn entitle(&mut self, _session: &Path, _exchange: &Exchange, _cancel: &CancellationToken) {}
}

/// How long the worker waits before it asks.
#[derive(Debug, Clone, Copy)]
pub struct SuggestTiming {
    /// Silence on a line that is being written.
    pub quiet: Duration,
    /// Silence on an empty line.
    pub idle: Duration,
}

impl Default for SuggestTiming {
    fn default() -> Self {
        Self { quiet: Duration::from_millis(400), idle: Duration::from_secs(3) }
    }
}

#[derive(Default)]
struct Slot {
    /// The line as last heard, and since when.
    line: String,
    since: Option<Instant>,
    /// What is to be asked for it.
    wanted: Option<Wanted>,
    exchange: Exchange,
    /// The file of the session, if there is one.
    session: Option<PathBuf>,
    /// Cancels what is being asked.
    asking: Option<CancellationToken>,
    /// Line and continuation, the one last used or made last; the continuation is empty when there was none.
    answers: VecDeque<(String, String, Instant)>,
    /// Whether an answer has come that is not painted yet.
    news: bool,
    closed: bool,
}

struct Shared {
    slot: Mutex<Slot>,
    changed: Condvar,
}

impl Slot {
    /// Whether there is something to take a next message from.
    fn may_propose(&self) -> bool {
        !self.exchange.said.is_empty() && !self.exchange.answered.is_empty()
    }

    /// Keeps what a line may go on with, in the place of what was known of it.
    fn take_answer(&mut self, line: &str, answer: &str) {
        let text = tidy(line, answer);
        let known = self.answers.iter().any(|(base, known, _)| base == line && *known == text);
        self.news |= !text.is_empty() && !known;
        self.answers.retain(|(base, _, at)| base != line && at.elapsed() <= GOOD_FOR);
        self.answers.push_back((line.to_owned(), text, Instant::now()));
        if self.answers.len() > ANSWERS {
            self.answers.pop_front();
        }
    }
}

/// The editor's side of the worker. The worker ends when this is dropped.
pub(crate) struct Suggestions {
    shared: Arc<Shared>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Suggestions {
    /// Starts the worker.
    pub(crate) fn start(suggest: Box<dyn Suggest>, timing: SuggestTiming) -> std::io::Result<Self> {
        let shared = Arc::new(Shared { slot: Mutex::default(), changed: Condvar::new() });
        let worker = Arc::clone(&shared);
        thread::Builder::new().name("suggest".to_owned()).spawn(move || work(&worker, suggest, timing))?;
        Ok(Self { shared })
    }

    /// Tells whether an answer may come without a key.
    pub(crate) fn is_asking(&self) -> bool {
        let slot = self.shared.lock();
        slot.wanted.is_some() || slot.asking.is_some()
    }

    /// Tells once that an answer has come.
    pub(crate) fn take_news(&self) -> bool {
        std::mem::take(&mut self.shared.lock().news)
    }

    /// Returns what may follow `line`, if an answer that still fits is there.
    pub(super) fn suggestion(&self, line: &str) -> Option<String> {
        let mut slot = self.shared.lock();
        let found = slot.answers.iter().enumerate().rev().find_map(|(index, (base, text, at))| {
            if at.elapsed() > GOOD_FOR || (base.is_empty() && !line.is_empty()) {
                return None;
            }
            let typed = line.strip_prefix(base.as_str())?;
            let rest = text.strip_prefix(typed).filter(|rest| !rest.is_empty())?;
            Some((index, rest.to_owned()))
        });
        let (index, rest) = found?;
        // What is used is kept longest.
        let used = slot.answers.remove(index);
        slot.answers.extend(used);
        Some(rest)
    }

    /// Hears what is on the line; `needed` says whether there is nothing better to show.
    pub(super) fn heard(&self, line: &str, needed: bool) {
        let mut slot = self.shared.lock();
        if slot.line == line && slot.since.is_some() {
            return;
        }
        line.clone_into(&mut slot.line);
        slot.since = Some(Instant::now());
        slot.wanted =
            wanted(line).filter(|wanted| needed && (*wanted != Wanted::NextMessage || slot.may_propose()));
        if let Some(asking) = slot.asking.take() {
            asking.cancel();
        }
        drop(slot);
        self.shared.changed.notify_all();
    }

    /// Takes over what the turn that has ended was about.
    pub(crate) fn set_exchange(&self, exchange: Exchange) {
        self.shared.lock().exchange = exchange;
    }

    /// Takes over in which file the session is.
    pub(crate) fn set_session(&self, session: Option<PathBuf>) {
        self.shared.lock().session = session;
    }

    /// Begins a new line: what was proposed as the next message is no longer it.
    pub(crate) fn new_line(&self) {
        let mut slot = self.shared.lock();
        slot.answers.retain(|(base, _, _)| !base.is_empty());
        slot.since = None;
    }
}

impl Drop for Suggestions {
    fn drop(&mut self) {
        let mut slot = self.shared.lock();
        slot.closed = true;
        if let Some(asking) = slot.asking.take() {
            asking.cancel();
        }
        drop(slot);
        self.shared.changed.notify_all();
    }
}

/// What is to be asked for a line, if anything.
fn wanted(line: &str) -> Option<Wanted> {
    if line.is_empty() {
        return Some(Wanted::NextMessage);
    }
    let sigil = line.starts_with(['/', '!', '?', '@'])
        || line.split_whitespace().next_back().is_some_and(|word| word.starts_with('@'));
    let short = line.trim().chars().count() < SHORTEST;
    if sigil || short || line.contains(MARK) || looks_secret(line) {
        return None;
    }
    Some(Wanted::Continuation(line.to_owned()))
}

/// Makes an answer fit to be shown and typed: one row, no control characters, without the line it continues.
fn tidy(line: &str, answer: &str) -> String {
    let row = answer.lines().find(|row| !row.trim().is_empty()).unwrap_or_default().trim_end();
    let row = row.strip_prefix(['"', '`']).and_then(|row| row.strip_suffix(['"', '`'])).unwrap_or(row);
    let rest = continuation(line, row);
    rest.chars().filter(|character| !character.is_control() && *character != MARK).take(LONGEST).collect()
}

/// Joins an answer to the line: models repeat the line, or its last words, or only say what follows.
fn continuation(line: &str, row: &str) -> String {
    if line.is_empty() {
        return row.trim_start().to_owned();
    }
    let mut words = line.char_indices().filter(|&(at, character)| {
        !character.is_whitespace() && line[..at].chars().next_back().is_none_or(char::is_whitespace)
    });
    let repeated = words.find_map(|(at, _)| row.trim_start().strip_prefix(&line[at..]));
    if let Some(rest) = repeated {
        return if line.ends_with(char::is_whitespace) { rest.trim_start().to_owned() } else { rest.to_owned() };
    }
    let last_word = line.trim_end().rsplit(char::is_whitespace).next().unwrap_or_default();
    if line.ends_with(char::is_whitespace) {
        let rest = row.trim_start();
        return rest
            .strip_prefix(last_word)
            .filter(|rest| rest.starts_with(' '))
            .unwrap_or(rest)
            .trim_start()
            .to_owned();
    }
    // Neither the line nor its last word: words that follow. Between letters of scripts that use spaces there is one.
    let spaced = |character: Option<char>| character.is_some_and(|character| character.is_ascii_alphanumeric());
    if spaced(line.chars().next_back()) && spaced(row.chars().next()) {
        return format!(" {row}");
    }
    row.to_owned()
}

fn work(shared: &Shared, mut suggest: Box<dyn Suggest>, timing: SuggestTiming) {
    let mut slot = shared.lock();
    while !slot.closed {
        let (Some(wanted), Some(since)) = (slot.wanted.clone(), slot.since) else {
            slot = shared.changed.wait(slot).unwrap_or_else(PoisonError::into_inner);
            continue;
        };
        let delay = match wanted {
            Wanted::Continuation(_) => timing.quiet,
            Wanted::NextMessage => timing.idle,
        };
        let left = delay.saturating_sub(since.elapsed());
        if !left.is_zero() {
            slot = shared.changed.wait_timeout(slot, left).unwrap_or_else(PoisonError::into_inner).0;
            continue;
        }
        slot.wanted = None;
        let line = slot.line.clone();
        if slot.answers.iter().any(|(base, _, at)| *base == line && at.elapsed() <= GOOD_FOR) {
            continue;
        }
        let cancel = CancellationToken::new();
        slot.asking = Some(cancel.clone());
        let (exchange, session) = (slot.exchange.clone(), slot.session.clone());
        drop(slot);
        let mut so_far = |text: &str| {
            let mut slot = shared.lock();
            if !cancel.is_cancelled() {
                slot.take_answer(&line, text);
            }
        };
        let answer = suggest.suggest(&wanted, &exchange, &mut so_far, &cancel);
        slot = shared.lock();
        if cancel.is_cancelled() {
            continue;
        }
        slot.take_answer(&line, answer.as_deref().unwrap_or_default());
        if let (Wanted::NextMessage, Some(session)) = (&wanted, session) {
            // The next key cancels it: what it wants comes first.
            drop(slot);
            suggest.entitle(&session, &exchange, &cancel);
            slot = shared.lock();
            if cancel.is_cancelled() {
                continue;
            }
        }
        slot.asking = None;
    }
}

#[cfg(test)]
#[path = "suggest_tests.rs"]
mod tests;
