//! Single keys for a question in the middle of a turn, while nobody else reads the terminal.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use crate::platform::event::{PollFd, PollFlags, Timespec, poll};
use crate::platform::io::Errno;
use crate::platform::os::fd::AsFd;

use super::parser::{Awaited, Key, Parser};
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
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// ESC.
    Escape,
    /// Ctrl+C.
    Interrupt,
    /// Ctrl+Z.
    Suspend,
    /// Ctrl+D.
    End,
    /// Ctrl+U.
    DeleteLine,
    /// The terminal has gone.
    Gone,
}

/// Reads keys one by one from standard input in the baseline mode, with the same parser as [`super::KeyWatch`].
#[derive(Debug)]
pub struct KeyReader {
    parser: Parser,
    presses: VecDeque<Press>,
    escape_wait: Duration,
    taken: Taken,
}

/// What is made of letters that arrive together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    /// Letters are taken, a paste is nothing: it is no choice, whatever it holds.
    Typed,
    /// Nothing: they were pasted, by a terminal that says so in no other way.
    OneAtATime,
    /// All of it, a paste as well.
    Pasted,
}

impl KeyReader {
    /// Makes a reader that believes a lone ESC after `escape_wait`; see [`super::escape_wait`].
    pub fn new(escape_wait: Duration) -> Self {
        Self { parser: Parser::default(), presses: VecDeque::new(), escape_wait, taken: Taken::Typed }
    }

    /// Takes letters only one at a time: those that arrive together were pasted, by a terminal that says so in no
    /// other way, and answer nothing.
    #[must_use]
    pub fn one_at_a_time(mut self) -> Self {
        self.taken = Taken::OneAtATime;
        self
    }

    /// Takes a paste as if it was typed, but for its line ends.
    #[must_use]
    pub fn with_pastes(mut self) -> Self {
        self.taken = Taken::Pasted;
        self
    }

    /// Blocks until a key is pressed. `None` when a signal arrived, so that the caller may look why.
    pub fn press(&mut self) -> Option<Press> {
        self.press_within(None)
    }

    /// As [`KeyReader::press`]; also `None` when `limit` is over.
    pub fn press_within(&mut self, limit: Option<Duration>) -> Option<Press> {
        let until = limit.map(|limit| Instant::now() + limit);
        loop {
            if let Some(press) = self.presses.pop_front() {
                return Some(press);
            }
            match self.read(until) {
                Ok(true) => {}
                Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::TimedOut) => {
                    return None;
                }
                Ok(false) | Err(_) => return Some(Press::Gone),
            }
        }
    }

    /// Throws away what was typed before the question was there. Tells whether ESC or Ctrl+C was among it, or the
    /// terminal has gone.
    pub fn discard(&mut self) -> bool {
        let mut gave_up = false;
        loop {
            match self.press_within(Some(Duration::ZERO)) {
                None => return gave_up,
                Some(Press::Gone) => return true,
                Some(Press::Escape | Press::Interrupt) => gave_up = true,
                Some(
                    Press::Character(_)
                    | Press::Enter
                    | Press::Backspace
                    | Press::Up
                    | Press::Down
                    | Press::PageUp
                    | Press::PageDown
                    | Press::Suspend
                    | Press::DeleteLine
                    | Press::End,
                ) => {}
            }
        }
    }

    /// Waits for bytes, or for a sequence to be given up; false when the terminal has gone.
    fn read(&mut self, until: Option<Instant>) -> io::Result<bool> {
        let sequence = match self.parser.awaited() {
            Awaited::Nothing | Awaited::Tail | Awaited::HeldTail => None,
            Awaited::Escape => Some(self.escape_wait),
            Awaited::Sequence => Some(SEQUENCE_WAIT),
            Awaited::Paste => Some(PASTE_WAIT),
        };
        let wait = sequence.or_else(|| until.map(|until| until.saturating_duration_since(Instant::now())));
        let timeout = wait.map(|wait| Timespec {
            tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(wait.subsec_nanos()),
        });
        let input = crate::platform::stdio::stdin();
        let mut keys = Vec::new();
        let ready = poll(&mut [PollFd::from_borrowed_fd(input.as_fd(), PollFlags::IN)], timeout.as_ref())?;
        if ready == 0 {
            if sequence.is_none() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.parser.expire(&mut keys);
        } else {
            let mut buffer = [0; 4096];
            match crate::platform::io::read(input, &mut buffer) {
                Ok(0) => return Ok(false),
                Ok(count) => self.parser.feed(&buffer[..count], &mut keys),
                Err(Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.presses.extend(presses(&keys, self.taken));
        Ok(true)
    }
}

fn presses(keys: &[Key], taken: Taken) -> Vec<Press> {
    let letters = keys.iter().filter(|key| matches!(key, Key::Character(_))).count();
    let crowd = taken == Taken::OneAtATime && letters > 1;
    // The line end of what was pasted confirms nothing either.
    let kept = |key: &&Key| !(crowd && matches!(key, Key::Character(_) | Key::Enter));
    let mut presses = Vec::new();
    for key in keys.iter().filter(kept) {
        match key {
            Key::Paste(text) if taken == Taken::Pasted => {
                let typed = text.chars().filter(|character| !character.is_control());
                presses.extend(typed.map(Press::Character));
            }
            key => presses.extend(press_of(key)),
        }
    }
    presses
}

const fn press_of(key: &Key) -> Option<Press> {
    match key {
        Key::Character(character) => Some(Press::Character(*character)),
        Key::Enter => Some(Press::Enter),
        Key::Backspace => Some(Press::Backspace),
        Key::Up => Some(Press::Up),
        Key::Down => Some(Press::Down),
        Key::PageUp => Some(Press::PageUp),
        Key::PageDown => Some(Press::PageDown),
        Key::Escape => Some(Press::Escape),
        Key::Interrupt => Some(Press::Interrupt),
        Key::Suspend => Some(Press::Suspend),
        Key::End => Some(Press::End),
        Key::DeleteLine => Some(Press::DeleteLine),
        Key::Paste(_) | Key::Newline | Key::DeleteWord | Key::Focus(_) | Key::Background(_) | Key::Attributes => {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(bytes: &[u8], taken: Taken) -> Vec<Press> {
        let (mut parser, mut keys) = (Parser::default(), Vec::new());
        parser.feed(bytes, &mut keys);
        presses(&keys, taken)
    }

    #[test]
    fn keys_that_a_menu_knows_come_through() {
        assert_eq!(
            pressed(b"\x1b[A\x1b[B\x1bOB\r", Taken::OneAtATime),
            [Press::Up, Press::Down, Press::Down, Press::Enter]
        );
        assert_eq!(pressed(b"y", Taken::OneAtATime), [Press::Character('y')]);
        assert_eq!(pressed(b"2\r", Taken::OneAtATime), [Press::Character('2'), Press::Enter]);
        assert_eq!(pressed(b"\x03\x1a", Taken::OneAtATime), [Press::Interrupt, Press::Suspend]);
        assert_eq!(pressed(b"12", Taken::Typed), [Press::Character('1'), Press::Character('2')]);
    }

    #[test]
    fn what_is_pasted_is_no_answer() {
        assert_eq!(pressed(b"yes\r", Taken::OneAtATime), []);
        assert_eq!(pressed(b"\x1b[200~y\x1b[201~", Taken::OneAtATime), []);
        assert_eq!(pressed(b"yy\r", Taken::OneAtATime), []);
    }

    #[test]
    fn a_secret_may_be_pasted() {
        let key = [Press::Character('k'), Press::Character('y')];
        assert_eq!(pressed(b"\x1b[200~ky\n\x1b[201~", Taken::Pasted), key);
        assert_eq!(pressed(b"ky", Taken::Pasted), key);
    }
}
