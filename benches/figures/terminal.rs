//! A pseudo-terminal that is read as fast as bytes come, each with its moment, and that answers what programs ask.
//!
//! No emulator stands in the way of the clock: bytes are stamped first, then stripped of their control sequences
//! into plain text for finding things. Where the cursor is, is worked out only when a program asks for it.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Rows of the terminal.
pub(crate) const ROWS: u16 = 30;
/// Columns of the terminal.
pub(crate) const COLUMNS: u16 = 100;

/// A program on its pseudo-terminal; killed when dropped.
pub(crate) struct Terminal {
    master: Arc<File>,
    child: Child,
    seen: Arc<(Mutex<Seen>, Condvar)>,
}

/// A place in the plain text a program has printed.
pub(crate) type Place = usize;

#[derive(Default)]
struct Seen {
    /// Bytes read.
    bytes: u64,
    /// What was printed, without control sequences.
    plain: Vec<u8>,
    /// When the plain text had which length: one entry a read.
    moments: Vec<(Instant, Place)>,
    strip: Strip,
    closed: bool,
}

/// Where a reader of control sequences stands between two bytes (ECMA-48, 5.4 and 5.6).
#[derive(Default, Clone, Copy, PartialEq)]
enum Strip {
    #[default]
    Text,
    Escape,
    Csi,
    /// OSC, DCS and their like, which end with BEL or ST.
    String,
    StringEscape,
}

impl Strip {
    fn next(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::String, 0x1b) => Self::StringEscape,
            (Self::StringEscape, b'\\') | (Self::String, 0x07) => Self::Text,
            (Self::Escape, b'[') | (Self::Csi, 0x20..=0x3f) => Self::Csi,
            (Self::String | Self::StringEscape, _) | (Self::Escape, b']' | b'P' | b'_' | b'^' | b'X') => {
                Self::String
            }
            (_, 0x1b) | (Self::Escape, 0x20..=0x2f) => Self::Escape,
            (Self::Text | Self::Escape | Self::Csi, _) => Self::Text,
        }
    }
}

impl Terminal {
    /// Starts a program with the terminal as its controlling terminal; only the command's own variables are passed on.
    pub(crate) fn start(command: &mut Command) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
        grantpt(&master).expect("it is ours");
        unlockpt(&master).expect("it is ours");
        let size = Winsize { ws_row: ROWS, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).expect("it has a size");
        let name = ptsname(&master, Vec::new()).expect("it has a name");
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let slave = rustix::fs::open(name.as_c_str(), flags, Mode::empty()).expect("its other side opens");
        let copy = || Stdio::from(slave.try_clone().expect("a copy"));
        command.stdin(copy()).stdout(copy()).stderr(copy());
        take_terminal(command);
        let child = command.spawn().expect("the program starts");

        let seen = Arc::new((Mutex::new(Seen::default()), Condvar::new()));
        let master = Arc::new(File::from(master));
        let (reader, shared) = (Arc::clone(&master), Arc::clone(&seen));
        std::thread::spawn(move || read_all(&reader, &shared));
        Self { master, child, seen }
    }

    /// The program's process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Types; returns the moment before the first byte.
    pub(crate) fn send(&self, keys: &str) -> Instant {
        let now = Instant::now();
        (&*self.master).write_all(keys.as_bytes()).expect("the terminal takes keys");
        now
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The place after everything printed so far.
    pub(crate) fn end(&self) -> Place {
        self.lock().plain.len()
    }

    /// Bytes read so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.lock().bytes
    }

    /// Waits for a text behind a place: the moment its first byte was read, and the place after it.
    pub(crate) fn wait(&self, text: &str, from: Place, patience: Duration) -> Result<(Instant, Place), String> {
        let needle = text.as_bytes();
        let mut seen = self.lock();
        let mut searched = from;
        let deadline = Instant::now() + patience;
        loop {
            let found = seen
                .plain
                .get(searched..)
                .and_then(|rest| rest.windows(needle.len()).position(|window| window == needle));
            if let Some(offset) = found {
                let place = searched + offset;
                let index = seen.moments.partition_point(|(_, length)| *length <= place);
                return Ok((seen.moments[index].0, place + needle.len()));
            }
            searched = seen.plain.len().saturating_sub(needle.len() - 1).max(from);
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || seen.closed {
                let tail =
                    String::from_utf8_lossy(&seen.plain[seen.plain.len().saturating_sub(600)..]).into_owned();
                return Err(format!("never saw {text:?}; the last it printed:\n{tail}"));
            }
            seen = self.seen.1.wait_timeout(seen, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// How often something was read so far.
    pub(crate) fn reads(&self) -> usize {
        self.lock().moments.len()
    }

    /// Waits for the read after so many: its moment.
    pub(crate) fn wait_read(&self, before: usize, patience: Duration) -> Result<Instant, String> {
        let (seen, waited) = self
            .seen
            .1
            .wait_timeout_while(self.lock(), patience, |seen| seen.moments.len() <= before && !seen.closed)
            .unwrap_or_else(PoisonError::into_inner);
        seen.moments
            .get(before)
            .filter(|_| !waited.timed_out())
            .map(|(moment, _)| *moment)
            .ok_or_else(|| format!("nothing came; the last it printed:\n{}", String::from_utf8_lossy(&seen.plain)))
    }

    /// Waits until nothing has been read for a while.
    pub(crate) fn settle(&self, quiet: Duration) {
        loop {
            let before = self.bytes();
            std::thread::sleep(quiet);
            if self.bytes() == before {
                return;
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[expect(unsafe_code, reason = "a helper program that takes the terminal would add its own start to every figure")]
fn take_terminal(command: &mut Command) {
    let take = || {
        rustix::process::setsid()?;
        rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
        Ok(())
    };
    // SAFETY: between fork and exec only two system calls are made, both async-signal-safe.
    unsafe { command.pre_exec(take) };
}

fn read_all(master: &File, shared: &(Mutex<Seen>, Condvar)) {
    let mut buffer = vec![0; 64 * 1024];
    // Everything read, kept to work out the cursor from when it is asked for.
    let mut screen = vt100::Parser::new(ROWS, COLUMNS, 0);
    let mut unparsed = Vec::new();
    loop {
        let count = match (&*master).read(&mut buffer) {
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            // Linux says EIO when the other side is closed.
            Err(_) => 0,
        };
        let now = Instant::now();
        let bytes = &buffer[..count];
        let mut seen = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.closed = count == 0;
        seen.bytes += u64::try_from(count).unwrap_or(0);
        for &byte in bytes {
            let before = seen.strip;
            seen.strip = before.next(byte);
            if before == Strip::Text && seen.strip == Strip::Text {
                seen.plain.push(byte);
            }
        }
        let length = seen.plain.len();
        seen.moments.push((now, length));
        drop(seen);
        shared.1.notify_all();
        if count == 0 {
            return;
        }
        unparsed.extend_from_slice(bytes);
        let asks = |question: &[u8]| bytes.windows(question.len()).any(|window| window == question);
        if asks(b"\x1b[6n") {
            screen.process(&unparsed);
            unparsed.clear();
            let (row, column) = screen.screen().cursor_position();
            let _ = (&*master).write_all(format!("\x1b[{};{}R", row + 1, column.min(COLUMNS - 1) + 1).as_bytes());
        }
        if asks(b"\x1b[c") || asks(b"\x1b[0c") {
            let _ = (&*master).write_all(b"\x1b[?62;22c");
        }
    }
}
