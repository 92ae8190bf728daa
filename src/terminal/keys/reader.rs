//! Single keys for a question in the middle of a turn, while nobody else reads the terminal.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::parser::{Key, Parser, Pending};
use super::{PASTE_WAIT, SEQUENCE_WAIT};

/// A key as a question understands it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Press {
    /// A character.
    Character(char),
    /// Enter.
    Enter,
    /// Backspace.
    Backspace,
    /// ESC or Ctrl+C.
    GiveUp,
    /// The terminal has gone.
    Gone,
}

/// Reads keys one by one from standard input in the baseline mode, with the same parser as [`super::KeyWatch`].
#[derive(Debug)]
pub struct KeyReader {
    parser: Parser,
    keys: std::collections::VecDeque<Key>,
    escape_wait: Duration,
}

impl KeyReader {
    /// Makes a reader that believes a lone ESC after `escape_wait`; see [`super::escape_wait`].
    pub fn new(escape_wait: Duration) -> Self {
        Self { parser: Parser::default(), keys: std::collections::VecDeque::new(), escape_wait }
    }

    /// Blocks until a key is pressed. `None` when a signal arrived, so that the caller may look why.
    pub fn press(&mut self) -> Option<Press> {
        loop {
            while let Some(key) = self.keys.pop_front() {
                if let Some(press) = press_of(&key) {
                    return Some(press);
                }
            }
            match self.read() {
                Ok(true) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => return None,
                Ok(false) | Err(_) => return Some(Press::Gone),
            }
        }
    }

    /// Waits for bytes, or for a sequence to be given up; false when the terminal has gone.
    fn read(&mut self) -> io::Result<bool> {
        let wait = match self.parser.pending() {
            Pending::Nothing => None,
            Pending::Escape => Some(self.escape_wait),
            Pending::Sequence => Some(SEQUENCE_WAIT),
            Pending::Paste => Some(PASTE_WAIT),
        };
        let timeout = wait.map(|wait| Timespec {
            tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(wait.subsec_nanos()),
        });
        let input = rustix::stdio::stdin();
        let mut keys = Vec::new();
        let ready = poll(&mut [PollFd::from_borrowed_fd(input.as_fd(), PollFlags::IN)], timeout.as_ref())?;
        if ready == 0 {
            self.parser.expire(&mut keys);
        } else {
            let mut buffer = [0; 4096];
            match rustix::io::read(input, &mut buffer) {
                Ok(0) => return Ok(false),
                Ok(count) => self.parser.feed(&buffer[..count], &mut keys),
                Err(Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.keys.extend(keys);
        Ok(true)
    }
}

const fn press_of(key: &Key) -> Option<Press> {
    match key {
        Key::Character(character) => Some(Press::Character(*character)),
        Key::Enter => Some(Press::Enter),
        Key::Backspace => Some(Press::Backspace),
        Key::Escape | Key::Interrupt => Some(Press::GiveUp),
        // A paste is no choice, whatever it holds.
        Key::Paste(_)
        | Key::Newline
        | Key::DeleteWord
        | Key::DeleteLine
        | Key::Up
        | Key::Suspend
        | Key::Focus(_)
        | Key::Background(_)
        | Key::Attributes => None,
    }
}
