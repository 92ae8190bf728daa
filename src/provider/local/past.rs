//! Keys and values of the tokens seen so far, as signed bytes with a scale for each [`PART`] numbers of a head.
//!
//! That is llama.cpp's Q8_0 with wider scales. It takes nine sixteenths of the memory that half precision takes; what is
//! lost is told in docs/models.md.

use super::blocks::{NARROW, rounded};

/// Numbers that share a scale. Only the last part of a head may be shorter.
pub(super) const PART: usize = NARROW;

/// Keys or values of one layer: head after head, token after token.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Past {
    bytes: Vec<i8>,
    scales: Vec<f32>,
}

/// The numbers of one head of one token.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rounded<'a> {
    pub(super) bytes: &'a [i8],
    /// One for each [`PART`] bytes.
    pub(super) scales: &'a [f32],
}

/// One head of each token.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heads<'a> {
    pub(super) past: &'a Past,
    /// Numbers of a head.
    pub(super) head: usize,
    /// Which of the heads of a token, and how many it has.
    pub(super) which: usize,
    pub(super) of: usize,
}

impl<'a> Heads<'a> {
    /// That of the token at a place.
    pub(super) fn at(&self, place: usize) -> Rounded<'a> {
        self.past.head(place * self.of + self.which, self.head)
    }
}

impl Past {
    /// Adds heads of `head` numbers.
    pub(super) fn push(&mut self, values: &[f32], head: usize) {
        let from = self.bytes.len();
        self.bytes.resize(from + values.len(), 0);
        let heads = values.chunks_exact(head).zip(self.bytes[from..].chunks_exact_mut(head));
        for (values, bytes) in heads {
            let parts = values.chunks(PART).zip(bytes.chunks_mut(PART));
            self.scales.extend(parts.map(|(values, bytes)| rounded(values, bytes)));
        }
    }

    /// Keeps the first heads.
    pub(super) fn truncate(&mut self, heads: usize, head: usize) {
        self.bytes.truncate(heads * head);
        self.scales.truncate(heads * head.div_ceil(PART));
    }

    /// A head, by its number from the first of the first token on.
    fn head(&self, number: usize, head: usize) -> Rounded<'_> {
        let parts = head.div_ceil(PART);
        Rounded { bytes: &self.bytes[number * head..][..head], scales: &self.scales[number * parts..][..parts] }
    }

    /// How many bytes so many heads are on disk.
    pub(super) const fn size(heads: usize, head: usize) -> usize {
        heads * (head + head.div_ceil(PART) * size_of::<f32>())
    }

    /// The first heads as they are on disk: bytes, then scales, little-endian.
    pub(super) fn to_disk(&self, heads: usize, head: usize) -> Vec<u8> {
        let bytes = self.bytes.iter().take(heads * head).map(|byte| byte.cast_unsigned());
        let scales = self.scales.iter().take(heads * head.div_ceil(PART));
        bytes.chain(scales.flat_map(|scale| scale.to_le_bytes())).collect()
    }

    /// Reads what [`Self::to_disk`] wrote.
    pub(super) fn from_disk(written: &[u8], heads: usize, head: usize) -> Self {
        let (bytes, scales) = written.split_at((heads * head).min(written.len()));
        Self {
            bytes: bytes.iter().map(|byte| byte.cast_signed()).collect(),
            scales: scales.as_chunks::<4>().0.iter().map(|scale| f32::from_le_bytes(*scale)).collect(),
        }
    }
}

impl Rounded<'_> {
    /// The parts of the head: bytes and their scale.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&[i8], f32)> {
        self.bytes.chunks(PART).zip(self.scales.iter().copied())
    }

    /// The numbers.
    pub(super) fn numbers(&self) -> impl Iterator<Item = f32> {
        self.parts().flat_map(|(bytes, scale)| bytes.iter().map(move |byte| f32::from(*byte) * scale))
    }

    /// The sum of products with other numbers.
    pub(super) fn dot(&self, left: &[f32]) -> f32 {
        left.iter().zip(self.numbers()).map(|(left, right)| left * right).sum()
    }

    /// Adds the numbers, times a factor.
    pub(super) fn add_to(&self, into: &mut [f32], factor: f32) {
        into.iter_mut().zip(self.numbers()).for_each(|(into, number)| *into += factor * number);
    }
}
