//! Makes incoming text harmless: unifies line ends, and shows control characters and invisible ones.

use std::{borrow::Cow, fmt::Write as _};

use crate::character::is_invisible;

/// Shows control characters, direction overrides and invisible characters. It looks at each character alone, so
/// that the result does not depend on how a text is cut. Newlines and tabs stay.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~')) || !text.chars().any(is_hostile) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\0' => shown.push(char::REPLACEMENT_CHARACTER),
            '\u{7F}' => shown.push('␡'),
            character if character < ' ' && is_hostile(character) => {
                shown.push(char::from_u32(0x2400 + u32::from(character)).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            character if is_hostile(character) => {
                // Writing to a string cannot fail.
                let _ = write!(shown, "<U+{:04X}>", u32::from(character));
            }
            character => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

fn is_hostile(character: char) -> bool {
    // Prose needs these: soft hyphens, and the marks between texts of different direction.
    let prose = matches!(character, '\u{AD}' | '\u{61C}' | '\u{200E}'..='\u{200F}');
    character.is_control() && !matches!(character, '\t' | '\n') || is_invisible(character) && !prose
}

/// Turns `\r\n` and `\r` into one newline, across the pieces of a stream.
#[derive(Debug, Clone, Default)]
pub(super) struct LineEnds {
    after_return: bool,
}

impl LineEnds {
    pub(super) fn unify<'a>(&mut self, delta: &'a str) -> Cow<'a, str> {
        let (skipped, delta) = match delta.strip_prefix('\n') {
            Some(rest) if self.after_return => (true, rest),
            Some(_) | None => (false, delta),
        };
        if skipped || !delta.is_empty() {
            self.after_return = delta.ends_with('\r');
        }
        if delta.contains('\r') {
            Cow::Owned(delta.replace("\r\n", "\n").replace('\r', "\n"))
        } else {
            Cow::Borrowed(delta)
        }
    }
}
