//! Signals, on a thread of their own: the line editor and dialoguer block the main one.

use std::io::Read as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::platform::event::{PollFd, PollFlags, poll};
use crate::platform::io::Errno;
use crate::platform::os::fd::AsFd as _;
use crate::platform::os::net::UnixStream;
use crate::platform::signal::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use crate::terminal::Restorer;
use crate::tool;

/// How long others may take to finish what they are writing.
const SILENCE_LIMIT: Duration = Duration::from_millis(200);

/// How long a turn may take to come to its end before axi ends without it: a command gets TERM, and KILL 2 s later.
const TURN_LIMIT: Duration = Duration::from_millis(3_500);

/// Handles signals. SIGINT stops the turn. SIGTERM, SIGHUP and SIGQUIT stop it too, wait until everything shown is
/// saved, restore the terminal, and end axi.
#[derive(Debug, Clone, Default)]
pub struct Signals {
    turn: Arc<(Mutex<Turn>, Condvar)>,
    /// Set in the signal handler itself, so that everyone whom the signal wakes sees it.
    ending: Arc<AtomicBool>,
    /// Whether SIGINT ends axi, too.
    interrupt_ends: Arc<AtomicBool>,
    last_words: Arc<Mutex<Option<LastWords>>>,
}

/// The turn that runs.
#[derive(Debug, Default)]
struct Turn {
    running: Option<CancellationToken>,
    /// Whether the thread that runs the turn has stopped: then everything shown is saved.
    still: bool,
}

/// Signals that are caught: what wakes the thread, and which of them came.
struct Caught {
    woken: UnixStream,
    came: Vec<(i32, Arc<AtomicBool>)>,
}

/// What is done before a signal ends axi.
struct LastWords(Box<dyn Fn() + Send>);

impl std::fmt::Debug for LastWords {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("LastWords")
    }
}

impl Signals {
    /// Starts the thread, which ends with the process. From here on no signal ends axi without restoring the
    /// terminal: on a busy machine the thread itself may start long after the first prompt.
    #[must_use]
    pub fn start(restorer: Option<Restorer>) -> Self {
        let signals = Self::default();
        let shared = signals.clone();
        // A terminal that is gone is none any more: on a busy machine the thread would take it for that.
        let has_terminal = restorer.is_some() && crate::platform::termios::isatty(crate::platform::stdio::stdin());
        let spawned = signals.register().and_then(|caught| {
            let listen = move || shared.listen(caught, restorer.as_ref(), has_terminal);
            std::thread::Builder::new().name("signals".into()).spawn(listen)
        });
        if let Err(error) = spawned {
            tracing::warn!(%error, "signals are not handled");
        }
        signals
    }

    /// Lets SIGINT end axi, too, as the other signals do, and not only a turn.
    pub fn end_at_interrupt(&self) {
        self.interrupt_ends.store(true, Ordering::Release);
    }

    /// Sets the turn that a signal stops; `None` between turns. If the turn was stopped by a signal that ends axi,
    /// this does not return.
    pub fn watch(&self, turn: Option<CancellationToken>) {
        let is_over = turn.is_none();
        self.change(|state| state.running = turn);
        if is_over {
            self.hold_still();
        }
    }

    fn change(&self, change: impl FnOnce(&mut Turn)) {
        let (turn, changed) = &*self.turn;
        change(&mut turn.lock().unwrap_or_else(PoisonError::into_inner));
        changed.notify_all();
    }

    /// Sets what is done before a signal ends axi. It must not wait for the main thread.
    pub fn before_the_end(&self, last_words: impl Fn() + Send + 'static) {
        *self.last_words.lock().unwrap_or_else(PoisonError::into_inner) = Some(LastWords(Box::new(last_words)));
    }

    /// Tells whether the turn was stopped, by a signal or otherwise.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        let turn = self.turn.0.lock().unwrap_or_else(PoisonError::into_inner);
        turn.running.as_ref().is_some_and(CancellationToken::is_cancelled)
    }

    /// Never returns if a signal is ending axi. Call it after a wait that the signal may have ended: anything
    /// written now would arrive after the terminal was restored (a hidden cursor, raw mode).
    pub fn hold_still(&self) {
        if !self.ending.load(Ordering::Acquire) {
            return;
        }
        self.change(|turn| turn.still = true);
        loop {
            std::thread::park();
        }
    }

    fn listen(&self, caught: Caught, restorer: Option<&Restorer>, has_terminal: bool) {
        let number = match self.wait_for_the_end(caught, has_terminal) {
            Ok(number) => number,
            Err(error) => {
                tracing::warn!(%error, "signals are not handled");
                return;
            }
        };
        self.stop_turn();
        if let Some(last_words) = &*self.last_words.lock().unwrap_or_else(PoisonError::into_inner) {
            (last_words.0)();
        }
        let ended = tool::end_orphans();
        tracing::info!(ended, "ended by a signal");
        if let Some(restorer) = restorer {
            silence();
            restorer.restore();
        }
        // Every message is on the disk by now; nothing waits to be written.
        std::process::exit(128 + number);
    }

    /// Catches the signals. A pipe wakes the thread: a runtime of its own would cost more than everything else
    /// here.
    fn register(&self) -> std::io::Result<Caught> {
        let (woken, wake) = UnixStream::pair()?;
        let ending = [SIGTERM, SIGHUP, SIGQUIT];
        let ignored = ignored();
        let heard = [SIGINT].into_iter().chain(ending).filter(|number| ignored >> (number - 1) & 1 == 0);
        let came = heard.map(|number| (number, Arc::new(AtomicBool::new(false))));
        let came: Vec<(i32, Arc<AtomicBool>)> = came.collect();
        // The handlers run in the order in which they are registered: when the thread wakes, the signal's number is
        // already set.
        for (number, flag) in &came {
            crate::platform::signal::flag::register(*number, Arc::clone(flag))?;
            if ending.contains(number) {
                crate::platform::signal::flag::register(*number, Arc::clone(&self.ending))?;
            }
            crate::platform::signal::low_level::pipe::register(*number, wake.try_clone()?)?;
        }
        Ok(Caught { woken, came })
    }

    /// Stops turns until a signal comes that ends axi; returns its number. A terminal that is gone counts as one:
    /// the system tells only the first of its processes, and a line editor would go on asking the missing terminal
    /// for keys.
    fn wait_for_the_end(&self, mut caught: Caught, has_terminal: bool) -> std::io::Result<i32> {
        let terminal = crate::platform::stdio::stdin();
        loop {
            // The loss of the terminal is always reported; no event has to be requested.
            let mut descriptors = vec![PollFd::from_borrowed_fd(caught.woken.as_fd(), PollFlags::IN)];
            if has_terminal {
                descriptors.push(PollFd::from_borrowed_fd(terminal, PollFlags::empty()));
            }
            match poll(&mut descriptors, None) {
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
                Ok(_) => {}
            }
            if descriptors[0].revents().is_empty() {
                return Ok(SIGHUP);
            }
            match caught.woken.read(&mut [0; 16]) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
                Ok(_) => {}
            }
            for (number, flag) in &caught.came {
                match flag.swap(false, Ordering::AcqRel) {
                    true if *number == SIGINT && !self.interrupt_ends.load(Ordering::Acquire) => self.interrupt(),
                    true => return Ok(*number),
                    false => {}
                }
            }
        }
    }

    fn interrupt(&self) {
        let turn = self.turn.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = &turn.running {
            running.cancel();
        }
    }

    /// Stops the turn as ESC does, and waits until what it showed is kept.
    fn stop_turn(&self) {
        self.interrupt();
        let (turn, changed) = &*self.turn;
        let turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
        let runs = |turn: &mut Turn| turn.running.is_some() && !turn.still;
        let waited = changed.wait_timeout_while(turn, TURN_LIMIT, runs);
        if waited.unwrap_or_else(PoisonError::into_inner).1.timed_out() {
            tracing::warn!("the turn did not end in time");
        }
    }
}

/// The signals that whoever started axi has it ignore, the first in the lowest bit: `nohup axi …` outlives its terminal, and
/// Ctrl+C does not reach what a script started with `&`. Linux tells (proc_pid_status(5)); elsewhere none counts as ignored.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Keeps standard output and error from all other threads for good: a question, or the line editor, in the middle
/// of painting would hide the cursor again after the terminal was restored. A thread that is stuck while writing is
/// not waited for.
fn silence() {
    let (tell, told) = std::sync::mpsc::channel();
    let spawned = std::thread::Builder::new().name("silence".into()).spawn(move || {
        let _held = (std::io::stdout().lock(), std::io::stderr().lock());
        if tell.send(()).is_err() {
            return;
        }
        loop {
            std::thread::park();
        }
    });
    if spawned.is_ok() && told.recv_timeout(SILENCE_LIMIT).is_err() {
        tracing::warn!("somebody is stuck in writing to the terminal");
    }
}
