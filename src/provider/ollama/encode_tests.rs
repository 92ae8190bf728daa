use serde_json::json;

use super::*;
use crate::conversation::{ContentBlock, Image, Message, Outcome, Reasoning, Role, ToolCall, ToolResult};
use crate::provider::settings::Protocol;

fn settings() -> ProviderSettings {
    ProviderSettings::custom("ollama", Protocol::Ollama, "http://127.0.0.1:11434", "m")
}

fn wire(settings: ProviderSettings) -> OllamaWire {
    let origin = Origin { provider: "ollama".into(), model: "m".into(), url: "http://lab".into(), secret: None };
    OllamaWire::new(settings, origin)
}

#[test]
fn a_turn_with_a_call_its_result_and_a_picture() {
    let call = ToolCall {
        id: "call_0".into(),
        name: "read".into(),
        input: json!({"p": 1}),
        invalid_input: None,
        extra: serde_json::Map::new(),
        model: String::new(),
        arguments: String::new(),
    };
    let thought = |model: &str| {
        ContentBlock::Reasoning(Reasoning {
            text: "hm".into(),
            signature: None,
            redacted: None,
            model: model.into(),
        })
    };
    let result = ToolResult { content: "r".into(), ..ToolResult::closed(&call, Outcome::Ok) };
    let picture = Image { media_type: "image/png".into(), data: "AAAA".into() };
    let messages = [
        Message::user("go"),
        Message {
            role: Role::Assistant,
            content: vec![thought("ollama/m"), thought("other/m"), ContentBlock::ToolCall(call)],
        },
        Message { role: Role::User, content: vec![ContentBlock::ToolResult(result), ContentBlock::Image(picture)] },
    ];
    let request = Request { system: "sys", max_output_tokens: Some(5), ..Request::of(&messages) };
    let body = encode(&ProviderSettings { vision: true, ..settings() }, 8192, &request);
    assert_eq!(body["options"], json!({"num_ctx": 8192, "num_predict": 5}));
    let expected = json!([
        {"role": "system", "content": "sys"},
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "", "thinking": "hm",
         "tool_calls": [{"id": "call_0", "function": {"name": "read", "arguments": {"p": 1}}}]},
        {"role": "tool", "content": "r", "tool_name": "read", "tool_call_id": "call_0"},
        {"role": "user", "content": "", "images": ["AAAA"]},
    ]);
    assert_eq!(body["messages"], expected);
}

#[test]
fn the_context_is_what_the_settings_say_or_grows_in_steps_and_never_shrinks() {
    let short = [Message::user("hi")];
    let long = [Message::user("word ".repeat(20_000))];
    let request = |messages| Request::of(messages);
    let growing = wire(settings());
    let sizes = [&short, &long, &short].map(|messages| growing.context(&request(messages)));
    assert_eq!(sizes, [8_192, 32_768, 32_768]);
    let fixed = wire(ProviderSettings { context_window: Some(4_096), ..settings() });
    assert_eq!(fixed.context(&request(&long)), 4_096);
}

#[test]
fn a_model_without_tools_is_asked_without_them_from_then_on() {
    let wire = wire(settings());
    let complaint =
        Complaint { message: "registry.ollama.ai/library/m does not support tools".into(), ..Complaint::default() };
    assert!(wire.adapt(&nothing(), 400, &complaint));
    assert!(!wire.adapt(&nothing(), 400, &complaint));
    let tools = [crate::conversation::ToolSpec {
        name: "t".into(),
        description: "d".into(),
        input_schema: json!({}),
        ..crate::conversation::ToolSpec::default()
    }];
    let messages = [Message::user("hi")];
    let request = Request { tools: &tools, ..Request::of(&messages) };
    let body: serde_json::Value = serde_json::from_slice(&wire.call(&request).body.unwrap()).unwrap();
    assert_eq!(body.get("tools"), None);
}

fn nothing() -> Request<'static> {
    Request::of(&[])
}
