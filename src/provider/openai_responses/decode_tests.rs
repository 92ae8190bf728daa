use serde_json::{Value, json};

use super::*;
use crate::conversation::{ContentBlock, MessageBuilder, StopReason, StreamEvent};
use crate::provider::ProviderError;

fn origin() -> Origin {
    Origin { provider: "lab".into(), model: "m".into(), url: "http://lab".into(), secret: None }
}

fn decode(events: &[Value]) -> (Vec<StreamEvent>, Option<ProviderError>) {
    let mut decoder = SseDecoder::new(ResponsesMachine::new(origin(), &[]));
    let mut found = Vec::new();
    let mut outcome = Ok(());
    for event in events {
        outcome = outcome.and_then(|()| decoder.push(format!("data: {event}\n\n").as_bytes(), &mut found));
    }
    let outcome = outcome.and_then(|()| decoder.finish(&mut found));
    (found, outcome.err())
}

fn completed(output: &Value) -> Value {
    json!({"type": "response.completed", "response": {"status": "completed", "output": output}})
}

fn content(events: &[Value]) -> (Vec<ContentBlock>, StopReason) {
    let (events, error) = decode(events);
    assert_eq!(error, None);
    let mut builder = MessageBuilder::new("lab/m");
    for event in &events {
        builder.push(event);
    }
    let finished = builder.finish();
    (finished.message.map(|message| message.content).unwrap_or_default(), finished.stop)
}

#[test]
fn items_are_told_apart_by_place_though_their_ids_change() {
    let item = |index: u64, item: Value| json!({"type": "response.output_item.added", "output_index": index, "item": item});
    let arguments = |index: u64, id: &str, delta: &str| json!({"type": "response.function_call_arguments.delta", "output_index": index, "item_id": id, "delta": delta});
    let call = |id: &str, call: &str| json!({"type": "function_call", "id": id, "call_id": call, "name": "read"});
    let (content, stop) = content(&[
        item(0, call("fc_a", "c0")),
        item(1, call("fc_b", "c1")),
        arguments(0, "x1", "{\"a\":"),
        arguments(1, "x2", "{\"b\":2}"),
        arguments(0, "x3", "1}"),
        completed(&json!([])),
    ]);
    let calls: Vec<_> = content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::ToolCall(call) => Some((call.id.clone(), call.input.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(calls, [("c0".into(), json!({"a": 1})), ("c1".into(), json!({"b": 2}))]);
    assert_eq!(stop, StopReason::ToolUse);
}

#[test]
fn a_server_that_streams_nothing_but_the_end_is_heard_and_one_without_numbers() {
    let output = json!([
        {"type": "message", "content": [{"type": "output_text", "text": "hello"}]},
        {"type": "function_call", "call_id": "c", "name": "read", "arguments": "{}"},
    ]);
    assert_eq!(content(&[completed(&output)]).0.len(), 2);
    let (content, _) = content(&[
        json!({"type": "response.output_item.added", "item": {"id": "m1", "type": "message"}}),
        json!({"type": "response.output_text.delta", "item_id": "m1", "delta": "hel"}),
        json!({"type": "response.output_item.done",
               "item": {"id": "m1", "type": "message", "content": [{"type": "output_text", "text": "hello"}]}}),
        json!({"type": "response.output_item.done",
               "item": {"id": "f1", "type": "function_call", "call_id": "c", "name": "read", "arguments": "{}"}}),
        completed(&output),
    ]);
    assert_eq!(content[0], ContentBlock::Text { text: "hello".into() });
    assert_eq!(content.len(), 2);
}

#[test]
fn the_answer_ends_with_its_last_event_only() {
    let text = json!({"type": "response.output_text.delta", "output_index": 0, "delta": "a"});
    assert!(matches!(decode(std::slice::from_ref(&text)).1, Some(ProviderError::Broken { .. })));
    let mut decoder = SseDecoder::new(ResponsesMachine::new(origin(), &[]));
    let ended = decoder.push(format!("data: {text}\n\ndata: [DONE]\n\n").as_bytes(), &mut Vec::new());
    assert!(matches!(ended, Err(ProviderError::Broken { .. })));
    let cut = json!({"type": "response.incomplete",
                     "response": {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}});
    assert_eq!(decode(&[text.clone(), cut]).0.last(), Some(&StreamEvent::Done(StopReason::Length)));
    let failed = |code: &str, message: &str| {
        let error = json!({"code": code, "message": message});
        let usage = json!({"input_tokens": 7, "output_tokens": 1});
        let response = json!({"status": "failed", "error": error, "usage": usage});
        decode(&[text.clone(), json!({"type": "response.failed", "response": response})])
    };
    let (events, error) = failed("rate_limit_exceeded", "Rate limit reached. Please try again in 11.5s.");
    assert!(matches!(events.last(), Some(StreamEvent::Usage(usage)) if usage.input == 7), "{events:?}");
    let Some(ProviderError::Status { status: 429, retry_after, .. }) = error else { panic!("{error:?}") };
    assert_eq!(retry_after, Some(std::time::Duration::from_millis(11_500)));
    let overflow = failed("context_length_exceeded", "Your input exceeds the context window.").1;
    assert!(matches!(overflow, Some(ProviderError::ContextOverflow { .. })));
}

#[test]
fn encrypted_thought_is_kept_without_its_id_and_found_at_the_end_too() {
    let thought = |encrypted: Value| {
        json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}],
               "encrypted_content": encrypted})
    };
    let done = |item: Value| json!({"type": "response.output_item.done", "output_index": 0, "item": item});
    let said = json!({"type": "response.output_item.done", "output_index": 1,
                      "item": {"type": "message", "content": [{"type": "output_text", "text": "yes"}]}});
    let at_once = content(&[done(thought(json!("AB"))), said.clone(), completed(&json!([]))]).0;
    let ContentBlock::Reasoning(reasoning) = &at_once[0] else { panic!("{at_once:?}") };
    assert_eq!(reasoning.text, "hm");
    let item: Value = serde_json::from_str(reasoning.signature.as_deref().unwrap()).unwrap();
    assert_eq!((&item["encrypted_content"], &item["id"]), (&json!("AB"), &Value::Null));
    let late = content(&[done(thought(Value::Null)), said, completed(&json!([thought(json!("CD"))]))]).0;
    let ContentBlock::Reasoning(behind) = late.last().unwrap() else { panic!("{late:?}") };
    assert!(behind.signature.as_deref().unwrap().contains("\"CD\""));
}

#[test]
fn wrapped_calls_are_calls_and_plain_input_is_one_field() {
    let arguments = json!({"tool_uses": [
        {"recipient_name": "functions.read", "parameters": {"path": "a"}},
        {"recipient_name": "functions.read", "parameters": {"path": "b"}},
    ]});
    let (content, _) = content(&[
        json!({"type": "response.output_item.added", "output_index": 0,
               "item": {"type": "function_call", "call_id": "c", "name": "parallel"}}),
        json!({"type": "response.output_item.done", "output_index": 0,
               "item": {"type": "function_call", "call_id": "c", "name": "parallel", "arguments": arguments.to_string()}}),
        json!({"type": "response.output_item.done", "output_index": 1,
               "item": {"type": "custom_tool_call", "call_id": "d", "name": "sql", "input": "SELECT 1"}}),
        completed(&json!([])),
    ]);
    let calls: Vec<_> = content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::ToolCall(call) => Some((call.id.as_str(), call.name.as_str(), call.input.clone())),
            _ => None,
        })
        .collect();
    let expected = [
        ("c_0", "read", json!({"path": "a"})),
        ("c_1", "read", json!({"path": "b"})),
        ("d", "sql", json!({"input": "SELECT 1"})),
    ];
    assert_eq!(calls, expected);
}
