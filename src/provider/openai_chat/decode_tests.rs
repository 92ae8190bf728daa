use serde_json::{Value, json};

use super::*;
use crate::conversation::{
    Message, MessageBuilder, StopReason, StreamEvent, ToolCall, ToolIdentity, ToolSpec, Usage,
};
use crate::provider::ProviderError;

fn origin() -> Origin {
    Origin { provider: "lab".into(), model: "m".into(), url: "http://lab".into(), secret: None }
}

fn decode(payloads: &[&str]) -> (Vec<StreamEvent>, Option<ProviderError>) {
    let mut decoder = SseDecoder::new(ChatMachine::new(origin(), &[]));
    let mut events = Vec::new();
    let mut outcome = Ok(());
    for payload in payloads {
        outcome = outcome.and_then(|()| decoder.push(format!("data: {payload}\n\n").as_bytes(), &mut events));
    }
    let outcome = outcome.and_then(|()| decoder.finish(&mut events));
    (events, outcome.err())
}

fn delta(delta: &Value) -> String {
    json!({"choices": [{"index": 0, "delta": delta}]}).to_string()
}

/// The calls that these pieces, one list a chunk, come to.
fn calls(chunks: &[Value]) -> Vec<ToolCall> {
    let mut payloads: Vec<String> = chunks.iter().map(|calls| delta(&json!({"tool_calls": calls}))).collect();
    payloads.push("[DONE]".into());
    let (events, error) = decode(&payloads.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(error, None);
    let mut builder = MessageBuilder::new("lab/m");
    for event in &events {
        builder.push(event);
    }
    let message = builder.finish().message;
    message.iter().flat_map(Message::calls).cloned().collect()
}

fn brief(calls: &[ToolCall]) -> Vec<(String, String, String)> {
    calls.iter().map(|call| (call.id.clone(), call.name.clone(), call.input.to_string())).collect()
}

fn expect(list: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
    list.iter().map(|(id, name, input)| ((*id).into(), (*name).into(), (*input).into())).collect()
}

#[test]
fn calls_are_told_apart_however_the_server_numbers_them() {
    let two = expect(&[("a", "read", r#"{"p":1}"#), ("b", "read", r#"{"p":2}"#)]);
    let function = |arguments: &str| json!({"name": "read", "arguments": arguments});
    let whole = |id: &str, index: Value, arguments: &str| json!({"id": id, "index": index, "function": function(arguments)});
    let (one, other) = (r#"{"p":1}"#, r#"{"p":2}"#);
    // Index 0 for all, index missing, both in one chunk.
    assert_eq!(brief(&calls(&[json!([whole("a", json!(0), one)]), json!([whole("b", json!(0), other)])])), two);
    assert_eq!(
        brief(&calls(&[json!([whole("a", Value::Null, one)]), json!([whole("b", Value::Null, other)])])),
        two
    );
    assert_eq!(brief(&calls(&[json!([whole("a", json!(0), one), whole("b", json!(0), other)])])), two);
    // Pieces by index, interleaved; the id repeated with each piece; another id with each piece.
    let piece = |index: u64, arguments: &str| json!({"index": index, "function": {"arguments": arguments}});
    let interleaved = [
        json!([whole("a", json!(0), "{\"p\"")]),
        json!([whole("b", json!(1), "{\"p\"")]),
        json!([piece(0, ":1}"), piece(1, ":2}")]),
    ];
    assert_eq!(brief(&calls(&interleaved)), two);
    let repeated = [
        json!([whole("a", json!(0), "{\"p\"")]),
        json!([whole("a", json!(0), ":1}")]),
        json!([whole("b", json!(1), other)]),
    ];
    assert_eq!(brief(&calls(&repeated)), two);
    let changing = [
        json!([whole("a", json!(0), "{\"p\"")]),
        json!([{"id": "x9", "index": 0, "function": {"name": null, "arguments": ":1}"}}]),
    ];
    assert_eq!(brief(&calls(&changing)), two[..1]);
    // Neither id nor index: a name begins a call, its absence goes on.
    let bare = [
        json!([{"function": {"name": "read", "arguments": "{\"p\""}}]),
        json!([{"function": {"arguments": ":1}"}}]),
        json!([{"function": {"name": "read", "arguments": other}}]),
    ];
    assert_eq!(brief(&calls(&bare)), expect(&[("call_0", "read", one), ("call_1", "read", other)]));
    // The id after the name is not waited for; the call counts once.
    let late = [
        json!([{"index": 0, "function": {"name": "read", "arguments": ""}}]),
        json!([{"index": 0, "id": "late", "function": {"arguments": one}}]),
    ];
    assert_eq!(brief(&calls(&late)), expect(&[("call_0", "read", one)]));
}

#[test]
fn arguments_before_the_name_belong_to_the_call() {
    let one = r#"{"p":1}"#;
    let pieces = [
        json!([{"index": 0, "id": "a", "function": {"arguments": "{\"p\""}}]),
        json!([{"index": 0, "function": {"arguments": ":"}}]),
        json!([{"index": 0, "function": {"name": "read"}}]),
        json!([{"index": 0, "function": {"arguments": "1}"}}]),
    ];
    assert_eq!(brief(&calls(&pieces)), expect(&[("a", "read", one)]));
}

#[test]
fn one_id_given_twice_without_index_is_two_calls() {
    let whole = |p: u8| json!([{"id": "a", "function": {"name": "read", "arguments": format!("{{\"p\":{p}}}")}}]);
    assert_eq!(
        brief(&calls(&[whole(1), whole(2)])),
        expect(&[("a", "read", r#"{"p":1}"#), ("a_1", "read", r#"{"p":2}"#)])
    );
    // Who repeats id and name with each piece of one call is told by the call not being whole yet.
    let part = |text: &str| json!([{"id": "a", "function": {"name": "read", "arguments": text}}]);
    assert_eq!(brief(&calls(&[part("{\"p\":"), part("{}}")])), expect(&[("a", "read", r#"{"p":{}}"#)]));
}

#[test]
fn fields_that_come_behind_the_start_of_a_call_are_kept() {
    let late = json!({"google": {"thought_signature": "c2ln"}});
    let pieces = [
        json!([{"index": 0, "id": "a", "function": {"name": "read", "arguments": ""}}]),
        json!([{"index": 0, "extra_content": late, "function": {"arguments": "{}"}}]),
    ];
    assert_eq!(calls(&pieces)[0].extra.get("extra_content"), Some(&late));
}

#[test]
fn words_for_giving_up_are_a_broken_answer() {
    for word in ["error", "abort", "network_error", "insufficient_system_resource"] {
        let stop =
            json!({"choices": [{"delta": {"content": "b"}, "finish_reason": word}], "usage": {"prompt_tokens": 3}});
        let (events, error) = decode(&[&delta(&json!({"content": "a"})), &stop.to_string(), "[DONE]"]);
        let usage = Usage { input: 3, ..Usage::default() };
        let text = |text: &str| StreamEvent::TextDelta(text.into());
        assert_eq!(events, [text("a"), StreamEvent::Usage(usage), text("b")], "{word}");
        assert!(matches!(error, Some(ProviderError::Broken { .. })), "{word}: {error:?}");
    }
}

#[test]
fn counts_in_floats_and_characters_in_halves_are_read() {
    let (events, error) = decode(&[
        r#"{"choices":[{"delta":{"content":"\ud83d"},"logprobs":NaN}]}"#,
        r#"{"choices":[{"delta":{"content":"\ude00"}}]}{"choices":[{"delta":{"content":"!"},"finish_reason":"stop"}]}"#,
        r#"{"choices":[],"usage":{"prompt_tokens":10.0,"completion_tokens":5.0,"total_tokens":15.0}}"#,
        "[DONE]",
    ]);
    let text: String = events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::TextDelta(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!((text.as_str(), error), ("😀!", None));
    assert!(events.contains(&StreamEvent::Usage(Usage { input: 10, output: 5, ..Usage::default() })), "{events:?}");
}

#[test]
fn thought_and_calls_in_the_text_are_told_apart_from_it() {
    let schema = json!({"type": "object"});
    let tools = [ToolSpec {
        name: "read".into(),
        description: String::new(),
        input_schema: schema,
        identity: ToolIdentity::default(),
    }];
    let origin = Origin { model: "qwen3".into(), ..origin() };
    let mut decoder = SseDecoder::new(ChatMachine::new(origin, &tools));
    let mut events = Vec::new();
    for content in
        ["<think>h", "m</think>\n\nI look.\n<tool_", "call>{\"name\":\"read\",\"arguments\":{}}</tool_call>"]
    {
        decoder.push(format!("data: {}\n\n", delta(&json!({"content": content}))).as_bytes(), &mut events).unwrap();
    }
    decoder
        .push(b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", &mut events)
        .unwrap();
    let mut builder = MessageBuilder::new("lab/qwen3");
    for event in &events {
        builder.push(event);
    }
    let message = builder.finish().message.unwrap();
    let kinds: Vec<&str> = message
        .content
        .iter()
        .map(|block| match block {
            crate::conversation::ContentBlock::Reasoning(reasoning) => reasoning.text.as_str(),
            crate::conversation::ContentBlock::Text { text } => text.as_str(),
            crate::conversation::ContentBlock::ToolCall(call) => call.name.as_str(),
            _ => "?",
        })
        .collect();
    assert_eq!(kinds, ["hm", "I look.\n", "read"]);
}

#[test]
fn arguments_may_be_blank_an_object_or_missing() {
    let call =
        |arguments: Value| json!([{"id": "a", "index": 0, "function": {"name": "read", "arguments": arguments}}]);
    for (arguments, expected) in [(json!(""), "{}"), (json!({"p": 1}), r#"{"p":1}"#), (Value::Null, "{}")] {
        assert_eq!(brief(&calls(&[call(arguments)])), expect(&[("a", "read", expected)]));
    }
}

#[test]
fn unknown_fields_of_a_call_are_kept() {
    let signature = json!({"google": {"thought_signature": "c2ln"}});
    let call = json!([{"id": "a", "index": 0, "type": "function", "extra_content": signature,
                       "function": {"name": "read", "arguments": "{}", "provider_specific_fields": {"x": 1}}}]);
    let extra = calls(&[call]).remove(0).extra;
    let expected = json!({"extra_content": signature, "function": {"provider_specific_fields": {"x": 1}}});
    assert_eq!(Value::Object(extra), expected);
}

#[test]
fn reasoning_is_heard_in_every_field_and_counted_once() {
    let heard = |value: Value| {
        let (events, _) = decode(&[&delta(&value), "[DONE]"]);
        let words = events.into_iter().filter_map(|event| match event {
            StreamEvent::ReasoningDelta(text) => Some(text),
            _ => None,
        });
        words.collect::<String>()
    };
    for value in [
        json!({"reasoning_content": "hm"}),
        json!({"reasoning": "hm"}),
        json!({"reasoning": "hm", "reasoning_content": "hm"}),
        json!({"reasoning": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}),
        json!({"reasoning": null, "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}),
        json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]}),
    ] {
        assert_eq!(heard(value.clone()), "hm", "{value}");
    }
}

#[test]
fn reasoning_details_are_put_together_before_the_answer_begins() {
    let detail = |more: Value| {
        let mut detail = json!({"type": "reasoning.text", "index": 0, "format": "f"});
        detail.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        delta(&json!({"reasoning_details": [detail]}))
    };
    let (events, _) = decode(&[
        &detail(json!({"text": "h"})),
        &detail(json!({"text": "m", "signature": null})),
        &detail(json!({"text": "", "signature": "s1"})),
        &delta(&json!({"content": "yes"})),
        "[DONE]",
    ]);
    let expected = json!([{"type": "reasoning.text", "index": 0, "format": "f", "text": "hm", "signature": "s1"}]);
    let StreamEvent::ReasoningSignature(signature) = &events[2] else { panic!("{events:?}") };
    assert_eq!(serde_json::from_str::<Value>(signature).unwrap(), expected);
    assert_eq!(events[3], StreamEvent::TextDelta("yes".into()));
}

#[test]
fn ends_of_every_kind() {
    let text = delta(&json!({"content": "a"}));
    let stop = |word: &str| json!({"choices": [{"delta": {}, "finish_reason": word}]}).to_string();
    let last = |payloads: &[&str]| {
        let (events, error) = decode(payloads);
        match (events.into_iter().last(), error) {
            (_, Some(ProviderError::Broken { .. })) => None,
            (Some(StreamEvent::Done(stop)), None) => Some(stop),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(last(&[&text, &stop("stop"), "[DONE]"]), Some(StopReason::EndTurn));
    assert_eq!(last(&[&text, &stop("eos")]), Some(StopReason::EndTurn));
    assert_eq!(last(&[&text, "[DONE]"]), Some(StopReason::Missing));
    assert_eq!(last(&[&text, &stop("weird"), "[DONE]"]), Some(StopReason::Other("weird".into())));
    assert_eq!(last(&[&text]), None);
    assert_eq!(last(&[]), None);
    let refusal = delta(&json!({"refusal": "no"}));
    assert_eq!(last(&[&refusal, &stop("stop"), "[DONE]"]), Some(StopReason::Refusal));
}

#[test]
fn nonsense_is_an_error_and_never_a_panic() {
    let (_, error) = decode(&["{\"choices\": [{"]);
    assert!(matches!(error, Some(ProviderError::Protocol { .. })), "{error:?}");
    for odd in
        ["null", "3", "[]", "{}", "{\"choices\": {}}", "{\"choices\": [null]}", "{\"choices\":[{\"delta\":[]}]}"]
    {
        let (events, error) = decode(&[odd, "[DONE]"]);
        assert_eq!((events, error), (vec![StreamEvent::Done(StopReason::Missing)], None), "{odd}");
    }
    let mut decoder = SseDecoder::new(ChatMachine::new(origin(), &[]));
    let mut events = Vec::new();
    decoder.push(b"data: {\"choices\": [{\"del", &mut events).unwrap();
    assert!(matches!(decoder.finish(&mut events), Err(ProviderError::Broken { .. })), "half an event");
}

#[test]
fn an_error_in_the_stream_ends_it_unless_the_model_had_stopped() {
    let error = json!({"error": {"message": "upstream died", "code": 502}, "choices": []}).to_string();
    let (events, failure) = decode(&[&delta(&json!({"content": "a"})), &error]);
    assert_eq!(events, vec![StreamEvent::TextDelta("a".into())]);
    assert!(matches!(failure, Some(ProviderError::Status { status: 502, .. })), "{failure:?}");
    let stop = json!({"choices": [{"delta": {}, "finish_reason": "length"}]}).to_string();
    let (events, failure) = decode(&[&stop, &error, "[DONE]"]);
    assert_eq!((events, failure), (vec![StreamEvent::Done(StopReason::Length)], None));
}
