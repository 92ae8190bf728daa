//! The messages of a request.

use std::borrow::Cow;

use super::thin;
use crate::conversation::{ContentBlock, Cut, Message, Role};

/// Makes the messages of a request: the whole conversation where nothing is cut.
///
/// INVARIANT: where `messages` pass [`crate::conversation::Conversation::check`], so does the view.
#[must_use]
pub fn view<'a>(messages: &'a [Message], cut: Option<&Cut>) -> Cow<'a, [Message]> {
    let Some(cut) = cut else { return Cow::Borrowed(messages) };
    let kept = messages.iter().enumerate().skip(cut.dropped);
    let thinned = |(index, message): (usize, &Message)| {
        if index < cut.thinned { thin::message(message) } else { message.clone() }
    };
    let mut sent: Vec<Message> = kept.map(thinned).collect();
    if !cut.frame.is_empty() {
        let text = ContentBlock::Text { text: cut.frame.clone() };
        match sent.first_mut() {
            // Two messages of one side in a row are refused by some servers.
            Some(first) if first.role == Role::User && !first.has_results() => first.content.insert(0, text),
            Some(_) | None => sent.insert(0, Message { role: Role::User, content: vec![text] }),
        }
    }
    Cow::Owned(sent)
}
