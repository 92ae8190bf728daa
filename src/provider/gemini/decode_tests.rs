use serde_json::{Value, json};

use super::*;
use crate::conversation::{ContentBlock, MessageBuilder, StopReason, StreamEvent};
use crate::provider::ProviderError;

fn decode(chunks: &[Value]) -> (Vec<StreamEvent>, Option<ProviderError>) {
    let origin = Origin { provider: "lab".into(), model: "m".into(), url: "http://lab".into(), secret: None };
    let mut decoder = SseDecoder::new(GeminiMachine::new(origin));
    let mut found = Vec::new();
    let mut outcome = Ok(());
    for chunk in chunks {
        outcome = outcome.and_then(|()| decoder.push(format!("data: {chunk}\r\n\r\n").as_bytes(), &mut found));
    }
    let outcome = outcome.and_then(|()| decoder.finish(&mut found));
    (found, outcome.err())
}

fn parts(parts: &Value, finish: Option<&str>) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": finish}]})
}

#[test]
fn thoughts_signed_text_and_calls_are_told_apart() {
    let usage = json!({"promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 20,
                       "thoughtsTokenCount": 30, "toolUsePromptTokenCount": 5, "totalTokenCount": 155});
    let mut last = parts(&json!([{"functionCall": {"name": "list"}}]), Some("STOP"));
    last["usageMetadata"] = usage;
    let (events, error) = decode(&[
        json!({"usageMetadata": {"trafficType": "ON_DEMAND"}, "candidates": []}),
        parts(&json!([{"text": "hm", "thought": true}, {"text": "I "}]), None),
        parts(&json!([{"text": "read."}, {"text": "", "thoughtSignature": "S1"}]), None),
        parts(
            &json!([{"functionCall": {"name": "read", "id": "", "args": {"path": "a"}}, "thoughtSignature": "S2"}]),
            None,
        ),
        last,
    ]);
    assert_eq!(error, None);
    let mut builder = MessageBuilder::new("lab/m");
    for event in &events {
        builder.push(event);
    }
    let finished = builder.finish();
    let counts =
        (finished.usage.input, finished.usage.cached_read, finished.usage.output, finished.usage.reasoning);
    assert_eq!((counts, finished.stop), ((45, 60, 20, 30), StopReason::ToolUse));
    let content = finished.message.unwrap().content;
    assert_eq!(content[1], ContentBlock::Text { text: "I read.".into() });
    let ContentBlock::WireItem(item) = &content[2] else { panic!("{content:?}") };
    assert_eq!(item.item, json!({"thoughtSignature": "S1"}));
    let ContentBlock::ToolCall(call) = &content[3] else { panic!("{content:?}") };
    assert_eq!(
        (call.input.clone(), call.extra.get("thoughtSignature")),
        (json!({"path": "a"}), Some(&json!("S2")))
    );
    assert_eq!(call.extra.get("id"), None, "an empty id is none");
    let ContentBlock::ToolCall(call) = &content[4] else { panic!("{content:?}") };
    assert_eq!((call.name.as_str(), call.input.clone()), ("list", json!({})));
}

#[test]
fn ends_of_every_kind() {
    let text = |finish| parts(&json!([{"text": "a"}]), finish);
    let stop = |chunk: Value| decode(&[chunk]).0.last().cloned();
    assert_eq!(stop(text(Some("MAX_TOKENS"))), Some(StreamEvent::Done(StopReason::Length)));
    assert_eq!(stop(text(Some("SAFETY"))), Some(StreamEvent::Done(StopReason::ContentFilter)));
    let blocked = json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}});
    assert_eq!(stop(blocked), Some(StreamEvent::Done(StopReason::ContentFilter)));
    // These are asked again: nothing is wrong with the request.
    for word in ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"] {
        assert!(matches!(decode(&[text(Some(word))]).1, Some(ProviderError::Broken { .. })), "{word}");
    }
    assert!(matches!(decode(&[text(None)]).1, Some(ProviderError::Broken { .. })));
    let overloaded =
        json!({"error": {"code": 503, "status": "UNAVAILABLE", "message": "The model is overloaded."}});
    let Some(ProviderError::Status { status, .. }) = decode(&[text(None), overloaded]).1 else { panic!() };
    assert_eq!(status, 503);
}

#[test]
fn an_answer_that_is_a_list_is_read() {
    let origin = Origin { provider: "lab".into(), model: "m".into(), url: "http://lab".into(), secret: None };
    let mut decoder = SseDecoder::new(GeminiMachine::new(origin));
    let body =
        json!([parts(&json!([{"text": "a"}]), None), parts(&json!([{"text": "b"}]), Some("STOP"))]).to_string();
    let mut found = Vec::new();
    decoder.push(body.as_bytes(), &mut found).unwrap();
    decoder.finish(&mut found).unwrap();
    assert_eq!(found.len(), 3, "{found:?}");
}
