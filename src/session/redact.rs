//! Takes secrets out of what is written to a session's file.

use serde_json::Value;

use crate::conversation::{ContentBlock, Message, ToolCall, ToolResult};

/// What stands where a secret was.
const MARK: &str = "[redacted]";

/// The shortest value that is treated as a secret: shorter ones would blank ordinary words.
const SHORTEST: usize = 8;

/// Beginnings of keys as providers issue them, and how many characters must follow (from their own
/// documentation of key formats).
const SHAPES: &[(&str, usize)] = &[
    ("sk-", 20),
    ("sk_live_", 16),
    ("ghp_", 30),
    ("gho_", 30),
    ("ghs_", 30),
    ("github_pat_", 30),
    ("glpat-", 18),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("AKIA", 16),
    ("AIza", 30),
    ("hf_", 30),
    ("npm_", 30),
];

/// Knows the values that must never be written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redactor {
    values: Vec<String>,
}

impl Redactor {
    /// Makes a redactor that knows these exact values, and the shapes of common keys.
    #[must_use]
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        let mut values: Vec<String> = values.into_iter().filter(|value| value.len() >= SHORTEST).collect();
        // The longest first, so that a value that contains another is taken out whole.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self { values }
    }

    /// Returns the text without secrets.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        let mut clean = text.to_owned();
        for value in &self.values {
            if clean.contains(value.as_str()) {
                clean = clean.replace(value.as_str(), MARK);
            }
        }
        for (start, least) in SHAPES {
            clean = redact_shape(&clean, start, *least);
        }
        clean
    }

    /// Returns the message without secrets. Reasoning stays byte for byte: its signature is over it.
    #[must_use]
    pub fn message(&self, message: &Message) -> Message {
        let content = message.content.iter().map(|block| match block {
            ContentBlock::Text { text } => ContentBlock::Text { text: self.text(text) },
            ContentBlock::ToolCall(call) => ContentBlock::ToolCall(ToolCall {
                input: self.value(&call.input),
                invalid_input: call.invalid_input.as_deref().map(|raw| self.text(raw)),
                ..call.clone()
            }),
            ContentBlock::ToolResult(result) => {
                ContentBlock::ToolResult(ToolResult { content: self.text(&result.content), ..result.clone() })
            }
            ContentBlock::Reasoning(_) | ContentBlock::Image(_) => block.clone(),
        });
        Message { role: message.role, content: content.collect() }
    }

    fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.value(item)).collect()),
            Value::Object(fields) => {
                Value::Object(fields.iter().map(|(name, field)| (name.clone(), self.value(field))).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }
}

fn redact_shape(text: &str, start: &str, least: usize) -> String {
    let mut clean = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(start) {
        let (before, found) = rest.split_at(at);
        let body = &found[start.len()..];
        let length = body.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte)).count();
        let inside_word = before.bytes().last().is_some_and(|byte| byte.is_ascii_alphanumeric());
        clean.push_str(before);
        if length >= least && !inside_word {
            clean.push_str(MARK);
        } else {
            clean.push_str(&found[..start.len() + length]);
        }
        rest = &body[length..];
    }
    if clean.is_empty() && rest.len() == text.len() {
        return text.to_owned();
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_and_shaped_keys_are_taken_out() {
        let redactor = Redactor::new(["hunter2-hunter2".to_owned(), "short".to_owned()]);
        let key = format!("sk-proj-{}", "a1".repeat(20));
        let text = format!("pass hunter2-hunter2 short key={key}, task-list risk-free-thing-in-a-long-sentence");
        assert_eq!(
            redactor.text(&text),
            "pass [redacted] short key=[redacted], task-list risk-free-thing-in-a-long-sentence"
        );
    }
}
