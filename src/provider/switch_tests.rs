//! A conversation goes on with another model, at any wire: the request is valid, and nothing that only its maker can
//! read (signatures, encrypted thought, items) goes to anybody else.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::prefix_tests::wires;
use super::request::Request;
use super::settings::Protocol;
use crate::conversation::{
    ContentBlock, Image, Message, Outcome, Reasoning, Role, ToolCall, ToolResult, ToolSpec, WireItem,
};

/// An answer as one wire leaves it in the conversation.
#[derive(Debug, Clone)]
struct Made {
    by: Protocol,
    text: String,
    thinks: bool,
    calls: usize,
    picture: bool,
    interrupted: bool,
}

fn made() -> impl Strategy<Value = Made> {
    let by = prop::sample::select(Protocol::ALL.to_vec());
    (by, "[a-z ]{0,8}", any::<bool>(), 0..3_usize, any::<bool>(), any::<bool>()).prop_map(
        |(by, text, thinks, calls, picture, interrupted)| Made { by, text, thinks, calls, picture, interrupted },
    )
}

/// What only the model that made it can read.
fn secret(by: Protocol) -> String {
    format!("SECRET-{}", by.name())
}

fn model(by: Protocol) -> String {
    format!("{}/m", by.name())
}

fn thought(by: Protocol) -> Vec<ContentBlock> {
    let reasoning = |signature: Option<String>, redacted: Option<String>| {
        let (text, model) = ("hm".to_owned(), model(by));
        ContentBlock::Reasoning(Reasoning { text, signature, redacted, model })
    };
    let secret = secret(by);
    match by {
        Protocol::OpenAiChat => {
            vec![reasoning(Some(json!([{"type": "reasoning.encrypted", "data": secret}]).to_string()), None)]
        }
        Protocol::OpenAiResponses => {
            let item = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": secret});
            let message = json!({"type": "message", "phase": secret, "role": "assistant", "content": []});
            let item = reasoning(Some(item.to_string()), None);
            vec![item, ContentBlock::WireItem(WireItem { model: model(by), item: message })]
        }
        Protocol::Anthropic | Protocol::Bedrock => {
            vec![reasoning(Some(secret.clone()), None), reasoning(None, Some(secret))]
        }
        Protocol::Gemini => {
            let item = json!({"thoughtSignature": secret});
            vec![reasoning(None, None), ContentBlock::WireItem(WireItem { model: model(by), item })]
        }
        Protocol::Ollama => vec![reasoning(None, None)],
    }
}

fn call(by: Protocol, number: usize) -> ToolCall {
    let id = match by {
        Protocol::OpenAiChat => format!("functions.read:{number}"),
        Protocol::OpenAiResponses => format!("call_{number}|fc_{number}"),
        Protocol::Anthropic => format!("toolu_01{number}"),
        Protocol::Bedrock => format!("tooluse_{number}"),
        Protocol::Gemini => String::new(),
        Protocol::Ollama => format!("call_{number}"),
    };
    let mut extra = serde_json::Map::new();
    if by == Protocol::Gemini {
        extra.insert("thoughtSignature".into(), json!(secret(by)));
        extra.insert("extra_content".into(), json!({"google": {"thought_signature": secret(by)}}));
    }
    let id = if id.is_empty() { format!("gemini-{number}") } else { id };
    ToolCall {
        id,
        name: "read".into(),
        input: json!({"path": "a"}),
        invalid_input: None,
        extra,
        model: model(by),
        arguments: "{\"path\": \"a\"}".into(),
    }
}

fn history(all: &[Made]) -> Vec<Message> {
    let mut messages = Vec::new();
    for made in all {
        let mut asked = Message::user("go on");
        let image = Image { media_type: "image/png".into(), data: "AAAA".into() };
        asked.content.extend(made.picture.then(|| ContentBlock::Image(image.clone())));
        messages.push(asked);
        let mut content = if made.thinks { thought(made.by) } else { Vec::new() };
        if !made.text.is_empty() {
            content.push(ContentBlock::Text { text: made.text.clone() });
        }
        let calls: Vec<ToolCall> = (0..made.calls).map(|number| call(made.by, number)).collect();
        content.extend(calls.iter().cloned().map(ContentBlock::ToolCall));
        if content.is_empty() {
            continue;
        }
        messages.push(Message { role: Role::Assistant, content });
        if calls.is_empty() {
            continue;
        }
        let outcome = if made.interrupted { Outcome::Interrupted } else { Outcome::Ok };
        let results = calls.iter().map(|call| {
            let mut result = ToolResult::closed(call, outcome);
            result.images.extend(made.picture.then(|| image.clone()));
            ContentBlock::ToolResult(result)
        });
        messages.push(Message { role: Role::User, content: results.collect() });
    }
    messages.push(Message::user("and now?"));
    messages
}

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().map_or(&[], Vec::as_slice)
}

/// Says what a server of this wire would refuse.
fn refused(protocol: Protocol, body: &Value) -> Result<(), String> {
    match protocol {
        Protocol::OpenAiChat | Protocol::Ollama => chat(list(body, "messages"), protocol == Protocol::OpenAiChat),
        Protocol::OpenAiResponses => {
            let ids = |kind: &str| -> Vec<&Value> {
                list(body, "input")
                    .iter()
                    .filter(|item| item["type"] == kind)
                    .map(|item| &item["call_id"])
                    .collect()
            };
            let (mut calls, mut outputs) = (ids("function_call"), ids("function_call_output"));
            let sort = |ids: &mut Vec<&Value>| ids.sort_by_key(ToString::to_string);
            sort(&mut calls);
            sort(&mut outputs);
            let bare = list(body, "input")
                .iter()
                .any(|item| item["type"] == "reasoning" && !item["encrypted_content"].is_string());
            if calls != outputs || calls.windows(2).any(|pair| pair[0] == pair[1]) || bare {
                return Err(format!("{calls:?} and {outputs:?}, bare: {bare}"));
            }
            Ok(())
        }
        Protocol::Anthropic => alternating(list(body, "messages"), "content", |block| {
            (block["type"] == "tool_use", block["type"] == "tool_result")
        }),
        Protocol::Bedrock => alternating(list(body, "messages"), "content", |block| {
            (block.get("toolUse").is_some(), block.get("toolResult").is_some())
        }),
        Protocol::Gemini => alternating(list(body, "contents"), "parts", |part| {
            (part.get("functionCall").is_some(), part.get("functionResponse").is_some())
        }),
    }
}

fn chat(messages: &[Value], with_ids: bool) -> Result<(), String> {
    let mut open: Vec<Value> = Vec::new();
    for message in messages {
        if message["role"] == "tool" {
            let at = open.iter().position(|id| !with_ids || *id == message["tool_call_id"]);
            open.remove(at.ok_or("a result without its call")?);
            continue;
        }
        if !open.is_empty() {
            return Err(format!("{} calls without results", open.len()));
        }
        let calls = list(message, "tool_calls");
        open.extend(calls.iter().map(|call| call["id"].clone()));
        if message["role"] == "assistant"
            && calls.is_empty()
            && message["content"].as_str().is_none_or(str::is_empty)
        {
            return Err("an assistant who says nothing".into());
        }
    }
    if open.is_empty() { Ok(()) } else { Err("calls at the end".into()) }
}

/// Roles take turns, each message has something, and calls are answered by as many results in the next.
fn alternating(messages: &[Value], field: &str, is: impl Fn(&Value) -> (bool, bool)) -> Result<(), String> {
    let (mut before, mut open) = (Value::Null, 0);
    for message in messages {
        let parts = list(message, field);
        if message["role"] == before || parts.is_empty() {
            return Err(format!("{message} behind {before}"));
        }
        let calls = parts.iter().filter(|part| is(part).0).count();
        let results = parts.iter().filter(|part| is(part).1).count();
        if results != open {
            return Err(format!("{results} results for {open} calls"));
        }
        (before, open) = (message["role"].clone(), calls);
    }
    if open == 0 && before == "user" { Ok(()) } else { Err("the end".into()) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_conversation_goes_on_at_any_other_wire_without_a_request_that_is_refused(
        all in prop::collection::vec(made(), 1..8), strict in any::<bool>(),
    ) {
        let messages = history(&all);
        let tools = [ToolSpec { name: "read".into(), input_schema: json!({"type": "object"}), ..ToolSpec::default() }];
        for (protocol, wire) in wires(strict, |_| "lab") {
            let request = Request {
                system: "Be brief.", tools: &tools, max_output_tokens: Some(64), ..Request::of(&messages)
            };
            let text = String::from_utf8(wire.call(&request).body.unwrap()).unwrap();
            let body: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(refused(protocol, &body), Ok(()), "{:?}: {}", protocol, text);
            // The wires here are those of `lab/m`, which made none of it.
            prop_assert!(!text.contains("SECRET-"), "{protocol:?}: {text}");
        }
    }

    #[test]
    fn who_comes_back_to_a_model_gives_it_its_own_and_what_nobody_else_can_read_to_nobody_else(
        all in prop::collection::vec(made(), 1..8), strict in any::<bool>(),
    ) {
        let messages = history(&all);
        let tools = [ToolSpec { name: "read".into(), input_schema: json!({"type": "object"}), ..ToolSpec::default() }];
        for (protocol, wire) in wires(strict, Protocol::name) {
            let request = Request {
                system: "Be brief.", tools: &tools, max_output_tokens: Some(64), ..Request::of(&messages)
            };
            let text = String::from_utf8(wire.call(&request).body.unwrap()).unwrap();
            let body: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(refused(protocol, &body), Ok(()), "{:?}: {}", protocol, text);
            for other in Protocol::ALL.into_iter().filter(|other| *other != protocol) {
                prop_assert!(!text.contains(&secret(other)), "{other:?}'s at {protocol:?}: {text}");
            }
            // What these demand back beside their calls is there.
            let demands = [Protocol::OpenAiResponses, Protocol::Anthropic, Protocol::Bedrock, Protocol::Gemini];
            let own = all.iter().any(|made| made.by == protocol && made.thinks && made.calls > 0);
            if own && demands.contains(&protocol) {
                prop_assert!(text.contains(&secret(protocol)), "{protocol:?} lacks its own: {text}");
            }
        }
    }
}
