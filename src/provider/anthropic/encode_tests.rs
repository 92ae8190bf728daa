use serde_json::{Value, json};

use super::*;
use crate::conversation::{ContentBlock, Image, Message, Outcome, Reasoning, Role, ToolCall, ToolResult, ToolSpec};
use crate::provider::settings::Protocol;

fn settings(model: &str) -> ProviderSettings {
    ProviderSettings::custom("lab", Protocol::Anthropic, "http://lab", model)
}

fn written_by(wire: &MessagesWire, request: &Request<'_>) -> Value {
    encode(&wire.settings, wire.learnt.dialect(&wire.settings), wire.limits(), request)
}

fn wire(settings: &ProviderSettings) -> MessagesWire {
    let origin = Origin { provider: "lab".into(), model: "m".into(), url: "http://lab".into(), secret: None };
    MessagesWire::new(settings.clone(), origin)
}

fn body(messages: &[Message]) -> Value {
    let tools = ["read", "write"].map(|name| ToolSpec {
        name: name.into(),
        description: "d".into(),
        input_schema: json!({"type": "object"}),
        ..ToolSpec::default()
    });
    let request = Request { system: "sys", tools: &tools, ..Request::of(messages) };
    let settings = settings("m");
    written_by(&wire(&settings), &request)
}

fn call(id: &str) -> ToolCall {
    let extra = json!({"extra_content": 1}).as_object().unwrap().clone();
    ToolCall {
        id: id.into(),
        name: "read".into(),
        input: json!({"p": 1}),
        invalid_input: None,
        extra,
        model: String::new(),
        arguments: String::new(),
    }
}

fn thought(text: &str, signature: Option<&str>, redacted: Option<&str>, model: &str) -> ContentBlock {
    ContentBlock::Reasoning(Reasoning {
        text: text.into(),
        signature: signature.map(str::to_owned),
        redacted: redacted.map(str::to_owned),
        model: model.into(),
    })
}

fn result(call: &ToolCall, outcome: Outcome) -> ContentBlock {
    ContentBlock::ToolResult(ToolResult { content: "r".into(), ..ToolResult::closed(call, outcome) })
}

fn message(role: Role, content: Vec<ContentBlock>) -> Message {
    Message { role, content }
}

fn marks(value: &Value) -> usize {
    value.to_string().matches("\"cache_control\"").count()
}

#[test]
fn a_turn_with_thought_calls_and_results() {
    let (one, two) = (call("functions.read:0"), call("toolu_2"));
    let messages = [
        Message::user("go"),
        message(
            Role::Assistant,
            vec![
                thought("hm", Some("s1"), None, "lab/m"),
                thought("", None, Some("opaque"), "lab/m"),
                thought("unsigned", None, None, "lab/m"),
                thought("foreign", Some("s2"), None, "other/m"),
                ContentBlock::Text { text: " ".into() },
                ContentBlock::ToolCall(one.clone()),
                ContentBlock::ToolCall(two.clone()),
            ],
        ),
        message(
            Role::User,
            vec![
                ContentBlock::Text { text: "hurry".into() },
                result(&one, Outcome::Ok),
                result(&two, Outcome::Interrupted),
            ],
        ),
        Message::user("now"),
    ];
    let body = body(&messages);
    let expected = json!([
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s1"},
            {"type": "redacted_thinking", "data": "opaque"},
            {"type": "tool_use", "id": "functions_read_0", "name": "read", "input": {"p": 1}},
            {"type": "tool_use", "id": "toolu_2", "name": "read", "input": {"p": 1}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "functions_read_0", "content": [{"type": "text", "text": "r"}]},
            {"type": "tool_result", "tool_use_id": "toolu_2", "content": [{"type": "text", "text": "r"}], "is_error": true},
        ]},
        {"role": "assistant", "content": [{"type": "text", "text": "(no answer)"}]},
        {"role": "user", "content": [{"type": "text", "text": "hurry", "cache_control": {"type": "ephemeral"}}]},
        {"role": "assistant", "content": [{"type": "text", "text": "(no answer)"}]},
        {"role": "user", "content": [{"type": "text", "text": "now", "cache_control": {"type": "ephemeral"}}]},
    ]);
    assert_eq!(body["messages"], expected);
    let fields: Vec<&String> = body.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["model", "max_tokens", "stream", "tools", "system", "messages"]);
    assert_eq!(
        (marks(&body), marks(&body["tools"]), marks(&body["tools"][1]), marks(&body["system"])),
        (4, 1, 1, 1)
    );
}

#[test]
fn there_are_never_more_than_four_marks() {
    let mut messages = Vec::new();
    for turn in 0..6 {
        messages.push(Message::user(format!("q{turn}")));
        messages.push(Message::assistant("a"));
        assert_eq!(marks(&body(&messages)), if turn == 0 { 3 } else { 4 });
    }
}

#[test]
fn an_hour_is_asked_for_at_every_mark_until_the_server_refuses_it() {
    let settings = ProviderSettings { long_cache: true, ..settings("m") };
    let wire = wire(&settings);
    let messages = [Message::user("q")];
    let request = Request { system: "sys", ..Request::of(&messages) };
    let written = || written_by(&wire, &request).to_string();
    let (hour, any) = ("\"ttl\":\"1h\"", "cache_control");
    assert_eq!((written().matches(hour).count(), written().matches(any).count()), (2, 2), "{}", written());
    let message = "system.0.cache_control.ephemeral.ttl: Extra inputs are not permitted";
    assert!(wire.adapt(&request, 400, &Complaint { message: message.into(), ..Complaint::default() }));
    assert_eq!((written().matches(hour).count(), written().matches(any).count()), (0, 2), "{}", written());
}

#[test]
fn empty_results_and_pictures() {
    let call = call("c");
    let picture = Image { media_type: "image/png".into(), data: "AAAA".into() };
    let mut empty = ToolResult::closed(&call, Outcome::Ok);
    let block = |result: &ToolResult, vision: bool| {
        let messages = [
            Message::user("go"),
            message(Role::Assistant, vec![ContentBlock::ToolCall(call.clone())]),
            message(Role::User, vec![ContentBlock::ToolResult(result.clone())]),
        ];
        let settings = ProviderSettings { vision, ..settings("m") };
        let request = Request::of(&messages);
        let wire = wire(&settings);
        wire.learnt.learn(Feature::CacheMarks);
        written_by(&wire, &request)["messages"][2]["content"][0].clone()
    };
    let nothing = json!([{"type": "text", "text": "(no output)"}]);
    assert_eq!(block(&empty, true), json!({"type": "tool_result", "tool_use_id": "c", "content": nothing}));
    empty.images.push(picture);
    let source = json!({"type": "base64", "media_type": "image/png", "data": "AAAA"});
    assert_eq!(block(&empty, true)["content"], json!([{"type": "image", "source": source}]));
    assert_eq!(block(&empty, false)["content"][0]["type"], "text");
}

#[test]
fn the_limit_follows_model_request_and_server() {
    let limit = |model: &str, asked: Option<u64>, complaints: &[&str]| {
        let settings = settings(model);
        let wire = wire(&settings);
        for message in complaints {
            let complaint = Complaint { message: (*message).into(), ..Complaint::default() };
            assert!(wire.adapt(&nothing(), 400, &complaint), "{message}");
            assert!(!wire.adapt(&nothing(), 400, &complaint), "only once: {message}");
        }
        let messages = [Message::user("a")];
        let request = Request { max_output_tokens: asked, ..Request::of(&messages) };
        written_by(&wire, &request)["max_tokens"].as_u64().unwrap()
    };
    assert_eq!(limit("claude-sonnet-4-5", None, &[]), 32_000);
    assert_eq!(limit("claude-3-haiku-20240307", None, &[]), 4_096);
    assert_eq!(limit("qwen", None, &[]), 8_192);
    assert_eq!(limit("qwen", Some(7), &[]), 7);
    let told = "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for claude-x";
    assert_eq!(limit("claude-x", None, &[told]), 8_192);
    assert_eq!(limit("claude-x", Some(100), &[told]), 100);
}

#[test]
fn a_temperature_is_said_until_it_is_refused() {
    let settings = settings("claude-sonnet-4-5");
    let wire = wire(&settings);
    let messages = [Message::user("go")];
    let request = Request { temperature: Some(0.3), ..Request::of(&messages) };
    let said = || written_by(&wire, &request).get("temperature").cloned();
    assert_eq!(said(), Some(json!(0.3)));
    let complaint =
        Complaint { message: "`temperature` is deprecated for this model.".into(), ..Complaint::default() };
    assert!(wire.adapt(&nothing(), 400, &complaint));
    assert!(!wire.adapt(&nothing(), 400, &complaint), "only once");
    assert_eq!(said(), None);
}

#[test]
fn models_that_think_as_they_see_fit_are_asked_to_show_it_until_the_server_refuses() {
    let settings = settings("claude-opus-5-5");
    let wire = wire(&settings);
    let request = Request { temperature: Some(0.3), ..nothing() };
    let written = || written_by(&wire, &request);
    assert_eq!(written()["thinking"], json!({"type": "adaptive", "display": "summarized"}));
    assert_eq!(written().get("temperature"), None);
    let complaint =
        Complaint { message: "adaptive thinking is not supported on this model".into(), ..Complaint::default() };
    assert!(wire.adapt(&nothing(), 400, &complaint));
    assert!(!wire.adapt(&nothing(), 400, &complaint), "only once");
    assert_eq!(written().get("thinking"), None);
}

fn nothing() -> Request<'static> {
    Request::of(&[])
}
