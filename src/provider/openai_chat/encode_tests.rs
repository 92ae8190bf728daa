use serde_json::{Value, json};

use super::*;
use crate::conversation::{ContentBlock, Image, Message, Outcome, Reasoning, Role, ToolCall, ToolResult, ToolSpec};
use crate::provider::settings::ReasoningEcho;
use crate::provider::settings::{CallIds, Protocol, Quirks, ResultPictures};

fn settings(quirks: Quirks) -> ProviderSettings {
    ProviderSettings { quirks, ..ProviderSettings::custom("lab", Protocol::OpenAiChat, "http://lab/v1", "m") }
}

fn wire(settings: &ProviderSettings) -> ChatWire {
    let origin = Origin { provider: "lab".into(), model: "m".into(), url: "http://lab".into(), secret: None };
    ChatWire::new(settings.clone(), origin)
}

fn written(settings: &ProviderSettings, messages: &[Message]) -> Value {
    let request = Request::of(messages);
    encode(settings, wire(settings).dialect(), &request)["messages"].clone()
}

fn call(id: &str) -> ToolCall {
    call_of(id, "lab/m")
}

fn call_of(id: &str, model: &str) -> ToolCall {
    let extra = json!({"extra_content": {"google": {"thought_signature": "c2ln"}}, "function": {"x": 1}});
    ToolCall {
        id: id.into(),
        name: "read".into(),
        input: json!({"b": 1, "a": 2}),
        invalid_input: None,
        extra: extra.as_object().unwrap().clone(),
        model: model.into(),
        arguments: "{\"b\": 1, \"a\":2}".into(),
    }
}

fn reasoning(text: &str, signature: Option<&str>, model: &str) -> ContentBlock {
    ContentBlock::Reasoning(Reasoning {
        text: text.into(),
        signature: signature.map(str::to_owned),
        redacted: None,
        model: model.into(),
    })
}

fn assistant(content: Vec<ContentBlock>) -> Message {
    Message { role: Role::Assistant, content }
}

fn results(calls: &[&ToolCall]) -> Message {
    let content = calls.iter().map(|call| ContentBlock::ToolResult(ToolResult::closed(call, Outcome::Denied)));
    Message { role: Role::User, content: content.collect() }
}

#[test]
fn a_whole_request_in_a_stable_order() {
    let tools = [ToolSpec {
        name: "read".into(),
        description: "Reads.".into(),
        input_schema: json!({"type": "object"}),
        ..ToolSpec::default()
    }];
    let call = call("call_1");
    let messages = [
        Message::user("go"),
        assistant(vec![ContentBlock::ToolCall(call.clone())]),
        results(&[&call]),
        Message::user("more"),
    ];
    let request = Request { system: "sys", tools: &tools, max_output_tokens: Some(9), ..Request::of(&messages) };
    let settings = settings(Quirks::default());
    let body = encode(&settings, wire(&settings).dialect(), &request);
    let fields: Vec<&String> = body.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["model", "stream", "stream_options", "max_tokens", "tools", "messages"]);
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
    assert_eq!(body["tools"][0]["function"]["parameters"], json!({"type": "object"}));
    let expected = json!([
        {"role": "system", "content": "sys"},
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": null, "tool_calls": [{
            "id": "call_1", "type": "function",
            "extra_content": {"google": {"thought_signature": "c2ln"}},
            "function": {"name": "read", "arguments": "{\"b\": 1, \"a\":2}", "x": 1},
        }]},
        {"role": "tool", "tool_call_id": "call_1", "content": "The user denied this call. Do not repeat it."},
        {"role": "user", "content": "more"},
    ]);
    assert_eq!(body["messages"], expected);
    // A longer conversation begins with the same bytes: prompt caches live on it.
    let shorter = Request { messages: &messages[..3], ..request };
    let shorter = encode(&settings, wire(&settings).dialect(), &shorter).to_string();
    assert!(body.to_string().starts_with(shorter.trim_end_matches("]}")));
}

#[test]
fn reasoning_goes_back_with_calls_to_the_model_that_made_it_only() {
    let field = |quirks: Quirks, block: ContentBlock, with_call: bool| {
        let call = call("c");
        let mut content = vec![block, ContentBlock::Text { text: "t".into() }];
        let mut messages = vec![Message::user("go")];
        if with_call {
            content.push(ContentBlock::ToolCall(call.clone()));
            messages.extend([assistant(content), results(&[&call])]);
        } else {
            messages.push(assistant(content));
        }
        written(&settings(quirks), &messages)[1].clone()
    };
    let echo = Quirks::default();
    let never = Quirks { reasoning_echo: ReasoningEcho::Never, ..echo };
    assert_eq!(field(echo, reasoning("hm", None, "lab/m"), true)["reasoning_content"], "hm");
    for (quirks, model, with_call) in [(echo, "lab/m", false), (echo, "other/m", true), (never, "lab/m", true)] {
        let message = field(quirks, reasoning("hm", None, model), with_call);
        assert_eq!(message.get("reasoning_content"), None, "{model} {with_call}");
    }
    let details = r#"[{"type":"reasoning.text","text":"hm","signature":"s"}]"#;
    let message = field(echo, reasoning("hm", Some(details), "lab/m"), true);
    assert_eq!(message["reasoning_details"].to_string(), details);
    assert_eq!(message.get("reasoning_content"), None);
}

#[test]
fn a_server_that_demands_reasoning_gets_a_blank_for_calls_without_any() {
    let settings = settings(Quirks::default());
    let wire = wire(&settings);
    let complaint = |message: &str| Complaint { message: message.into(), ..Complaint::default() };
    assert!(wire.adapt(
        &nothing(),
        400,
        &complaint("Missing `reasoning_content` field in the assistant message at index 2")
    ));
    assert!(!wire.adapt(&nothing(), 400, &complaint("Missing `reasoning_content` field")), "only once");
    let call = call("c");
    let messages = [Message::user("go"), assistant(vec![ContentBlock::ToolCall(call.clone())]), results(&[&call])];
    let request = Request::of(&messages);
    assert_eq!(encode(&settings, wire.dialect(), &request)["messages"][1]["reasoning_content"], " ");
}

#[test]
fn a_server_that_wants_an_answer_behind_results_gets_one_from_then_on() {
    let call = call("c");
    let messages = [
        Message::user("go"),
        assistant(vec![ContentBlock::ToolCall(call.clone())]),
        results(&[&call]),
        Message::user("more"),
    ];
    let request = Request::of(&messages);
    let settings = settings(Quirks::default());
    for (status, message) in [
        (400, "Unexpected role 'user' after role 'tool'"),
        (
            500,
            "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...",
        ),
    ] {
        let wire = wire(&settings);
        let complaint = Complaint { message: message.into(), ..Complaint::default() };
        assert!(wire.adapt(&request, status, &complaint));
        assert!(!wire.adapt(&request, status, &complaint), "only once");
        let written = encode(&settings, wire.dialect(), &request)["messages"].clone();
        assert_eq!(written[3], json!({"role": "assistant", "content": "(no answer)"}));
    }
}

#[test]
fn what_another_model_made_goes_without_its_fields_ids_and_spelling() {
    let foreign = ToolCall { id: "functions.read:0".into(), ..call_of("", "other/m") };
    let messages =
        [Message::user("go"), assistant(vec![ContentBlock::ToolCall(foreign.clone())]), results(&[&foreign])];
    let written = written(&settings(Quirks::default()), &messages);
    let expected = json!([{"id": "functions_read_0", "type": "function",
                           "function": {"name": "read", "arguments": "{\"b\":1,\"a\":2}"}}]);
    assert_eq!(
        (written[1]["tool_calls"].clone(), &written[2]["tool_call_id"]),
        (expected, &json!("functions_read_0"))
    );
}

#[test]
fn arguments_that_were_no_object_go_back_inside_of_one() {
    let cut = ToolCall { input: json!({}), invalid_input: Some("{\"p\": \"é".into()), ..call("c") };
    let messages = [Message::user("go"), assistant(vec![ContentBlock::ToolCall(cut.clone())]), results(&[&cut])];
    let arguments =
        written(&settings(Quirks::default()), &messages)[1]["tool_calls"][0]["function"]["arguments"].clone();
    assert_eq!(arguments, json!("{\"invalid_arguments\":\"{\\\"p\\\": \\\"é\"}"));
}

#[test]
fn mistral_gets_its_ids_and_pictures_where_it_takes_them() {
    let (call_ids, result_pictures) = (CallIds::NineAlphanumerics, ResultPictures::Inside);
    let quirks = Quirks { call_ids, result_pictures, ..Quirks::default() };
    let (one, two) = (call_of("call_one", ""), call_of("call_two", ""));
    let content = vec![ContentBlock::ToolCall(one.clone()), ContentBlock::ToolCall(two.clone())];
    let messages = written(&settings(quirks), &[Message::user("go"), assistant(content), results(&[&two, &one])]);
    let calls = &messages[1]["tool_calls"];
    let id = |at: usize| calls[at]["id"].as_str().unwrap().to_owned();
    assert_eq!((id(0).len(), id(1).len()), (9, 9));
    assert_eq!(
        (messages[2]["tool_call_id"].clone(), messages[3]["tool_call_id"].clone()),
        (json!(id(1)), json!(id(0)))
    );
    let fields: Vec<&String> = calls[0].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["id", "type", "function"]);
    let mut result = ToolResult::closed(&one, Outcome::Ok);
    result.images.push(Image { media_type: "image/png".into(), data: "AAAA".into() });
    let result = Message { role: Role::User, content: vec![ContentBlock::ToolResult(result)] };
    let settings = ProviderSettings { vision: true, ..settings(quirks) };
    let messages = written(&settings, &[Message::user("go"), assistant(vec![ContentBlock::ToolCall(one)]), result]);
    assert_eq!(
        messages[2]["content"],
        json!([{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}])
    );
    assert_eq!(messages.as_array().unwrap().len(), 3, "a person's message behind a result is refused");
}

#[test]
fn pictures_go_as_data_urls_or_are_named_as_left_out() {
    let image = Image { media_type: "image/png".into(), data: "AAAA".into() };
    let call = call("c");
    let mut result = ToolResult::closed(&call, Outcome::Ok);
    result.images.push(image.clone());
    let content = vec![ContentBlock::ToolResult(result), ContentBlock::Text { text: "look".into() }];
    let messages =
        [Message::user("go"), assistant(vec![ContentBlock::ToolCall(call)]), Message { role: Role::User, content }];
    let mut settings = settings(Quirks::default());
    let blind = written(&settings, &messages);
    let left_out = "[1 picture(s) left out: this model cannot see]";
    assert_eq!(blind[3], json!({"role": "user", "content": left_out}));
    settings.vision = true;
    let seeing = written(&settings, &messages);
    let picture = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}});
    assert_eq!(seeing[3]["content"], json!([picture]));
    let content = vec![ContentBlock::Image(image), ContentBlock::Text { text: "look".into() }];
    let seeing = written(&settings, &[Message { role: Role::User, content }]);
    assert_eq!(seeing[0]["content"], json!([{"type": "text", "text": "look"}, picture]));
}

#[test]
fn thought_without_word_is_stood_in_for() {
    let messages = [Message::user("a"), assistant(vec![reasoning("hm", None, "lab/m")]), Message::user("b")];
    let expected = json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "(no answer)"},
                          {"role": "user", "content": "b"}]);
    assert_eq!(written(&settings(Quirks::default()), &messages), expected);
}

#[test]
fn a_model_without_tools_is_sent_none() {
    let tools =
        [ToolSpec { name: "read".into(), description: "R".into(), input_schema: json!({}), ..ToolSpec::default() }];
    let messages = [Message::user("a")];
    let request = Request { tools: &tools, ..Request::of(&messages) };
    let settings = ProviderSettings { tools: false, ..settings(Quirks::default()) };
    assert_eq!(encode(&settings, wire(&settings).dialect(), &request).get("tools"), None);
}

#[test]
fn a_temperature_is_said_until_it_is_refused() {
    let settings = settings(Quirks::default());
    let wire = wire(&settings);
    let messages = [Message::user("go")];
    let request = Request { temperature: Some(0.3), ..Request::of(&messages) };
    let said = || encode(&settings, wire.dialect(), &request).get("temperature").cloned();
    assert_eq!(said(), Some(json!(0.3)));
    let message = "Unsupported value: 'temperature' does not support 0.3 with this model.".to_owned();
    let complaint = Complaint { message, ..Complaint::default() };
    assert!(wire.adapt(&nothing(), 400, &complaint));
    assert!(!wire.adapt(&nothing(), 400, &complaint), "only once");
    assert_eq!(said(), None);
}

fn nothing() -> Request<'static> {
    Request::of(&[])
}
