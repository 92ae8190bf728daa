//! The rule every wire has: a tool call is answered exactly once, in what follows it.

use std::collections::HashSet;

use serde_json::Value;

/// Checks the request body of whichever wire `path` belongs to; other paths pass.
pub(crate) fn check(path: &str, body: &Value) -> Result<(), String> {
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    if path.contains("/chat/completions") {
        check_chat(messages)
    } else if path.contains("/v1/messages") {
        check_anthropic(messages)
    } else if path.contains("/api/chat") {
        check_ollama(messages)
    } else {
        Ok(())
    }
}

/// openai-chat: the messages after an assistant's `tool_calls` have role `tool` and answer each id once.
fn check_chat(messages: &[Value]) -> Result<(), String> {
    let mut open: HashSet<String> = HashSet::new();
    for message in messages {
        if message["role"] == "tool" {
            let id = text(&message["tool_call_id"]);
            if !open.remove(&id) {
                return Err(format!("tool message answers no open call: {id}"));
            }
            continue;
        }
        none_open(&open)?;
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let arguments = call["function"]["arguments"].as_str().ok_or("arguments are no string")?;
            if serde_json::from_str::<Value>(arguments).is_err() {
                return Err("arguments are no JSON".to_owned());
            }
            add(&mut open, &call["id"])?;
        }
    }
    none_open(&open)
}

/// Anthropic: the user message after `tool_use` blocks answers them all; roles alternate; no empty text.
fn check_anthropic(messages: &[Value]) -> Result<(), String> {
    let mut open: HashSet<String> = HashSet::new();
    let mut last_role = String::new();
    for message in messages {
        let role = text(&message["role"]);
        if role == last_role {
            return Err(format!("two messages of {role} in a row"));
        }
        last_role = role;
        for block in message["content"].as_array().into_iter().flatten() {
            if block["type"] == "text" && block["text"] == "" {
                return Err("text content blocks must be non-empty".to_owned());
            }
            if block["type"] == "tool_result" && !open.remove(&text(&block["tool_use_id"])) {
                return Err(format!("tool_result answers no open call: {}", block["tool_use_id"]));
            }
        }
        none_open(&open)?;
        for block in message["content"].as_array().into_iter().flatten() {
            if block["type"] == "tool_use" {
                add(&mut open, &block["id"])?;
            }
        }
    }
    none_open(&open)
}

/// Ollama: calls carry no binding id; as many `tool` messages follow as there were calls, by name.
fn check_ollama(messages: &[Value]) -> Result<(), String> {
    let mut open: Vec<String> = Vec::new();
    for message in messages {
        if message["role"] == "tool" {
            let name = text(&message["tool_name"]);
            let Some(at) = open.iter().position(|wanted| *wanted == name) else {
                return Err(format!("tool message answers no open call: {name}"));
            };
            open.remove(at);
            continue;
        }
        if let Some(name) = open.first() {
            return Err(format!("call without result: {name}"));
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            if !call["function"]["arguments"].is_object() {
                return Err("arguments are no object".to_owned());
            }
            open.push(text(&call["function"]["name"]));
        }
    }
    open.first().map_or(Ok(()), |name| Err(format!("call without result: {name}")))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn add(open: &mut HashSet<String>, id: &Value) -> Result<(), String> {
    let id = text(id);
    if id.is_empty() || !open.insert(id.clone()) {
        return Err(format!("call id is empty or used twice: {id}"));
    }
    Ok(())
}

fn none_open(open: &HashSet<String>) -> Result<(), String> {
    open.iter().next().map_or(Ok(()), |id| Err(format!("call without result: {id}")))
}
