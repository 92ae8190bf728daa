//! Which characters are not seen: one table for everything that shows, judges or removes them.

/// Tells whether a character shows nothing of itself, or turns the direction of others: the default ignorables of
/// Unicode 16 (DerivedCoreProperties.txt) without those of [`joins`], the marks of direction, line and paragraph
/// separator, interlinear annotations.
#[must_use]
pub const fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}' | '\u{180E}'
            | '\u{200B}' | '\u{200E}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}'
            | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E00FF}' | '\u{E01F0}'..='\u{E0FFF}'
    )
}

/// Tells whether a character shows nothing of itself and says how its neighbours are drawn: joiners and selectors.
/// Scripts and emoji need them, behind their own letters; behind anything else they only hide.
#[must_use]
pub const fn joins(character: char) -> bool {
    matches!(
        character,
        '\u{180B}'..='\u{180D}' | '\u{180F}' | '\u{200C}'..='\u{200D}' | '\u{FE00}'..='\u{FE0F}'
            | '\u{E0100}'..='\u{E01EF}'
    )
}

/// Tells whether nothing is seen of a character, whatever stands beside it.
#[must_use]
pub const fn is_unseen(character: char) -> bool {
    is_invisible(character) || joins(character)
}
