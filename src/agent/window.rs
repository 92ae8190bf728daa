//! What is known of the model's window.

use super::beginning::Beginning;
use super::floor::Floor;
use super::refusal::{Told, told};
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
    /// The most tokens that a request had which was answered: no smaller window is believed without a reason.
    answered: u64,
    /// How long an answer the provider keeps room for, where it said so.
    kept_for_answer: u64,
    /// How many summaries were none.
    pub(super) failed: u32,
    /// What the last request certainly read, where the person has asked for bounds.
    pub(super) floor: Option<Floor>,
}

impl Window {
    pub(super) const fn new() -> Self {
        Self { believed: None, ratio: 1_000, answered: 0, kept_for_answer: 0, failed: 0, floor: None }
    }

    /// Nothing that was learnt of a model holds for another.
    pub(super) fn changed_model(&mut self) {
        *self = Self::new();
    }

    /// Learns how the provider counts from a request that it answered.
    pub(super) fn learn(&mut self, estimated: u64, counted: u64) {
        self.answered = self.answered.max(counted);
        self.count_as(estimated, counted);
    }

    fn count_as(&mut self, estimated: u64, counted: u64) {
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
        let kept = self.kept_for_answer.saturating_mul(1_000) / self.ratio;
        let answer = answer.unwrap_or(MOST_ANSWER).min(MOST_ANSWER).min(estimated / 6).max(kept.min(estimated / 2));
        Some(Limits { window: estimated, beginning: beginning.tokens(), answer })
    }

    /// Takes in what a server said when it refused a request of so many tokens for its length; returns the window it named.
    pub(super) fn refused(&mut self, message: &str, sent: u64) -> Option<u64> {
        let Told { window, read, all } = told(message);
        if let Some(read) = read {
            self.count_as(sent, read);
        }
        if let (Some(read), Some(all)) = (read, all) {
            self.kept_for_answer = all.saturating_sub(read);
        }
        // A window is not less than what it took, unless the refusal itself says so.
        let window = window.filter(|window| *window >= self.answered || all.is_some_and(|all| all > *window));
        // Without its numbers: what was sent was too much, so that the window is smaller.
        let most = sent.saturating_mul(self.ratio) / 1_000 * 9 / 10;
        // What was answered before proves nothing of a server that refuses now.
        self.answered = 0;
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
    fn a_refusal_makes_the_window_no_smaller_than_it_says() {
        let refused = |answered: u64, sentence: &str| {
            let mut window = Window::new();
            window.learn(answered, answered);
            window.refused(sentence, 18_000);
            window.size(None)
        };
        let parts = "This model's maximum context length is 16385 tokens. However, your messages resulted in 18013 tokens \
            (15909 in the messages, 2104 in the functions).";
        assert_eq!(refused(0, parts), Some(16_385));
        let sum =
            "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length";
        assert_eq!(refused(0, sum), Some(200_000));
        // No window: 17,000 tokens were answered before.
        assert_eq!(refused(17_000, "too long, limit: 2048"), Some(16_200));
        // A server that was started with a smaller window says what it got.
        assert_eq!(
            refused(17_000, "request (18013 tokens) exceeds the available context size (4096 tokens)"),
            Some(4_096)
        );
    }

    #[test]
    fn an_answer_that_a_refusal_keeps_room_for_is_left_room() {
        let beginning = Beginning { system: String::new(), tools: Vec::new(), search: false };
        let mut window = Window::new();
        let sum = "input length and `max_tokens` exceed context limit: 168240 + 64000 > 200000";
        window.refused(sum, 168_240);
        let limits = window.limits(Some(200_000), None, &beginning).unwrap();
        assert_eq!((limits.window, limits.answer), (200_000, 64_000));
    }
}
