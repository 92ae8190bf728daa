//! Decides by the script of a letter where a row may break. Pure.

/// Where a row may break next to a letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Nothing stands before: the start of a row, or a space.
    Start,
    /// Letters next to which a row breaks only at spaces.
    Other,
    /// Ideographs and kana: a row may break on both sides.
    Wide,
    /// Wide opening punctuation: no break after it.
    Opening,
    /// Wide closing punctuation and small kana: no break before it.
    Closing,
}

/// Tells whether a text starts with ASCII punctuation that stays with the wide letter before it.
pub(super) fn ascii_closes(text: &str) -> bool {
    text.starts_with(['.', ',', ':', ';', '!', '?', ')', ']', '}', '%'])
}

/// Returns where a row may break next to a letter.
pub(super) fn class_of(character: char) -> Class {
    match character {
        '\u{3001}'
        | '\u{3002}'
        | '\u{3005}'
        | '\u{3009}'
        | '\u{300B}'
        | '\u{300D}'
        | '\u{300F}'
        | '\u{3011}'
        | '\u{3015}'
        | '\u{3017}'
        | '\u{3019}'
        | '\u{301B}'
        | '\u{301C}'
        | '\u{301E}'
        | '\u{301F}'
        | '\u{303B}'
        | '\u{3041}'
        | '\u{3043}'
        | '\u{3045}'
        | '\u{3047}'
        | '\u{3049}'
        | '\u{3063}'
        | '\u{3083}'
        | '\u{3085}'
        | '\u{3087}'
        | '\u{308E}'
        | '\u{3099}'..='\u{309E}'
        | '\u{30A0}'
        | '\u{30A1}'
        | '\u{30A3}'
        | '\u{30A5}'
        | '\u{30A7}'
        | '\u{30A9}'
        | '\u{30C3}'
        | '\u{30E3}'
        | '\u{30E5}'
        | '\u{30E7}'
        | '\u{30EE}'
        | '\u{30FB}'..='\u{30FE}'
        | '\u{FF01}'
        | '\u{FF05}'
        | '\u{FF09}'
        | '\u{FF0C}'
        | '\u{FF0E}'
        | '\u{FF1A}'
        | '\u{FF1B}'
        | '\u{FF1F}'
        | '\u{FF3D}'
        | '\u{FF5D}'
        | '\u{FF60}'
        | '\u{FF61}'
        | '\u{FF63}'
        | '\u{FF64}' => Class::Closing,
        '\u{3008}' | '\u{300A}' | '\u{300C}' | '\u{300E}' | '\u{3010}' | '\u{3014}' | '\u{3016}' | '\u{3018}'
        | '\u{301A}' | '\u{301D}' | '\u{FF08}' | '\u{FF3B}' | '\u{FF5B}' | '\u{FF5F}' | '\u{FF62}' => {
            Class::Opening
        }
        _ if is_ideographic(character) => Class::Wide,
        _ => Class::Other,
    }
}

/// Tells whether a character belongs to a script with wide letters and no spaces (so not Korean).
pub(crate) fn is_ideographic(character: char) -> bool {
    matches!(character,
        '\u{2E80}'..='\u{2FFF}' | '\u{3000}'..='\u{303F}' | '\u{3040}'..='\u{30FF}' | '\u{3100}'..='\u{312F}'
        | '\u{31A0}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{FE30}'..='\u{FE4F}'
        | '\u{FF00}'..='\u{FF9F}' | '\u{FFE0}'..='\u{FFE6}' | '\u{1B000}'..='\u{1B2FF}'
        | '\u{20000}'..='\u{3FFFF}')
}

/// Tells whether text may be cut between these two letters without a cluster or a run of markup being cut.
pub(crate) fn cuts_between(before: char, after: char) -> bool {
    let simple = |character| {
        is_ideographic(character)
            && !matches!(character, '\u{302A}'..='\u{302F}' | '\u{3099}' | '\u{309A}' | '\u{FF9E}' | '\u{FF9F}')
    };
    simple(before) && simple(after)
}
