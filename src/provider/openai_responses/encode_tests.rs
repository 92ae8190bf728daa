use serde_json::{Value, json};

use super::*;
use crate::conversation::{
    ContentBlock, Message, Outcome, Reasoning, Role, ToolCall, ToolResult, ToolSpec, WireItem,
};
use crate::provider::settings::Protocol;

fn wire(model: &str) -> ResponsesWire {
    let settings = ProviderSettings::custom("lab", Protocol::OpenAiResponses, "http://lab/v1", model);
    let origin = Origin { provider: "lab".into(), model: model.into(), url: "http://lab".into(), secret: None };
    ResponsesWire::new(settings, origin)
}

fn body(wire: &ResponsesWire, messages: &[Message], tools: &[ToolSpec]) -> Value {
    let request = Request {
        system: "Be brief.",
        tools,
        max_output_tokens: Some(8),
        temperature: Some(0.5),
        ..Request::of(messages)
    };
    encode(&wire.settings, wire.dialect(), &request).0
}

fn thought(text: &str, signature: Option<Value>, model: &str) -> ContentBlock {
    ContentBlock::Reasoning(Reasoning {
        text: text.into(),
        signature: signature.map(|signature| signature.to_string()),
        redacted: None,
        model: model.into(),
    })
}

fn encrypted(content: &str) -> Value {
    json!({"type": "reasoning", "summary": [], "encrypted_content": content})
}

fn phase(phase: &str) -> ContentBlock {
    let item = json!({"type": "message", "phase": phase});
    ContentBlock::WireItem(WireItem { model: "lab/gpt-6".into(), item })
}

fn call(id: &str, extra: &Value, input: Value) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: "read".into(),
        input,
        invalid_input: None,
        extra: extra.as_object().unwrap().clone(),
        model: "lab/gpt-6".into(),
        arguments: String::new(),
    }
}

#[test]
fn a_turn_goes_back_in_its_order_with_phases_encrypted_thought_and_no_id() {
    let first = call("call_1", &json!({"namespace": "files"}), json!({"path": "a"}));
    let custom = call("call_2", &json!({"type": "custom_tool_call"}), json!({"input": "SELECT 1"}));
    let results = [&first, &custom].map(|call| ContentBlock::ToolResult(ToolResult::closed(call, Outcome::Failed)));
    let messages = [
        Message::user("hi"),
        Message {
            role: Role::Assistant,
            content: vec![
                thought("plan", Some(encrypted("AB")), "lab/gpt-6"),
                phase("commentary"),
                ContentBlock::Text { text: "I look.".into() },
                thought("foreign", Some(encrypted("XX")), "other/m"),
                thought("not encrypted", None, "lab/gpt-6"),
                ContentBlock::ToolCall(first),
                ContentBlock::ToolCall(custom),
                thought(
                    "late",
                    Some(json!({"type": "reasoning", "summary": [], "encrypted_content": "CD", "thought": 1})),
                    "lab/gpt-6",
                ),
            ],
        },
        Message { role: Role::User, content: results.into() },
        Message { role: Role::Assistant, content: vec![thought("alone", Some(encrypted("EF")), "lab/gpt-6")] },
    ];
    let spec = ToolSpec {
        name: "read".into(),
        description: "Reads.".into(),
        input_schema: json!({}),
        ..ToolSpec::default()
    };
    let body = body(&wire("gpt-6"), &messages, &[spec]);
    let names: Vec<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
    let expected =
        ["model", "stream", "store", "include", "reasoning", "max_output_tokens", "tools", "instructions", "input"];
    assert_eq!(names, expected);
    assert_eq!((&body["store"], &body["max_output_tokens"]), (&json!(false), &json!(16)));
    let expected = json!([
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "reasoning", "summary": [], "encrypted_content": "AB"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}],
         "phase": "commentary"},
        {"type": "reasoning", "summary": [], "encrypted_content": "CD"},
        {"type": "function_call", "call_id": "call_1", "name": "read", "arguments": "{\"path\":\"a\"}",
         "namespace": "files"},
        {"type": "custom_tool_call", "call_id": "call_2", "name": "read", "input": "SELECT 1"},
        {"type": "function_call_output", "call_id": "call_1", "output": "The call failed."},
        {"type": "custom_tool_call_output", "call_id": "call_2", "output": "The call failed."},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "(no answer)"}]},
    ]);
    assert_eq!(body["input"], expected);
}

#[test]
fn what_a_server_refuses_is_left_out_from_then_on() {
    let wire = wire("gpt-6");
    let refuse = |message: &str| {
        let complaint = Complaint { message: message.into(), ..Complaint::default() };
        let request = Request::of(&[]);
        wire.adapt(&request, 400, &complaint)
    };
    assert!(refuse("Your organization must be verified to generate reasoning summaries."));
    assert_eq!(body(&wire, &[], &[])["reasoning"], Value::Null);
    assert!(refuse("Encrypted content is not supported with this model."));
    assert_eq!(body(&wire, &[], &[])["include"], Value::Null);
    assert!(refuse("The encrypted content gAAA could not be verified."));
    assert!(!wire.dialect().says(Feature::Echo));
    assert!(!refuse("The encrypted content gAAA could not be verified."), "once");
    assert!(refuse("Unsupported parameter: max_output_tokens"));
    assert!(!refuse("something else"));
}

#[test]
fn only_models_that_do_not_think_are_told_how_freely_to_write() {
    assert_eq!(body(&wire("gpt-4o"), &[], &[])["temperature"], json!(0.5));
    assert_eq!(body(&wire("gpt-4o"), &[], &[])["include"], Value::Null);
    for model in ["gpt-5-mini", "gpt-6-astra", "o3", "gpt-7"] {
        assert_eq!(body(&wire(model), &[], &[])["temperature"], Value::Null, "{model}");
    }
}

#[test]
fn a_digest_of_more_and_more_is_that_of_the_whole() {
    let items: Vec<Value> = (0..9).map(|number| json!({"type": "message", "content": number})).collect();
    let mut growing = super::encode::Digest::default();
    for count in [0, 1, 1, 4, 9] {
        let whole = super::encode::Digest::default().of(&items[..count]);
        assert_eq!(growing.of(&items[..count]), whole, "{count}");
    }
}
