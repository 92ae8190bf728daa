//! Recognises a paste on terminals that do not mark pastes: by the input that waits when Enter comes.

use std::time::{Duration, Instant};

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::platform::io::ioctl_fionread;

use super::kick;

/// Silence that ends a burst.
const QUIET: Duration = Duration::from_millis(25);
/// Bytes that wait this long were forgotten by the reader, see [`kick`].
const STALLED: Duration = Duration::from_millis(3);
/// A burst is not followed longer than this.
const LONGEST: Duration = Duration::from_secs(20);
/// Nor for more events than this.
const MOST: usize = 32 * 1024 * 1024;
/// Nobody types this many rows at once, counting the one that Enter ended.
const ROWS: usize = 3;

/// What was waiting behind an Enter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Burst {
    /// Nothing: the Enter was typed.
    Nothing,
    /// The rest of a paste.
    Paste(String),
    /// Keys typed ahead, for the next line.
    Keys(Vec<Event>),
}

/// Reads what is waiting. Must be called from the thread that reads the terminal.
pub(super) fn read() -> Burst {
    let waiting = |time: Duration| event::poll(time).unwrap_or(false);
    if !waiting(Duration::ZERO) {
        return Burst::Nothing;
    }
    let begin = Instant::now();
    let mut events = Vec::new();
    while events.len() < MOST && begin.elapsed() < LONGEST {
        if waiting(STALLED) || (ioctl_fionread(std::io::stdin()).unwrap_or(0) == 0 && waiting(QUIET)) {
            match event::read() {
                Ok(event) => events.push(event),
                Err(_) => break,
            }
        } else if ioctl_fionread(std::io::stdin()).unwrap_or(0) == 0 {
            break;
        } else {
            kick::nudge();
        }
    }
    judge(events)
}

/// Decides what the events are.
///
/// A paste has three rows or more, or two of which the last is not ended. Two whole rows are two lines typed ahead.
fn judge(events: Vec<Event>) -> Burst {
    let mut text = String::new();
    let mut only_text = true;
    for event in &events {
        match event {
            Event::Key(key) if key.kind == KeyEventKind::Release => {}
            Event::Key(key) => match character(key) {
                Some(character) => text.push(character),
                None => only_text = false,
            },
            Event::Paste(pasted) => text.push_str(pasted),
            Event::Resize(..) | Event::FocusGained | Event::FocusLost | Event::Mouse(_) => {}
        }
    }
    if text.is_empty() && only_text {
        return Burst::Nothing;
    }
    let rows = 1 + text.matches('\n').count();
    let ended = text.ends_with('\n');
    if only_text && (rows >= ROWS || !ended) { Burst::Paste(text) } else { Burst::Keys(events) }
}

fn character(key: &KeyEvent) -> Option<char> {
    match (key.modifiers, key.code) {
        (KeyModifiers::NONE | KeyModifiers::SHIFT, KeyCode::Char(character)) => Some(character),
        (KeyModifiers::NONE, KeyCode::Enter) | (KeyModifiers::CONTROL, KeyCode::Char('j')) => Some('\n'),
        (KeyModifiers::NONE, KeyCode::Tab) => Some('\t'),
        (_, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<Event> {
        let code = |character| match character {
            '\r' => (KeyModifiers::NONE, KeyCode::Enter),
            '\u{4}' => (KeyModifiers::CONTROL, KeyCode::Char('d')),
            other => (KeyModifiers::NONE, KeyCode::Char(other)),
        };
        text.chars().map(code).map(|(modifiers, code)| Event::Key(KeyEvent::new(code, modifiers))).collect()
    }

    #[test]
    fn rows_that_follow_are_a_paste() {
        assert_eq!(judge(keys("two\rthree")), Burst::Paste("two\nthree".to_owned()));
        assert_eq!(judge(keys("two")), Burst::Paste("two".to_owned()));
        assert_eq!(judge(keys("two\rthree\r")), Burst::Paste("two\nthree\n".to_owned()));
        assert_eq!(judge(keys("two\rthree\rfour\r")), Burst::Paste("two\nthree\nfour\n".to_owned()));
    }

    #[test]
    fn whole_lines_typed_ahead_are_lines() {
        assert_eq!(judge(keys("/exit\r")), Burst::Keys(keys("/exit\r")));
        assert_eq!(judge(keys("\u{4}")), Burst::Keys(keys("\u{4}")));
        assert_eq!(judge(keys("x\r\u{4}")), Burst::Keys(keys("x\r\u{4}")));
    }

    #[test]
    fn nothing_is_nothing() {
        assert_eq!(judge(Vec::new()), Burst::Nothing);
        assert_eq!(judge(vec![Event::FocusGained, Event::Resize(80, 24)]), Burst::Nothing);
    }
}
