//! Events that the line editor's reader took from the terminal and did not use.

use std::io;
use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, poll, read};

use super::parser::Key;
use super::pending::Pending;

/// How many events are taken at most, so that a terminal that never falls silent cannot hold up the turn.
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
}
