//! Events that the line editor's reader took from the terminal and did not use.

use std::io;
use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, poll, read};

use crate::platform::io::{ioctl_fionread, read as read_bytes};
use crate::platform::stdio::stdin;
use crate::platform::termios::{LocalModes, tcgetattr};

use super::parser::{Key, Parser};
use super::pending::Pending;

/// How many events, or bytes, are taken at most, so that a terminal that never falls silent cannot hold up the turn.
const MOST: usize = 10_000;

/// Moves the events in crossterm's own queue into `pending`. Called between the line editor's return and
/// [`super::KeyWatch::start`]. Returns whether ESC or Ctrl+C was among them.
///
/// # Errors
/// If the terminal cannot be read; events taken before are kept.
pub fn drain_crossterm(pending: &Pending) -> io::Result<bool> {
    let mut interrupted = false;
    for _ in 0..MOST {
        if !poll(Duration::ZERO)? {
            break;
        }
        if let Some(key) = key_of(read()?) {
            interrupted |= matches!(key, Key::Escape | Key::Interrupt);
            pending.edit(&key);
        }
    }
    Ok(interrupted)
}

/// Takes the whole lines that were typed while the terminal was in the person's own mode, where the system makes a
/// newline of Enter: read in raw mode, that would be another key. What follows the last Enter stays.
#[must_use]
pub fn cooked_lines() -> Vec<Event> {
    let input = stdin();
    let is_cooked = tcgetattr(input).is_ok_and(|mode| mode.local_modes.contains(LocalModes::ICANON));
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    // In that mode only whole lines are counted, so that nothing is waited for.
    while is_cooked && bytes.len() < MOST && ioctl_fionread(input).unwrap_or(0) > 0 {
        match read_bytes(input, &mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
    events_of(&bytes)
}

fn events_of(lines: &[u8]) -> Vec<Event> {
    let entered: Vec<u8> = lines.iter().map(|byte| if *byte == b'\n' { b'\r' } else { *byte }).collect();
    let (mut parser, mut keys) = (Parser::default(), Vec::new());
    parser.feed(&entered, &mut keys);
    parser.expire(&mut keys);
    keys.into_iter().filter_map(event_of).collect()
}

/// The event of a key that makes text or ends a line: the system itself has done what the others say.
fn event_of(key: Key) -> Option<Event> {
    let code = match key {
        Key::Character(character) => KeyCode::Char(character),
        Key::Enter => KeyCode::Enter,
        Key::Paste(text) => return Some(Event::Paste(text)),
        Key::Newline
        | Key::Backspace
        | Key::DeleteWord
        | Key::DeleteLine
        | Key::Up
        | Key::Down
        | Key::PageUp
        | Key::PageDown
        | Key::Escape
        | Key::Interrupt
        | Key::Suspend
        | Key::End
        | Key::Focus(_)
        | Key::Background(_)
        | Key::Attributes => return None,
    };
    Some(Event::Key(KeyEvent::new(code, KeyModifiers::NONE)))
}

fn key_of(event: Event) -> Option<Key> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => key_of_press(key),
        Event::Paste(text) => Some(Key::Paste(text.replace("\r\n", "\n").replace('\r', "\n"))),
        Event::FocusGained => Some(Key::Focus(true)),
        Event::FocusLost => Some(Key::Focus(false)),
        Event::Key(_) | Event::Mouse(_) | Event::Resize(..) => None,
    }
}

fn key_of_press(key: KeyEvent) -> Option<Key> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let alt = key.modifiers.contains(KeyModifiers::ALT);
    match key.code {
        KeyCode::Enter if (key.modifiers - KeyModifiers::CONTROL).is_empty() && !control => Some(Key::Enter),
        KeyCode::Enter => Some(Key::Newline),
        KeyCode::Char('j') if control => Some(Key::Newline),
        KeyCode::Backspace if control || alt => Some(Key::DeleteWord),
        KeyCode::Backspace => Some(Key::Backspace),
        KeyCode::Char('h') if control => Some(Key::Backspace),
        KeyCode::Char('c') if control => Some(Key::Interrupt),
        KeyCode::Char('z') if control => Some(Key::Suspend),
        KeyCode::Char('u') if control => Some(Key::DeleteLine),
        KeyCode::Char('w') if control => Some(Key::DeleteWord),
        KeyCode::Char(character) if !control && !alt => Some(Key::Character(character)),
        KeyCode::Up if key.modifiers.is_empty() => Some(Key::Up),
        KeyCode::Esc if key.modifiers.is_empty() => Some(Key::Escape),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_become_the_keys_that_the_parser_would_have_made() {
        let press = |code, modifiers| key_of(Event::Key(KeyEvent::new(code, modifiers)));
        assert_eq!(press(KeyCode::Char('中'), KeyModifiers::NONE), Some(Key::Character('中')));
        assert_eq!(press(KeyCode::Char('A'), KeyModifiers::SHIFT), Some(Key::Character('A')));
        assert_eq!(press(KeyCode::Enter, KeyModifiers::NONE), Some(Key::Enter));
        assert_eq!(press(KeyCode::Enter, KeyModifiers::ALT), Some(Key::Newline));
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Key::Interrupt));
        assert_eq!(press(KeyCode::Left, KeyModifiers::NONE), None);
        assert_eq!(key_of(Event::Paste("a\r\nb\rc".to_owned())), Some(Key::Paste("a\nb\nc".to_owned())));
    }

    #[test]
    fn of_lines_that_the_system_took_each_newline_was_enter() {
        let key = |code| Event::Key(KeyEvent::new(code, KeyModifiers::NONE));
        let (a, b, enter) = (key(KeyCode::Char('a')), key(KeyCode::Char('中')), key(KeyCode::Enter));
        assert_eq!(events_of("a\n\x1b[A中\n".as_bytes()), [a, enter.clone(), b, enter]);
        assert_eq!(events_of(b""), []);
    }
}
