//! Characters that are shown otherwise than a shell reads them, or that shells read differently.

use crate::character::is_unseen;

/// Longer lines are not judged, in bytes: a person does not read them either.
pub(crate) const LONGEST: usize = 64 * 1024;

/// The first character of a line that is not what it looks like.
pub(crate) fn odd_character(line: &str) -> Option<char> {
    line.chars().find(|character| {
        (character.is_control() && !matches!(character, '\n' | '\t'))
            || (character.is_whitespace() && !matches!(character, ' ' | '\n' | '\t'))
            // The empty braille pattern, and what stands for a character that could not be shown.
            || is_unseen(*character) || matches!(character, '\u{2800}' | '\u{FFFC}' | '\u{FFFD}')
    })
}
