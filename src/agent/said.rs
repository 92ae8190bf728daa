//! What was said so far, and what of it is sent.

use super::talk::Talk;
use crate::context::{Found, sent_tokens};

/// The conversation as the next request sees it.
#[derive(Clone, Copy)]
pub struct Said<'a> {
    pub(super) talk: &'a Talk,
}

impl Said<'_> {
    /// Finds the passages that answer a query best, also those that are not sent any more.
    #[must_use]
    pub fn recall(self, query: &str) -> Vec<Found> {
        self.talk.recall(query)
    }

    /// Returns how many tokens the messages of the next request have, as they are estimated.
    #[must_use]
    pub fn sent_tokens(self) -> u64 {
        let conversation = self.talk.conversation();
        sent_tokens(conversation.messages(), conversation.cut())
    }
}
