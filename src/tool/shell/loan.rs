//! A command's own terminal, seen from axi: made with it, lent through the person's line, taken back.

use std::ffi::CString;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Instant;

use crate::child::keeper::{BACK, LENT, STOPPED, WANTS};
use crate::platform::fs::{Mode, OFlags, open};
use crate::platform::os::fd::OwnedFd;
use crate::platform::os::ffi::OsStringExt as _;
use crate::platform::os::net::UnixStream as Pair;
use crate::platform::pseudo_terminal;
use crate::platform::runtime::UnixStream;
use crate::tool::{Person, work};

/// How long a command may take to stop after Ctrl+Z. A shell in the middle of starting a program cannot: it waits for
/// the new process, which the signal has stopped.
const STOP_TAKES: Duration = Duration::from_millis(500);

/// How much of what was printed before the loan is shown when it begins, in bytes and in whole lines: enough for the
/// question that the command waits for (`read -p` prints it before it reads).
const BEFORE: usize = 2048;
const LINES_BEFORE: usize = 8;

/// What the keeper told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeeperEvent {
    /// The command wants the terminal.
    Wants,
    /// The person has stopped it (Ctrl+Z).
    Stopped,
    /// The keeper has gone.
    Ended,
}

/// A terminal that a command can be lent.
pub(crate) struct Loan {
    near: OwnedFd,
    /// Where what it prints to its pipe is shown while it has the terminal.
    far: OwnedFd,
    name: CString,
    control: UnixStream,
    /// Where the person's Ctrl+Z is told, and the end that tells.
    pressed: UnixStream,
    end: Pair,
    /// The keeper's end, until it is started.
    other: Option<Pair>,
    lent: bool,
    refused: bool,
    /// The end of what the command printed to its pipe before it had the terminal.
    before: Vec<u8>,
    /// When a command is asked no longer to stop by itself.
    late: Option<Instant>,
}

/// Tells whether commands can be given a terminal here: their processes must be found by session, which takes /proc.
pub(super) fn is_possible(helper: Option<&Path>, can_lend: bool) -> bool {
    helper.is_some() && can_lend && Path::new("/proc/self/stat").exists()
}

impl Loan {
    /// Makes a terminal.
    ///
    /// # Errors
    /// When there is no pseudo-terminal to be had.
    pub(super) fn new() -> io::Result<Self> {
        let (near, name) = pseudo_terminal()?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let far = open(&name, flags, Mode::empty())?;
        let (own, other) = Pair::pair()?;
        own.set_nonblocking(true)?;
        let control = UnixStream::from_std(own)?;
        let (pressed, end) = Pair::pair()?;
        pressed.set_nonblocking(true)?;
        let pressed = UnixStream::from_std(pressed)?;
        Ok(Self {
            near,
            far,
            name,
            control,
            pressed,
            end,
            other: Some(other),
            lent: false,
            refused: false,
            before: Vec::new(),
            late: None,
        })
    }

    /// The terminal's name, for the keeper.
    pub(super) fn name(&self) -> std::ffi::OsString {
        std::ffi::OsString::from_vec(self.name.as_bytes().to_vec())
    }

    /// The keeper's standard input.
    pub(super) fn stdin(&mut self) -> Stdio {
        self.other.take().map_or_else(Stdio::null, |other| Stdio::from(OwnedFd::from(other)))
    }

    /// Waits for the keeper's next word.
    ///
    /// # Cancel safety
    /// Dropped, nothing is lost.
    pub(super) async fn told(&mut self) -> KeeperEvent {
        let (mut word, mut press) = ([0], [0]);
        loop {
            let late = self.late;
            tokio::select! {
                biased;
                read = self.control.read(&mut word) => match read {
                    Ok(1) if word[0] == WANTS => return KeeperEvent::Wants,
                    Ok(1) if word[0] == STOPPED => return KeeperEvent::Stopped,
                    Ok(1) => {}
                    Ok(_) | Err(_) => return KeeperEvent::Ended,
                },
                _ = self.pressed.read(&mut press) => {
                    self.late = self.lent.then(|| Instant::now() + STOP_TAKES);
                }
                () = work::at(late) => {
                    self.late = None;
                    return KeeperEvent::Stopped;
                }
            }
        }
    }

    /// Lends the person's terminal; false when that cannot be, or when they took it back before.
    pub(super) async fn lend(&mut self, person: &Person) -> bool {
        if self.refused {
            return false;
        }
        if !self.lent {
            let (Ok(near), Ok(told_by)) = (self.near.try_clone(), self.end.try_clone()) else { return false };
            self.lent = person.lend(near, told_by.into()).await;
            let before = std::mem::take(&mut self.before);
            self.show(last_lines(&before));
        }
        self.lent && self.control.write_all(&[LENT]).await.is_ok()
    }

    /// Takes the terminal back: the command goes on without it.
    pub(super) async fn take_back(&mut self, person: &Person) {
        self.refused = true;
        self.end(person).await;
        // A keeper that has gone needs no word.
        let _ = self.control.write_all(&[BACK]).await;
    }

    /// Gives the terminal back to axi when the command has ended.
    pub(super) async fn end(&mut self, person: &Person) {
        self.late = None;
        if std::mem::take(&mut self.lent) {
            person.take_back().await;
        }
    }

    /// Shows what the command printed to its pipe, as it would be seen on a terminal: at once, or its end when the
    /// terminal is lent. A full one drops.
    pub(super) fn show(&mut self, bytes: &[u8]) {
        if self.lent {
            let _ = crate::platform::io::write(&self.far, bytes);
            return;
        }
        self.before.extend_from_slice(&bytes[bytes.len().saturating_sub(BEFORE)..]);
        self.before.drain(..self.before.len().saturating_sub(BEFORE));
    }
}

/// Returns the last lines of `bytes`; the last one may have no newline.
fn last_lines(bytes: &[u8]) -> &[u8] {
    let ended = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let start = memchr::memrchr_iter(b'\n', ended).nth(LINES_BEFORE - 1).map_or(0, |newline| newline + 1);
    &bytes[start..]
}
