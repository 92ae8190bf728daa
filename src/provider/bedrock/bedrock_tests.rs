use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::conversation::{
    ContentBlock, Image, Message, MessageBuilder, Outcome, Reasoning, Role, StopReason, StreamEvent, ToolCall,
    ToolResult, ToolSpec, Usage,
};
use crate::provider::catalogue::Effort;
use crate::provider::error::ProviderError;
use crate::provider::settings::{Protocol, Secret};

fn origin() -> Origin {
    Origin { provider: "bedrock".into(), model: "m".into(), url: "http://lab".into(), secret: None }
}

fn settings(model: &str) -> ProviderSettings {
    let mut settings = crate::provider::find("bedrock").unwrap().settings(model, None, &|_: &str| None);
    settings.vision = true;
    settings
}

fn wire(model: &str) -> ConverseWire {
    ConverseWire::new(settings(model), origin())
}

fn read() -> ToolSpec {
    ToolSpec { name: "read".into(), input_schema: json!({"type": "object"}), ..ToolSpec::default() }
}

fn body(wire: &ConverseWire, messages: &[Message], tools: &[ToolSpec], effort: Option<Effort>) -> Value {
    let request = Request { system: "sys", tools, temperature: Some(0.5), effort, ..Request::of(messages) };
    serde_json::from_slice(&wire.call(&request).body.unwrap()).unwrap()
}

fn call(id: &str, model: &str) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: "read".into(),
        input: json!({"p": 1}),
        invalid_input: None,
        extra: serde_json::Map::new(),
        model: model.into(),
        arguments: String::new(),
    }
}

#[test]
fn a_conversation_with_calls_thoughts_and_pictures_is_written_and_marked() {
    let wire = wire("anthropic.claude-sonnet-4-5-20250929-v1:0");
    let id = wire.settings.id();
    let thought = Reasoning { text: "hm".into(), signature: Some("S".into()), redacted: None, model: id.clone() };
    let hidden = Reasoning { text: String::new(), signature: None, redacted: Some("R".into()), model: id.clone() };
    let foreign = Reasoning { model: "other/m".into(), ..thought.clone() };
    let call = call("tooluse_1", &id);
    let mut result =
        ToolResult { content: "no\u{e0041} such file".into(), ..ToolResult::closed(&call, Outcome::Failed) };
    result.images.push(Image { media_type: "image/jpeg".into(), data: "AAAA".into() });
    let blocks = [foreign, thought, hidden].map(ContentBlock::Reasoning).into_iter();
    let blocks = blocks.chain([ContentBlock::Text { text: "so".into() }, ContentBlock::ToolCall(call)]);
    let messages = [
        Message::user("hi"),
        Message { role: Role::Assistant, content: blocks.collect() },
        Message { role: Role::User, content: vec![ContentBlock::ToolResult(result)] },
    ];
    let mark = || json!({"cachePoint": {"type": "default"}});
    let expected = json!({
        "system": [{"text": "sys"}, mark()],
        "toolConfig": {"tools": [{"toolSpec": {"name": "read", "inputSchema": {"json": {"type": "object"}}}}, mark()]},
        "inferenceConfig": {"temperature": 0.5},
        "messages": [
            {"role": "user", "content": [{"text": "hi"}, mark()]},
            {"role": "assistant", "content": [
                {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "S"}}},
                {"reasoningContent": {"redactedContent": "R"}},
                {"text": "so"},
                {"toolUse": {"toolUseId": "tooluse_1", "name": "read", "input": {"p": 1}}},
            ]},
            {"role": "user", "content": [
                {"toolResult": {"toolUseId": "tooluse_1", "status": "error", "content": [
                    {"text": "no such file"}, {"image": {"format": "jpeg", "source": {"bytes": "AAAA"}}},
                ]}},
                mark(),
            ]},
        ],
    });
    assert_eq!(body(&wire, &messages, &[read()], None), expected);
    // Without a tool at hand the ones that were called stand in: the server refuses calls else.
    let tools = &body(&wire, &messages, &[], None)["toolConfig"]["tools"];
    assert_eq!(tools[0]["toolSpec"]["name"], "read");
}

#[test]
fn marks_last_an_hour_where_that_is_wished_until_the_server_refuses_it() {
    let mut wire = wire("us.anthropic.claude-opus-4-8");
    wire.settings.long_cache = true;
    let marks = |wire: &ConverseWire| {
        let body = body(wire, &[Message::user("hi")], &[read()], None);
        [&body["system"][1], &body["toolConfig"]["tools"][1], &body["messages"][0]["content"][1]].map(Value::clone)
    };
    let long = json!({"cachePoint": {"type": "default", "ttl": "1h"}});
    // None may last longer than the one before it.
    assert_eq!(marks(&wire), [long.clone(), long.clone(), long]);
    let message = "messages.0.content.1.cachePoint.ttl: the model does not support a ttl of 1h".to_owned();
    assert!(wire.adapt(&Request::of(&[]), 400, &Complaint { message, ..Complaint::default() }));
    let short = json!({"cachePoint": {"type": "default"}});
    assert_eq!(marks(&wire), [short.clone(), short.clone(), short]);
}

#[test]
fn effort_is_said_in_the_words_of_each_maker() {
    let said = |model: &str, effort| {
        let body = body(&wire(model), &[Message::user("hi")], &[], effort);
        (body["additionalModelRequestFields"].clone(), body["inferenceConfig"]["maxTokens"].clone())
    };
    let adaptive = json!({"type": "adaptive", "display": "summarized"});
    assert_eq!(said("us.anthropic.claude-opus-4-8", None), (json!({"thinking": adaptive}), Value::Null));
    let expected = json!({"thinking": adaptive, "output_config": {"effort": "xhigh"}});
    assert_eq!(said("us.anthropic.claude-opus-4-8", Some(Effort::Xhigh)), (expected, Value::Null));
    let budget = json!({"thinking": {"type": "enabled", "budget_tokens": 4096}});
    assert_eq!(said("us.anthropic.claude-haiku-4-5-20251001-v1:0", Some(Effort::Low)), (budget, json!(32_000)));
    let nova = json!({"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "medium"}});
    assert_eq!(said("amazon.nova-2-lite-v1:0", Some(Effort::Medium)).0, nova);
    assert_eq!(said("openai.gpt-oss-120b-1:0", Some(Effort::High)).0, json!({"reasoning_effort": "high"}));
    assert_eq!(said("mistral.mistral-large-2402-v1:0", Some(Effort::High)).0, Value::Null);
}

#[test]
fn the_address_carries_the_model_whatever_it_is_called_and_the_key_stands_in_a_header() {
    let arn = "arn:aws:bedrock:us-east-1:1:application-inference-profile/a b";
    let mut wire = wire(arn);
    wire.settings.key = Some(Secret::new("k"));
    let request = Request::of(&[]);
    let call = wire.call(&request);
    let path = "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aapplication-inference-profile%2Fa%20b/converse-stream";
    assert_eq!(call.url, format!("https://bedrock-runtime.us-east-1.amazonaws.com{path}"));
    assert!(call.headers.contains(&("authorization", "Bearer k".to_owned())));
    assert_eq!(
        lists("https://bedrock-runtime.eu-west-1.amazonaws.com")[1],
        "https://bedrock.eu-west-1.amazonaws.com/inference-profiles?maxResults=1000"
    );
}

#[test]
fn mistral_gets_nine_letters_or_digits() {
    let wire = wire("mistral.mistral-large-2402-v1:0");
    let call = call("toolu_01", "other/m");
    let result = ContentBlock::ToolResult(ToolResult::closed(&call, Outcome::Ok));
    let messages = [
        Message::user("hi"),
        Message { role: Role::Assistant, content: vec![ContentBlock::ToolCall(call)] },
        Message { role: Role::User, content: vec![result] },
    ];
    let body = body(&wire, &messages, &[read()], None);
    let id = body["messages"][1]["content"][0]["toolUse"]["toolUseId"].as_str().unwrap();
    assert_eq!((id.len(), &body["messages"][2]["content"][0]["toolResult"]["toolUseId"]), (9, &json!(id)));
}

#[test]
fn what_is_refused_is_left_out_from_then_on() {
    for (message, flag) in [
        ("temperature is deprecated for this model", "no_temperature"),
        ("thinking.type.enabled is not supported", "no_effort"),
        ("You invoked an unsupported model or your request did not allow prompt caching", "no_cache_marks"),
        ("messages.1.content.0.reasoningContent is not valid", "no_reasoning"),
        ("This model doesn't support the status field of toolResult", "no_status"),
    ] {
        let wire = wire("us.anthropic.claude-opus-4-8");
        let request = Request::of(&[]);
        let complaint = Complaint { message: message.into(), ..Complaint::default() };
        assert!(wire.adapt(&request, 400, &complaint), "{message}");
        assert!(!wire.adapt(&request, 400, &complaint), "once: {message}");
        assert_eq!(wire.learnt().names(), [flag], "{message}");
    }
}

fn header(name: &str, value: &str) -> Vec<u8> {
    let mut header = vec![u8::try_from(name.len()).unwrap()];
    header.extend(name.bytes());
    header.push(7);
    header.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
    header.extend(value.bytes());
    header
}

fn frame(kind: &str, name: &str, payload: &Value) -> Vec<u8> {
    let named = if kind == "event" { ":event-type" } else { ":exception-type" };
    let headers = [header(named, name), header(":message-type", kind)].concat();
    let payload = payload.to_string();
    let length = u32::try_from(16 + headers.len() + payload.len()).unwrap();
    let mut bytes = [length.to_be_bytes(), u32::try_from(headers.len()).unwrap().to_be_bytes()].concat();
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    bytes.extend(headers);
    bytes.extend(payload.bytes());
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    bytes
}

/// The events of the documentation of `ConverseStream`: a thought, words, two calls, counts.
fn stream() -> Vec<u8> {
    let delta =
        |index: u64, delta: Value| ("contentBlockDelta", json!({"contentBlockIndex": index, "delta": delta}));
    let stop = |index: u64| ("contentBlockStop", json!({"contentBlockIndex": index}));
    let call = |index: u64, id: &str| {
        let start = json!({"toolUse": {"toolUseId": id, "name": "read"}});
        ("contentBlockStart", json!({"contentBlockIndex": index, "start": start}))
    };
    let events = [
        ("messageStart", json!({"role": "assistant"})),
        delta(0, json!({"reasoningContent": {"text": "Let me "}})),
        delta(0, json!({"reasoningContent": {"text": "think"}})),
        delta(0, json!({"reasoningContent": {"signature": "EpQ"}})),
        delta(0, json!({"reasoningContent": {"signature": "C=="}})),
        stop(0),
        delta(1, json!({"text": "Hé"})),
        delta(1, json!({"text": "llo 🙂"})),
        stop(1),
        call(2, "tooluse_a"),
        call(3, "tooluse_b"),
        delta(3, json!({"toolUse": {"input": "{\"p\":"}})),
        delta(2, json!({"toolUse": {"input": ""}})),
        delta(3, json!({"toolUse": {"input": "2}"}})),
        stop(2),
        stop(3),
        ("messageStop", json!({"stopReason": "tool_use"})),
        (
            "metadata",
            json!({"usage": {"inputTokens": 5, "outputTokens": 7, "totalTokens": 112,
            "cacheReadInputTokens": 70, "cacheWriteInputTokens": 30}, "metrics": {"latencyMs": 1}}),
        ),
    ];
    events.iter().flat_map(|(name, payload)| frame("event", name, payload)).collect()
}

fn decode(pieces: &[&[u8]]) -> (Vec<StreamEvent>, Result<(), ProviderError>) {
    let mut decoder = crate::provider::decoder(Protocol::Bedrock, origin());
    let mut events = Vec::new();
    for piece in pieces {
        if let Err(error) = decoder.push(piece, &mut events) {
            return (events, Err(error));
        }
    }
    let ended = decoder.finish(&mut events);
    (events, ended)
}

fn fold(events: &[StreamEvent]) -> crate::conversation::Finished {
    let mut builder = MessageBuilder::new("bedrock/m");
    for event in events {
        builder.push(event);
    }
    builder.finish()
}

#[test]
fn a_stream_is_read_the_same_cut_at_any_byte() {
    let bytes = stream();
    let (whole, ended) = decode(&[&bytes]);
    assert_eq!(ended, Ok(()));
    let finished = fold(&whole);
    let message = finished.message.clone().unwrap();
    assert_eq!(message.text(), "Héllo 🙂");
    let calls: Vec<(String, Value)> = message.calls().map(|call| (call.id.clone(), call.input.clone())).collect();
    assert_eq!(calls, [("tooluse_a".into(), json!({})), ("tooluse_b".into(), json!({"p": 2}))]);
    let thought = ContentBlock::Reasoning(Reasoning {
        text: "Let me think".into(),
        signature: Some("EpQC==".into()),
        redacted: None,
        model: "bedrock/m".into(),
    });
    assert_eq!(message.content[0], thought);
    let usage = Usage { input: 5, cached_read: 70, cached_write: 30, output: 7, ..Usage::default() };
    assert_eq!((finished.usage, finished.stop), (usage, StopReason::ToolUse));
    for at in 0..=bytes.len() {
        assert_eq!(decode(&[&bytes[..at], &bytes[at..]]), (whole.clone(), Ok(())), "cut at {at}");
    }
}

#[test]
fn an_answer_cut_in_a_frame_or_before_its_end_is_broken() {
    let bytes = stream();
    let word = bytes.windows(11).position(|window| window == b"messageStop").unwrap();
    let mut stands = false;
    for end in 0..bytes.len() {
        match decode(&[&bytes[..end]]).1 {
            Err(ProviderError::Broken { .. }) => assert!(!stands, "{end}"),
            // The word that ends it came: it stands, whatever becomes of the counts.
            Ok(()) => {
                assert!(stands || end > word + 11, "{end}");
                stands = true;
            }
            Err(other) => panic!("{end}: {other}"),
        }
    }
    assert!(stands);
}

#[test]
fn exceptions_in_the_stream_are_told_as_what_they_are() {
    let says = |name: &str, message: &str| {
        let head = frame("event", "messageStart", &json!({"role": "assistant"}));
        decode(&[&head, &frame("exception", name, &json!({"message": message}))]).1.unwrap_err()
    };
    let status = |error: ProviderError| match error {
        ProviderError::Status { status, message, .. } => (status, message),
        other => panic!("{other}"),
    };
    assert_eq!(status(says("throttlingException", "Too many requests")), (429, "Too many requests".into()));
    assert_eq!(status(says("modelStreamErrorException", "The model stream failed.")).0, 500);
    assert_eq!(status(says("serviceUnavailableException", "later")).0, 503);
    assert_eq!(status(says("validationException", "bad")).0, 400);
    let long = says(
        "validationException",
        "The model returned the following errors: Input is too long for requested model.",
    );
    assert!(matches!(long, ProviderError::ContextOverflow { .. }), "{long}");
    // After the last word it changes nothing.
    let (events, ended) = decode(&[&stream(), &frame("exception", "internalServerException", &json!({}))]);
    assert_eq!((events.last(), ended), (Some(&StreamEvent::Done(StopReason::ToolUse)), Ok(())));
}

#[test]
fn what_is_no_stream_is_read_or_named() {
    let whole = json!({"output": {"message": {"role": "assistant", "content": [
        {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "S"}}},
        {"text": "hi"}, {"toolUse": {"toolUseId": "t", "name": "read", "input": {"p": 1}}},
    ]}}, "stopReason": "tool_use", "usage": {"inputTokens": 1, "outputTokens": 2}});
    let (events, ended) = decode(&[b" ", whole.to_string().as_bytes()]);
    assert_eq!(ended, Ok(()));
    let message = fold(&events).message.unwrap();
    assert_eq!((message.text().as_str(), message.calls().count(), message.content.len()), ("hi", 1, 3));
    let (_, ended) = decode(&[br#"{"Message":"x","message":"nothing here"}"#]);
    assert!(matches!(ended, Err(ProviderError::Status { .. })), "{ended:?}");
    let (_, ended) = decode(&[b"<html>"]);
    assert!(matches!(ended, Err(ProviderError::Protocol { .. })), "{ended:?}");
    let (_, ended) = decode(&[b"data: {\"x\": 1, \"y\": 2}\n\n"]);
    assert!(matches!(ended, Err(ProviderError::Protocol { .. })), "{ended:?}");
}

proptest! {
    #[test]
    fn any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..80), at in any::<prop::sample::Index>()) {
        let mut stream = stream();
        let at = at.index(stream.len());
        stream.truncate(at);
        stream.extend(bytes);
        drop(decode(&[&stream]));
    }
}
