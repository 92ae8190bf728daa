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
        put_first(&mut sent, cut.frame.clone());
    }
    Cow::Owned(sent)
}

/// Puts what is pinned and stands in none of the messages before them: it was told in one that was taken back or never
/// sent. Where it stands, each request begins with the bytes of the one before.
#[must_use]
pub fn with_pins<'a>(sent: Cow<'a, [Message]>, pins: &[String]) -> Cow<'a, [Message]> {
    let missing: Vec<String> =
        pins.iter().filter(|pin| !stands_in(&sent, pin)).map(|pin| format!("- {pin}")).collect();
    if missing.is_empty() || sent.is_empty() {
        return sent;
    }
    let mut sent = sent.into_owned();
    let missing = missing.join("\n");
    put_first(&mut sent, format!("[The user wants this kept at hand for the whole conversation:\n{missing}]\n\n"));
    Cow::Owned(sent)
}

fn stands_in(messages: &[Message], pin: &str) -> bool {
    let mut blocks =
        messages.iter().filter(|message| message.role == Role::User).flat_map(|message| &message.content);
    blocks.any(|block| match block {
        ContentBlock::Text { text } => text.contains(pin),
        ContentBlock::Reasoning(_)
        | ContentBlock::ToolCall(_)
        | ContentBlock::ToolResult(_)
        | ContentBlock::Image(_)
        | ContentBlock::WireItem(_) => false,
    })
}

fn put_first(sent: &mut Vec<Message>, text: String) {
    let text = ContentBlock::Text { text };
    match sent.first_mut() {
        // Two messages of one side in a row are refused by some servers.
        Some(first) if first.role == Role::User && !first.has_results() => first.content.insert(0, text),
        Some(_) | None => sent.insert(0, Message { role: Role::User, content: vec![text] }),
    }
}
