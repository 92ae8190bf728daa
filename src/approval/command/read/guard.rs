//! Characters that look different from what a shell reads, or that shells read differently.

use crate::character::is_unseen;

/// Longer lines are not judged, in bytes: no person reads them either.
pub(crate) const LONGEST: usize = 64 * 1024;

/// Returns the first deceptive character of a line.
pub(crate) fn odd_character(line: &str) -> Option<char> {
    line.chars().find(|character| {
        (character.is_control() && !matches!(character, '\n' | '\t'))
            || (character.is_whitespace() && !matches!(character, ' ' | '\n' | '\t'))
            // The empty braille pattern, and the characters that replace ones that could not be shown.
            || is_unseen(*character) || matches!(character, '\u{2800}' | '\u{FFFC}' | '\u{FFFD}')
    })
}
