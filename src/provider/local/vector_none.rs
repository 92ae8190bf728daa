//! The face of `vector` on processors that have no such way: nobody can have a [`Vector`].

use super::blocks::Activations;
use super::gguf::Format;

/// Proof that the processor has the instructions of a way: here there is none.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Vector {}

impl Vector {
    /// The way this process computes.
    pub(crate) const fn chosen() -> Option<Self> {
        None
    }

    /// Names the instructions.
    pub(crate) const fn name(self) -> &'static str {
        match self {}
    }

    /// Multiplies one row of weights with tokens.
    pub(crate) const fn row(self, _: Format, _: &[u8], _: &Activations, _: usize, _: &mut [f32]) {
        match self {}
    }

    /// Multiplies rows of weights with all tokens.
    pub(crate) const fn panel(self, _: Format, _: &[u8], _: &Activations, _: &mut [f32]) -> bool {
        match self {}
    }

    /// Lets heads look at what was before.
    pub(crate) const fn attend(
        self,
        _: usize,
        _: &[f32],
        _: [&[u16]; 2],
        _: (usize, usize),
        _: usize,
        _: &mut [f32],
    ) -> bool {
        match self {}
    }

    /// Multiplies numbers with numbers of half precision.
    pub(crate) const fn dot_half(self, _: &[f32], _: &[u16]) -> f32 {
        match self {}
    }

    /// Adds numbers of half precision, times a factor.
    pub(crate) const fn add_half(self, _: &mut [f32], _: f32, _: &[u16]) {
        match self {}
    }
}
