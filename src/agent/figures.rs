//! Figures that notices report.

use serde::Serialize;

use crate::conversation::Money;

/// What a fallback model costs, compared to the chosen one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FallbackPrice {
    /// It costs no more.
    NotMore,
    /// It costs more, or the price of the chosen one is not known. Unit: dollars per million tokens.
    More {
        /// For input.
        input: Money,
        /// For output.
        output: Money,
    },
    /// Its price is not known.
    Unknown,
}

/// How much a cut shortened the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Shortened {
    /// How many messages are not sent any more.
    pub dropped: usize,
    /// Estimated tokens of a request's messages before the cut.
    pub before: u64,
    /// Estimated tokens of a request's messages after the cut.
    pub after: u64,
    /// Whether the model's own summary replaces the dropped messages.
    pub summed_up: bool,
}
