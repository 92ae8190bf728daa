//! A line of a codex session (`~/.codex/sessions/YEAR/MONTH/DAY/rollout-….jsonl`): an item as its wire has it, since
//! late 2025 in an envelope of `type` and `payload`.

use serde_json::Value;

use super::talk::{Talk, field, text_of};
use crate::conversation::Role;

/// Texts at the beginning of messages that codex writes to itself in the person's name.
const NOT_SAID: &[&str] = &[
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
];

/// Reads a line; false if it is not codex's.
pub(super) fn read(line: &Value, talk: &mut Talk) -> bool {
    let item = match (field(line, "type"), line.get("payload")) {
        ("session_meta" | "turn_context", Some(payload)) => {
            about(payload, talk);
            return true;
        }
        ("response_item", Some(item)) => item,
        // Everything that these lines show is also in the items.
        (_, Some(_)) => return true,
        (_, None) => line,
    };
    match field(item, "type") {
        // A message of Claude Code stands in a field of that name.
        "message" if item.get("message").is_none() => {
            let role = match field(item, "role") {
                "user" => Role::User,
                "assistant" => Role::Assistant,
                // Its own prompts.
                _ => return true,
            };
            let text = item.get("content").map(text_of).unwrap_or_default();
            if !NOT_SAID.iter().any(|start| text.trim_start().starts_with(start)) {
                talk.text(role, &text);
            }
            true
        }
        "function_call" => {
            let arguments = field(item, "arguments");
            let input = serde_json::from_str(arguments).unwrap_or_else(|_| Value::String(arguments.to_owned()));
            talk.call(field(item, "call_id"), field(item, "name"), input);
            true
        }
        "custom_tool_call" => {
            let input = serde_json::json!({ "input": field(item, "input") });
            talk.call(field(item, "call_id"), field(item, "name"), input);
            true
        }
        "local_shell_call" => {
            let input = item.get("action").cloned().unwrap_or_default();
            talk.call(field(item, "call_id"), "local_shell", input);
            true
        }
        "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
            let (content, failed) = output(item.get("output").unwrap_or(&Value::Null));
            talk.result(field(item, "call_id"), content, failed);
            true
        }
        "reasoning" | "ghost_snapshot" | "web_search_call" => true,
        // The first line of older files.
        "" if item.get("instructions").is_some() && item.get("id").is_some() => {
            about(item, talk);
            true
        }
        _ => false,
    }
}

fn about(payload: &Value, talk: &mut Talk) {
    let (directory, model) = (field(payload, "cwd"), field(payload, "model"));
    if !directory.is_empty() {
        talk.directory = directory.into();
    }
    if !model.is_empty() {
        talk.model = format!("openai/{model}");
    }
}

/// What a call printed: a text, or JSON with the text and the exit code in it.
fn output(value: &Value) -> (String, bool) {
    let inside = match value {
        Value::String(text) => {
            serde_json::from_str::<Value>(text).ok().filter(|inside| inside.get("output").is_some())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    };
    let inside = inside.as_ref().unwrap_or(value);
    let code = inside.pointer("/metadata/exit_code").and_then(Value::as_i64);
    let failed = code.is_some_and(|code| code != 0) || inside.get("success") == Some(&Value::Bool(false));
    (text_of(inside), failed)
}
