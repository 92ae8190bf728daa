//! The keyboard while a turn runs: ESC and Ctrl+C cancel, everything else is kept for the editor.
//!
//! An own thread reads the terminal with an own parser: crossterm takes the ESC of an arrow key that arrives in
//! two pieces for the ESC key, which on a slow line would stop the agent.

mod burst;
mod leftover;
mod parser;
mod pending;
mod reader;

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::platform::event::{PollFd, PollFlags, Timespec, poll};
use crate::platform::io::Errno;
use crate::platform::os::fd::{AsFd, OwnedFd};

use super::environment::Background;
use burst::Burst;
pub use leftover::{cooked_lines, drain_crossterm};
use parser::{Awaited, Key, Parser};
pub use pending::{Pending, Unsent};
pub use reader::{KeyReader, Press};

/// A second Ctrl+C within this time leaves.
pub const TWICE: Duration = Duration::from_secs(1);
/// How long half a sequence waits for its rest, and an open paste for its next byte. A bracket that never closes
/// must not swallow the keyboard (crossterm-rs/crossterm#1060).
const SEQUENCE_WAIT: Duration = Duration::from_millis(300);
const PASTE_WAIT: Duration = Duration::from_secs(1);
/// How long the rest of a sequence whose ESC was taken for the key may be late, and its bytes apart: a person who
/// goes on with `[` after ESC is slower with the letter behind it.
const TAIL_WAIT: Duration = Duration::from_millis(300);
const HELD_TAIL_WAIT: Duration = Duration::from_millis(60);
/// How long stopping waits for a sequence, and for a paste, to end.
const STOP_WAIT: Duration = Duration::from_millis(30);
/// How long stopping waits for the terminal's answer: longer than a connection around the world takes.
const STOP_ANSWER_WAIT: Duration = Duration::from_secs(1);
const STOP_PASTE_WAIT: Duration = Duration::from_secs(2);

/// The line that stops the turn as ESC does.
const STOP: &str = "/stop";

/// How long the keyboard must be quiet before a question is put, and how long that is waited for.
const QUIET: Duration = Duration::from_millis(250);
const QUIET_LIMIT: Duration = Duration::from_secs(3);

/// How long a lone ESC waits until it is believed: 10 ms, as in tmux, since a terminal of this machine writes a key
/// in one piece; 100 ms, which nobody feels, over ssh, where a sequence may arrive in pieces
/// (<https://github.com/earendil-works/pi/pull/7899>). `remote` says whether SSH_CONNECTION or SSH_TTY is set.
pub fn escape_wait(remote: bool) -> Duration {
    Duration::from_millis(if remote { 100 } else { 10 })
}

/// What the keys of a turn asked for, beside the text they typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pressed {
    /// The person wants to leave: a second Ctrl+C within a second, or the terminal has gone.
    pub leave: bool,
    /// The terminal has gone: nobody has left, but nobody is there.
    pub gone: bool,
    /// How many lines had been queued when the turn was stopped; `None` if it was not. Lines sent after that are meant
    /// for what comes next.
    pub queued_when_stopped: Option<usize>,
    /// When Ctrl+C was last pressed: one more within a second leaves, also when the prompt is back by then.
    pub interrupted: Option<Instant>,
    /// When ESC was last believed: what looks like the rest of an arrow key right after it is that.
    pub escaped: Option<Instant>,
}

/// Reads the keyboard while a turn runs. The thread ends at [`KeyWatch::pause`], [`KeyWatch::stop`] or drop.
#[derive(Debug)]
pub struct KeyWatch {
    shared: Arc<Shared>,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    thread: JoinHandle<()>,
    /// Closing it stops the thread.
    stop: OwnedFd,
}

#[derive(Debug)]
struct Shared {
    input: OwnedFd,
    escape_wait: Duration,
    tail_wait: Duration,
    cancel: CancellationToken,
    pending: Pending,
    pressed: Mutex<Pressed>,
    /// Counts keys that changed something; changed while `pressed` is locked.
    version: AtomicU64,
    /// Told after each key.
    key: Condvar,
    suspend: AtomicBool,
    /// 0 unknown, 1 without, 2 with the focus.
    focus: AtomicU8,
    /// 0 not told, 1 dark, 2 light.
    background: AtomicU8,
    /// The terminal was asked something and has not answered.
    awaiting: AtomicBool,
}

impl Shared {
    fn pressed(&self) -> MutexGuard<'_, Pressed> {
        self.pressed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeyWatch {
    /// Starts reading standard input into `pending`. ESC, Ctrl+C and a terminal that has gone cancel
    /// `cancel`; cancelling wakes a runtime of any kind.
    ///
    /// # Errors
    /// When standard input cannot be duplicated or no thread started.
    pub fn start(cancel: CancellationToken, pending: Pending, escape_wait: Duration) -> io::Result<Self> {
        let input = crate::platform::io::fcntl_dupfd_cloexec(crate::platform::stdio::stdin(), 3)?;
        Self::on(input, cancel, pending, escape_wait)
    }

    /// As [`KeyWatch::start`], reading `input`.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn on(
        input: OwnedFd,
        cancel: CancellationToken,
        pending: Pending,
        escape_wait: Duration,
    ) -> io::Result<Self> {
        Self::with_waits(input, cancel, pending, [escape_wait, TAIL_WAIT])
    }

    fn with_waits(
        input: OwnedFd,
        cancel: CancellationToken,
        pending: Pending,
        [escape_wait, tail_wait]: [Duration; 2],
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            input,
            escape_wait,
            tail_wait,
            cancel,
            pending,
            pressed: Mutex::default(),
            version: AtomicU64::new(0),
            key: Condvar::new(),
            suspend: AtomicBool::new(false),
            focus: AtomicU8::new(0),
            background: AtomicU8::new(0),
            awaiting: AtomicBool::new(false),
        });
        let mut watch = Self { shared, running: None };
        watch.resume()?;
        Ok(watch)
    }

    /// Blocks, not for long, until nobody types; returns at once when the turn is stopped.
    ///
    /// Somebody in the middle of a word when a question appears would answer it with the next key.
    pub fn settle(&self) {
        let end = Instant::now() + QUIET_LIMIT;
        let mut pressed = self.shared.pressed();
        while !self.shared.cancel.is_cancelled() {
            let seen = self.version();
            let quiet = |_: &mut Pressed| self.version() == seen && !self.shared.cancel.is_cancelled();
            let limit = QUIET.min(end.saturating_duration_since(Instant::now()));
            let waited = self.shared.key.wait_timeout_while(pressed, limit, quiet);
            let (locked, waited) = waited.unwrap_or_else(PoisonError::into_inner);
            if waited.timed_out() {
                return;
            }
            pressed = locked;
        }
    }

    /// Counts keys that changed something: equal numbers, nothing to paint.
    pub fn version(&self) -> u64 {
        self.shared.version.load(Ordering::Acquire)
    }

    /// What the keys are typed into.
    pub fn pending(&self) -> &Pending {
        &self.shared.pending
    }

    /// Tells once that Ctrl+Z was pressed.
    pub fn take_suspend(&self) -> bool {
        self.shared.suspend.swap(false, Ordering::AcqRel)
    }

    /// Whether the terminal has the focus, where it tells (focus events on).
    pub fn focused(&self) -> Option<bool> {
        match self.shared.focus.load(Ordering::Acquire) {
            0 => None,
            value => Some(value == 2),
        }
    }

    /// As [`KeyWatch::focused`], and forgets it: somebody else read the terminal meanwhile.
    pub fn take_focus(&self) -> Option<bool> {
        let focused = self.focused();
        self.shared.focus.store(0, Ordering::Release);
        focused
    }

    /// Says that the terminal is being asked for its background, with `CSI c` after it: until that is answered,
    /// stopping waits up to a second, so that nobody else takes the answer for keys.
    pub fn expect_answer(&self) {
        self.shared.awaiting.store(true, Ordering::Release);
    }

    /// What the terminal said about its background.
    pub fn background(&self) -> Option<Background> {
        match self.shared.background.load(Ordering::Acquire) {
            0 => None,
            1 => Some(Background::Dark),
            _ => Some(Background::Light),
        }
    }

    /// Stops reading, so that a prompt or a child may read. What is typed stays. Waits at most 30 ms for an
    /// unfinished sequence, and 2 s for a paste under way: its rest would be taken for keys.
    pub fn pause(&mut self) {
        if let Some(Running { thread, stop }) = self.running.take() {
            drop(stop);
            // A thread that panicked has nothing more to give.
            let _ = thread.join();
        }
    }

    /// Reads on.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn resume(&mut self) -> io::Result<()> {
        if self.running.is_none() {
            let (stopped, stop) = io::pipe()?;
            let (stopped, stop) = (OwnedFd::from(stopped), OwnedFd::from(stop));
            let shared = Arc::clone(&self.shared);
            let thread =
                std::thread::Builder::new().name("keys".to_owned()).spawn(move || shared.read(&stopped))?;
            self.running = Some(Running { thread, stop });
        }
        Ok(())
    }

    /// Stops and returns what was asked for.
    pub fn stop(mut self) -> Pressed {
        self.pause();
        std::mem::take(&mut *self.shared.pressed())
    }
}

impl Drop for KeyWatch {
    fn drop(&mut self) {
        self.pause();
    }
}

impl Shared {
    fn read(&self, stopped: &OwnedFd) {
        let (mut parser, mut keys, mut buffer) = (Parser::default(), Vec::new(), [0; 4096]);
        let mut interrupted: Option<Instant> = None;
        let mut burst = Burst::default();
        let mut stop_at: Option<Instant> = None;
        loop {
            let wait = match parser.awaited() {
                Awaited::Nothing => None,
                Awaited::Escape => Some(self.escape_wait),
                Awaited::Sequence => Some(SEQUENCE_WAIT),
                Awaited::Paste => Some(PASTE_WAIT),
                // Who reads next is told of the ESC.
                Awaited::Tail if stop_at.is_some() => None,
                Awaited::Tail => Some(self.tail_wait),
                Awaited::HeldTail => Some(HELD_TAIL_WAIT),
            };
            let awaiting = self.awaiting.load(Ordering::Acquire);
            let late = stop_at.is_some_and(|at| Instant::now() >= at);
            if late {
                // A terminal that has not answered by now will not.
                self.awaiting.store(false, Ordering::Release);
            }
            if stop_at.is_some() && wait.is_none() && (late || !awaiting) {
                return;
            }
            let wait = match (wait, stop_at) {
                (Some(wait), Some(at)) => Some(wait.min(at.saturating_duration_since(Instant::now()))),
                (None, Some(at)) => Some(at.saturating_duration_since(Instant::now())),
                (wait, None) => wait,
            };
            let mut descriptors = vec![PollFd::new(&self.input, PollFlags::IN)];
            if stop_at.is_none() {
                descriptors.push(PollFd::from_borrowed_fd(stopped.as_fd(), PollFlags::IN));
            }
            let timeout = wait.map(|wait| Timespec {
                tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(wait.subsec_nanos()),
            });
            match poll(&mut descriptors, timeout.as_ref()) {
                Ok(0) => {
                    let escape = parser.awaited() == Awaited::Escape;
                    parser.expire(&mut keys);
                    if escape {
                        parser.expect_tail();
                    }
                    self.apply(&mut keys, &mut interrupted);
                    continue;
                }
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(_) => return self.hang_up(),
            }
            let (readable, asked_to_stop) = (
                !descriptors[0].revents().is_empty(),
                descriptors.get(1).is_some_and(|it| !it.revents().is_empty()),
            );
            if asked_to_stop {
                let limit = match parser.awaited() {
                    Awaited::Paste => STOP_PASTE_WAIT,
                    // Asked for while the keys were waited for, perhaps.
                    _ if self.awaiting.load(Ordering::Acquire) => STOP_ANSWER_WAIT,
                    Awaited::Nothing | Awaited::Escape | Awaited::Sequence | Awaited::Tail | Awaited::HeldTail => {
                        STOP_WAIT
                    }
                };
                stop_at = Some(Instant::now() + limit);
                // What has not been read belongs to whoever reads next.
                continue;
            }
            if readable {
                match crate::platform::io::read(&self.input, &mut buffer) {
                    Ok(0) => return self.hang_up(),
                    Ok(count) => {
                        parser.feed(&buffer[..count], &mut keys);
                        burst.join(&mut keys, Instant::now());
                    }
                    Err(Errno::INTR | Errno::AGAIN) => {}
                    Err(_) => return self.hang_up(),
                }
                self.apply(&mut keys, &mut interrupted);
            }
        }
    }

    fn apply(&self, keys: &mut Vec<Key>, interrupted: &mut Option<Instant>) {
        for mut key in keys.drain(..) {
            if key == Key::Enter && self.pending.look(|unsent| unsent.line.trim() == STOP) {
                // As a word it means the turn that runs, not what comes after it.
                self.pending.set_line("");
                key = Key::Escape;
            }
            let mut changed = self.pending.edit(&key);
            let mut pressed = self.pressed();
            match key {
                Key::Escape => {
                    let queued = self.pending.look(|unsent| unsent.queue.len());
                    pressed.queued_when_stopped.get_or_insert(queued);
                    pressed.escaped = Some(Instant::now());
                    self.cancel.cancel();
                }
                Key::Interrupt => {
                    let queued = self.pending.look(|unsent| unsent.queue.len());
                    pressed.queued_when_stopped.get_or_insert(queued);
                    let now = Instant::now();
                    if interrupted.is_some_and(|before| now - before <= TWICE) {
                        pressed.leave = true;
                        changed = true;
                    }
                    *interrupted = Some(now);
                    pressed.interrupted = Some(now);
                    self.cancel.cancel();
                }
                Key::Suspend => {
                    self.suspend.store(true, Ordering::Release);
                    changed = true;
                }
                Key::Focus(with) => self.focus.store(if with { 2 } else { 1 }, Ordering::Release),
                Key::Background(background) => {
                    let value = if background == Background::Light { 2 } else { 1 };
                    self.background.store(value, Ordering::Release);
                }
                Key::Attributes => self.awaiting.store(false, Ordering::Release),
                Key::Character(_)
                | Key::Paste(_)
                | Key::Enter
                | Key::Newline
                | Key::Backspace
                | Key::DeleteWord
                | Key::DeleteLine
                | Key::Up
                | Key::Down
                | Key::PageUp
                | Key::PageDown
                | Key::End => {}
            }
            if changed {
                self.version.fetch_add(1, Ordering::AcqRel);
            }
            drop(pressed);
            self.key.notify_all();
        }
        self.pending.tell();
    }

    /// The terminal has gone: nobody is there to wait for.
    fn hang_up(&self) {
        let mut pressed = self.pressed();
        pressed.leave = true;
        pressed.gone = true;
        self.version.fetch_add(1, Ordering::AcqRel);
        self.cancel.cancel();
        drop(pressed);
        self.key.notify_all();
    }
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
