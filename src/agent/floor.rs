//! How few tokens a request can have: what a person is told it costs at least must hold whatever the model's alphabet.
//! Pure.

use crate::conversation::{ContentBlock, Message, tokens};
use crate::fingerprint::fingerprint;

use super::beginning::Beginning;

/// No known alphabet has a token of more bytes: OpenAI's `o200k_base` has one of 128 blanks.
const LONGEST_TOKEN: usize = 128;

/// Each token of an estimate is counted so often at most; a server that counts more is not believed.
const MOST_COUNTED: u64 = 3;

/// What a request certainly read. A request that begins with it reads at least as much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Floor {
    /// How many messages it had.
    messages: usize,
    /// The fingerprint of all it had.
    print: u64,
    tokens: u64,
}

impl Floor {
    /// Of a request for which the server counted so many tokens as read.
    pub(super) fn of(beginning: &Beginning, sent: &[Message], counted: u64) -> Self {
        let estimate = beginning.tokens() + sent.iter().map(tokens::estimate_message).sum::<u64>();
        // Servers take the thoughts of earlier turns out of a request, and do not count them then.
        let thoughts = sent.iter().flat_map(|message| &message.content).map(opaque).sum::<usize>();
        let counted = counted.min(estimate.saturating_mul(MOST_COUNTED));
        let tokens = counted.saturating_sub(thoughts as u64);
        Self { messages: sent.len(), print: print(beginning, sent), tokens }
    }
}

/// How few tokens a request can have, after one of which that is known.
pub(super) fn fewest(before: Option<Floor>, beginning: &Beginning, sent: &[Message]) -> u64 {
    let begins_alike =
        |floor: &Floor| sent.get(..floor.messages).is_some_and(|first| print(beginning, first) == floor.print);
    match before.filter(begins_alike) {
        Some(floor) => floor.tokens + shortest("", &sent[floor.messages..]),
        None => shortest(&beginning.system, sent),
    }
}

/// The tokens of what certainly stands in a request, were each the longest there is. Servers trim blanks, write calls in
/// their own way, take thoughts out, and count pictures as they like.
fn shortest(system: &str, messages: &[Message]) -> u64 {
    let bytes = |block: &ContentBlock| match block {
        ContentBlock::Text { text } => text.trim().len(),
        ContentBlock::ToolResult(result) => result.content.trim().len(),
        ContentBlock::Reasoning(_)
        | ContentBlock::ToolCall(_)
        | ContentBlock::Image(_)
        | ContentBlock::WireItem(_) => 0,
    };
    let said = messages.iter().flat_map(|message| &message.content).map(bytes).sum::<usize>();
    (system.trim().len() + said).div_ceil(LONGEST_TOKEN) as u64
}

/// The bytes of what only its maker can read; no token of it has less than one.
fn opaque(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Reasoning(thought) => {
            let hidden = [&thought.signature, &thought.redacted].into_iter().flatten().map(String::len);
            thought.text.len() + hidden.sum::<usize>()
        }
        ContentBlock::WireItem(made) => made.item.to_string().len(),
        ContentBlock::Text { .. }
        | ContentBlock::ToolCall(_)
        | ContentBlock::ToolResult(_)
        | ContentBlock::Image(_) => 0,
    }
}

fn print(beginning: &Beginning, sent: &[Message]) -> u64 {
    let fixed = [beginning.system.len() as u64, beginning.tools.len() as u64, u64::from(beginning.search)];
    // A message that cannot be written is none that was sent.
    let messages = serde_json::to_vec(sent).unwrap_or_default();
    fingerprint(fixed.into_iter().flat_map(u64::to_le_bytes).chain(beginning.system.bytes()).chain(messages))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::conversation::{Reasoning, Role};

    /// A server that counts a token for so many bytes, and takes the thoughts of earlier turns out of a request.
    fn counted(system: &str, sent: &[Message], bytes_a_token: usize, drops_thoughts: bool) -> u64 {
        let count = |text: &str| text.trim().len().div_ceil(bytes_a_token);
        let blocks = sent.iter().flat_map(|message| &message.content).map(|block| match block {
            ContentBlock::Text { text } => count(text),
            ContentBlock::Reasoning(thought) if !drops_thoughts => count(&thought.text),
            _ => 0,
        });
        (count(system) + blocks.sum::<usize>()) as u64
    }

    fn message(text: &str, thought: Option<&str>) -> Message {
        let thought = thought.map(|text| {
            let (text, model) = (text.to_owned(), "lab/m".to_owned());
            ContentBlock::Reasoning(Reasoning { text, signature: None, redacted: None, model })
        });
        let text = ContentBlock::Text { text: text.to_owned() };
        Message { role: Role::Assistant, content: thought.into_iter().chain([text]).collect() }
    }

    proptest! {
        #[test]
        fn no_server_counts_less_whatever_was_learnt_and_however_the_conversation_goes_on(
            texts in prop::collection::vec(("[a-z ]{0,400}", prop::option::of("[a-z ]{0,400}")), 1..8),
            at in 0..8_usize, cut in 0..3_usize, bytes_a_token in 1..=LONGEST_TOKEN, drops in any::<bool>(),
        ) {
            let messages: Vec<Message> =
                texts.iter().map(|(text, thought)| message(text, thought.as_deref())).collect();
            let beginning = Beginning { system: "Be brief.".into(), tools: Vec::new(), search: false };
            let at = at.min(messages.len());
            let first = counted(&beginning.system, &messages[..at], bytes_a_token, false);
            let floor = Floor::of(&beginning, &messages[..at], first);
            let sent = &messages[cut.min(messages.len())..];
            let said = fewest(Some(floor), &beginning, sent);
            let bill = counted(&beginning.system, sent, bytes_a_token, drops);
            prop_assert!(said <= bill, "{said} said, {bill} counted");
            prop_assert!(fewest(None, &beginning, sent) <= bill);
        }
    }

    #[test]
    fn what_was_counted_is_known_of_each_request_that_begins_with_it_and_of_no_other() {
        let beginning = |system: &str| Beginning { system: system.into(), tools: Vec::new(), search: false };
        let messages = [message(&"word ".repeat(100), None), message("more", None), message("and more", None)];
        let floor = Floor::of(&beginning("a"), &messages[..2], 101);
        assert_eq!(fewest(Some(floor), &beginning("a"), &messages), 102);
        assert_eq!(fewest(Some(floor), &beginning("b"), &messages), 4, "499 bytes and 12 more");
        assert_eq!(fewest(Some(floor), &beginning("a"), &messages[..1]), 4);
        let wild = Floor::of(&beginning("a"), &messages[..2], 1_000_000);
        assert!(fewest(Some(wild), &beginning("a"), &messages) < 500);
    }
}
