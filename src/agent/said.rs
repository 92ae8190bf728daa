//! What was said so far, and what of it is sent.

use std::borrow::Cow;

use super::talk::{Talk, whole};
use super::undo::Undo;
use crate::context::{self, Found, LOOKED_AT, PASSAGES, quotes, recall, recall_of, sent_tokens, wanted};
use crate::conversation::{Conversation, Message, tokens};
use crate::journal::{JournalError, Turn};
use crate::session::{Matches, seek};

/// A turn that is not sent any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedTurn {
    /// Which one, counted from 1.
    pub number: usize,
    /// The first line of what the person said.
    pub said: String,
    /// How many tokens its messages have, as they are estimated.
    pub tokens: u64,
}

/// The conversation as the next request sees it.
#[derive(Clone, Copy)]
pub struct Said<'a> {
    pub(super) talk: &'a Talk,
    pub(super) undo: &'a Undo,
}

impl<'a> Said<'a> {
    /// Returns what the person said last, without what was attached; also where the model could not be asked, and it is
    /// not in the conversation.
    #[must_use]
    pub fn last(self) -> Option<String> {
        self.talk.last_said()
    }

    /// Returns what the person said last, where the model could not be asked: it is not in the conversation.
    #[must_use]
    pub fn unanswered(self) -> Option<&'a str> {
        self.talk.unanswered()
    }

    /// Finds the passages that answer a query best, also those that are not sent any more.
    #[must_use]
    pub fn recall(self, query: &str) -> Vec<Found> {
        recalled(self.talk, query, PASSAGES)
    }

    /// Returns how many tokens the messages of the next request have, as they are estimated.
    #[must_use]
    pub fn sent_tokens(self) -> u64 {
        let conversation = self.talk.conversation();
        sent_tokens(conversation.messages(), conversation.cut())
    }

    /// Returns the window that requests are planned for, in tokens; `None` while it is not known.
    #[must_use]
    pub fn window(self) -> Option<u64> {
        self.talk.window.size(self.talk.model().context_window)
    }

    /// Returns the turns that are not sent any more, oldest first.
    #[must_use]
    pub fn dropped(self) -> Vec<DroppedTurn> {
        let whole = self.whole();
        let dropped = whole.cut().map_or(0, |cut| cut.dropped).min(whole.messages().len());
        let mut found: Vec<DroppedTurn> = Vec::new();
        for (number, message) in context::turns(&whole.messages()[..dropped]) {
            if found.last().is_none_or(|last| last.number != number) {
                let text = message.text();
                let said = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
                found.push(DroppedTurn { number, said, tokens: 0 });
            }
            if let Some(turn) = found.last_mut() {
                turn.tokens += tokens::estimate_message(message);
            }
        }
        found
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

/// Quotes lines that are about a new message and are not sent any more.
pub(super) fn quoted(talk: &Talk, said: &str) -> Option<String> {
    let conversation = talk.conversation();
    let dropped = conversation.cut().map_or(0, |cut| cut.dropped) + conversation.earlier();
    if dropped == 0 {
        return None;
    }
    let mut found = recalled(talk, said, LOOKED_AT);
    found.retain(|found| found.message < dropped);
    quotes(said, &found)
}

/// The passages of all that was said that answer a query best, but for the call that asks for it.
pub(super) fn recalled(talk: &Talk, query: &str, most: usize) -> Vec<Found> {
    let conversation = talk.conversation();
    let asking = usize::from(!conversation.open_calls().is_empty());
    let held = conversation.messages();
    let held = &held[..held.len() - asking];
    let earlier = conversation.earlier();
    if earlier == 0 {
        return recall(held, query, most);
    }
    // What stands in the file alone is looked through there.
    let path = talk.session().path();
    let matches =
        path.and_then(|path| seek(path, &wanted(query)).map_err(|error| tracing::warn!(%error, "not read")).ok());
    recall_both(&matches.unwrap_or_default(), held, earlier, query, most)
}

/// Searches what was found in a session's file and, from message `earlier` on, what is held of it.
fn recall_both(matches: &Matches, held: &[Message], earlier: usize, query: &str, most: usize) -> Vec<Found> {
    let turns = matches.said.partition_point(|said| *said < earlier);
    let before = matches.messages.iter().filter(|(number, _)| *number < earlier);
    let before = before.map(|(number, message)| {
        let turn = matches.said.partition_point(|said| said <= number);
        context::Said { number: *number, turn, message }
    });
    let after = context::turns(held).enumerate().map(|(place, (turn, message))| context::Said {
        number: earlier + place,
        turn: turns + turn,
        message,
    });
    recall_of(&before.chain(after).collect::<Vec<_>>(), query, most)
}

#[cfg(test)]
#[path = "said_tests.rs"]
mod tests;
