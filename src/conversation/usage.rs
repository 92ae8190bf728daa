//! The tokens of a request: one type for all wires, in which no token is counted twice.

use serde::{Deserialize, Serialize};

/// The token counts of one request, as the provider reported them. Each token is in one field only, so the sum of
/// the fields is all that was read and written. Unit: tokens.
///
/// Serialized as [`Totals`], the form of older sessions and of `--output json`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Totals", into = "Totals")]
pub struct Usage {
    /// Tokens read that neither came from the provider's cache nor went into it.
    pub input: u64,
    /// Tokens read from the provider's cache.
    pub cached_read: u64,
    /// Tokens read and written to the provider's cache.
    pub cached_write: u64,
    /// Tokens written, without reasoning if the provider reports that separately.
    pub output: u64,
    /// Tokens written as reasoning.
    pub reasoning: u64,
    /// Searches that the provider made itself; it bills them besides the tokens. Unit: searches.
    pub searches: u64,
}

/// The same counts in the form in which most wires report them: totals, and how many of them were cached or
/// reasoning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// All tokens read, cached ones included.
    pub input_tokens: u64,
    /// All tokens written, reasoning included.
    pub output_tokens: u64,
    /// Of the input: read from the provider's cache.
    #[serde(default)]
    pub cache_read_tokens: u64,
    /// Of the input: written to the provider's cache.
    #[serde(default)]
    pub cache_write_tokens: u64,
    /// Of the output: reasoning.
    #[serde(default)]
    pub reasoning_tokens: u64,
    /// Searches that the provider made itself.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub searches: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl From<Totals> for Usage {
    /// Cuts a part that is larger than its total: a server that contradicts itself must not add tokens.
    fn from(totals: Totals) -> Self {
        let cached_read = totals.cache_read_tokens.min(totals.input_tokens);
        let cached_write = totals.cache_write_tokens.min(totals.input_tokens - cached_read);
        let reasoning = totals.reasoning_tokens.min(totals.output_tokens);
        Self {
            input: totals.input_tokens - cached_read - cached_write,
            cached_read,
            cached_write,
            output: totals.output_tokens - reasoning,
            reasoning,
            searches: totals.searches,
        }
    }
}

impl From<Usage> for Totals {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.read(),
            output_tokens: usage.written(),
            cache_read_tokens: usage.cached_read,
            cache_write_tokens: usage.cached_write,
            reasoning_tokens: usage.reasoning,
            searches: usage.searches,
        }
    }
}

impl Usage {
    /// Returns all tokens read: they filled that much of the model's context window.
    #[must_use]
    pub const fn read(&self) -> u64 {
        self.input.saturating_add(self.cached_read).saturating_add(self.cached_write)
    }

    /// Returns all tokens written.
    #[must_use]
    pub const fn written(&self) -> u64 {
        self.output.saturating_add(self.reasoning)
    }

    /// Returns all tokens.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.read().saturating_add(self.written())
    }

    /// Adds another request's counts.
    pub const fn add(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.cached_read = self.cached_read.saturating_add(other.cached_read);
        self.cached_write = self.cached_write.saturating_add(other.cached_write);
        self.output = self.output.saturating_add(other.output);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
        self.searches = self.searches.saturating_add(other.searches);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn usage_of_older_sessions_is_read_and_written_as_before() {
        let stored = r#"{"input_tokens":100,"output_tokens":50,"cache_read_tokens":60,"cache_write_tokens":10,"reasoning_tokens":20}"#;
        let usage: Usage = serde_json::from_str(stored).unwrap();
        let expected =
            Usage { input: 30, cached_read: 60, cached_write: 10, output: 30, reasoning: 20, searches: 0 };
        assert_eq!(usage, expected);
        assert_eq!(serde_json::to_string(&usage).unwrap(), stored);
        let oldest: Usage = serde_json::from_str(r#"{"input_tokens":7,"output_tokens":5}"#).unwrap();
        assert_eq!((oldest.input, oldest.output, oldest.total()), (7, 5, 12));
    }

    proptest! {
        #[test]
        fn no_report_makes_more_tokens_than_its_totals(
            input in 0..1_000_u64, output in 0..1_000_u64, read in 0..2_000_u64, write in 0..2_000_u64, thought in 0..2_000_u64,
        ) {
            let totals = Totals {
                input_tokens: input, output_tokens: output, cache_read_tokens: read, cache_write_tokens: write,
                reasoning_tokens: thought, searches: 0,
            };
            let usage = Usage::from(totals);
            prop_assert_eq!((usage.read(), usage.written()), (input, output));
        }
    }
}
