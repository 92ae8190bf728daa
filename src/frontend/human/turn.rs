//! What is known of the turn that runs.

use std::collections::HashMap;
use std::time::Instant;

use crate::agent::Explorer;
use crate::conversation::{Preview, Subject, ToolCall};
use crate::tool::Proposal;

/// A turn under way.
pub(super) struct Turn {
    pub(super) started: Instant,
    /// Whether axi itself runs the model.
    pub(super) own: bool,
    /// What the agent is busy with, in the user's words.
    pub(super) activity: String,
    pub(super) tokens: Tokens,
    pub(super) thinking: Option<Thinking>,
    /// Calls that wait for their result, by id.
    pub(super) requested: HashMap<String, Requested>,
    /// The last line that the running tool printed.
    pub(super) output: String,
    /// The sub-agents that run.
    pub(super) explorers: Vec<Explorer>,
}

/// Reasoning under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Thinking {
    pub(super) since: Instant,
    /// Rows that are out.
    pub(super) rows: u64,
}

/// What was known of a call before it ran.
pub(super) struct Requested {
    pub(super) subject: Subject,
    /// A call that changes files, until it runs or a person is asked and sees the change then.
    pub(super) changes: Option<ToolCall>,
    /// The change it makes, that nobody was asked about.
    pub(super) change: Option<Preview>,
    /// The command it proposes.
    pub(super) proposal: Option<Proposal>,
    /// What it is about, in words.
    pub(super) about: String,
}

impl Default for Requested {
    fn default() -> Self {
        Self { subject: Subject::Whole, changes: None, change: None, proposal: None, about: String::new() }
    }
}

/// Tokens written: what providers told, and an estimate of what they have not told yet (see
/// [`crate::conversation::tokens`]).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tokens {
    told: u64,
    ascii: u64,
    wide: u64,
}

impl Turn {
    pub(super) fn new(started: Instant) -> Self {
        Self {
            started,
            own: false,
            activity: String::new(),
            tokens: Tokens::default(),
            thinking: None,
            requested: HashMap::new(),
            output: String::new(),
            explorers: Vec::new(),
        }
    }

    /// A call has its result; returns what was known of it.
    pub(super) fn ends(&mut self, call_id: &str) -> Option<Requested> {
        self.explorers.retain(|explorer| explorer.call_id != call_id);
        self.requested.remove(call_id)
    }

    /// A person saw this call's change and decided.
    pub(super) fn asked(&mut self, call_id: &str) {
        if let Some(requested) = self.requested.get_mut(call_id) {
            requested.changes = None;
        }
    }
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
