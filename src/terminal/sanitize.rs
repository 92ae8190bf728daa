//! Makes text from outside harmless: nothing in it can control the terminal, or look like something else.
//!
//! Control characters are shown as their Unicode pictures (`␛`), invisible and direction-changing characters as
//! `<U+202E>`. A joiner stays where a script or an emoji needs it. That depends on the characters around it, so a
//! text has to be cleaned as a whole: if it is cut between an emoji and its joiner, the joiner is shown.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use crate::character::is_invisible;

/// Which control characters a place can print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breaks {
    /// Newlines and tabs stay; a carriage return before a newline is dropped. For text of many lines.
    Keep,
    /// Tabs stay, newlines are shown as pictures. For one row: a file name, a title, a command.
    Show,
}

/// Cleans text of many lines: newlines and tabs stay.
pub fn sanitize(text: &str) -> Cow<'_, str> {
    clean(text, Breaks::Keep)
}

/// Cleans text of one row: tabs stay, newlines become `␊`.
pub fn sanitize_line(text: &str) -> Cow<'_, str> {
    clean(text, Breaks::Show)
}

/// Cleans text; allocates only when something has to be changed.
pub fn clean(text: &str, breaks: Breaks) -> Cow<'_, str> {
    let harmless = |byte: u8| matches!(byte, b' '..=b'~' | b'\t') || (byte == b'\n' && breaks == Breaks::Keep);
    let Some(start) = text.bytes().position(|byte| !harmless(byte)) else {
        return Cow::Borrowed(text);
    };
    let mut cleaned: Option<String> = None;
    judge_from(text, start, breaks, |index, character, verdict| match verdict {
        Verdict::Stay => {
            if let Some(cleaned) = &mut cleaned {
                cleaned.push(character);
            }
        }
        Verdict::Drop | Verdict::Show => {
            let cleaned = cleaned.get_or_insert_with(|| text[..index].to_owned());
            if verdict == Verdict::Show {
                show(character, cleaned);
            }
        }
    });
    cleaned.map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Returns where a text has characters that are invisible, or that change how others look: those that [`sanitize`]
/// would replace. For places in which every byte has to stay where it is.
pub fn concealed(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if let Some(start) = text.bytes().position(|byte| !matches!(byte, b' '..=b'~' | b'\t' | b'\n')) {
        judge_from(text, start, Breaks::Keep, |index, character, verdict| {
            if verdict != Verdict::Stay {
                found.push(index..index + character.len_utf8());
            }
        });
    }
    found
}

/// Escapes characters in JSON that a terminal, or a person reading it there, would misread: C1 controls, and
/// characters that are invisible or change the direction of others. For every program the JSON still means the
/// same.
pub fn escape_json(json: String) -> String {
    let is_bad = |character: char| matches!(character, '\u{7F}'..='\u{9F}') || is_invisible(character);
    if json.is_ascii() && !json.contains('\u{7F}') || !json.chars().any(is_bad) {
        return json;
    }
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        if is_bad(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a String cannot fail.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(character);
        }
    }
    escaped
}

/// Judges each character from byte `start` on.
fn judge_from(text: &str, start: usize, breaks: Breaks, mut each: impl FnMut(usize, char, Verdict)) {
    // The character before a joiner decides about it: begin one character earlier.
    let start = text[..start].char_indices().next_back().map_or(0, |(index, _)| index);
    let mut previous = None;
    let mut characters = text[start..].char_indices().peekable();
    let mut flag_ends = 0;
    while let Some((offset, character)) = characters.next() {
        let index = start + offset;
        let next = characters.peek().map(|&(_, next)| next);
        if character == '\u{1F3F4}' {
            flag_ends = index + character.len_utf8() + flag_length(&text[index + character.len_utf8()..]);
        }
        let verdict = if index < flag_ends { Verdict::Stay } else { judge(previous, character, next, breaks) };
        each(index, character, verdict);
        // A character shown as a picture cannot carry the ones after it.
        previous = if verdict == Verdict::Stay { Some(character) } else { Some('>') };
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Stay,
    Show,
    Drop,
}

fn judge(previous: Option<char>, character: char, next: Option<char>, breaks: Breaks) -> Verdict {
    let harmless = match character {
        ' '..='~' | '\t' => true,
        '\n' => breaks == Breaks::Keep,
        '\r' if breaks == Breaks::Keep && next == Some('\n') => return Verdict::Drop,
        '\u{200C}' => previous.is_some_and(joins) && next.is_some_and(joins),
        '\u{200D}' => {
            previous.is_some_and(joins)
                || (previous.is_some_and(continues_emoji) && next.is_some_and(is_pictograph))
        }
        // One selector chooses a glyph; several, or one after nothing, carry hidden data.
        '\u{FE00}'..='\u{FE0F}' => {
            previous.is_some_and(|base| !base.is_ascii_control() && !is_selector(base) && base != ' ')
        }
        '\u{E0100}'..='\u{E01EF}' => previous.is_some_and(is_ideograph),
        _ => !character.is_control() && !is_invisible(character),
    };
    if harmless { Verdict::Stay } else { Verdict::Show }
}

fn show(character: char, out: &mut String) {
    match character {
        '\0'..='\u{1F}' => out.push(char::from_u32(0x2400 + u32::from(character)).unwrap_or('\u{FFFD}')),
        '\u{7F}' => out.push('\u{2421}'),
        _ => {
            // Writing to a String cannot fail.
            let _ = write!(out, "<U+{:04X}>", u32::from(character));
        }
    }
}

/// Tells whether the spelling of a script needs joiners: Arabic and Syriac ranges, Indic, Myanmar, Khmer,
/// Mongolian.
fn joins(character: char) -> bool {
    matches!(
        character,
        '\u{600}'..='\u{8FF}' | '\u{900}'..='\u{DFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{18AF}'
            | '\u{FB50}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}'
    ) && !is_invisible(character)
}

fn is_pictograph(character: char) -> bool {
    matches!(
        character,
        '\u{1F000}'..='\u{1FAFF}' | '\u{2190}'..='\u{2BFF}' | '\u{A9}' | '\u{AE}' | '\u{203C}' | '\u{2049}'
            | '\u{2122}' | '\u{2139}' | '\u{3030}' | '\u{303D}' | '\u{3297}' | '\u{3299}'
    )
}

fn continues_emoji(character: char) -> bool {
    is_pictograph(character) || character == '\u{FE0F}'
}

fn is_selector(character: char) -> bool {
    matches!(character, '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}')
}

fn is_ideograph(character: char) -> bool {
    matches!(character, '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

/// Returns the length in bytes of the tag sequence after a black flag, or 0 if it is not complete (UTS 51, emoji
/// tag sequences: 3 to 6 tag letters or digits, then the cancel tag).
fn flag_length(rest: &str) -> usize {
    let mut length = 0;
    for (count, character) in rest.chars().take(7).enumerate() {
        length += character.len_utf8();
        match character {
            '\u{E0030}'..='\u{E0039}' | '\u{E0061}'..='\u{E007A}' => {}
            '\u{E007F}' if count >= 3 => return length,
            _ => return 0,
        }
    }
    0
}

#[cfg(test)]
#[path = "sanitize_tests.rs"]
mod tests;
