//! Searches by letters: does the part of a fuzzy match that is cheap. Pure.

/// Rows of a search at most; nobody reads further.
pub(crate) const MOST_FOUND: usize = 100;
/// Lines longer than this, in bytes, are not looked through fuzzily.
pub(crate) const LONGEST_FUZZY: usize = 512;

/// Tells whether the letters of `wanted` stand in `text` in their order: what a fuzzy match needs, at a fraction
/// of its price.
pub(crate) fn has_letters(text: &str, wanted: &str) -> bool {
    if wanted.is_ascii() {
        let mut letters = text.bytes();
        return wanted.bytes().filter(|letter| *letter != b' ').all(|letter| letters.any(|other| other == letter));
    }
    let mut letters = text.chars();
    wanted.chars().filter(|letter| !letter.is_whitespace()).all(|letter| letters.any(|other| other == letter))
}

/// The same as [`has_letters`] for a text in any case, without making another text of it; `true` where that does not
/// tell.
pub(crate) fn may_have_letters(text: &str, wanted: &str) -> bool {
    if !wanted.is_ascii() || !text.is_ascii() {
        return true;
    }
    let mut letters = text.bytes().map(|letter| letter.to_ascii_lowercase());
    wanted.bytes().filter(|letter| *letter != b' ').all(|letter| letters.any(|other| other == letter))
}
