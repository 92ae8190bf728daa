//! Bytes of a terminal into keys, in any cutting. Pure: time is told from outside by [`Parser::expire`].
//!
//! Control sequences: ECMA-48; keys: xterm's ctlseqs and the kitty keyboard protocol
//! (<https://sw.kovidgoyal.net/kitty/keyboard-protocol/>); paste brackets: CSI 200~ and CSI 201~.

use crate::terminal::environment::{Background, background_of_answer};

/// What was pressed, pasted or told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    Character(char),
    /// Text between paste brackets, line ends as `\n`.
    Paste(String),
    Enter,
    /// Alt+Enter, Ctrl+J, and Enter with another modifier.
    Newline,
    Backspace,
    DeleteWord,
    DeleteLine,
    Up,
    Down,
    PageUp,
    PageDown,
    Escape,
    /// Ctrl+C.
    Interrupt,
    /// Ctrl+Z.
    Suspend,
    /// Ctrl+D.
    End,
    Focus(bool),
    /// The terminal's answer to OSC 11.
    Background(Background),
    /// The terminal's answer to `CSI c`.
    Attributes,
}

/// What an unfinished sequence is waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Awaited {
    Nothing,
    /// A lone ESC: the key, or the start of a sequence.
    Escape,
    /// The rest of a sequence or of a character.
    Sequence,
    /// Nothing; but what comes may be the late rest of a sequence whose ESC was taken for the key.
    Tail,
    /// The rest of such a late rest.
    HeldTail,
    /// The end of a paste.
    Paste,
}

/// Longest control sequence and control string that is believed to be one, in bytes.
const LONGEST_SEQUENCE: usize = 64;
const LONGEST_TAIL: usize = 8;
const LONGEST_STRING: usize = 64 * 1024;
const PASTE_END: &[u8] = b"\x1b[201~";
const CONTROL_C: u8 = 0x03;

#[derive(Debug, Default)]
enum State {
    #[default]
    Ground,
    Character(Vec<u8>),
    Escape,
    Control(Vec<u8>),
    /// SS3, or the Linux console's `CSI [`: one more byte.
    One {
        arrows: bool,
    },
    /// X10 mouse report: bytes still to come.
    Mouse(u8),
    /// OSC, DCS, APC, PM, SOS: bytes so far, their beginning, and whether the last one was ESC.
    Text {
        length: usize,
        start: Vec<u8>,
        escape: bool,
    },
    Paste(Vec<u8>),
    /// What came after an ESC that was taken for the key.
    Tail(Vec<u8>),
}

/// The parser's state between two reads.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    state: State,
    /// Another ESC came right before the one of the sequence under way.
    doubled: bool,
}

impl Parser {
    /// Takes bytes; appends the keys that are complete.
    pub(crate) fn feed(&mut self, bytes: &[u8], keys: &mut Vec<Key>) {
        for &byte in bytes {
            self.byte(byte, keys);
        }
    }

    pub(crate) fn awaited(&self) -> Awaited {
        match self.state {
            State::Ground => Awaited::Nothing,
            State::Escape => Awaited::Escape,
            State::Paste(_) => Awaited::Paste,
            State::Tail(ref held) if held.is_empty() => Awaited::Tail,
            State::Tail(_) => Awaited::HeldTail,
            State::Character(_) | State::Control(_) | State::One { .. } | State::Mouse(_) | State::Text { .. } => {
                Awaited::Sequence
            }
        }
    }

    /// Says that nothing more came in time: a lone ESC is the key, half a sequence is nothing, a paste without
    /// its end is text.
    pub(crate) fn expire(&mut self, keys: &mut Vec<Key>) {
        self.doubled = false;
        match std::mem::take(&mut self.state) {
            State::Ground | State::Control(_) | State::One { .. } | State::Mouse(_) | State::Text { .. } => {}
            State::Character(_) => keys.push(Key::Character('\u{FFFD}')),
            State::Escape => keys.push(Key::Escape),
            State::Paste(content) => keys.push(pasted(&content)),
            State::Tail(held) => keys.extend(held.into_iter().map(|byte| Key::Character(char::from(byte)))),
        }
    }

    /// Says that an ESC was taken for the key: until [`Parser::expire`] is called, what looks like the rest of a
    /// sequence (`[A`) is that, not text.
    pub(crate) fn expect_tail(&mut self) {
        if matches!(self.state, State::Ground) {
            self.state = State::Tail(Vec::new());
        }
    }

    fn byte(&mut self, byte: u8, keys: &mut Vec<Key>) {
        if self.is_answer_after_escape(byte) {
            keys.push(Key::Escape);
        }
        self.state = match std::mem::take(&mut self.state) {
            State::Ground => ground(byte, keys),
            State::Character(bytes) => character(bytes, byte, keys),
            State::Escape => escape(byte, keys),
            State::Control(parameters) => control(parameters, byte, keys),
            State::One { arrows } => match byte {
                0..0x20 => ground(byte, keys),
                b'A' if arrows => {
                    keys.push(Key::Up);
                    State::Ground
                }
                b'B' if arrows => {
                    keys.push(Key::Down);
                    State::Ground
                }
                _ => State::Ground,
            },
            State::Mouse(left) if left > 1 => State::Mouse(left - 1),
            State::Mouse(_) => State::Ground,
            State::Text { length, start, escape } => text((length, start), escape, byte, keys),
            State::Paste(mut content) => {
                content.push(byte);
                if content.ends_with(PASTE_END) {
                    content.truncate(content.len() - PASTE_END.len());
                    keys.push(pasted(&content));
                    State::Ground
                } else {
                    State::Paste(content)
                }
            }
            State::Tail(held) => tail(held, byte, keys),
        };
    }

    /// Tells whether, of two ESC in a row, the first was the key and the second begins something that the terminal says: an
    /// answer, or that it has the focus. The terminal may say it right after the key was pressed. It tells so only once.
    fn is_answer_after_escape(&mut self, byte: u8) -> bool {
        let doubled = std::mem::take(&mut self.doubled);
        if matches!(self.state, State::Escape) {
            self.doubled = byte == 0x1b || doubled && byte == b'[';
            return doubled && matches!(byte, b']' | b'P' | b'X' | b'^' | b'_');
        }
        let State::Control(parameters) = &self.state else { return false };
        match byte {
            b'<'..=b'?' if parameters.is_empty() => doubled,
            // A key has parameters too.
            0x20..=0x3f => {
                self.doubled = doubled;
                false
            }
            b'I' | b'M' | b'O' => doubled && parameters.is_empty(),
            _ => doubled && matches!(byte, b'R' | b'c' | b'n' | b't' | b'x' | b'y'),
        }
    }
}

/// Holds back what may be the rest of an arrow's or a function key's sequence; anything else is text after all.
fn tail(mut held: Vec<u8>, byte: u8, keys: &mut Vec<Key>) -> State {
    let goes_on = match held.as_slice() {
        [] => matches!(byte, b'[' | b'O'),
        [b'[', ..] => matches!(byte, b'0'..=b'9' | b';') && held.len() < LONGEST_TAIL,
        [..] => false,
    };
    if goes_on {
        held.push(byte);
        return State::Tail(held);
    }
    match (held.as_slice(), byte) {
        ([b'O'], b'A' | b'B') | ([b'[', ..], b'A'..=b'F' | b'H' | b'P'..=b'S' | b'Z' | b'u' | b'~') => {
            keys.extend(sequence(held.get(1..).unwrap_or_default(), byte));
            State::Ground
        }
        ([b'O'], b'C' | b'D' | b'F' | b'H' | b'P'..=b'S') => State::Ground,
        (_, _) => {
            keys.extend(held.into_iter().map(|byte| Key::Character(char::from(byte))));
            ground(byte, keys)
        }
    }
}

fn ground(byte: u8, keys: &mut Vec<Key>) -> State {
    let key = match byte {
        0x1b => return State::Escape,
        CONTROL_C => Key::Interrupt,
        b'\r' => Key::Enter,
        b'\n' => Key::Newline,
        0x08 | 0x7f => Key::Backspace,
        0x15 => Key::DeleteLine,
        0x17 => Key::DeleteWord,
        0x1a => Key::Suspend,
        0x04 => Key::End,
        0..=0x1f => return State::Ground,
        0x20..=0x7e => Key::Character(char::from(byte)),
        0x80..=0xff => return character(Vec::new(), byte, keys),
    };
    keys.push(key);
    State::Ground
}

fn character(mut bytes: Vec<u8>, byte: u8, keys: &mut Vec<Key>) -> State {
    if !bytes.is_empty() && !(0x80..0xc0).contains(&byte) {
        keys.push(Key::Character('\u{FFFD}'));
        return ground(byte, keys);
    }
    bytes.push(byte);
    match std::str::from_utf8(&bytes) {
        Ok(text) => keys.extend(text.chars().filter(|it| !it.is_control()).map(Key::Character)),
        Err(error) if error.error_len().is_none() => return State::Character(bytes),
        Err(_) => keys.push(Key::Character('\u{FFFD}')),
    }
    State::Ground
}

fn escape(byte: u8, keys: &mut Vec<Key>) -> State {
    match byte {
        b'[' => State::Control(Vec::new()),
        b'O' => State::One { arrows: true },
        b']' => State::Text { length: 0, start: vec![byte], escape: false },
        b'P' | b'X' | b'^' | b'_' => State::Text { length: 0, start: Vec::new(), escape: false },
        // Option+arrow of macOS terminals is ESC ESC [ A: still one key.
        0x1b => State::Escape,
        b'\r' | b'\n' => {
            keys.push(Key::Newline);
            State::Ground
        }
        0x08 | 0x7f => {
            keys.push(Key::DeleteWord);
            State::Ground
        }
        // Alt and a letter.
        0x20..=0x7e => State::Ground,
        0..0x20 | 0x80..=0xff => {
            keys.push(Key::Escape);
            ground(byte, keys)
        }
    }
}

fn control(mut parameters: Vec<u8>, byte: u8, keys: &mut Vec<Key>) -> State {
    match byte {
        0x20..=0x3f if parameters.len() < LONGEST_SEQUENCE => {
            parameters.push(byte);
            State::Control(parameters)
        }
        b'[' if parameters.is_empty() => State::One { arrows: false },
        b'M' if parameters.is_empty() => State::Mouse(3),
        b'~' if parameters == b"200" => State::Paste(Vec::new()),
        0x40..=0x7e => {
            keys.extend(sequence(&parameters, byte));
            State::Ground
        }
        0..0x20 => ground(byte, keys),
        0x20..=0x3f | 0x7f..=0xff => State::Ground,
    }
}

fn text((length, mut start): (usize, Vec<u8>), escape_seen: bool, byte: u8, keys: &mut Vec<Key>) -> State {
    match byte {
        0x07 => {
            keys.extend(answer(&start));
            State::Ground
        }
        b'\\' if escape_seen => {
            keys.extend(answer(&start));
            State::Ground
        }
        CONTROL_C => ground(byte, keys),
        _ if escape_seen => escape(byte, keys),
        _ if length >= LONGEST_STRING => State::Ground,
        _ => {
            if byte != 0x1b && !start.is_empty() && start.len() < LONGEST_SEQUENCE {
                start.push(byte);
            }
            State::Text { length: length + 1, start, escape: byte == 0x1b }
        }
    }
}

/// Reads an operating system command that a terminal sends as an answer.
fn answer(start: &[u8]) -> Option<Key> {
    let text = std::str::from_utf8(start).ok().filter(|text| text.starts_with("]11;"))?;
    background_of_answer(text).map(Key::Background)
}

fn sequence(parameters: &[u8], last: u8) -> Option<Key> {
    let mut fields = Vec::new();
    for field in parameters.split(|&byte| byte == b';') {
        let mut parts =
            field.split(|&byte| byte == b':').map(|part| std::str::from_utf8(part).ok()?.parse::<u32>().ok());
        fields.push((parts.next().flatten(), parts.next().flatten()));
    }
    let field = |index: usize| fields.get(index).copied().unwrap_or((None, None));
    let (modifiers, event) = field(1);
    match last {
        b'u' => key(field(0).0?, modifiers, event),
        // xterm's modifyOtherKeys: CSI 27 ; modifiers ; code ~
        b'~' if field(0).0 == Some(27) => key(field(2).0?, modifiers, None),
        b'A' if matches!(modifiers, None | Some(1)) && event != Some(3) => Some(Key::Up),
        b'B' if matches!(modifiers, None | Some(1)) && event != Some(3) => Some(Key::Down),
        b'~' if modifiers.is_none() && field(0).0 == Some(5) => Some(Key::PageUp),
        b'~' if modifiers.is_none() && field(0).0 == Some(6) => Some(Key::PageDown),
        b'I' if parameters.is_empty() => Some(Key::Focus(true)),
        b'O' if parameters.is_empty() => Some(Key::Focus(false)),
        b'c' if parameters.starts_with(b"?") => Some(Key::Attributes),
        _ => None,
    }
}

/// A key of the kitty protocol; modifiers are sent plus one, event 3 is a release.
fn key(code: u32, modifiers: Option<u32>, event: Option<u32>) -> Option<Key> {
    if event == Some(3) {
        return None;
    }
    // Caps lock and num lock, 64 and 128, do not matter.
    let modifiers = modifiers.unwrap_or(1).saturating_sub(1) & 0x3f;
    let (alt, control) = (modifiers & 2 != 0, modifiers & 4 != 0);
    match (char::from_u32(code)?, control) {
        ('\x1b', false) if modifiers == 0 => Some(Key::Escape),
        ('\r', _) if modifiers == 0 => Some(Key::Enter),
        ('\r', _) | ('j', true) => Some(Key::Newline),
        ('\x7f', _) if alt || control => Some(Key::DeleteWord),
        ('\x7f', false) | ('h', true) => Some(Key::Backspace),
        ('c', true) => Some(Key::Interrupt),
        ('z', true) => Some(Key::Suspend),
        ('d', true) => Some(Key::End),
        ('u', true) => Some(Key::DeleteLine),
        ('w', true) => Some(Key::DeleteWord),
        ('m', true) => Some(Key::Enter),
        ('[', true) => Some(Key::Escape),
        // Private use: function keys of the protocol.
        (character, false)
            if modifiers <= 1 && !character.is_control() && !('\u{E000}'..='\u{F8FF}').contains(&character) =>
        {
            Some(Key::Character(if modifiers == 1 { upper(character) } else { character }))
        }
        _ => None,
    }
}

fn upper(character: char) -> char {
    let mut upper = character.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(single), None) => single,
        _ => character,
    }
}

fn pasted(content: &[u8]) -> Key {
    Key::Paste(String::from_utf8_lossy(content).replace("\r\n", "\n").replace('\r', "\n"))
}

#[cfg(test)]
#[path = "parser_tests.rs"]
mod tests;
