//! The effort a person chose stands in the request of each wire as the model takes it.

use serde_json::{Value, json};

use super::anthropic::MessagesWire;
use super::bedrock::ConverseWire;
use super::catalogue::Effort;
use super::gemini::GeminiWire;
use super::http::Origin;
use super::ollama::OllamaWire;
use super::openai_chat::ChatWire;
use super::openai_responses::ResponsesWire;
use super::request::Request;
use super::settings::{Protocol, ProviderSettings};
use super::table;
use super::wire::Wire;
use crate::conversation::Message;

fn wire(settings: ProviderSettings) -> Box<dyn Wire> {
    let origin = Origin::of(&settings);
    match settings.protocol {
        Protocol::OpenAiChat => Box::new(ChatWire::new(settings, origin)),
        Protocol::OpenAiResponses => Box::new(ResponsesWire::new(settings, origin)),
        Protocol::Anthropic => Box::new(MessagesWire::new(settings, origin)),
        Protocol::Gemini => Box::new(GeminiWire::new(settings, origin)),
        Protocol::Bedrock => Box::new(ConverseWire::new(settings, origin)),
        Protocol::Ollama => Box::new(OllamaWire::new(settings, origin)),
    }
}

/// What stands at these places of the request.
fn said(model: &str, effort: Effort, places: &[&str]) -> Vec<Value> {
    let (provider, name) = model.split_once('/').unwrap();
    let settings = table::find(provider).unwrap().settings(name, None, &|_: &str| None);
    let messages = [Message::user("hi")];
    let request = Request { effort: Some(effort), ..Request::of(&messages) };
    let body: Value = serde_json::from_slice(&wire(settings).call(&request).body.unwrap()).unwrap();
    places.iter().map(|place| body.pointer(place).cloned().unwrap_or(Value::Null)).collect()
}

#[test]
fn the_chosen_effort_stands_in_the_request_of_every_wire_as_the_model_takes_it() {
    let adaptive = || json!({"type": "adaptive", "display": "summarized"});
    let claude = ["/thinking", "/output_config/effort"];
    let cases: [(&str, Effort, &[&str], Vec<Value>); 16] = [
        ("openai/gpt-5.4", Effort::High, &["/reasoning/effort"], vec![json!("high")]),
        // What the model does not know becomes the nearest that it knows.
        ("openai/gpt-6-astra", Effort::Minimal, &["/reasoning/effort"], vec![json!("low")]),
        ("openai/gpt-4o", Effort::High, &["/reasoning", "/reasoning_effort"], vec![Value::Null, Value::Null]),
        ("groq/openai/gpt-oss-120b", Effort::Low, &["/reasoning_effort"], vec![json!("low")]),
        (
            "zai/glm-4.6",
            Effort::None,
            &["/thinking/type", "/reasoning_effort"],
            vec![json!("disabled"), Value::Null],
        ),
        ("zai/glm-4.6", Effort::High, &["/thinking/type"], vec![json!("enabled")]),
        ("anthropic/claude-opus-5", Effort::Max, &claude, vec![adaptive(), json!("max")]),
        ("anthropic/claude-sonnet-5", Effort::None, &claude, vec![json!({"type": "disabled"}), Value::Null]),
        (
            "anthropic/claude-haiku-4-5",
            Effort::Low,
            &claude,
            vec![json!({"type": "enabled", "budget_tokens": 4096}), Value::Null],
        ),
        (
            "anthropic/claude-opus-4-5",
            Effort::Medium,
            &claude,
            vec![json!({"type": "enabled", "budget_tokens": 10_000}), json!("medium")],
        ),
        (
            "gemini/gemini-3.7-flash",
            Effort::Minimal,
            &["/generationConfig/thinkingConfig/thinkingLevel"],
            vec![json!("low")],
        ),
        (
            "gemini/gemini-2.5-flash",
            Effort::High,
            &["/generationConfig/thinkingConfig/thinkingBudget"],
            vec![json!(20_000)],
        ),
        (
            "bedrock/us.anthropic.claude-opus-4-8",
            Effort::High,
            &["/additionalModelRequestFields/output_config/effort"],
            vec![json!("high")],
        ),
        (
            "bedrock/amazon.nova-2-lite-v1:0",
            Effort::Low,
            &["/additionalModelRequestFields/reasoningConfig/maxReasoningEffort"],
            vec![json!("low")],
        ),
        ("ollama/gpt-oss:20b", Effort::High, &["/think"], vec![json!("high")]),
        ("ollama/qwen3:8b", Effort::None, &["/think"], vec![json!(false)]),
    ];
    for (model, effort, places, expected) in cases {
        assert_eq!(said(model, effort, places), expected, "{model} {effort:?}");
    }
}
