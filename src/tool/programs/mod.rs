//! Programs on pseudo-terminals of their own, read through a terminal emulator. They end with the session.

mod cap;
mod state;

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Child;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::platform::fs::{Mode, OFlags};
use crate::platform::os::fd::OwnedFd;
use crate::platform::process::Signal;
use crate::platform::pseudo_terminal;
use crate::platform::termios::{Winsize, tcsetwinsize};

use super::jobs::Group;
use super::output::Cleaner;

use cap::Cap;
pub(crate) use state::Doing;

/// Cells of a screen.
pub(crate) const COLUMNS: u16 = 100;
/// See [`COLUMNS`].
pub(crate) const ROWS: u16 = 30;
/// Rows above the screen that are remembered, so that a pattern that scrolled by is found.
const SCROLLBACK: usize = 500;
/// How many may run at once.
pub(crate) const MOST: usize = 8;
/// Bytes of a pattern's haystack: what was printed last, without the terminal's codes.
const RECENT: usize = 64 * 1024;

/// The programs of a session. Dropped, it kills them.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    programs: Vec<Arc<Program>>,
    last: u64,
}

/// One program.
pub(crate) struct Program {
    /// Its number.
    pub(crate) number: u64,
    near: File,
    group: Group,
    leader: i32,
    state: Mutex<State>,
    changed: Notify,
}

struct State {
    parser: vt100::Parser<Answers>,
    cap: Cap,
    /// What was printed last, cleaned; at its end the line that has not ended yet.
    recent: String,
    /// Bytes of it before that line.
    ended: usize,
    /// One for all that is printed: a read may end within a character or a sequence.
    cleaner: Cleaner,
    /// When something was printed or typed last: what was typed needs its time to show.
    stirred: Instant,
    /// Counts what was printed, so that a look can tell whether anything is new.
    total: u64,
    /// The same at the last look.
    looked: u64,
    busy_looks: u32,
    code: Option<i32>,
}

/// Answers what programs ask their terminal before they go on.
#[derive(Default)]
struct Answers(Vec<u8>);

/// The state of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Look {
    /// The screen as text, without blank rows at its end.
    pub(crate) screen: String,
    /// Row and column of the cursor, from 1.
    pub(crate) cursor: (u16, u16),
    /// What it does.
    pub(crate) doing: Doing,
    /// How often in a row it was found busy with nothing new on its screen.
    pub(crate) busy_looks: u32,
    /// Whether anything was printed since the last look.
    pub(crate) news: bool,
}

/// What was started on the far end of a pseudo-terminal.
pub(crate) struct Started {
    /// The near end.
    pub(crate) near: File,
    /// The process: a keeper.
    pub(crate) child: Child,
    /// All it starts.
    pub(crate) group: Group,
    /// What must live as long as it does.
    pub(crate) held: Box<dyn Send>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl std::fmt::Debug for Program {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Program").field("number", &self.number).finish_non_exhaustive()
    }
}

impl Drop for Programs {
    fn drop(&mut self) {
        self.end_all();
    }
}

/// Opens a pseudo-terminal: the near end, the far end.
///
/// # Errors
/// What the system said.
pub(crate) fn open() -> io::Result<(File, OwnedFd)> {
    let (near, name) = pseudo_terminal()?;
    tcsetwinsize(&near, Winsize { ws_row: ROWS, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 })?;
    let far = crate::platform::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    Ok((File::from(near), far))
}

impl Programs {
    /// Tells whether another one may start.
    pub(crate) fn has_room(&self) -> bool {
        lock(&self.inner).programs.iter().filter(|program| lock(&program.state).code.is_none()).count() < MOST
    }

    /// Takes over a program; a thread reads it until its end.
    ///
    /// # Errors
    /// When there can be no thread; the program is killed then.
    pub(crate) fn add(&self, started: Started) -> io::Result<Arc<Program>> {
        let Started { near, child, group, held } = started;
        let reader = near.try_clone()?;
        let mut inner = lock(&self.inner);
        inner.last += 1;
        let program = Arc::new(Program {
            number: inner.last,
            near,
            leader: i32::try_from(child.id()).unwrap_or(0),
            group,
            state: Mutex::new(State::new()),
            changed: Notify::new(),
        });
        let shared = Arc::clone(&program);
        // It ends with the program, which ends with the session.
        let thread = std::thread::Builder::new().name("interactive".into());
        if let Err(error) = thread.spawn(move || shared.watch(reader, child, held)) {
            program.kill();
            return Err(error);
        }
        inner.programs.retain(|program| lock(&program.state).code.is_none());
        inner.programs.push(Arc::clone(&program));
        Ok(program)
    }

    /// Kills those that run and forgets all.
    pub(crate) fn end_all(&self) {
        for program in std::mem::take(&mut lock(&self.inner).programs) {
            program.kill();
        }
    }

    /// Finds one.
    pub(crate) fn find(&self, number: u64) -> Option<Arc<Program>> {
        lock(&self.inner).programs.iter().find(|program| program.number == number).cloned()
    }

    /// The numbers there are.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        lock(&self.inner).programs.iter().map(|program| program.number).collect()
    }
}

fn parser() -> vt100::Parser<Answers> {
    vt100::Parser::new_with_callbacks(ROWS, COLUMNS, SCROLLBACK, Answers::default())
}

impl Program {
    /// Kills it and all it started. Reads /proc: some milliseconds.
    pub(crate) fn kill(&self) {
        if lock(&self.state).code.is_none() {
            self.group.signal(Signal::KILL, false);
        }
    }

    /// Types.
    ///
    /// # Errors
    /// When the program has gone, or does not take keys.
    pub(crate) fn send(&self, keys: &[u8]) -> io::Result<()> {
        {
            let mut state = lock(&self.state);
            state.busy_looks = 0;
            state.looked = state.total;
            state.stirred = Instant::now();
        }
        (&self.near).write_all(keys)
    }

    /// Waits until a pattern is printed, or, without one, until nothing was printed or typed for `quiet`; at most `limit`.
    /// Tells whether it came to that.
    ///
    /// # Cancel safety
    /// Safe: nothing is taken.
    pub(crate) async fn wait(
        &self,
        found: Option<&(dyn Fn(&str) -> bool + Sync)>,
        quiet: Duration,
        limit: Duration,
    ) -> bool {
        let deadline = tokio::time::Instant::now() + limit;
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Before looking: what happens in between must wake us.
            changed.as_mut().enable();
            let (done, silent) = {
                let state = lock(&self.state);
                let seen = found.map(|found| found(&state.recent) || found(&state.parser.screen().contents()));
                (state.code.is_some() || seen == Some(true), state.stirred.elapsed())
            };
            if done || found.is_none() && silent >= quiet {
                return true;
            }
            let mut wake = deadline;
            if found.is_none() {
                wake = wake.min(tokio::time::Instant::now() + quiet.saturating_sub(silent));
            }
            let late = tokio::time::timeout_at(wake, changed).await.is_err();
            if late && wake == deadline {
                return false;
            }
        }
    }

    /// How often in a row it was found busy with nothing new.
    pub(crate) fn busy_looks(&self) -> u32 {
        lock(&self.state).busy_looks.min(8)
    }

    /// Tells whether it works. Reads /proc: some milliseconds.
    pub(crate) fn is_busy(&self) -> bool {
        let (code, silent) = {
            let state = lock(&self.state);
            (state.code, state.stirred.elapsed())
        };
        code.is_none() && state::doing(self.leader, &self.near, silent) == Doing::Busy
    }

    /// Waits until it prints or ends, at most so long.
    ///
    /// # Cancel safety
    /// Safe: nothing is taken.
    pub(crate) async fn changed_within(&self, limit: Duration) {
        // Late is as good: who calls looks again.
        let _ = tokio::time::timeout(limit, self.changed.notified()).await;
    }

    /// Looks at it.
    pub(crate) fn look(&self) -> Look {
        let (code, silent) = {
            let state = lock(&self.state);
            (state.code, state.stirred.elapsed())
        };
        let doing = match code {
            Some(code) => Doing::Ended(code),
            None => state::doing(self.leader, &self.near, silent),
        };
        let mut state = lock(&self.state);
        let news = state.total > state.looked;
        state.looked = state.total;
        state.busy_looks = if doing == Doing::Busy && !news { state.busy_looks + 1 } else { 0 };
        let screen = state.parser.screen();
        let (row, column) = screen.cursor_position();
        let contents = screen.contents();
        let screen = contents.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        Look {
            screen: screen.trim_end().to_owned(),
            cursor: (row + 1, column + 1),
            doing,
            busy_looks: state.busy_looks,
            news,
        }
    }

    fn watch(&self, mut reader: File, mut child: Child, held: Box<dyn Send>) {
        let mut buffer = [0; 16 * 1024];
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => {
                    let answers = lock(&self.state).push(&buffer[..length]);
                    self.changed.notify_waiters();
                    if !answers.is_empty() {
                        // A program that has gone needs no answer.
                        let _ = (&self.near).write_all(&answers);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Linux says EIO when the far end is closed.
                Err(_) => break,
            }
        }
        let code = child.wait().ok().and_then(|status| status.code());
        drop(held);
        lock(&self.state).code = Some(code.unwrap_or(-1));
        self.changed.notify_waiters();
    }
}

impl State {
    fn new() -> Self {
        Self {
            parser: parser(),
            cap: Cap::default(),
            recent: String::new(),
            ended: 0,
            cleaner: Cleaner::new(usize::MAX),
            stirred: Instant::now(),
            total: 0,
            looked: 0,
            busy_looks: 0,
            code: None,
        }
    }

    /// Takes what was printed; gives what the terminal answers.
    fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.total += bytes.len() as u64;
        self.stirred = Instant::now();
        self.remember(bytes);
        let bytes = self.cap.push(bytes, COLUMNS.max(ROWS));
        // The emulator is not ours: what it does not take must not end axi.
        if catch_unwind(AssertUnwindSafe(|| self.parser.process(&bytes))).is_err() {
            self.parser = parser();
        }
        std::mem::take(&mut self.parser.callbacks_mut().0)
    }

    fn remember(&mut self, bytes: &[u8]) {
        self.recent.truncate(self.ended);
        self.cleaner.push(bytes, |line| {
            self.recent.push_str(&line);
            self.recent.push('\n');
        });
        self.ended = self.recent.len();
        let line = self.cleaner.partial();
        self.recent.push_str(&line);
        if line.len() > RECENT / 2 {
            // Programs that move the cursor end no line.
            self.cleaner.cut();
            self.ended = self.recent.len();
        }
        if self.recent.len() > RECENT {
            let from = self.recent.ceil_char_boundary(self.recent.len() - RECENT / 2).min(self.ended);
            self.recent.drain(..from);
            self.ended -= from;
        }
    }
}

impl vt100::Callbacks for Answers {
    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        first: Option<u8>,
        _: Option<u8>,
        parameters: &[&[u16]],
        letter: char,
    ) {
        match (first, letter, parameters) {
            // Where the cursor is, whether all is well, and what it can do.
            (None, 'n', [[6]]) => {
                let (row, column) = screen.cursor_position();
                let column = column.min(screen.size().1.saturating_sub(1));
                self.0.extend(format!("\x1b[{};{}R", row + 1, column + 1).bytes());
            }
            (None, 'n', [[5]]) => self.0.extend(b"\x1b[0n"),
            (None, 'c', _) => self.0.extend(b"\x1b[?62;22c"),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_between_two_reads_is_found_whole() {
        let printed = "\u{1b}[1mdone\u{1b}[0m: 完成 ✓\nnext\u{1b}]0;title\u{7}> ".as_bytes();
        for cut in 0..=printed.len() {
            let mut state = State::new();
            state.push(&printed[..cut]);
            state.push(&printed[cut..]);
            assert_eq!(state.recent, "done: 完成 ✓\nnext> ", "cut at {cut}");
        }
    }

    #[test]
    fn a_program_that_ends_no_line_is_remembered_to_its_last_words() {
        let mut state = State::new();
        for _ in 0..300 {
            state.push(&b"\x1b[5;1Hword ".repeat(100));
            assert!(state.recent.len() <= RECENT);
        }
        state.push(b"ready");
        assert!(state.recent.ends_with("word ready"));
    }

    #[test]
    fn counts_past_the_screen_do_not_hold_up_whoever_looks() {
        let mut state = State::new();
        // Counting them one by one would take minutes.
        for letter in ["@", "L", "T"] {
            let flood = format!("\u{1b}[65535{letter}").repeat(2_000);
            for part in flood.as_bytes().chunks(4093) {
                state.push(part);
            }
        }
        state.push(b"\x1b[H\x1b[2Jready");
        assert_eq!(state.parser.screen().contents().trim_end(), "ready");
    }
}
