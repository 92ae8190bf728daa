//! Removes secrets from what is written to a session's file.

use serde_json::Value;

use crate::conversation::{ContentBlock, Message, ToolCall, ToolResult};
use crate::secret::{self, Known, Level, MARK};

/// In a field with the name of a secret, a value with at least this many bytes is one.
const SHORTEST_FIELD: usize = 3;

/// Knows the values that must never be written, and the shapes of secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redactor {
    known: Known,
}

impl Redactor {
    /// Makes a redactor that knows these exact values, and the shapes in [`secret`].
    #[must_use]
    pub const fn new(known: Known) -> Self {
        Self { known }
    }

    /// Returns the text without secrets.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        secret::redact(text, &self.known, Level::Kept).0
    }

    /// Returns the message without secrets. Reasoning is not changed in a single byte, because it is signed.
    #[must_use]
    pub fn message(&self, message: &Message) -> Message {
        let content = message.content.iter().map(|block| match block {
            ContentBlock::Text { text } => ContentBlock::Text { text: self.text(text) },
            ContentBlock::ToolCall(call) => {
                let input = self.value(&call.input);
                // In the model's own text a secret may be written with escapes: so the text is dropped if anything
                // was removed.
                let arguments = if input == call.input { call.arguments.clone() } else { String::new() };
                let invalid_input = call.invalid_input.as_deref().map(|raw| self.text(raw));
                ContentBlock::ToolCall(ToolCall { input, invalid_input, arguments, ..call.clone() })
            }
            ContentBlock::ToolResult(result) => {
                ContentBlock::ToolResult(ToolResult { content: self.text(&result.content), ..result.clone() })
            }
            ContentBlock::Reasoning(_) | ContentBlock::Image(_) | ContentBlock::WireItem(_) => block.clone(),
        });
        Message { role: message.role, content: content.collect() }
    }

    /// In a field with the name of a secret, any value is a secret, whatever it looks like.
    fn field(&self, name: &str, value: &Value) -> Value {
        match value {
            Value::String(text) if secret::is_secret_name(name) && text.len() >= SHORTEST_FIELD => MARK.into(),
            other => self.value(other),
        }
    }

    fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.value(item)).collect()),
            Value::Object(fields) => {
                let field = |(name, field): (&String, &Value)| (name.clone(), self.field(name, field));
                Value::Object(fields.iter().map(field).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_and_shaped_keys_are_taken_out() {
        let redactor = Redactor::new(Known::new(["odd-value-here".to_owned(), "short".to_owned()]));
        let key = format!("sk-proj-{}", "a1".repeat(20));
        let text = format!("pass odd-value-here short key={key}, task-list risk-free-thing-in-a-long-sentence");
        assert_eq!(
            redactor.text(&text),
            "pass [redacted] short key=[redacted], task-list risk-free-thing-in-a-long-sentence"
        );
    }

    #[test]
    fn a_field_of_a_call_is_a_secret_by_its_name() {
        let input = serde_json::json!({"env": {"API_TOKEN": "hunter22", "N": "1"}, "line": "mysql -phunter22"});
        let clean = Redactor::default().value(&input);
        let expected =
            serde_json::json!({"env": {"API_TOKEN": "[redacted]", "N": "1"}, "line": "mysql -p[redacted]"});
        assert_eq!(clean, expected);
    }
}
