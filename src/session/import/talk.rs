//! Collects another agent's session: messages in order, joined where the file splits them.

use std::path::PathBuf;

use serde_json::Value;

use crate::conversation::{ContentBlock, Message, Outcome, Role, ToolCall, ToolFacts, ToolResult};

/// What is read so far.
#[derive(Default)]
pub(super) struct Talk {
    pub(super) directory: PathBuf,
    pub(super) model: String,
    pub(super) messages: Vec<Message>,
}

impl Talk {
    pub(super) fn say(&mut self, role: Role, content: Vec<ContentBlock>) {
        if content.is_empty() {
            return;
        }
        let are_results =
            |blocks: &[ContentBlock]| blocks.iter().any(|block| matches!(block, ContentBlock::ToolResult(_)));
        match self.messages.last_mut() {
            // Other agents write one line for each block of an answer, and for each result.
            Some(last) if last.role == role && (role == Role::Assistant || are_results(&content)) => {
                last.content.extend(content);
            }
            Some(_) | None => self.messages.push(Message { role, content }),
        }
    }

    pub(super) fn text(&mut self, role: Role, text: &str) {
        if !text.trim().is_empty() {
            self.say(role, vec![ContentBlock::Text { text: text.to_owned() }]);
        }
    }

    pub(super) fn call(&mut self, id: &str, name: &str, input: Value) {
        let (input, invalid_input) = match input {
            Value::Object(_) => (input, None),
            other => (Value::Object(serde_json::Map::new()), Some(other.to_string())),
        };
        let call = ToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
            input,
            invalid_input,
            extra: serde_json::Map::new(),
            model: String::new(),
            arguments: String::new(),
        };
        self.say(Role::Assistant, vec![ContentBlock::ToolCall(call)]);
    }

    pub(super) fn result(&mut self, id: &str, content: String, failed: bool) {
        let called = self.messages.iter().rev().flat_map(Message::calls).find(|call| call.id == id);
        let name = called.map(|call| call.name.clone()).unwrap_or_default();
        let outcome = if failed { Outcome::Failed } else { Outcome::Ok };
        let (images, facts) = (Vec::new(), ToolFacts::default());
        let result = ToolResult { call_id: id.to_owned(), name, content, outcome, images, facts, duration_ms: 0 };
        self.say(Role::User, vec![ContentBlock::ToolResult(result)]);
    }
}

/// The text of a field that is a text, or a list of texts.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
            texts.join("\n")
        }
        Value::Object(fields) => {
            ["content", "output", "text"].iter().find_map(|name| fields.get(*name)).map(text_of).unwrap_or_default()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

/// A field that is a text; empty where it is none.
pub(super) fn field<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
