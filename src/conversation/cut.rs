//! Where a conversation is cut for its requests.

use serde::{Deserialize, Serialize};

/// The point at which a conversation is cut: it decides what is sent of the messages before it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// How many messages at the beginning are not sent.
    pub dropped: usize,
    /// In how many messages at the beginning the outputs of tools are shortened; never fewer than `dropped`.
    pub thinned: usize,
    /// The text that replaces the messages that are not sent; empty while all are sent.
    pub frame: String,
    /// The model's own summary in that text. The next cut keeps it where the model writes no better one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

impl Cut {
    /// Returns the cut for a conversation that went back to its first `messages` messages; `None` if the cut
    /// dropped all of those.
    #[must_use]
    pub fn before(mut self, messages: usize) -> Option<Self> {
        self.thinned = self.thinned.min(messages);
        (self.dropped < messages || self.dropped == 0).then_some(self)
    }

    /// Returns the same cut for a list that lacks the first `messages` messages.
    #[must_use]
    pub fn nearer(mut self, messages: usize) -> Self {
        self.dropped = self.dropped.saturating_sub(messages);
        self.thinned = self.thinned.saturating_sub(messages);
        self
    }

    /// Returns the same cut for a list with `messages` more messages in front.
    #[must_use]
    pub fn further(mut self, messages: usize) -> Self {
        self.dropped += messages;
        self.thinned += messages;
        self
    }
}
