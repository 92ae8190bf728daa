use serde_json::{Value, json};

use super::*;
use crate::conversation::{StopReason, StreamEvent, Usage};
use crate::provider::ProviderError;

fn decode(payloads: &[Value]) -> (Vec<StreamEvent>, Option<ProviderError>) {
    let origin = Origin { provider: "lab".into(), model: "m".into(), url: "http://lab".into(), secret: None };
    let mut decoder = SseDecoder::new(MessagesMachine::new(origin));
    let mut events = Vec::new();
    let mut outcome = Ok(());
    for payload in payloads {
        let text = format!("event: {}\ndata: {payload}\n\n", payload["type"].as_str().unwrap());
        outcome = outcome.and_then(|()| decoder.push(text.as_bytes(), &mut events));
    }
    let outcome = outcome.and_then(|()| decoder.finish(&mut events));
    (events, outcome.err())
}

fn start(index: u64, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u64, delta: &Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn ended(word: &str) -> [Value; 2] {
    [json!({"type": "message_delta", "delta": {"stop_reason": word}}), json!({"type": "message_stop"})]
}

#[test]
fn thought_is_signed_when_its_block_stops() {
    let mut payloads = vec![
        start(0, &json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, &json!({"type": "thinking_delta", "thinking": "h"})),
        delta(0, &json!({"type": "thinking_delta", "thinking": "m"})),
        delta(0, &json!({"type": "signature_delta", "signature": "s"})),
        json!({"type": "ping"}),
        delta(0, &json!({"type": "signature_delta", "signature": "1=="})),
        stop(0),
        start(1, &json!({"type": "thinking", "thinking": "", "signature": "whole"})),
        stop(1),
        start(2, &json!({"type": "redacted_thinking", "data": "opaque"})),
        stop(2),
    ];
    payloads.extend(ended("end_turn"));
    let expected = vec![
        StreamEvent::ReasoningDelta("h".into()),
        StreamEvent::ReasoningDelta("m".into()),
        StreamEvent::ReasoningSignature("s1==".into()),
        StreamEvent::ReasoningSignature("whole".into()),
        StreamEvent::RedactedReasoning("opaque".into()),
        StreamEvent::Done(StopReason::EndTurn),
    ];
    assert_eq!(decode(&payloads), (expected, None));
}

#[test]
fn calls_interleave_and_may_be_empty_or_whole_in_their_start() {
    let mut payloads = vec![
        start(0, &json!({"type": "tool_use", "id": "a", "name": "x", "input": {}, "caller": {"type": "direct"}})),
        start(1, &json!({"type": "tool_use", "id": "b", "name": "y", "input": {}})),
        delta(1, &json!({"type": "input_json_delta", "partial_json": "{\"p\":"})),
        delta(0, &json!({"type": "input_json_delta", "partial_json": ""})),
        delta(1, &json!({"type": "input_json_delta", "partial_json": "1}"})),
        stop(0),
        stop(1),
        start(2, &json!({"type": "tool_use", "id": "c", "name": "z", "input": {"q": 2}})),
        stop(2),
        start(3, &json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}})),
        delta(3, &json!({"type": "input_json_delta", "partial_json": "{\"query\":1}"})),
        stop(3),
    ];
    payloads.extend(ended("tool_use"));
    let call = |slot, id: &str, name: &str, extra: Value| StreamEvent::ToolCallStart {
        slot,
        id: id.into(),
        name: name.into(),
        extra: extra.as_object().unwrap().clone(),
    };
    let arguments = |slot, text: &str| StreamEvent::ToolCallDelta { slot, arguments: text.into() };
    let expected = vec![
        call(0, "a", "x", json!({"caller": {"type": "direct"}})),
        call(1, "b", "y", json!({})),
        arguments(1, "{\"p\":"),
        arguments(1, "1}"),
        call(2, "c", "z", json!({})),
        arguments(2, "{\"q\":2}"),
        StreamEvent::Done(StopReason::ToolUse),
    ];
    assert_eq!(decode(&payloads), (expected, None));
}

#[test]
fn cached_tokens_are_input_too() {
    let usage = json!({"input_tokens": 3, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20, "output_tokens": 1});
    let (events, _) = decode(&[
        json!({"type": "message_start", "message": {"usage": usage}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 50}}),
        json!({"type": "message_stop"}),
    ]);
    let expected = Usage { input: 3, cached_read: 100, cached_write: 20, output: 50, ..Usage::default() };
    assert_eq!(events[1], StreamEvent::Usage(expected));
}

#[test]
fn ends_of_every_kind() {
    let words =
        [start(0, &json!({"type": "text", "text": ""})), delta(0, &json!({"type": "text_delta", "text": "a"}))];
    let overloaded = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let (events, error) = decode(&[&words[..], &[overloaded]].concat());
    assert_eq!(events, vec![StreamEvent::TextDelta("a".into())]);
    assert!(matches!(error, Some(ProviderError::Status { status: 529, .. })), "{error:?}");
    assert!(matches!(decode(&words).1, Some(ProviderError::Broken { .. })));
    assert!(matches!(decode(&[]).1, Some(ProviderError::Broken { .. })));
    // The end mark is lost, but the model had stopped.
    let (events, error) = decode(&[&words[..], &ended("max_tokens")[..1]].concat());
    assert_eq!((events.last(), error), (Some(&StreamEvent::Done(StopReason::Length)), None));
}
