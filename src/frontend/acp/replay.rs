//! Replays a loaded conversation as it was told when it happened.

use std::collections::HashMap;
use std::path::PathBuf;

use serde_json::json;

use super::events::{Events, Finished};
use crate::conversation::{ContentBlock, Message, Role, Subject, ToolCall};

/// Replays all of it, without attachments and without the texts that axi added.
pub(super) fn replay(events: &mut Events, messages: &[Message]) {
    // The calls of one message; their results stand in the next one.
    let mut calls: HashMap<&str, &ToolCall> = HashMap::new();
    for message in messages {
        events.ids.next_message();
        let mut said = false;
        for block in &message.content {
            match (block, message.role) {
                // The first text is what the person said; those behind it were attached.
                (ContentBlock::Text { text }, Role::User) if !said && !message.has_results() => {
                    said = true;
                    events.chunk("user_message_chunk", text);
                }
                (ContentBlock::Text { text }, Role::Assistant) => events.chunk("agent_message_chunk", text),
                (ContentBlock::Reasoning(reasoning), _) if !reasoning.text.is_empty() => {
                    events.chunk("agent_thought_chunk", &reasoning.text);
                }
                (ContentBlock::ToolCall(call), _) => {
                    calls.insert(&call.id, call);
                }
                (ContentBlock::ToolResult(result), _) => {
                    if let Some(call) = calls.remove(result.call_id.as_str()) {
                        let subject = subject(call, result.facts.path.as_ref());
                        let about = events.recorded(call);
                        events.call(call, (&subject, &about));
                        let finished = Finished {
                            name: &result.name,
                            outcome: result.outcome,
                            content: &result.content,
                            facts: &result.facts,
                            duration_ms: result.duration_ms,
                            change: None,
                        };
                        events.finish(&call.id, &finished);
                    }
                }
                (ContentBlock::Image(image), Role::User) => {
                    events.update(&json!({
                        "sessionUpdate": "user_message_chunk", "messageId": events.ids.message(),
                        "content": {"type": "image", "mimeType": image.media_type, "data": image.data},
                    }));
                }
                (
                    ContentBlock::Text { .. }
                    | ContentBlock::Reasoning(_)
                    | ContentBlock::Image(_)
                    | ContentBlock::WireItem(_),
                    _,
                ) => {}
            }
        }
    }
    events.ids.next_message();
}

/// Returns what a call was about, as far as the record tells.
fn subject(call: &ToolCall, path: Option<&PathBuf>) -> Subject {
    let text = |name| call.input.get(name).and_then(serde_json::Value::as_str).map(str::to_owned);
    match (path, text("command")) {
        (Some(path), _) => Subject::Paths { paths: vec![path.clone()] },
        (None, Some(line)) => Subject::Command { line },
        (None, None) => Subject::Whole,
    }
}
