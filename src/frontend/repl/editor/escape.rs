//! Distinguishes the ESC key from the beginning of an arrow key whose bytes arrive late.
//!
//! crossterm takes an ESC that is alone in a read for the key, and the bytes after it for typing. On a slow line an
//! arrow key would then put `[A` into the line, and Alt+Enter would send it. So an ESC counts as the key only if
//! nothing has come for a moment; and later bytes that look like the rest of a sequence count as that.

use std::time::{Duration, Instant};

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyModifiers};

/// How long the bytes of a sequence may be apart: nobody types `[` and the letter behind it so fast.
const APART: Duration = Duration::from_millis(60);
/// How late the rest of a sequence may be after its ESC was believed.
const LATE: Duration = Duration::from_millis(300);
/// Longest rest of a sequence that a key of a keyboard has, in bytes.
const LONGEST: usize = 8;

/// What followed an ESC.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Followed {
    /// The rest of this key.
    Key(KeyEvent),
    /// What is no part of it: the ESC is the key.
    Apart(Vec<Event>),
}

/// What a key is that came after a believed ESC.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Late {
    /// A key of its own; so were these characters before it.
    Own(String),
    /// It may be a part of a sequence.
    Part,
    /// It ends this key, of which so many characters were taken for typing.
    Ends(KeyEvent, usize),
}

/// Tells them.
pub(super) struct Escape {
    wait: Duration,
    /// Waits for an event; a seam for tests.
    pub(super) read: fn(Duration) -> Option<Event>,
    /// When ESC was believed last.
    believed: Option<Instant>,
    /// What came after it and may be the rest of a sequence, and when the last of it came.
    rest: String,
    grew: Option<Instant>,
}

impl Escape {
    /// Believes an ESC when nothing comes for `wait`; see [`crate::terminal::escape_wait`].
    pub(super) fn new(wait: Duration) -> Self {
        Self { wait, read, believed: None, rest: String::new(), grew: None }
    }

    /// Reads what follows an ESC. Waits at most for the time given to [`Escape::new`], and while a sequence goes on.
    pub(super) fn follow(&self) -> Followed {
        let (mut events, mut rest, mut wait) = (Vec::new(), String::new(), self.wait);
        while let Some(event) = (self.read)(wait) {
            wait = APART.max(self.wait);
            match character(&event) {
                Some(character) => rest.push(character),
                None if rest.is_empty() && is_enter(&event) => {
                    return Followed::Key(KeyEvent::new(KeyCode::Enter, KeyModifiers::ALT));
                }
                None => rest.clear(),
            }
            events.push(event);
            match sequence(&rest) {
                Sequence::Whole(key) => return Followed::Key(key),
                Sequence::Begun => {}
                Sequence::None => break,
            }
        }
        Followed::Apart(events)
    }

    /// Notes when an ESC was taken for the key.
    pub(super) fn believe(&mut self, at: Instant) {
        self.believed = Some(at);
        self.rest.clear();
    }

    /// Judges a key that comes `now`.
    pub(super) fn late(&mut self, key: KeyEvent, now: Instant) -> Late {
        let since = |then: Option<Instant>| then.map_or(Duration::MAX, |then| now.saturating_duration_since(then));
        let in_time = if self.rest.is_empty() { since(self.believed) <= LATE } else { since(self.grew) <= APART };
        if let (true, Some(character)) = (in_time, character(&Event::Key(key))) {
            let typed = self.rest.len();
            self.rest.push(character);
            self.grew = Some(now);
            // `O` alone begins too many words.
            match sequence(&self.rest) {
                Sequence::Begun if !self.rest.starts_with('O') => return Late::Part,
                Sequence::Whole(key) => {
                    self.forget();
                    return Late::Ends(key, typed);
                }
                Sequence::Begun | Sequence::None => drop(self.rest.pop()),
            }
        }
        self.forget()
    }

    fn forget(&mut self) -> Late {
        self.believed = None;
        Late::Own(std::mem::take(&mut self.rest))
    }
}

fn read(wait: Duration) -> Option<Event> {
    event::poll(wait).is_ok_and(|ready| ready).then(event::read)?.ok()
}

fn character(event: &Event) -> Option<char> {
    match event {
        Event::Key(KeyEvent { code: KeyCode::Char(character), modifiers, .. })
            if (*modifiers - KeyModifiers::SHIFT).is_empty() =>
        {
            Some(*character)
        }
        _ => None,
    }
}

fn is_enter(event: &Event) -> bool {
    matches!(event, Event::Key(key) if key.code == KeyCode::Enter && key.modifiers.is_empty())
}

#[derive(Debug, PartialEq, Eq)]
enum Sequence {
    None,
    Begun,
    Whole(KeyEvent),
}

/// Reads what stands behind the ESC of a key (xterm's ctlseqs: `CSI A`, `CSI 1 ; 5 A`, `CSI 3 ~`, `SS3 A`).
fn sequence(rest: &str) -> Sequence {
    let key = |code, modifiers| Sequence::Whole(KeyEvent::new(code, modifiers));
    let (first, last) = (rest.chars().next(), rest.chars().next_back());
    match (first, last) {
        (Some('[' | 'O'), _) if rest.len() == 1 => Sequence::Begun,
        (Some('O'), Some(last)) if rest.len() == 2 => {
            letter(last).map_or(Sequence::None, |code| key(code, KeyModifiers::NONE))
        }
        (Some('['), Some('0'..='9' | ';')) if rest.len() <= LONGEST => Sequence::Begun,
        (Some('['), Some(last)) => {
            let mut fields = rest[1..].trim_end_matches(last).split(';').map(|field| field.parse::<u8>().ok());
            let (number, modifiers) = (fields.next().flatten(), modifiers(fields.next().flatten()));
            let code = if last == '~' { number.and_then(numbered) } else { letter(last) };
            code.map_or(Sequence::None, |code| key(code, modifiers))
        }
        (_, _) => Sequence::None,
    }
}

/// Modifiers are sent plus one.
fn modifiers(field: Option<u8>) -> KeyModifiers {
    let bits = field.unwrap_or(1).saturating_sub(1);
    let known = [(1, KeyModifiers::SHIFT), (2, KeyModifiers::ALT), (4, KeyModifiers::CONTROL)];
    known.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, modifier)| *modifier).collect()
}

const fn letter(last: char) -> Option<KeyCode> {
    Some(match last {
        'A' => KeyCode::Up,
        'B' => KeyCode::Down,
        'C' => KeyCode::Right,
        'D' => KeyCode::Left,
        'F' => KeyCode::End,
        'H' => KeyCode::Home,
        'P' => KeyCode::F(1),
        'Q' => KeyCode::F(2),
        'R' => KeyCode::F(3),
        'S' => KeyCode::F(4),
        'Z' => KeyCode::BackTab,
        _ => return None,
    })
}

const fn numbered(number: u8) -> Option<KeyCode> {
    Some(match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => KeyCode::F(number - 10),
        17..=21 => KeyCode::F(number - 11),
        23..=24 => KeyCode::F(number - 12),
        _ => return None,
    })
}

#[cfg(test)]
#[path = "escape_tests.rs"]
mod tests;
