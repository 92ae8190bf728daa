//! A conversation as every wire can send it: the roles alternate, nothing is empty, and later messages never change
//! the bytes of earlier ones. Prompt caches need that. Pure.
//!
//! The turn made of a message depends on the message and on those before it, never on those after it. Fixed words
//! replace a missing turn (an interrupted answer, an answer of which this model may see nothing): templates of local
//! models and Mistral's server refuse two messages of one role, or a person's words right after a result. Putting the
//! words into an earlier message instead would change what is cached.

use serde_json::{Value, json};

use crate::conversation::{ContentBlock, Image, Message, Role, ToolResult};

/// Stands for an answer that never came.
pub(crate) const NO_ANSWER: &str = "(no answer)";

/// Stands for a person's message between two answers.
pub(crate) const GO_ON: &str = "(go on)";

/// Stands for a person's message without words.
const NO_WORDS: &str = "(empty message)";

/// Stands for the output of a tool that printed nothing.
const NO_OUTPUT: &str = "(no output)";

/// One turn of the wire's conversation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Turn<'a> {
    /// A person speaks; at least one part.
    Person(Vec<Part<'a>>),
    /// The results of the model's calls, in order.
    Results(Vec<&'a ToolResult>),
    /// The model speaks: blocks of which at least one can be sent.
    Model(&'a [ContentBlock]),
    /// The model's turn is missing: these words stand in.
    StandIn(&'static str),
}

/// Part of what a person says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Part<'a> {
    /// Words; never blank.
    Text(&'a str),
    /// A picture.
    Image(&'a Image),
}

/// Which turns may follow each other on a wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Order {
    /// Two answers: a paused one and its rest are one turn to the wire that paused it.
    pub(crate) two_answers: bool,
    /// A person's words right behind results.
    pub(crate) words_behind_results: bool,
}

/// Tells whether a block of an answer is text or a call: no server takes a thought alone.
pub(crate) fn has_words(block: &ContentBlock) -> bool {
    match block {
        ContentBlock::Text { text } => !text.is_empty(),
        ContentBlock::ToolCall(_) => true,
        ContentBlock::Reasoning(_)
        | ContentBlock::ToolResult(_)
        | ContentBlock::Image(_)
        | ContentBlock::WireItem(_) => false,
    }
}

/// Brings a conversation into turns. `speaks` tells whether a block of an answer can be sent by itself.
pub(crate) fn turns<'a>(
    messages: &'a [Message],
    order: Order,
    speaks: impl Fn(&ContentBlock) -> bool,
) -> Vec<Turn<'a>> {
    let mut turns: Vec<Turn<'a>> = Vec::with_capacity(messages.len());
    for message in messages {
        match message.role {
            Role::User => person(message, order, &mut turns),
            Role::Assistant if message.content.iter().any(&speaks) => {
                let apart = !order.two_answers && model_spoke_last(&turns);
                if turns.is_empty() || apart {
                    turns.push(Turn::Person(vec![Part::Text(GO_ON)]));
                }
                turns.push(Turn::Model(&message.content));
            }
            Role::Assistant if turns.is_empty() || model_spoke_last(&turns) => {}
            Role::Assistant => turns.push(Turn::StandIn(NO_ANSWER)),
        }
    }
    turns
}

fn model_spoke_last(turns: &[Turn<'_>]) -> bool {
    matches!(turns.last(), Some(Turn::Model(_) | Turn::StandIn(_)))
}

/// Results come first: they must stand right behind their calls.
fn person<'a>(message: &'a Message, order: Order, turns: &mut Vec<Turn<'a>>) {
    let results: Vec<&ToolResult> = message.results().collect();
    let mut parts: Vec<Part<'a>> = message
        .content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::Text { text } if !text.trim().is_empty() => Some(Part::Text(text)),
            ContentBlock::Image(image) => Some(Part::Image(image)),
            ContentBlock::Text { .. }
            | ContentBlock::Reasoning(_)
            | ContentBlock::ToolCall(_)
            | ContentBlock::ToolResult(_)
            | ContentBlock::WireItem(_) => None,
        })
        .collect();
    if !results.is_empty() {
        turns.push(Turn::Results(results));
        if parts.is_empty() {
            return;
        }
    } else if parts.is_empty() {
        parts.push(Part::Text(NO_WORDS));
    }
    let missing = match turns.last() {
        Some(Turn::Person(_)) => true,
        Some(Turn::Results(_)) => !order.words_behind_results,
        Some(Turn::Model(_) | Turn::StandIn(_)) | None => false,
    };
    if missing {
        turns.push(Turn::StandIn(NO_ANSWER));
    }
    turns.push(Turn::Person(parts));
}

/// How much of arguments that are no JSON object goes back to the model. Unit: bytes.
const MOST_INVALID: usize = 2_000;

/// Wraps arguments that are no JSON object: the model sees what it wrote, and the server gets the object that it
/// demands (vercel/ai 4.0.9).
pub(crate) fn invalid_input(raw: &str) -> Value {
    json!({"invalid_arguments": &raw[..raw.floor_char_boundary(MOST_INVALID)]})
}

/// The text of a result as a wire sends it: never blank.
pub(crate) fn output(result: &ToolResult) -> &str {
    if result.content.trim().is_empty() && result.images.is_empty() { NO_OUTPUT } else { &result.content }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{Outcome, Reasoning, ToolCall};

    fn thought() -> ContentBlock {
        ContentBlock::Reasoning(Reasoning { text: "hm".into(), signature: None, redacted: None, model: "m".into() })
    }

    #[test]
    fn missing_turns_are_stood_in_for_and_what_was_sent_stays() {
        let call = ToolCall {
            id: "c".into(),
            name: "read".into(),
            input: serde_json::json!({}),
            invalid_input: None,
            extra: serde_json::Map::new(),
            model: String::new(),
            arguments: String::new(),
        };
        let result = ToolResult::closed(&call, Outcome::Ok);
        let messages = [
            Message::user("a"),
            Message::user(" "),
            Message { role: Role::Assistant, content: vec![thought()] },
            Message::user("b"),
            Message { role: Role::Assistant, content: vec![ContentBlock::ToolCall(call)] },
            Message { role: Role::User, content: vec![ContentBlock::ToolResult(result.clone())] },
            Message::user("c"),
            Message::assistant("d"),
            Message::assistant("e"),
        ];
        let said = |text| Turn::Person(vec![Part::Text(text)]);
        let expected = vec![
            said("a"),
            Turn::StandIn(NO_ANSWER),
            said(NO_WORDS),
            Turn::StandIn(NO_ANSWER),
            said("b"),
            Turn::Model(&messages[4].content),
            Turn::Results(vec![&result]),
            Turn::StandIn(NO_ANSWER),
            said("c"),
            Turn::Model(&messages[7].content),
            said(GO_ON),
            Turn::Model(&messages[8].content),
        ];
        let strict = Order { two_answers: false, words_behind_results: false };
        assert_eq!(turns(&messages, strict, has_words), expected);
        for end in 0..messages.len() {
            assert!(expected.starts_with(&turns(&messages[..end], strict, has_words)), "{end}");
        }
        let lenient = Order { two_answers: true, words_behind_results: true };
        assert_eq!(turns(&messages[7..], lenient, has_words).len(), 3);
        assert_eq!(turns(&messages[4..], lenient, has_words).len(), 6);
        assert_eq!(output(&result), NO_OUTPUT);
    }
}
