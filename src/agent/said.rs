//! What was said so far, and what of it is sent.

use crate::context::{Found, PASSAGES, recall, sent_tokens};
use crate::conversation::Conversation;

/// The conversation as the next request sees it.
#[derive(Clone, Copy)]
pub struct Said<'a> {
    pub(super) conversation: &'a Conversation,
}

impl Said<'_> {
    /// Finds the passages that answer a query best, also those that are not sent any more.
    #[must_use]
    pub fn recall(self, query: &str) -> Vec<Found> {
        recall(self.conversation.messages(), query, PASSAGES)
    }

    /// Returns how many tokens the messages of the next request have, as they are estimated.
    #[must_use]
    pub fn sent_tokens(self) -> u64 {
        sent_tokens(self.conversation.messages(), self.conversation.cut())
    }
}
