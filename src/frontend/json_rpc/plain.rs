//! Makes what is sent to a client harmless: a client shows it, and may be a terminal.

use serde_json::{Map, Value};

use crate::terminal::{sanitize, sanitize_line};

/// What has to arrive as it is: names that the client gave or gives back, and files with their texts.
const EXACT: &[&str] =
    &["id", "sessionId", "requestId", "progressToken", "cwd", "path", "file_path", "oldText", "newText"];
/// What is shown on one line.
const LINES: &[&str] = &["title", "name"];

/// Cleans each text of a message.
pub(super) fn clean(message: Value) -> Value {
    cleaned("", message)
}

fn cleaned(key: &str, value: Value) -> Value {
    match value {
        Value::String(_) if EXACT.contains(&key) => value,
        Value::String(text) if LINES.contains(&key) => sanitize_line(&text).into_owned().into(),
        Value::String(text) => sanitize(&text).into_owned().into(),
        Value::Array(list) => list.into_iter().map(|value| cleaned(key, value)).collect(),
        Value::Object(fields) => {
            let clean = |(key, value): (String, Value)| {
                let value = cleaned(&key, value);
                (sanitize_line(&key).into_owned(), value)
            };
            Value::Object(fields.into_iter().map(clean).collect::<Map<_, _>>())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn is_harmless(value: &Value) -> bool {
        let plain = |text: &str, breaks: bool| {
            text.chars().all(|letter| !letter.is_control() || letter == '\t' || breaks && letter == '\n')
        };
        match value {
            Value::String(text) => plain(text, true),
            Value::Array(list) => list.iter().all(is_harmless),
            Value::Object(fields) => fields.iter().all(|(key, value)| {
                let is_line =
                    !LINES.contains(&key.as_str()) || value.as_str().is_none_or(|text| plain(text, false));
                plain(key, false) && is_line && (EXACT.contains(&key.as_str()) || is_harmless(value))
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => true,
        }
    }

    proptest! {
        #[test]
        fn nothing_that_is_sent_controls_a_terminal(text in "[\\PC\\x00-\\x1f\\x7f-\\u{9f}]{0,20}") {
            let update = json!({"sessionUpdate": "session_info_update", "title": text, "rawInput": {&text: [text]}});
            let message = json!({"id": text, "error": {"message": text}, "params": {"path": text, "update": update}});
            let sent = clean(message);
            prop_assert!(is_harmless(&sent), "{}", sent);
            prop_assert_eq!((&sent["id"], &sent["params"]["path"]), (&json!(text), &json!(text)));
            prop_assert_eq!(clean(sent.clone()), sent);
        }
    }
}
