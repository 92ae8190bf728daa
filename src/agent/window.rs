//! What is known of the model's window.

use super::beginning::Beginning;
use super::floor::Floor;
use crate::context::Limits;

/// What is kept free for an answer at most, in tokens.
const MOST_ANSWER: u64 = 16_000;

/// What windows are made of, in tokens.
const STEP: u64 = 256;

/// Whether the conversation is shortened by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortening {
    /// At good moments, and when it must be.
    On,
    /// Only when a person says so, or a request was refused for its length.
    Off,
}

/// What is known of the model's window, and where the talk is cut for it.
pub(super) struct Window {
    /// What a server said its window is when it refused a request, or what it is at most.
    believed: Option<u64>,
    /// How many tokens the provider counts for 1,000 that we estimate.
    ratio: u64,
    /// How many summaries were none.
    pub(super) failed: u32,
    /// What the last request certainly read, where the person has asked for bounds.
    pub(super) floor: Option<Floor>,
}

impl Window {
    pub(super) const fn new() -> Self {
        Self { believed: None, ratio: 1_000, failed: 0, floor: None }
    }

    /// Nothing that was learnt of a model holds for another.
    pub(super) const fn changed_model(&mut self) {
        self.believed = None;
        self.ratio = 1_000;
        self.failed = 0;
        self.floor = None;
    }

    /// Learns how the provider counts.
    pub(super) fn learn(&mut self, estimated: u64, counted: u64) {
        // Few tokens say little; a provider that counts wildly is not believed.
        if estimated > 500 && counted > 0 {
            self.ratio = (counted.saturating_mul(1_000) / estimated).clamp(500, 3_000);
        }
    }

    /// How many tokens the provider will likely count where we estimate so many.
    pub(super) const fn counted(&self, estimated: u64) -> u64 {
        estimated.saturating_mul(self.ratio) / 1_000
    }

    /// The window, in tokens as the provider counts them; `None` while it is not known.
    pub(super) fn size(&self, known: Option<u64>) -> Option<u64> {
        match (known, self.believed) {
            (Some(known), Some(believed)) => Some(known.min(believed)),
            (known, believed) => known.or(believed),
        }
    }

    /// What a request may hold, in tokens as we estimate them; `None` while the window is not known. `known` is what
    /// the model's window is said to be, `answer` the most an answer may have.
    pub(super) fn limits(&self, known: Option<u64>, answer: Option<u64>, beginning: &Beginning) -> Option<Limits> {
        let window = self.size(known)?;
        let estimated = window.saturating_mul(1_000) / self.ratio;
        let answer = answer.unwrap_or(MOST_ANSWER).min(MOST_ANSWER).min(estimated / 6);
        Some(Limits { window: estimated, beginning: beginning.tokens(), answer })
    }

    /// Takes in what a server said when it refused a request of so many tokens for its length; returns the window it named.
    pub(super) fn refused(&mut self, message: &str, sent: u64) -> Option<u64> {
        let (window, counted) = numbers(message);
        if let Some(counted) = counted {
            self.learn(sent, counted);
        }
        // Without its numbers: what was sent was too much, so that the window is smaller.
        let most = sent.saturating_mul(self.ratio) / 1_000 * 9 / 10;
        self.believe(window.unwrap_or(most));
        window
    }

    /// Takes in an answer that broke off for its length though nothing limits it; returns the window where that tells it:
    /// all that was read and written fills one. Servers have windows of whole steps, and stop a token early or not.
    pub(super) fn filled(&mut self, read: u64, written: u64) -> Option<u64> {
        let all = read.saturating_add(written);
        let window = [all, all + 1].into_iter().find(|size| size % STEP == 0)?;
        if written.saturating_mul(8) > read {
            return None;
        }
        self.believe(window);
        Some(window)
    }

    pub(super) fn believe(&mut self, window: u64) {
        self.believed = Some(window.min(self.believed.unwrap_or(u64::MAX)));
    }
}

/// Reads the window and what the request had from a refusal: of the numbers of four digits and more the smallest and
/// the largest ("maximum context length is 8192 tokens. However, you requested 10300 tokens", "prompt is too long:
/// 210045 tokens > 200000 maximum").
fn numbers(message: &str) -> (Option<u64>, Option<u64>) {
    let joined = message.replace(',', "");
    let found: Vec<u64> = joined
        .split(|character: char| !character.is_ascii_digit())
        .filter(|digits| (4..=8).contains(&digits.len()))
        .filter_map(|digits| digits.parse().ok())
        .collect();
    match (found.iter().min(), found.iter().max()) {
        (Some(least), Some(most)) if least < most => (Some(*least), Some(*most)),
        (Some(_), Some(_)) | (None, _) | (_, None) => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_fills_a_window_tells_it() {
        let told = [
            ((4_076, 19), Some(4_096)),
            ((4_000, 96), Some(4_096)),
            ((4_000, 90), None),
            // A limit of the answer is as likely.
            ((3_072, 1_024), None),
        ];
        for ((read, written), window) in told {
            assert_eq!(Window::new().filled(read, written), window, "{read} + {written}");
        }
        let mut window = Window::new();
        window.refused("maximum context length is 2048 tokens. However, you requested 2300", 2_000);
        window.filled(4_076, 19);
        assert_eq!(window.size(Some(32_000)), Some(2_048));
    }

    #[test]
    fn numbers_of_a_refusal_are_read() {
        let read = [
            (
                "This model's maximum context length is 8192 tokens. However, you requested 10,300 tokens",
                (Some(8_192), Some(10_300)),
            ),
            ("prompt is too long: 210045 tokens > 200000 maximum", (Some(200_000), Some(210_045))),
            ("the request exceeds the available context size", (None, None)),
            ("code 4096", (None, None)),
        ];
        for (message, expected) in read {
            assert_eq!(numbers(message), expected, "{message}");
        }
    }
}
