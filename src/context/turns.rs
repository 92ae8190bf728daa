//! The turns of a conversation.

use crate::conversation::{Message, Role};

/// Which turn of the person each message belongs to, counted from 1; 0 before the first.
pub fn turns(messages: &[Message]) -> impl Iterator<Item = (usize, &Message)> {
    let mut turn = 0;
    messages.iter().map(move |message| {
        if message.role == Role::User && !message.has_results() {
            turn += 1;
        }
        (turn, message)
    })
}
