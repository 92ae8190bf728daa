//! The nouns of a conversation: pure values, serde only, no I/O.
//!
//! This room knows no provider, tool, terminal or file. Everything above it speaks in these types.

mod bill;
mod builder;
mod cut;
mod event;
mod message;
mod price;
mod question;
mod spec;
pub mod tokens;
mod usage;

use std::collections::HashSet;

pub use bill::{Bill, Forecast, Ledger, LedgerRow};
pub use builder::{Finished, MessageBuilder};
pub use cut::Cut;
pub use event::{StopReason, StreamEvent};
pub use message::{
    ATTACHED, ContentBlock, Image, Message, Outcome, QUOTED, Reasoning, Role, ToolCall, ToolFacts, ToolResult,
    WireItem, is_quoted,
};
pub use price::{Money, Price, Rates};
pub use question::{Answer, Asker, Question};
pub use spec::{
    About, Brief, COMMANDS, Effect, Preview, READERS, Subject, ToolIdentity, ToolKind, ToolSpec, ToolVerb, WRITERS,
};
pub use usage::{Totals, Usage};

/// The most of the first words, in characters.
const FIRST_WORDS: usize = 80;

/// An ordered list of messages in which every tool call is answered exactly once.
///
/// INVARIANT: each [`ToolCall`] of an assistant message is answered by exactly one [`ToolResult`] in the
/// message that follows it, and no result stands without its call. Between `push_assistant` and
/// `push_results`/`close_open_calls` calls may be open; [`Conversation::check`] tells whether any are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversation {
    /// What stands before the messages that are held: no request has it any more.
    earlier: Earlier,
    messages: Vec<Message>,
    /// Where it was cut for its requests, counted from the first message that is held; the last cut holds.
    cuts: Vec<Cut>,
    /// What the person wants kept at hand, whatever is cut.
    pins: Vec<String>,
}

/// The messages before those that a conversation holds: they stand in the session's file alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Earlier {
    /// How many they are.
    pub messages: usize,
    /// What the first of them says.
    pub opening: String,
}

/// Says how a list of messages breaks the invariant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvariantError {
    /// A call has no result in the message that follows.
    #[error("tool call {0} has no result")]
    Unanswered(String),
    /// A result answers no call of the message before it.
    #[error("tool result {0} answers no call")]
    Orphan(String),
    /// A call is answered twice, or two calls share an id.
    #[error("tool call {0} appears twice")]
    Repeated(String),
    /// The person calls a tool, or the model gives a result.
    #[error("{0} stands in a message of the wrong side")]
    Misplaced(String),
}

impl Conversation {
    /// Makes an empty conversation.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Rebuilds a conversation from stored messages, repairing what a crash left open.
    ///
    /// Open calls are answered [`Outcome::Interrupted`], orphan and repeated results are dropped, so that the
    /// result always passes [`Conversation::check`].
    #[must_use]
    pub fn restore(messages: Vec<Message>) -> Self {
        let mut conversation = Self::new();
        for message in messages {
            conversation.restore_one(message);
        }
        conversation.close_open_calls(Outcome::Interrupted);
        conversation
    }

    fn restore_one(&mut self, mut message: Message) {
        let open: Vec<ToolCall> = self.open_calls().into_iter().cloned().collect();
        if message.role == Role::User && message.has_results() {
            let mut wanted: HashSet<String> = open.iter().map(|call| call.id.clone()).collect();
            message.content.retain(|block| match block {
                ContentBlock::ToolResult(result) => wanted.remove(&result.call_id),
                ContentBlock::Text { .. }
                | ContentBlock::Reasoning(_)
                | ContentBlock::ToolCall(_)
                | ContentBlock::Image(_)
                | ContentBlock::WireItem(_) => true,
            });
            for call in open.iter().filter(|call| wanted.contains(&call.id)) {
                message.content.push(ContentBlock::ToolResult(ToolResult::closed(call, Outcome::Interrupted)));
            }
            if message.content.is_empty() {
                return;
            }
        } else {
            self.close_open_calls(Outcome::Interrupted);
        }
        let mut seen = HashSet::new();
        message.content.retain(|block| match block {
            ContentBlock::ToolCall(call) => message.role == Role::Assistant && seen.insert(call.id.clone()),
            ContentBlock::ToolResult(_) => message.role == Role::User,
            ContentBlock::Text { .. }
            | ContentBlock::Reasoning(_)
            | ContentBlock::Image(_)
            | ContentBlock::WireItem(_) => true,
        });
        if !message.content.is_empty() {
            self.messages.push(message);
        }
    }

    /// Says that these messages stand before those that are held. What follows is what a person said: no call is open.
    #[must_use]
    pub fn behind(mut self, earlier: Earlier) -> Self {
        self.earlier = earlier;
        self
    }

    /// Returns the messages that are held, oldest first.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Gives the messages that are held away.
    #[must_use]
    pub fn into_messages(self) -> Vec<Message> {
        self.messages
    }

    /// Returns how many messages stand before those that are held.
    #[must_use]
    pub const fn earlier(&self) -> usize {
        self.earlier.messages
    }

    /// Returns the first line of what was said first: what a person knows the conversation by.
    #[must_use]
    pub fn first_words(&self) -> String {
        self.opening().lines().next().unwrap_or_default().chars().take(FIRST_WORDS).collect()
    }

    /// What its first message says, held or not.
    #[must_use]
    pub fn opening(&self) -> String {
        match self.earlier.messages {
            0 => self.messages.first().map(Message::text).unwrap_or_default(),
            _ => self.earlier.opening.clone(),
        }
    }

    /// The whole of it: what stands before the held messages is taken from `file`, the same conversation as its file has
    /// it. `None` where that is another one.
    #[must_use]
    pub fn whole(&self, file: Self) -> Option<Self> {
        if file.earlier() > 0 || file.messages.len() < self.earlier() {
            return None;
        }
        let (mut messages, known) = (file.messages, self.cuts.len().min(file.cuts.len()));
        messages.truncate(self.earlier());
        messages.extend(self.messages.iter().cloned());
        // A cut that was made while its file could not be written is known here alone.
        let own = self.cuts.iter().skip(known).cloned().map(|cut| cut.further(self.earlier()));
        let cuts = file.cuts.into_iter().take(known).chain(own).collect();
        Some(Self { earlier: Earlier::default(), messages, cuts, pins: self.pins.clone() })
    }

    /// Appends what the person said. Calls still open are answered [`Outcome::Interrupted`] first.
    pub fn push_user(&mut self, message: Message) -> &Message {
        self.close_open_calls(Outcome::Interrupted);
        self.push(message)
    }

    /// Appends what the model said.
    pub fn push_assistant(&mut self, message: Message) -> &Message {
        self.close_open_calls(Outcome::Interrupted);
        self.push(message)
    }

    /// Appends the results of the open calls; calls without a result are answered `Interrupted`, results
    /// without a call are dropped. Does nothing when no call is open.
    pub fn push_results(&mut self, results: Vec<ToolResult>) -> Option<&Message> {
        let open: Vec<ToolCall> = self.open_calls().into_iter().cloned().collect();
        if open.is_empty() {
            return None;
        }
        let mut results = results;
        let content = open
            .iter()
            .map(|call| {
                let found = results.iter().position(|result| result.call_id == call.id);
                let result = found.map_or_else(
                    || ToolResult::closed(call, Outcome::Interrupted),
                    |index| results.swap_remove(index),
                );
                ContentBlock::ToolResult(result)
            })
            .collect();
        Some(self.push(Message { role: Role::User, content }))
    }

    /// Answers every open call with `reason`; returns the message this made, if any was open.
    pub fn close_open_calls(&mut self, reason: Outcome) -> Option<&Message> {
        let content: Vec<ContentBlock> = self
            .open_calls()
            .into_iter()
            .map(|call| ContentBlock::ToolResult(ToolResult::closed(call, reason)))
            .collect();
        if content.is_empty() {
            return None;
        }
        Some(self.push(Message { role: Role::User, content }))
    }

    /// Forgets the message at this place and all that followed, if a person said it; else nothing.
    ///
    /// Before what a person says no call is open: the invariant holds.
    pub fn rewind(&mut self, messages: usize) {
        let said = |message: &Message| message.role == Role::User && !message.has_results();
        if self.messages.get(messages).is_some_and(said) {
            self.messages.truncate(messages);
            self.cuts = std::mem::take(&mut self.cuts).into_iter().filter_map(|cut| cut.before(messages)).collect();
        }
    }

    /// Returns where it is cut for its requests.
    #[must_use]
    pub fn cut(&self) -> Option<&Cut> {
        self.cuts.last()
    }

    /// Cuts it anew for its requests; the messages stay.
    pub fn push_cut(&mut self, cut: Cut) {
        self.cuts.push(cut);
    }

    /// Returns what the person wants kept at hand, whatever is cut.
    #[must_use]
    pub fn pins(&self) -> &[String] {
        &self.pins
    }

    /// Keeps a text at hand.
    pub fn pin(&mut self, text: String) {
        self.pins.push(text);
    }

    /// Takes the newest cut back.
    pub fn undo_cut(&mut self) -> Option<Cut> {
        self.cuts.pop()
    }

    /// Returns the calls of the last message, if it is the assistant's: they wait for results.
    #[must_use]
    pub fn open_calls(&self) -> Vec<&ToolCall> {
        let last = self.messages.last().filter(|last| last.role == Role::Assistant);
        last.into_iter().flat_map(Message::calls).collect()
    }

    /// Repairs it where it is broken, as [`Conversation::restore`] does; returns what was broken. Called before every
    /// request: a server refuses what is broken, each time it is sent again.
    pub fn heal(&mut self) -> Option<InvariantError> {
        let broken = self.check().err()?;
        self.messages = Self::restore(std::mem::take(&mut self.messages)).messages;
        Some(broken)
    }

    /// Makes a conversation of any messages, broken or not.
    #[cfg(test)]
    pub(crate) const fn unchecked(messages: Vec<Message>) -> Self {
        Self {
            earlier: Earlier { messages: 0, opening: String::new() },
            messages,
            cuts: Vec::new(),
            pins: Vec::new(),
        }
    }

    /// Checks the invariant.
    ///
    /// # Errors
    /// The first break found, see [`InvariantError`].
    pub fn check(&self) -> Result<(), InvariantError> {
        let mut open: Vec<String> = Vec::new();
        for message in &self.messages {
            let mut answered = HashSet::new();
            for block in &message.content {
                if let Some(id) = misplaced(message.role, block) {
                    return Err(InvariantError::Misplaced(id.clone()));
                }
                if let ContentBlock::ToolResult(result) = block {
                    if !open.contains(&result.call_id) {
                        return Err(InvariantError::Orphan(result.call_id.clone()));
                    }
                    if !answered.insert(result.call_id.clone()) {
                        return Err(InvariantError::Repeated(result.call_id.clone()));
                    }
                }
            }
            if let Some(missing) = open.iter().find(|id| !answered.contains(*id)) {
                return Err(InvariantError::Unanswered(missing.clone()));
            }
            open = Vec::new();
            for call in message.calls() {
                if open.contains(&call.id) {
                    return Err(InvariantError::Repeated(call.id.clone()));
                }
                open.push(call.id.clone());
            }
        }
        open.into_iter().next().map_or(Ok(()), |id| Err(InvariantError::Unanswered(id)))
    }

    fn push(&mut self, message: Message) -> &Message {
        let index = self.messages.len();
        self.messages.push(message);
        &self.messages[index]
    }
}

/// The id of a call or a result that stands in a message of the wrong side.
const fn misplaced(role: Role, block: &ContentBlock) -> Option<&String> {
    match (role, block) {
        (Role::User, ContentBlock::ToolCall(call)) => Some(&call.id),
        (Role::Assistant, ContentBlock::ToolResult(result)) => Some(&result.call_id),
        (Role::User | Role::Assistant, _) => None,
    }
}

#[cfg(test)]
#[path = "conversation_tests.rs"]
mod tests;
