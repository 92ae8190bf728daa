//! The form of a stand-in for a secret.

/// The beginning of a stand-in; hexadecimal digits follow. It must not contain a word that names a secret: the text
/// after it would be taken for one.
pub(super) const START: &str = "AXI-HIDDEN-";
pub(super) const DIGITS: usize = 10;
/// From this many letters on, text next to a stand-in may be a secret of its own.
const SHORTEST: usize = 4;

/// Counts the stand-in's digits at the start of a text.
pub(super) fn digits(text: &str) -> usize {
    text.bytes().take(DIGITS).take_while(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase()).count()
}

/// Tells whether a text that was taken for a secret contains only stand-ins and a few characters around them.
pub(super) fn is_all_of(text: &str) -> bool {
    let (mut rest, mut beside, mut any) = (text, 0, false);
    while let Some(at) = rest.find(START) {
        let length = digits(&rest[at + START.len()..]);
        any |= length == DIGITS;
        beside += letters(&rest[..at]) + if length == DIGITS { 0 } else { length };
        rest = &rest[at + START.len() + length..];
    }
    any && beside + letters(rest) < SHORTEST
}

fn letters(text: &str) -> usize {
    text.chars().filter(|character| character.is_alphanumeric()).count()
}
