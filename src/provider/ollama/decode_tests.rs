use serde_json::{Map, json};

use super::*;
use crate::conversation::{StopReason, StreamEvent, Usage};
use crate::provider::ProviderError;

fn decode(text: &str) -> (Vec<StreamEvent>, Option<ProviderError>) {
    let origin = Origin { provider: "lab".into(), model: "m".into(), url: "http://lab".into(), secret: None };
    let mut decoder = OllamaDecoder::new(origin, &[]);
    let mut events = Vec::new();
    let outcome = decoder.push(text.as_bytes(), &mut events).and_then(|()| decoder.finish(&mut events));
    (events, outcome.err())
}

fn line(message: &serde_json::Value) -> String {
    format!("{}\n", json!({"message": message, "done": false}))
}

const END: &str =
    r#"{"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":7,"eval_count":3}"#;

fn end() -> [StreamEvent; 2] {
    let usage = Usage { input: 7, output: 3, ..Usage::default() };
    [StreamEvent::Usage(usage), StreamEvent::Done(StopReason::EndTurn)]
}

#[test]
fn thought_words_and_calls_of_one_chunk() {
    let call =
        |index: u64, path: &str| json!({"function": {"index": index, "name": "read", "arguments": {"path": path}}});
    let message = json!({"thinking": "hm", "content": "so", "tool_calls": [call(0, "a"), call(0, "b")]});
    let (events, error) = decode(&format!("{}{END}", line(&message)));
    let start =
        |slot| StreamEvent::ToolCallStart { slot, id: String::new(), name: "read".into(), extra: Map::new() };
    let arguments = |slot, text: &str| StreamEvent::ToolCallDelta { slot, arguments: text.into() };
    let mut expected = vec![
        StreamEvent::ReasoningDelta("hm".into()),
        StreamEvent::TextDelta("so".into()),
        start(0),
        arguments(0, r#"{"path":"a"}"#),
        start(1),
        arguments(1, r#"{"path":"b"}"#),
    ];
    expected.extend(end());
    assert_eq!((events, error), (expected, None));
}

#[test]
fn errors_and_early_ends() {
    let words = line(&json!({"content": "a"}));
    let (events, error) =
        decode(&format!("{words}{}\n", json!({"error": "model runner has unexpectedly stopped"})));
    assert_eq!(events, vec![StreamEvent::TextDelta("a".into())]);
    assert!(matches!(error, Some(ProviderError::Status { status: 500, .. })), "{error:?}");
    for text in [words.clone(), String::new(), format!("{words}{{\"mess")] {
        assert!(matches!(decode(&text).1, Some(ProviderError::Broken { .. })), "{text}");
    }
    for text in ["<html>\n", "<html>", "nonsense\n"] {
        assert!(matches!(decode(text).1, Some(ProviderError::Protocol { .. })), "{text}");
    }
    for odd in ["null\n", "3\n", "[]\n", "{\"message\":[]}\n", "{\"message\":{\"tool_calls\":[null]}}\n"] {
        assert_eq!(decode(&format!("{odd}{END}")), (end().to_vec(), None), "{odd}");
    }
}
