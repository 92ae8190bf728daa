//! Runs a program on a pseudo-terminal of its own and passes everything through: the program has a full terminal,
//! and its output can be kept as well.

use std::fs::File;
use std::io::{self, Read, Write};
use std::process::{Command, ExitStatus};

use super::tty::{Output, Size};
use crate::platform::event::{PollFd, PollFlags, Timespec, poll};
use crate::platform::fs::{Mode, OFlags, open};
use crate::platform::io::{Errno, ioctl_fionread};
use crate::platform::os::fd::{AsFd, OwnedFd};
use crate::platform::pipe::pipe;
use crate::platform::pseudo_terminal;
use crate::platform::termios::{OptionalActions, Termios, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

/// How often the size of the terminal is checked.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
/// How many bytes at the start of the output are kept; its end is kept, too.
const KEPT_START: usize = 16 * 1024;
const KEPT_END: usize = 48 * 1024;

/// How a program on a pseudo-terminal ended.
#[derive(Debug)]
pub struct Relayed {
    /// Its status.
    pub status: ExitStatus,
    /// Its raw output: the first 16 KiB and the last 48 KiB.
    pub output: Vec<u8>,
    /// What was typed, and the program did not read.
    pub unread: Vec<u8>,
}

/// Keeps the person's terminal in raw mode until it is dropped.
pub(super) struct Raw {
    before: Termios,
}

impl Raw {
    /// Sets raw mode.
    pub(super) fn new() -> io::Result<Self> {
        let before = tcgetattr(crate::platform::stdio::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(crate::platform::stdio::stdin(), OptionalActions::Now, &raw)?;
        Ok(Self { before })
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // If the terminal is gone, the next read notices it.
        let _ = tcsetattr(crate::platform::stdio::stdin(), OptionalActions::Now, &self.before);
    }
}

/// Runs `command` and waits for it. The command itself makes the pseudo-terminal its controlling one. Programs that
/// it leaves in the background are not waited for.
///
/// # Errors
/// If there is no pseudo-terminal, the program cannot be started, or the terminal is gone.
pub fn relay(mut command: Command) -> io::Result<Relayed> {
    let (near, name) = pseudo_terminal()?;
    let far = open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    let mut size = Size::of_terminal(None, None);
    set_size(&near, size)?;
    let mut child = command.stdin(far.try_clone()?).stdout(far.try_clone()?).stderr(far.try_clone()?).spawn()?;
    // `command` holds copies of the far end.
    drop(command);
    let raw = Raw::new()?;
    // We keep the far end open, in order to read what the program left unread, so its closing tells us nothing.
    // Instead a thread waits for the child, and ends with it.
    let (ended, ends) = pipe()?;
    let waiting = std::thread::Builder::new().name("child".to_owned()).spawn(move || {
        let status = child.wait();
        drop(ends);
        status
    })?;
    let mut near = File::from(near);
    let mut kept = HeadAndTail::default();
    let (mut listening, mut over) = (true, false);
    loop {
        let ready = wait(&near, &ended, listening)?;
        if ready.output {
            pass(&mut near, &mut kept)?;
        } else if over {
            break;
        }
        // The program's last output may have come between the look at the terminal and the look at its end: the terminal
        // is looked at once more.
        over = ready.ended;
        if ready.input && !ready.ended {
            listening = type_in(&mut near)?;
        }
        let now = Size::of_terminal(None, None);
        if now != size {
            size = now;
            set_size(near.as_fd(), size)?;
        }
    }
    let status = waiting.join().map_err(|_| io::Error::other("the wait for the child failed"))??;
    let unread = unread(&far)?;
    drop(raw);
    Ok(Relayed { status, output: kept.whole(), unread })
}

/// Returns what was typed and not read: the next reader gets it, as on any terminal.
fn unread(far: &OwnedFd) -> io::Result<Vec<u8>> {
    let mut mode = tcgetattr(far)?;
    mode.make_raw();
    tcsetattr(far, OptionalActions::Now, &mode)?;
    let mut typed = Vec::new();
    let mut buffer = [0; 1024];
    while ioctl_fionread(far)? > 0 {
        let count = crate::platform::io::read(far, &mut buffer)?;
        typed.extend_from_slice(&buffer[..count]);
    }
    Ok(typed)
}

pub(super) fn set_size(terminal: impl AsFd, size: Size) -> io::Result<()> {
    let size = Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 };
    Ok(tcsetwinsize(terminal, size)?)
}

/// What is ready.
struct Ready {
    input: bool,
    output: bool,
    ended: bool,
}

/// Waits for the person, for the program, or for the program's end.
fn wait(near: &File, ended: &OwnedFd, listening: bool) -> io::Result<Ready> {
    let input = crate::platform::stdio::stdin();
    let person = if listening { PollFlags::IN } else { PollFlags::empty() };
    let mut all =
        [PollFd::new(near, PollFlags::IN), PollFd::new(&input, person), PollFd::new(ended, PollFlags::empty())];
    match poll(&mut all, Some(&LOOK)) {
        Ok(_) => {}
        Err(Errno::INTR) => return Ok(Ready { input: false, output: false, ended: false }),
        Err(error) => return Err(error.into()),
    }
    let ready = |flags: PollFlags| flags.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR);
    let [output, input, ended] = all.each_ref().map(|one| ready(one.revents()));
    Ok(Ready { input: input && listening, output, ended })
}

/// Passes on a piece of output.
fn pass(near: &mut File, kept: &mut HeadAndTail) -> io::Result<()> {
    let mut buffer = [0; 16 * 1024];
    match near.read(&mut buffer) {
        Ok(count) => {
            kept.add(&buffer[..count]);
            Output::new().write_all(&buffer[..count])
        }
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        Err(error) => Err(error),
    }
}

/// Passes typed keys to the program; false if the terminal is gone.
fn type_in(near: &mut File) -> io::Result<bool> {
    let mut buffer = [0; 4096];
    match crate::platform::io::read(crate::platform::stdio::stdin(), &mut buffer) {
        Ok(0) => Ok(false),
        Ok(count) => near.write_all(&buffer[..count]).map(|()| true),
        Err(Errno::INTR | Errno::AGAIN) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// The start and the end of an output of any length.
#[derive(Debug, Default)]
struct HeadAndTail {
    start: Vec<u8>,
    end: Vec<u8>,
    left_out: usize,
}

impl HeadAndTail {
    fn add(&mut self, bytes: &[u8]) {
        let room = KEPT_START.saturating_sub(self.start.len()).min(bytes.len());
        self.start.extend_from_slice(&bytes[..room]);
        self.end.extend_from_slice(&bytes[room..]);
        let over = self.end.len().saturating_sub(KEPT_END);
        self.end.drain(..over);
        self.left_out += over;
    }

    fn whole(mut self) -> Vec<u8> {
        if self.left_out > 0 {
            self.start.extend_from_slice(format!("\n… {} bytes …\n", self.left_out).as_bytes());
        }
        self.start.append(&mut self.end);
        self.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_output_start_and_end_are_kept() {
        let mut kept = HeadAndTail::default();
        kept.add(b"first");
        for _ in 0..100 {
            kept.add(&[b'x'; 1024]);
        }
        kept.add(b"last");
        let whole = String::from_utf8(kept.whole()).unwrap();
        assert!(whole.starts_with("first") && whole.ends_with("last"), "{}", whole.len());
        assert!(whole.contains("… 36873 bytes …") && whole.len() < KEPT_START + KEPT_END + 40, "{}", whole.len());
    }
}
