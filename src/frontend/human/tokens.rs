//! Tokens written in a turn.

/// Tokens written: what providers told, and an estimate of what they have not told yet (see
/// [`crate::conversation::tokens`]).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tokens {
    told: u64,
    ascii: u64,
    wide: u64,
}

impl Tokens {
    /// Takes more text that has arrived.
    pub(super) fn arrived(&mut self, text: &str) {
        let wide = text.chars().filter(|character| !character.is_ascii()).count() as u64;
        self.ascii += text.bytes().filter(u8::is_ascii).count() as u64;
        self.wide += wide;
    }

    /// Takes what the provider says the message cost, in the estimate's place.
    pub(super) fn told(&mut self, tokens: u64) {
        *self = Self { told: self.told + tokens, ascii: 0, wide: 0 };
    }

    pub(super) fn count(self) -> u64 {
        self.told + self.ascii.div_ceil(4) + self.wide
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::tokens::estimate;

    #[test]
    fn an_estimate_is_the_same_however_the_text_is_cut_and_ends_with_the_truth() {
        let text = "some words, 中文, and more";
        let (mut whole, mut pieces) = (Tokens::default(), Tokens::default());
        whole.arrived(text);
        text.chars().for_each(|character| pieces.arrived(character.encode_utf8(&mut [0; 4])));
        assert_eq!((whole.count(), pieces), (estimate(text), whole));
        whole.told(40);
        whole.arrived("1234");
        assert_eq!(whole.count(), 41);
    }
}
