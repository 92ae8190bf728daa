//! What was said so far, and what of it is sent.

use std::borrow::Cow;

use super::talk::{Talk, whole};
use super::undo::Undo;
use crate::context::{Found, PASSAGES, recall, sent_tokens};
use crate::conversation::Conversation;
use crate::journal::{JournalError, Turn};

/// The conversation as the next request sees it.
#[derive(Clone, Copy)]
pub struct Said<'a> {
    pub(super) talk: &'a Talk,
    pub(super) undo: &'a Undo,
}

impl<'a> Said<'a> {
    /// Finds the passages that answer a query best, also those that are not sent any more.
    #[must_use]
    pub fn recall(self, query: &str) -> Vec<Found> {
        recalled(self.talk, query)
    }

    /// Returns how many tokens the messages of the next request have, as they are estimated.
    #[must_use]
    pub fn sent_tokens(self) -> u64 {
        let conversation = self.talk.conversation();
        sent_tokens(conversation.messages(), conversation.cut())
    }

    /// Returns the conversation with what stands in its session's file alone.
    #[must_use]
    pub fn whole(self) -> Cow<'a, Conversation> {
        whole(self.talk)
    }

    /// The turns whose changes were taken back.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn taken_back(self) -> Result<Vec<Turn>, JournalError> {
        self.undo.taken_back_turns()
    }
}

/// The passages of all that was said that answer a query best, but for the call that asks for it.
pub(super) fn recalled(talk: &Talk, query: &str) -> Vec<Found> {
    let whole = whole(talk);
    let asking = usize::from(!whole.open_calls().is_empty());
    recall(&whole.messages()[..whole.messages().len() - asking], query, PASSAGES)
}
