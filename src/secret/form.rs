//! How a stand-in for a secret looks.

/// How it begins; so many hexadecimal digits follow. It says nothing that a name of a secret says: what follows it
/// would be taken for one.
pub(super) const START: &str = "AXI-HIDDEN-";
pub(super) const DIGITS: usize = 10;
/// So many letters beside a stand-in may be a secret of their own.
const SHORTEST: usize = 4;

/// How many of the digits that a stand-in has come first.
pub(super) fn digits(text: &str) -> usize {
    text.bytes().take(DIGITS).take_while(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase()).count()
}

/// Tells whether there is nothing but stand-ins in what was taken for a secret, and what stands around them.
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
