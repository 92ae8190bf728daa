//! Which runs of `*`, `_` and `~~` open and close, and which pair up: CommonMark's rules, and what Chinese, Japanese
//! and Korean text needs.
//!
//! CommonMark asks for a space or punctuation beside a run that touches punctuation. These scripts have no spaces:
//! `**「強調」**は` would stay literal. So their letters count as a border there, and their punctuation as letters (the
//! amendment known as markdown-cjk-friendly).

use super::{
    inline::{Parsed, REACH},
    wrap::is_ideographic,
};

/// A run of one delimiter.
#[derive(Debug, Clone)]
pub(super) struct Delimiter {
    byte: u8,
    pub(super) start: usize,
    length: usize,
    /// How many characters are not used up.
    pub(super) left: usize,
    pub(super) can_open: bool,
    pub(super) can_close: bool,
    alive: bool,
    pub(super) closes: Marks,
    pub(super) opens: Marks,
}

/// How many emphases of each kind begin or end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) emphasis: usize,
    pub(super) strong: usize,
    pub(super) strikethrough: usize,
}

/// What is paired up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// A link's text: nothing in it pairs with what stands outside.
    Link,
    /// All the text.
    Text,
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

    /// Tells whether a closer yet to come could use it.
    pub(super) fn may_open(&self) -> bool {
        self.alive && self.can_open && self.left > 0
    }

    pub(super) fn byte(&self) -> char {
        char::from(self.byte)
    }

    fn pairs_with(&self, closer: &Self) -> bool {
        // The rule of three: a run that could do both pairs only if the sum, or each, divides.
        let both = (self.can_close || closer.can_open)
            && (self.length + closer.length).is_multiple_of(3)
            && !(self.length.is_multiple_of(3) && closer.length.is_multiple_of(3));
        self.byte == closer.byte && self.may_open() && !both && closer.start - self.start <= REACH
    }
}

impl Parsed {
    /// Pairs the runs from index `bottom` on.
    pub(super) fn match_delimiters(&mut self, bottom: usize, scope: Scope) {
        // Where looking for an opener can stop, for each kind of closer that has looked in vain.
        let mut floors = [bottom; 18];
        let mut closer = bottom;
        while closer < self.delimiters.len() {
            let run = &self.delimiters[closer];
            if !(run.alive && run.can_close && run.left > 0) {
                closer += 1;
                continue;
            }
            let kind = match run.byte {
                b'*' => 0,
                b'_' => 1,
                _ => 2,
            };
            let key = kind * 6 + usize::from(run.can_open) * 3 + run.length % 3;
            let start = run.start;
            let mut opener = None;
            for index in (floors[key]..closer).rev() {
                let candidate = &self.delimiters[index];
                if start - candidate.start > REACH {
                    break;
                }
                if candidate.pairs_with(&self.delimiters[closer]) {
                    opener = Some(index);
                    break;
                }
            }
            let Some(opener) = opener else {
                floors[key] = closer;
                if !self.delimiters[closer].can_open {
                    self.delimiters[closer].alive = false;
                }
                closer += 1;
                continue;
            };
            for between in &mut self.delimiters[opener + 1..closer] {
                between.alive = false;
            }
            let both = self.delimiters[opener].left.min(self.delimiters[closer].left);
            let strikethrough = kind == 2;
            let used = if both >= 2 { 2 } else { 1 };
            let mark = |marks: &mut Marks| {
                if strikethrough {
                    marks.strikethrough += 1;
                } else if used == 2 {
                    marks.strong += 1;
                } else {
                    marks.emphasis += 1;
                }
            };
            mark(&mut self.delimiters[opener].opens);
            mark(&mut self.delimiters[closer].closes);
            self.delimiters[opener].left -= used;
            self.delimiters[closer].left -= used;
            let end = self.delimiters[closer].start + self.delimiters[closer].length;
            self.pairs.push((self.delimiters[opener].start, end));
            if self.delimiters[opener].left == 0 {
                self.delimiters[opener].alive = false;
            }
        }
        if scope == Scope::Link {
            for run in self.delimiters.iter_mut().skip(bottom) {
                run.alive = false;
            }
        }
    }

    /// Takes what is open as if it closed at the end.
    pub(super) fn assume_closed(&mut self) {
        for run in self.delimiters.iter_mut().filter(|run| run.may_open()) {
            match (run.byte, run.left) {
                (b'~', _) => run.opens.strikethrough += 1,
                (_, 1) => run.opens.emphasis += 1,
                (_, 2) => run.opens.strong += 1,
                (_, _) => {
                    run.opens.emphasis += 1;
                    run.opens.strong += 1;
                }
            }
            run.left = 0;
        }
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
