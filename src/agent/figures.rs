//! Figures that a notice tells.

use serde::Serialize;

use crate::conversation::Money;

/// What a model that stands in costs, beside the one that was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FallbackPrice {
    /// No more.
    NotMore,
    /// More, or nobody knows what the chosen one costs. Dollars for a million tokens.
    More {
        /// Read.
        input: Money,
        /// Written.
        output: Money,
    },
    /// Nobody knows.
    Unknown,
}

/// What a cut came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Shortened {
    /// How many messages are not sent any more.
    pub dropped: usize,
    /// Tokens of the messages of a request before and after, as they are estimated.
    pub before: u64,
    /// As `before`.
    pub after: u64,
    /// Whether the model's own summary stands in it.
    pub summed_up: bool,
}
