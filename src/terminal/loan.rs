//! Connects the person's terminal with a command's own terminal for a while. Nothing that passes is stored.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::thread::JoinHandle;

use crate::platform::event::{PollFd, PollFlags, Timespec, poll};
use crate::platform::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use crate::platform::io::Errno;
use crate::platform::os::fd::{AsFd as _, OwnedFd};
use crate::platform::termios::{LocalModes, tcgetattr};

use super::relay::{Raw, set_size};
use super::tty::{Output, Size, UNDO, UNDO_SCREEN};

/// How often the size of the terminal is checked.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

const CONTROL_Z: u8 = 0x1a;

/// How many Ctrl+Z in a row that a raw-mode program answers with nothing at all count as meant for axi: to such a
/// program a Ctrl+Z may mean something (an editor undoes).
const UNHEARD: usize = 3;

/// A terminal that is lent until this is stopped or dropped; then its thread ends.
#[derive(Debug)]
pub struct Loan {
    thread: Option<JoinHandle<()>>,
    /// Closing it stops the thread.
    stop: Option<OwnedFd>,
}

impl Loan {
    /// Connects standard input and output with `near`, our end of a pseudo-terminal. The caller must have stopped
    /// reading and writing. `pressed` gets a byte for each Ctrl+Z that should stop the command (which may be unable
    /// to stop), or for three in a row that a command in raw mode does not answer. With `plain`, no escape sequence
    /// is written to restore the terminal afterwards.
    ///
    /// # Errors
    /// If there is no terminal, or no thread can be started.
    pub fn start(near: OwnedFd, pressed: OwnedFd, plain: bool) -> io::Result<Self> {
        let flags = fcntl_getfl(&near)?;
        fcntl_setfl(&near, flags | OFlags::NONBLOCK)?;
        let size = Size::of_terminal(None, None);
        set_size(&near, size)?;
        let raw = Raw::new()?;
        let (stopped, stop) = io::pipe()?;
        let (stopped, stop) = (OwnedFd::from(stopped), OwnedFd::from(stop));
        let (last, screen) = (b'\n', Watch::default());
        let mut relay = Relay { near: File::from(near), pressed, size, last, screen, unheard: 0 };
        let thread = std::thread::Builder::new().name("loan".to_owned()).spawn(move || {
            relay.run(&stopped);
            relay.finish(plain);
            drop(raw);
        })?;
        Ok(Self { thread: Some(thread), stop: Some(stop) })
    }

    /// Ends the loan: shows the output that is still on its way, and puts the cursor at the start of a row.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has no more output.
            let _ = thread.join();
        }
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        self.end();
    }
}

struct Relay {
    near: File,
    pressed: OwnedFd,
    size: Size,
    last: u8,
    screen: Watch,
    /// How many Ctrl+Z came in raw mode since the command last printed something.
    unheard: usize,
}

impl Relay {
    fn run(&mut self, stopped: &OwnedFd) {
        let (mut reading, mut listening) = (true, true);
        loop {
            let input = crate::platform::stdio::stdin();
            let wanted = |on: bool| if on { PollFlags::IN } else { PollFlags::empty() };
            let mut all = [
                PollFd::new(stopped, PollFlags::IN),
                PollFd::new(&self.near, wanted(reading)),
                PollFd::new(&input, wanted(listening)),
            ];
            match poll(&mut all, Some(&LOOK)) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(_) => return,
            }
            let [stop, near, input] = all.each_ref().map(|one| !one.revents().is_empty());
            if stop {
                return;
            }
            if near && reading {
                reading = self.show();
            }
            if input && listening {
                listening = self.type_in();
            }
            let now = Size::of_terminal(None, None);
            if now != self.size {
                self.size = now;
                // If the terminal is gone, the next read notices it.
                let _ = set_size(self.near.as_fd(), now);
            }
        }
    }

    /// Shows a piece of the command's output; false if there will be no more.
    fn show(&mut self) -> bool {
        let mut buffer = [0; 16 * 1024];
        match self.near.read(&mut buffer) {
            Ok(0) => false,
            Ok(count) => {
                self.last = buffer[count - 1];
                self.unheard = 0;
                self.screen.look(&buffer[..count]);
                Output::new().write_all(&buffer[..count]).is_ok()
            }
            Err(error) => matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted),
        }
    }

    /// Passes typed keys on; false if the person's terminal is gone. Keys that the command does not take are
    /// dropped: they may be a password, which must not end up in a line.
    fn type_in(&mut self) -> bool {
        let mut buffer = [0; 4096];
        match crate::platform::io::read(crate::platform::stdio::stdin(), &mut buffer) {
            Ok(0) => false,
            Ok(count) => {
                let typed = &buffer[..count];
                let signals =
                    || tcgetattr(&self.near).is_ok_and(|mode| mode.local_modes.contains(LocalModes::ISIG));
                let last = typed.iter().rev().take_while(|byte| **byte == CONTROL_Z).count();
                self.unheard = if last == count { self.unheard + last } else { last };
                let stops = typed.contains(&CONTROL_Z) && (signals() || self.unheard >= UNHEARD);
                let _ = self.near.write_all(typed);
                if stops {
                    // Fails if the command has ended: nobody waits for it then.
                    let _ = crate::platform::io::write(&self.pressed, b"z");
                }
                true
            }
            Err(error) => matches!(error, Errno::INTR | Errno::AGAIN),
        }
    }

    /// Shows the output that is still on its way, and restores what the command changed on the terminal.
    fn finish(&mut self, plain: bool) {
        let mut buffer = [0; 16 * 1024];
        while let Ok(count @ 1..) = self.near.read(&mut buffer) {
            self.last = buffer[count - 1];
            self.screen.look(&buffer[..count]);
            if Output::new().write_all(&buffer[..count]).is_err() {
                return;
            }
        }
        let mut rest = Vec::new();
        if !plain {
            if self.screen.other {
                rest.extend_from_slice(UNDO_SCREEN);
            }
            rest.extend_from_slice(UNDO);
        }
        if self.last != b'\n' {
            rest.extend_from_slice(b"\r\n");
        }
        // As above.
        let _ = Output::new().write_all(&rest);
    }
}

/// Whether a program has entered the alternate screen and not left it, for example because it was killed.
#[derive(Debug, Default)]
struct Watch {
    other: bool,
    end: Vec<u8>,
}

impl Watch {
    fn look(&mut self, bytes: &[u8]) {
        const SWITCH: &[u8] = b"\x1b[?1049";
        let mut text = std::mem::take(&mut self.end);
        text.extend_from_slice(bytes);
        for window in text.windows(SWITCH.len() + 1) {
            match window.split_last() {
                Some((b'h', start)) if start == SWITCH => self.other = true,
                Some((b'l', start)) if start == SWITCH => self.other = false,
                Some(_) | None => {}
            }
        }
        self.end = text.split_off(text.len().saturating_sub(SWITCH.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_alternate_screen_is_seen_in_any_cutting() {
        let text = b"a\x1b[?1049h\x1b[2Jb\x1b[?1049lc\x1b[?1049h";
        for size in 1..text.len() {
            let mut watch = Watch::default();
            text.chunks(size).for_each(|piece| watch.look(piece));
            assert!(watch.other, "{size}");
            watch.look(b"\x1b[?104");
            watch.look(b"9l");
            assert!(!watch.other, "{size}");
        }
    }
}
