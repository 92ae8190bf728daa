//! Runs of `*`, `_` or `~~`: whether a run may open or close, by CommonMark's rules and by what Chinese, Japanese
//! and Korean text needs.
//!
//! CommonMark requires a space or punctuation next to a run that touches punctuation. These scripts have no spaces:
//! `**「強調」**は` would stay literal. So their letters count as a boundary here, and their punctuation as letters (the
//! amendment known as markdown-cjk-friendly).

use crate::terminal::markdown::rows::is_ideographic;

/// How far apart the opener and the closer of a construct may be, in bytes of source.
pub(crate) const REACH: usize = 2048;

/// A run of one delimiter.
#[derive(Debug, Clone)]
pub(super) struct Delimiter {
    pub(super) byte: u8,
    pub(super) start: usize,
    pub(super) length: usize,
    /// How many of its characters are not paired yet.
    pub(super) left: usize,
    pub(super) can_open: bool,
    pub(super) can_close: bool,
    pub(super) alive: bool,
    pub(super) closes: Marks,
    pub(super) opens: Marks,
}

/// How many emphases of each kind begin or end here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) emphasis: usize,
    pub(super) strong: usize,
    pub(super) strikethrough: usize,
}

impl Delimiter {
    pub(super) fn new(byte: u8, start: usize, length: usize, before: char, after: char) -> Self {
        let narrow_punctuation = |character| is_punctuation(character) && !is_east_asian(character);
        let left = !after.is_whitespace()
            && (!narrow_punctuation(after)
                || before.is_whitespace()
                || narrow_punctuation(before)
                || is_east_asian(before));
        let right = !before.is_whitespace()
            && (!narrow_punctuation(before)
                || after.is_whitespace()
                || narrow_punctuation(after)
                || is_east_asian(after));
        let (can_open, can_close) = if byte == b'_' {
            (left && (!right || is_punctuation(before)), right && (!left || is_punctuation(after)))
        } else {
            (left, right)
        };
        Self {
            byte,
            start,
            length,
            left: length,
            can_open,
            can_close,
            alive: true,
            closes: Marks::default(),
            opens: Marks::default(),
        }
    }

    /// Tells whether a closer that has not arrived yet could pair with it.
    pub(super) fn may_open(&self) -> bool {
        self.alive && self.can_open && self.left > 0
    }

    pub(super) fn byte(&self) -> char {
        char::from(self.byte)
    }

    /// Tells whether it may be the opener for `closer`.
    pub(super) fn pairs_with(&self, closer: &Self) -> bool {
        // CommonMark's rule of three: if one of the runs can both open and close, the sum of their lengths must not
        // be a multiple of 3, unless both lengths are.
        let both = (self.can_close || closer.can_open)
            && (self.length + closer.length).is_multiple_of(3)
            && !(self.length.is_multiple_of(3) && closer.length.is_multiple_of(3));
        self.byte == closer.byte && self.may_open() && !both && closer.start - self.start <= REACH
    }
}

/// Tells whether a character is punctuation or a symbol, as CommonMark 0.31 counts them.
pub(super) fn is_punctuation(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_punctuation();
    }
    matches!(character,
        '\u{A1}'..='\u{A9}' | '\u{AB}' | '\u{AC}' | '\u{AE}'..='\u{B1}' | '\u{B4}' | '\u{B6}'..='\u{B8}' | '\u{BB}'
        | '\u{BF}' | '\u{D7}' | '\u{F7}' | '\u{37E}' | '\u{387}' | '\u{589}' | '\u{58A}' | '\u{5BE}' | '\u{5F3}'
        | '\u{5F4}' | '\u{60C}' | '\u{61B}' | '\u{61F}' | '\u{66A}'..='\u{66D}' | '\u{6D4}' | '\u{964}' | '\u{965}'
        | '\u{9F2}' | '\u{9F3}' | '\u{E3F}' | '\u{E4F}' | '\u{E5A}' | '\u{E5B}' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205E}'
        | '\u{207A}'..='\u{207E}' | '\u{208A}'..='\u{208E}' | '\u{20A0}'..='\u{20C0}' | '\u{2100}' | '\u{2101}'
        | '\u{2103}'..='\u{2106}' | '\u{2108}' | '\u{2109}' | '\u{2114}' | '\u{2116}'..='\u{2118}'
        | '\u{211E}'..='\u{2123}' | '\u{2190}'..='\u{23FF}' | '\u{2400}'..='\u{244A}' | '\u{249C}'..='\u{24E9}'
        | '\u{2500}'..='\u{2775}' | '\u{2794}'..='\u{2BFF}' | '\u{2E00}'..='\u{2E5D}' | '\u{3001}'..='\u{3004}'
        | '\u{3008}'..='\u{3020}' | '\u{3030}' | '\u{3036}' | '\u{3037}' | '\u{303D}'..='\u{303F}' | '\u{309B}'
        | '\u{309C}' | '\u{30A0}' | '\u{30FB}' | '\u{FE10}'..='\u{FE19}' | '\u{FE30}'..='\u{FE6B}'
        | '\u{FF01}'..='\u{FF0F}' | '\u{FF1A}'..='\u{FF20}' | '\u{FF3B}'..='\u{FF40}' | '\u{FF5B}'..='\u{FF65}'
        | '\u{FFE0}'..='\u{FFEE}' | '\u{1E2FF}' | '\u{1ECB0}' | '\u{1F000}'..='\u{1FAFF}')
}

fn is_east_asian(character: char) -> bool {
    is_ideographic(character)
        || matches!(character, '\u{1100}'..='\u{11FF}' | '\u{3130}'..='\u{318F}' | '\u{A960}'..='\u{A97F}'
            | '\u{AC00}'..='\u{D7FF}')
}
