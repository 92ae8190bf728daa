//! What a terminal says of itself when it is asked.

use std::io::Write as _;
use std::time::{Duration, Instant};

use crate::platform::event::{PollFd, PollFlags, Timespec, poll};

use super::tty::{Output, Tty};

/// Asks for synchronized output and focus events (DECRQM 2026 and 1004), for kitty's keyboard protocol, and last for the
/// attributes that every terminal since the VT100 answers (DA1): what has not been said by then is not known to it.
const QUESTIONS: &[u8] = b"\x1b[?2026$p\x1b[?1004$p\x1b[?u\x1b[c";

/// What a terminal can do, by its own word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SaidOfItself {
    /// Takes a screen's update as one.
    pub synchronized: bool,
    /// Tells when it gains and loses the focus.
    pub focus: bool,
    /// Speaks kitty's keyboard protocol.
    pub keyboard: bool,
}

/// Asks the terminal; `None` where there is none, or it does not answer within `limit`. Keys that are pressed
/// meanwhile are lost.
#[must_use]
pub fn ask_terminal(limit: Duration) -> Option<SaidOfItself> {
    let _tty = Tty::take().ok()?;
    let mut output = Output::new();
    output.write_all(QUESTIONS).and_then(|()| output.flush()).ok()?;
    let until = Instant::now() + limit;
    let mut said = String::new();
    while let Some(left) = until.checked_duration_since(Instant::now()) {
        let stdin = crate::platform::stdio::stdin();
        let mut waited = [PollFd::new(&stdin, PollFlags::IN)];
        let left = Timespec::try_from(left).ok()?;
        if poll(&mut waited, Some(&left)).ok()? == 0 {
            break;
        }
        let mut bytes = [0; 256];
        let count = crate::platform::io::read(stdin, &mut bytes).ok().filter(|count| *count > 0)?;
        said.push_str(&String::from_utf8_lossy(&bytes[..count]));
        if let Some(told) = read(&said) {
            return Some(told);
        }
    }
    None
}

/// Reads the answers, once the last one has come.
fn read(said: &str) -> Option<SaidOfItself> {
    let answers = || said.split("\x1b[?").skip(1);
    let attributes = |answer: &str| {
        answer.trim_start_matches(|character: char| character.is_ascii_digit() || character == ';').starts_with('c')
    };
    answers().any(attributes).then_some(())?;
    // 1 and 2: set and reset now; 3: always set. 0: not known; 4: never (DECRPM).
    let mode = |number: &str| {
        let state = answers().find_map(|answer| answer.strip_prefix(number)?.strip_prefix(';')?.split('$').next());
        matches!(state, Some("1" | "2" | "3"))
    };
    let flags = |answer: &str| {
        answer.split_once('u').is_some_and(|(flags, _)| !flags.is_empty() && flags.parse::<u8>().is_ok())
    };
    Some(SaidOfItself { synchronized: mode("2026"), focus: mode("1004"), keyboard: answers().any(flags) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_once_the_last_has_come_and_silence_is_no() {
        let said = |synchronized, focus, keyboard| Some(SaidOfItself { synchronized, focus, keyboard });
        for (answers, told) in [
            ("\x1b[?2026;2$y\x1b[?1004;1$y\x1b[?0u\x1b[?62;22c", said(true, true, true)),
            ("x\x1b[?2026;0$y\x1b[?1004;2$yab\x1b[?1;2c", said(false, true, false)),
            ("\x1b[?2026;4$y\x1b[?6c", said(false, false, false)),
            ("\x1b[?2026;2$y\x1b[?1004;1$y\x1b[?0u", None),
            ("\x1b[?62;2", None),
            ("c", None),
        ] {
            assert_eq!(read(answers), told, "{answers:?}");
        }
    }
}
