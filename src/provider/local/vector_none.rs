//! The face of `vector` on processors that have no such way: nobody can have a [`Vector`].

use super::blocks::Activations;
use super::gguf::Format;
use super::past::Heads;

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
    pub(super) const fn attend(self, _: &[f32], _: usize, _: [Heads<'_>; 2], _: usize, _: &mut [f32]) -> bool {
        match self {}
    }
}
