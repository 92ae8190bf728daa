//! Where a conversation is cut for its requests.

use serde::{Deserialize, Serialize};

/// Where a conversation is cut: what is sent of the messages before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// How many messages from the beginning are not sent.
    pub dropped: usize,
    /// In how many messages from the beginning the outputs of tools are thinned; never fewer than `dropped`.
    pub thinned: usize,
    /// What stands for the messages that are not sent; empty while all are.
    pub frame: String,
}

impl Cut {
    /// Returns what of it holds in a conversation that went back to so many messages; `None` where nothing does.
    #[must_use]
    pub fn before(mut self, messages: usize) -> Option<Self> {
        self.thinned = self.thinned.min(messages);
        (self.dropped < messages || self.dropped == 0).then_some(self)
    }

    /// The same cut, where the first so many messages are not held.
    #[must_use]
    pub fn nearer(mut self, messages: usize) -> Self {
        self.dropped = self.dropped.saturating_sub(messages);
        self.thinned = self.thinned.saturating_sub(messages);
        self
    }

    /// The same cut, where so many messages stand before.
    #[must_use]
    pub fn further(mut self, messages: usize) -> Self {
        self.dropped += messages;
        self.thinned += messages;
        self
    }
}
