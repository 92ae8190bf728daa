//! Takes secrets out of what is written to a session's file.

use serde_json::Value;

use crate::conversation::{ContentBlock, Message, ToolCall, ToolResult};

/// What stands where a secret was.
const MARK: &str = "[redacted]";

/// The shortest value that is treated as a secret: shorter ones would blank ordinary words.
const SHORTEST: usize = 8;

/// Beginnings of keys as providers issue them, and how many characters must follow (from their own
/// documentation of key formats, and GitHub's list of secret scanning patterns).
const SHAPES: &[(&str, usize)] = &[
    ("sk-", 20),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("ghp_", 30),
    ("gho_", 30),
    ("ghs_", 30),
    ("ghu_", 30),
    ("ghr_", 30),
    ("github_pat_", 30),
    ("glpat-", 18),
    ("xoxa-", 20),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("xoxr-", 20),
    ("xoxs-", 20),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("hf_", 30),
    ("npm_", 30),
    ("pypi-", 30),
    ("gsk_", 30),
];

/// The beginning of a JSON web token, and how many characters must follow: it has three parts with dots between.
const WEB_TOKEN: (&str, usize) = ("eyJ", 40);

/// The shortest value after `Bearer` that is taken for a key, in bytes; with a digit in it, unlike words.
const SHORTEST_BEARER: usize = 16;

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
            clean = redact_shape(&clean, start, *least, b"-_");
        }
        clean = redact_shape(&clean, WEB_TOKEN.0, WEB_TOKEN.1, b"-_.");
        redact_blocks(redact_bearers(clean))
    }

    /// Returns the message without secrets. Reasoning stays byte for byte: its signature is over it.
    #[must_use]
    pub fn message(&self, message: &Message) -> Message {
        let content = message.content.iter().map(|block| match block {
            ContentBlock::Text { text } => ContentBlock::Text { text: self.text(text) },
            ContentBlock::ToolCall(call) => {
                let input = self.value(&call.input);
                // As the model wrote them a secret may be spelt with escapes: they go where anything was taken out.
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

fn redact_shape(text: &str, start: &str, least: usize, also: &[u8]) -> String {
    let mut clean = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(start) {
        let (before, found) = rest.split_at(at);
        let body = &found[start.len()..];
        let length = body.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || also.contains(byte)).count();
        let inside_word = before.bytes().last().is_some_and(|byte| byte.is_ascii_alphanumeric());
        clean.push_str(before);
        if length >= least && (!inside_word || ends_with_escape(before)) {
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

/// Tells whether the letters a text ends with are no word but an escape of JSON or a program: `\n`, `\x1b`, `\u0022`.
fn ends_with_escape(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is = |letters: usize, kinds: &[u8]| {
        bytes.len().checked_sub(letters + 1).and_then(|at| bytes.get(at..)).is_some_and(|end| {
            let hexadecimal = end.iter().skip(2).all(u8::is_ascii_hexdigit);
            end.first() == Some(&b'\\') && end.get(1).is_some_and(|kind| kinds.contains(kind)) && hexadecimal
        })
    };
    is(1, b"abefnrtv0") || is(3, b"x") || is(5, b"u")
}

/// `Bearer …`, as it stands in headers.
fn redact_bearers(text: String) -> String {
    const WORD: &str = "bearer ";
    let lower = text.to_ascii_lowercase();
    let mut clean = String::new();
    let mut written = 0;
    for (at, _) in lower.match_indices(WORD) {
        let from = at + WORD.len();
        let value = &text.as_bytes()[from..];
        let length =
            value.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"-_.~+/=".contains(byte)).count();
        if length >= SHORTEST_BEARER && value[..length].iter().any(u8::is_ascii_digit) {
            clean.push_str(&text[written..from]);
            clean.push_str(MARK);
            written = from + length;
        }
    }
    if written == 0 {
        return text;
    }
    clean.push_str(&text[written..]);
    clean
}

/// Private keys from their first line to their last; of one without an end, all that can be of it.
fn redact_blocks(text: String) -> String {
    const BEGIN: &str = "-----BEGIN ";
    if !text.contains(BEGIN) {
        return text;
    }
    let mut clean = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find(BEGIN) {
        let inside = at + BEGIN.len();
        let label = rest[inside..].find("-----").map(|end| &rest[inside..inside + end]);
        let Some(label) = label.filter(|label| label.len() <= 64 && label.ends_with("PRIVATE KEY")) else {
            clean.push_str(&rest[..inside]);
            rest = &rest[inside..];
            continue;
        };
        let body = &rest[inside + label.len() + "-----".len()..];
        let end = format!("-----END {label}-----");
        let length = body.find(&end).map_or_else(|| cut_block(body), |at| at + end.len());
        clean.push_str(&rest[..at]);
        if length > 0 {
            clean.push_str(MARK);
        } else {
            clean.push_str(&rest[at..rest.len() - body.len()]);
        }
        rest = &body[length..];
    }
    clean.push_str(rest);
    clean
}

/// Bytes of a private key that was cut, none where words follow.
fn cut_block(body: &str) -> usize {
    let of_key = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=\\ \r\n\t".contains(byte);
    let length = body.bytes().take_while(of_key).count();
    let is_key = body[..length].split_whitespace().any(|line| line.len() >= 40);
    if is_key { length } else { 0 }
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
    #[test]
    fn keys_behind_an_escape_and_of_every_shape_are_taken_out() {
        let redactor = Redactor::default();
        let body = "a1".repeat(20);
        for before in ["\\n", "\\t", "\\\"", "\\u0022", "\\x1b", "x ", "=", ""] {
            assert_eq!(redactor.text(&format!("{before}sk-{body}")), format!("{before}[redacted]"));
        }
        for (start, _) in SHAPES {
            assert_eq!(redactor.text(&format!("{start}{body}.")), "[redacted].");
        }
        assert_eq!(redactor.text("Authorization: Bearer abcdefghijklmnop0123"), "Authorization: Bearer [redacted]");
        let token = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc";
        assert_eq!(redactor.text(&format!("jwt {token} end")), "jwt [redacted] end");
        for end in ["\n-----END RSA PRIVATE KEY-----", ""] {
            let block = format!("a -----BEGIN RSA PRIVATE KEY-----\n{body}{body}\n{body}{end}");
            assert_eq!(redactor.text(&format!("{block}: b")), "a [redacted]: b");
        }
    }

    #[test]
    fn arguments_as_the_model_wrote_them_hide_no_secret_in_escapes() {
        let call = |secret: &str| ToolCall {
            id: "a".into(),
            name: "shell".into(),
            input: serde_json::json!({ "command": secret }),
            invalid_input: None,
            extra: serde_json::Map::new(),
            model: "lab/m".into(),
            arguments: "{\"command\": \"\\u0068unter2-hunter2\"}".into(),
        };
        let redactor = Redactor::new(["hunter2-hunter2".to_owned()]);
        let kept = |secret: &str| {
            let content = vec![ContentBlock::ToolCall(call(secret))];
            let message = redactor.message(&Message { role: crate::conversation::Role::Assistant, content });
            message.calls().next().cloned().unwrap()
        };
        let redacted = kept("hunter2-hunter2");
        assert_eq!(
            (redacted.input.to_string().as_str(), redacted.arguments.as_str()),
            (r#"{"command":"[redacted]"}"#, "")
        );
        assert_eq!(kept("ls"), call("ls"));
    }

    #[test]
    fn words_that_only_look_like_keys_stay() {
        for text in [
            "eyJust a word, and a bearer of authenticationtokens",
            "it begins with -----BEGIN RSA PRIVATE KEY----- and ends like that",
            "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
            "-----BEGIN ",
            "a-desk-with-a-long-name-that-is-no-key, brisk-walks-and-such-things",
        ] {
            assert_eq!(Redactor::default().text(text), text);
        }
    }
}
