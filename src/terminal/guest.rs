//! The terminal of a line editor that runs axi and waits for it: axi reads keys without echo, writes one row, and
//! restores the mode it found.
//!
//! Standard output is a pipe then, and standard input may be anything, so the terminal is opened by its name.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};

use crate::platform::os::fd::{AsFd as _, OwnedFd};
use crate::platform::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

/// The terminal of the line editor, in a mode in which each key arrives at once as bytes, until this is dropped.
#[derive(Debug)]
pub struct Guest {
    terminal: File,
    before: Termios,
}

impl Guest {
    /// Opens the controlling terminal and sets the mode.
    ///
    /// # Errors
    /// If there is no controlling terminal.
    pub fn open() -> io::Result<Self> {
        let terminal = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
        let before = tcgetattr(&terminal)?;
        let mut mode = before.clone();
        mode.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ISIG);
        mode.special_codes[SpecialCodeIndex::VMIN] = 1;
        mode.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&terminal, OptionalActions::Now, &mode)?;
        Ok(Self { terminal, before })
    }

    /// Returns another descriptor to read keys from.
    ///
    /// # Errors
    /// If there are too many descriptors.
    pub fn keys(&self) -> io::Result<OwnedFd> {
        self.terminal.as_fd().try_clone_to_owned()
    }

    /// Replaces the cursor's row by `text`, which may be empty. The cursor ends at the start of the row.
    pub fn row(&mut self, text: &str) {
        // The text must not wrap, because a second row could not be removed. A terminal that is gone shows nothing
        // anyway.
        drop(write!(self.terminal, "\r\x1b[?7l{text}\x1b[K\x1b[?7h\r"));
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // As above.
        let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.before);
    }
}
