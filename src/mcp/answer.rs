//! What a tool of a server gave back. Pure; sanitised and trimmed by whoever shows it.

use serde_json::Value;

use super::plain::visible;

/// A tool's answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// What it holds, in its order.
    pub parts: Vec<Part>,
    /// Whether the tool says that it failed.
    pub failed: bool,
}

/// A part of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text.
    Text(String),
    /// A picture in base64.
    Picture {
        /// For example `image/png`.
        media_type: String,
        /// Its bytes in base64.
        data: String,
    },
}

/// Reads the result of `tools/call`.
pub(super) fn read(result: &Value) -> Answer {
    let failed = result.get("isError").and_then(Value::as_bool).unwrap_or_default();
    let mut parts: Vec<Part> =
        result.get("content").and_then(Value::as_array).into_iter().flatten().map(part).collect();
    // Servers give structured content as text beside it, for older clients; one that does not means only this.
    let spoken = parts.iter().any(|part| matches!(part, Part::Text(text) if !text.trim().is_empty()));
    if let Some(structured) = result.get("structuredContent").filter(|value| !value.is_null() && !spoken) {
        parts.push(Part::Text(serde_json::to_string_pretty(structured).unwrap_or_default()));
    }
    Answer { parts, failed }
}

/// Reads the result of `resources/read`.
pub(super) fn read_resource(result: &Value) -> Answer {
    let contents = result.get("contents").and_then(Value::as_array).into_iter().flatten();
    Answer { parts: contents.map(resource).collect(), failed: false }
}

/// Reads the result of `prompts/get`: what the person would say, as far as they can see it.
pub(super) fn read_prompt(result: &Value) -> String {
    let messages = result.get("messages").and_then(Value::as_array).into_iter().flatten();
    let texts = messages.filter_map(|message| match part(message.get("content")?) {
        Part::Text(text) => Some(visible(&text)),
        Part::Picture { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

fn part(content: &Value) -> Part {
    let text = |name: &str| content.get(name).and_then(Value::as_str).map(str::to_owned);
    let kind = text("type").unwrap_or_default();
    let media_type = text("mimeType").unwrap_or_else(|| "of an unknown type".to_owned());
    match kind.as_str() {
        "text" => Part::Text(text("text").unwrap_or_default()),
        "image" => Part::Picture { media_type, data: text("data").unwrap_or_default() },
        "audio" => Part::Text(format!("[sound, {media_type}: it cannot be heard here]")),
        "resource_link" => {
            let (name, uri) = (text("name").unwrap_or_default(), text("uri").unwrap_or_default());
            Part::Text(format!("[resource {name}: {uri}]"))
        }
        "resource" => resource(content.get("resource").unwrap_or(&Value::Null)),
        other => Part::Text(format!("[content of the unknown type {other:?}]")),
    }
}

/// Reads an embedded resource.
fn resource(resource: &Value) -> Part {
    let text = |name: &str| resource.get(name).and_then(Value::as_str);
    let uri = text("uri").unwrap_or_default();
    let media_type = text("mimeType").unwrap_or_default();
    match (text("text"), text("blob")) {
        (Some(inside), _) => Part::Text(format!("[resource {uri}]\n{inside}")),
        (None, Some(data)) if media_type.starts_with("image/") => {
            Part::Picture { media_type: media_type.to_owned(), data: data.to_owned() }
        }
        (None, _) => Part::Text(format!("[resource {uri} {media_type}: no text]")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_kind_of_content_is_told() {
        let answer = read(&json!({"isError": true, "content": [
            {"type": "text", "text": "a"},
            {"type": "image", "mimeType": "image/png", "data": "AAAA"},
            {"type": "resource", "resource": {"uri": "x://1", "text": "inside"}},
            {"type": "resource_link", "name": "n", "uri": "x://2"},
            {"type": "audio", "mimeType": "audio/wav", "data": "AA"},
            {"type": "hologram"}, 7,
        ], "structuredContent": {"a": 1}}));
        let text = |text: &str| Part::Text(text.to_owned());
        let parts = vec![
            text("a"),
            Part::Picture { media_type: "image/png".into(), data: "AAAA".into() },
            text("[resource x://1]\ninside"),
            text("[resource n: x://2]"),
            text("[sound, audio/wav: it cannot be heard here]"),
            text("[content of the unknown type \"hologram\"]"),
            text("[content of the unknown type \"\"]"),
        ];
        assert_eq!(answer, Answer { parts, failed: true });
        assert_eq!(read(&json!({"structuredContent": {"a": 1}})).parts, [text("{\n  \"a\": 1\n}")]);
        assert_eq!(read(&json!(null)), Answer::default());
    }
}
