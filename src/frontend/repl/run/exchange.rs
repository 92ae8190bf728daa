//! What the line editor hears of the conversation, for its ghost text.

use crate::conversation::{ContentBlock, Conversation, Message, Role};
use crate::frontend::repl::ghost::Exchange;

/// The last thing the person said, and what was answered. What was attached to it is left out.
pub(super) fn last_exchange(conversation: &Conversation) -> Exchange {
    let messages = conversation.messages();
    let last = messages.iter().rposition(|message| message.role == Role::User && typed(message).is_some());
    let Some(last) = last else { return Exchange::default() };
    let answers = messages[last..].iter().filter(|message| message.role == Role::Assistant).map(Message::text);
    let answered: Vec<String> = answers.filter(|text| !text.trim().is_empty()).collect();
    let said = typed(&messages[last]).unwrap_or_default().to_owned();
    Exchange { said, answered: answered.join("\n\n") }
}

/// What was typed of a message: its first words.
fn typed(message: &Message) -> Option<&str> {
    message.content.iter().find_map(|block| match block {
        ContentBlock::Text { text } if !text.trim().is_empty() => Some(text.as_str()),
        ContentBlock::Text { .. }
        | ContentBlock::Reasoning(_)
        | ContentBlock::ToolCall(_)
        | ContentBlock::ToolResult(_)
        | ContentBlock::Image(_)
        | ContentBlock::WireItem(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_exchange_is_the_last_words_of_both() {
        let mut conversation = Conversation::new();
        assert_eq!(last_exchange(&conversation), Exchange::default());
        let mut message = Message::user("look at @a.rs");
        message.content.push(ContentBlock::Text { text: "<file path=\"a.rs\">…</file>".to_owned() });
        conversation.push_user(message);
        conversation.push_assistant(Message::assistant("It is a file."));
        let expected = Exchange { said: "look at @a.rs".to_owned(), answered: "It is a file.".to_owned() };
        assert_eq!(last_exchange(&conversation), expected);
    }
}
