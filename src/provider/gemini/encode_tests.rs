use serde_json::{Value, json};

use super::*;
use crate::conversation::{ContentBlock, Message, Outcome, Role, ToolCall, ToolResult, ToolSpec, WireItem};
use crate::provider::settings::Protocol;

fn wire(model: &str, base_url: &str) -> GeminiWire {
    let settings = ProviderSettings::custom("lab", Protocol::Gemini, base_url, model);
    let origin = Origin { provider: "lab".into(), model: model.into(), url: "http://lab".into(), secret: None };
    GeminiWire::new(settings, origin)
}

fn body(wire: &GeminiWire, messages: &[Message], tools: &[ToolSpec]) -> Value {
    let request = Request { system: "Be brief.", tools, max_output_tokens: Some(8), ..Request::of(messages) };
    encode(&wire.settings, wire.dialect(), &request)
}

fn call(id: &str, model: &str, extra: &Value) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: "read".into(),
        input: json!({"path": id}),
        invalid_input: None,
        extra: extra.as_object().unwrap().clone(),
        model: model.into(),
        arguments: String::new(),
    }
}

fn turn(calls: &[&ToolCall]) -> Vec<Message> {
    let results = calls.iter().map(|call| ContentBlock::ToolResult(ToolResult::closed(call, Outcome::Denied)));
    let mut content = vec![ContentBlock::Text { text: "I read.".into() }];
    let item = json!({"thoughtSignature": "S1"});
    content.push(ContentBlock::WireItem(WireItem { model: "lab/gemini-3-pro".into(), item }));
    content.extend(calls.iter().map(|call| ContentBlock::ToolCall((*call).clone())));
    vec![
        Message::user("hi"),
        Message { role: Role::Assistant, content },
        Message { role: Role::User, content: results.collect() },
    ]
}

#[test]
fn signatures_and_ids_go_back_where_they_came_from() {
    let own = "lab/gemini-3-pro";
    let (first, second) =
        (call("a", own, &json!({"id": "a", "thoughtSignature": "S2"})), call("call_1", own, &json!({})));
    let wire = wire("gemini-3-pro", "http://lab/v1beta");
    let spec = ToolSpec { name: "read".into(), input_schema: json!({"type": "object"}), ..ToolSpec::default() };
    let body = body(&wire, &turn(&[&first, &second]), &[spec]);
    let names: Vec<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, ["systemInstruction", "tools", "generationConfig", "contents"]);
    let denied = "The user denied this call. Do not repeat it.";
    let expected = json!([
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [
            {"text": "I read.", "thoughtSignature": "S1"},
            {"functionCall": {"id": "a", "name": "read", "args": {"path": "a"}}, "thoughtSignature": "S2"},
            {"functionCall": {"name": "read", "args": {"path": "call_1"}}},
        ]},
        {"role": "user", "parts": [
            {"functionResponse": {"id": "a", "name": "read", "response": {"error": denied}}},
            {"functionResponse": {"name": "read", "response": {"error": denied}}},
        ]},
    ]);
    assert_eq!(body["contents"], expected);
}

#[test]
fn a_foreign_call_is_stood_in_for_where_that_is_taken_and_wanted() {
    let foreign = call("a", "other/m", &json!({"id": "a", "thoughtSignature": "XX"}));
    let signature = |wire: &GeminiWire| body(wire, &turn(&[&foreign]), &[])["contents"][1]["parts"][1].clone();
    let part = signature(&wire("gemini-3-pro", "http://lab/v1beta"));
    assert_eq!(part["thoughtSignature"], json!("skip_thought_signature_validator"));
    assert_eq!(part["functionCall"]["id"], Value::Null);
    for (model, url) in
        [("gemini-2.5-pro", "http://lab"), ("gemini-3-pro", "https://x-aiplatform.googleapis.com/v1")]
    {
        assert_eq!(signature(&wire(model, url))["thoughtSignature"], Value::Null, "{model} {url}");
    }
}

#[test]
fn what_a_server_refuses_is_left_out_from_then_on() {
    let wire = wire("gemini-3-pro", "http://lab");
    let refuse = |message: &str| {
        let complaint = Complaint { message: message.into(), ..Complaint::default() };
        let request = Request::of(&[]);
        wire.adapt(&request, 400, &complaint)
    };
    assert!(refuse("Unknown name \"parametersJsonSchema\" at 'tools[0]'"));
    assert!(refuse("Thinking is not enabled for models/gemini-3-pro"));
    assert!(!refuse("Thinking is not enabled for models/gemini-3-pro"), "once");
    let spec = ToolSpec { name: "read".into(), input_schema: json!({"type": "object"}), ..ToolSpec::default() };
    let body = body(&wire, &[], &[spec]);
    assert_eq!(body["tools"][0]["functionDeclarations"][0]["parameters"], json!({"type": "object"}));
    assert_eq!(body["generationConfig"], json!({"maxOutputTokens": 8}));
}
