//! The `recall` tool: searches all that was said in this conversation, also what is not sent any more.
//!
//! Not a [`crate::tool::Tool`]: it reads the conversation, which that room does not hold.

use serde_json::{Value, json};

use crate::context::{PASSAGES, recall};
use crate::conversation::{Message, ToolCall, ToolIdentity, ToolSpec, ToolVerb};
use crate::tool::{ToolFacts, ToolOutput};

/// The name models call it by.
const NAME: &str = "recall";

/// Describes it to the model.
pub(super) fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME.to_owned(),
        description:
            "Searches all that was said and printed earlier in this conversation, word for word, also what \
                      is not sent any more."
                .to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {"query": {"type": "string", "description": "Words that stand in what is sought"}},
            "required": ["query"]
        }),
        identity: ToolIdentity { verb: ToolVerb::Search, ..ToolIdentity::default() },
    }
}

/// Answers a call, if it is one of this tool.
pub(super) fn answer(call: &ToolCall, said: &[Message]) -> Option<ToolOutput> {
    if call.name != NAME || call.invalid_input.is_some() {
        return None;
    }
    let query = ["query", "q", "text"].iter().find_map(|name| call.input.get(name).and_then(Value::as_str));
    let Some(query) = query.map(str::trim).filter(|query| !query.is_empty()) else {
        return Some(ToolOutput::failed("recall: missing argument `query`, which must be a non-empty string"));
    };
    // The call itself says the words, and the message it stands in.
    let before = said.len().saturating_sub(1);
    let found = recall(&said[..before], query, PASSAGES);
    if found.is_empty() {
        return Some(ToolOutput::ok("Nothing that was said has these words.", ToolFacts::default()));
    }
    let passages: Vec<String> = found
        .iter()
        .map(|found| format!("[turn {}, {}, line {}]\n{}", found.turn, found.who, found.line, found.text))
        .collect();
    let lines = Some(found.len() as u64);
    Some(ToolOutput::ok(passages.join("\n\n"), ToolFacts { lines, ..ToolFacts::default() }))
}
