//! Characters that are shown otherwise than a shell reads them, or that shells read differently.

/// Longer lines are not judged, in bytes: a person does not read them either.
pub(crate) const LONGEST: usize = 64 * 1024;

/// The first character of a line that is not what it looks like.
pub(crate) fn odd_character(line: &str) -> Option<char> {
    line.chars().find(|character| {
        let code = u32::from(*character);
        (character.is_control() && !matches!(character, '\n' | '\t'))
            || (character.is_whitespace() && !matches!(character, ' ' | '\n' | '\t'))
            // Invisible, joining, and those that turn the direction of writing.
            || matches!(code, 0xAD | 0x34F | 0x61C | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F | 0x200B..=0x200F
                | 0x202A..=0x202E | 0x2060..=0x206F | 0x2800 | 0x3164 | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFD | 0xE0000..=0xE0FFF)
    })
}
