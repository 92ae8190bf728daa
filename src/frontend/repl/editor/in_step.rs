//! Keeps the line editor in step with the terminal: with where the cursor is and how large the screen is.
//!
//! reedline asks the terminal where the cursor is when a line begins and when the size has changed, and clears the
//! screen from there down. crossterm 0.29 reads the answer, and four things go wrong there:
//!
//! - The reader may learn of input and of a change of size at the same time, but then looks at the first of the two only
//!   (`event/source/unix/mio.rs`). If it overlooks an answer, it reads it when more is typed.
//! - If it overlooks a change of size, it notices that only at the next change.
//! - While somebody drags the window's edge the terminal is told to be narrower or wider than it is: where the line has
//!   several rows, they are counted wrongly, and the line is painted too high or too low.
//! - An answer that comes after 2 s (`cursor/sys/unix.rs`) is taken for the answer to the next question, whose own
//!   answer is then kept for the one after it: from then on each line begins where the one before it did, and what was
//!   said in between is painted over.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crossterm::cursor;
use crossterm::terminal::is_raw_mode_enabled;

use crate::platform::os::fd::AsFd as _;
use crate::platform::stdio::dup2_stdout;
use crate::platform::termios::tcgetwinsize;

use super::kick;

/// What crossterm waits for an answer.
const LIMIT: Duration = Duration::from_secs(2);
/// How often is looked whether an answer was overlooked.
const TICK: Duration = Duration::from_millis(20);
/// So many answers may be late at most.
const MOST: usize = 16;
/// A size that stays so long is the terminal's own: tmux tells each 250 ms at most (`window_pane_send_resize`).
const STILL: Duration = Duration::from_millis(300);
/// How often is looked whether it stays.
const LOOK: Duration = Duration::from_millis(30);
/// Somebody who drags a window for longer is not waited for.
const LONGEST: Duration = Duration::from_secs(10);

/// See the file.
#[derive(Debug, Clone, Default)]
pub(super) struct InStep(Arc<(Mutex<State>, Condvar)>);

#[derive(Debug, Default)]
struct State {
    /// Since when reedline may be waiting for an answer.
    asking: Option<Instant>,
    /// An answer may have come too late, or is still to come.
    behind: bool,
    /// Columns and rows that reedline knows of.
    size: (u16, u16),
    /// What it was woken for last.
    woken: (u16, u16),
    /// Whether the thread runs.
    watched: bool,
}

impl State {
    fn is_answered(&mut self) {
        self.behind |= self.asking.take().is_some_and(|since| since.elapsed() >= LIMIT);
    }
}

impl InStep {
    /// Notes that a line begins, for which reedline reads the terminal's size and asks where the cursor is.
    pub(super) fn begins(&self) {
        self.is_sized(size().unwrap_or_default());
        self.asks();
    }

    /// Waits until the size stays as it is, and returns it. `told` is what the terminal said first. Where reedline
    /// knows that size nobody drags: it was woken for something else.
    pub(super) fn still_size(&self, told: (u16, u16)) -> (u16, u16) {
        self.still(told, size)
    }

    fn still(&self, told: (u16, u16), mut size: impl FnMut() -> Option<(u16, u16)>) -> (u16, u16) {
        if told == self.state().size {
            return told;
        }
        let begun = Instant::now();
        let (mut last, mut since) = (size().unwrap_or(told), begun);
        while since.elapsed() < STILL && begun.elapsed() < LONGEST {
            thread::sleep(LOOK);
            let now = size().unwrap_or(last);
            if now != last {
                (last, since) = (now, Instant::now());
            }
        }
        last
    }

    /// Notes the size that reedline is told.
    pub(super) fn is_sized(&self, size: (u16, u16)) {
        self.state().size = size;
    }

    /// Notes that reedline is about to ask where the cursor is. Until [`Self::asked`] its reader is woken when an
    /// answer waits.
    pub(super) fn asks(&self) {
        let mut state = self.state();
        state.asking = Some(Instant::now());
        self.0.1.notify_one();
        if !state.watched {
            let watched = self.clone();
            // Without a thread an answer that is overlooked comes late.
            state.watched =
                thread::Builder::new().name("in-step".to_owned()).spawn(move || watched.watch()).is_ok();
        }
        if state.behind {
            drop(state);
            let behind = !catch_up();
            state = self.state();
            (state.asking, state.behind) = (Some(Instant::now()), behind);
        }
    }

    /// Notes that reedline is not waiting for an answer any more.
    pub(super) fn asked(&self) {
        self.state().is_answered();
    }

    /// Notes that reedline has painted and is about to wait for a key. Tells whether it has overlooked a change of
    /// size, and is to be told of one.
    pub(super) fn sleeps(&self) -> bool {
        let mut state = self.state();
        state.is_answered();
        match size() {
            // Once only: the terminal that reedline asks may be another.
            Some(size) if size != state.size && size != state.woken => {
                state.woken = size;
                true
            }
            Some(_) | None => false,
        }
    }

    /// Wakes the reader as long as it may be waiting for an answer.
    fn watch(&self) {
        let mut state = self.state();
        loop {
            state = match state.asking {
                None => self.0.1.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(_) => self.0.1.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner).0,
            };
            // Who holds the state is waited for: the mode of the terminal is not changed meanwhile.
            if state.asking.is_some() && is_raw_mode_enabled().unwrap_or(false) {
                kick::wake_reader();
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Columns and rows of the terminal.
fn size() -> Option<(u16, u16)> {
    tcgetwinsize(io::stdin()).ok().map(|size| (size.ws_col, size.ws_row))
}

/// Takes the answers that are late until none is left. Returns whether that can be told.
fn catch_up() -> bool {
    let mut terminal = io::stdout();
    let mut caught_up = || -> io::Result<bool> {
        // An answer is told by its column from those to older questions: two columns, for one might be theirs.
        for column in [1, 2] {
            write!(terminal, "\x1b[{}G", column + 1)?;
            let mut answer = cursor::position()?;
            let mut late = 0;
            while answer.0 != column {
                late += 1;
                if late > MOST {
                    return Ok(false);
                }
                answer = late_answer()?;
            }
        }
        Ok(true)
    };
    let _ = write!(io::stdout(), "\x1b7");
    let caught_up = caught_up();
    let _ = write!(io::stdout(), "\x1b8").and_then(|()| io::stdout().flush());
    match caught_up {
        Ok(caught_up) => caught_up,
        Err(error) => {
            tracing::debug!(%error, "the terminal does not tell where the cursor is");
            false
        }
    }
}

/// Takes the answer to a question that was asked before: crossterm asks always, so it is not heard.
fn late_answer() -> io::Result<(u16, u16)> {
    let nowhere = OpenOptions::new().write(true).open("/dev/null")?;
    let terminal = io::stdout().as_fd().try_clone_to_owned()?;
    dup2_stdout(&nowhere)?;
    let answer = cursor::position();
    dup2_stdout(&terminal)?;
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_waited_for_only_where_it_is_news() {
        let in_step = InStep::default();
        in_step.is_sized((80, 24));
        assert_eq!(in_step.still((80, 24), || panic!("the terminal is not looked at")), (80, 24));
        let mut dragged = (81..=84).map(|columns| (columns, 24)).collect::<Vec<_>>().into_iter();
        assert_eq!(in_step.still((81, 24), || dragged.next()), (84, 24));
    }
}
