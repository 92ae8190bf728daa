//! A line of a Claude Code session (`~/.claude/projects/DIRECTORY/ID.jsonl`): one message, or a part of one.

use serde_json::Value;

use super::talk::{Talk, field, text_of};
use crate::conversation::{ContentBlock, Image, Role};

/// Reads a line; false if it is not Claude Code's.
pub(super) fn read(line: &Value, talk: &mut Talk) -> bool {
    let role = match field(line, "type") {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return false,
    };
    let Some(message) = line.get("message") else { return false };
    let is = |name: &str| line.get(name).and_then(Value::as_bool).unwrap_or(false);
    // Claude Code's messages to itself, and those of its sub-agents.
    if is("isMeta") || is("isSidechain") {
        return true;
    }
    let directory = field(line, "cwd");
    if !directory.is_empty() {
        talk.directory = directory.into();
    }
    let model = field(message, "model");
    if !model.is_empty() && !model.starts_with('<') {
        talk.model = format!("anthropic/{model}");
    }
    match message.get("content") {
        Some(Value::String(text)) => talk.text(role, text),
        Some(Value::Array(blocks)) => blocks.iter().for_each(|block| read_block(role, block, talk)),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {}
    }
    true
}

fn read_block(role: Role, block: &Value, talk: &mut Talk) {
    match field(block, "type") {
        "text" => talk.text(role, field(block, "text")),
        "tool_use" => {
            let input = block.get("input").cloned().unwrap_or_default();
            talk.call(field(block, "id"), field(block, "name"), input);
        }
        "tool_result" => {
            let failed = block.get("is_error").and_then(Value::as_bool).unwrap_or(false);
            let content = block.get("content").map(text_of).unwrap_or_default();
            talk.result(field(block, "tool_use_id"), content, failed);
        }
        "image" => {
            let Some(source) = block.get("source") else { return };
            let image = Image {
                media_type: field(source, "media_type").to_owned(),
                data: field(source, "data").to_owned(),
            };
            if !image.data.is_empty() {
                talk.say(role, vec![ContentBlock::Image(image)]);
            }
        }
        // Reasoning is signed for the model that made it: no other model can use it.
        _ => {}
    }
}
