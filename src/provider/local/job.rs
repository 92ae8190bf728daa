//! What is asked of the engine, and what it answers with.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tokio::sync::mpsc;

use crate::conversation::{Message, StreamEvent, ToolSpec};
use crate::provider::ModelError;

/// What the engine answers with.
pub(super) type Event = Result<StreamEvent, Trouble>;

/// Why there is no answer.
#[derive(Debug, Clone)]
pub(super) enum Trouble {
    /// The model cannot be used.
    Model(ModelError),
    /// The last message alone is longer than the context.
    TooLong,
}

/// What is asked.
pub(super) enum Ask {
    /// The next message of a conversation.
    ///
    /// Of the messages, the first `stable` are the same each time.
    Message { system: String, messages: Vec<Message>, tools: Vec<ToolSpec>, stable: usize },
    /// How a line goes on. What stands before it stays the same for a while; `line` is what changes.
    Line { before: String, line: String },
}

/// One question.
pub(super) struct Job {
    pub(super) ask: Ask,
    pub(super) most: usize,
    /// Where the answer goes; `None` only reads what every question begins with.
    pub(super) events: Option<mpsc::Sender<Event>>,
    pub(super) stop: Arc<AtomicBool>,
}
