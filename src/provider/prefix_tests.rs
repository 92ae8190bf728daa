//! "Request n+1 begins with the bytes of request n" on every wire: the providers' prompt caches live on it.

use proptest::prelude::*;
use serde_json::json;

use super::anthropic::MessagesWire;
use super::bedrock::ConverseWire;
use super::gemini::GeminiWire;
use super::http::Origin;
use super::ollama::OllamaWire;
use super::openai_chat::ChatWire;
use super::openai_responses::ResponsesWire;
use super::request::Request;
use super::settings::{Protocol, ProviderSettings};
use super::wire::Wire;
use crate::conversation::{
    ContentBlock, Image, Message, Outcome, Reasoning, Role, ToolCall, ToolResult, ToolSpec, WireItem,
};

/// What one turn is made of.
#[derive(Debug, Clone)]
struct Turn {
    words: String,
    picture: bool,
    /// Answers to it; all but the last call tools.
    answers: Vec<Answer>,
    /// The last answer never came.
    interrupted: bool,
}

#[derive(Debug, Clone)]
struct Answer {
    text: String,
    /// Encrypted so; empty for a thought that is not.
    thought: Option<String>,
    item: bool,
    calls: usize,
    /// Made by the model that is asked.
    own: bool,
    picture: bool,
    broken: bool,
}

fn answers() -> impl Strategy<Value = Answer> {
    let thought = prop::option::of("[a-z]{0,6}");
    (("[a-zé \n]{0,12}", thought, any::<bool>()), (1..3_usize, any::<bool>(), any::<bool>(), any::<bool>()))
        .prop_map(|((text, thought, item), (calls, own, picture, broken))| Answer {
            text,
            thought,
            item,
            calls,
            own,
            picture,
            broken,
        })
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let turn = ("[a-z \n\"\\\\]{0,12}", any::<bool>(), prop::collection::vec(answers(), 1..4), any::<bool>());
    let turn =
        turn.prop_map(|(words, picture, answers, interrupted)| Turn { words, picture, answers, interrupted });
    prop::collection::vec(turn, 40)
}

fn picture() -> Image {
    Image { media_type: "image/png".into(), data: "AAAA".into() }
}

/// The conversation, and after how many messages each request was sent.
fn conversation(turns: &[Turn]) -> (Vec<Message>, Vec<usize>) {
    let (mut messages, mut sent) = (Vec::new(), Vec::new());
    for (number, turn) in turns.iter().enumerate() {
        let mut asked = Message::user(turn.words.clone());
        asked.content.extend(turn.picture.then(|| ContentBlock::Image(picture())));
        messages.push(asked);
        sent.push(messages.len());
        let last = turn.answers.len() - 1;
        for (index, answer) in turn.answers.iter().enumerate() {
            if index == last && turn.interrupted {
                break;
            }
            let calls = if index == last { 0 } else { answer.calls };
            let (message, results) = written(answer, calls, number);
            messages.push(message);
            if calls > 0 {
                messages.push(results);
                sent.push(messages.len());
            }
        }
    }
    (messages, sent)
}

fn written(answer: &Answer, calls: usize, number: usize) -> (Message, Message) {
    let model = if answer.own { "lab/m" } else { "other/m" };
    let mut content = Vec::new();
    if let Some(signature) = &answer.thought {
        let item = json!({"type": "reasoning", "summary": [], "encrypted_content": signature});
        let signature = (!signature.is_empty()).then(|| item.to_string());
        let thought = Reasoning { text: "hm".into(), signature, redacted: None, model: model.into() };
        content.push(ContentBlock::Reasoning(thought));
    }
    if answer.item {
        let item = json!({"type": "message", "phase": "commentary", "thoughtSignature": "S"});
        content.push(ContentBlock::WireItem(WireItem { model: model.into(), item }));
    }
    if !answer.text.is_empty() {
        content.push(ContentBlock::Text { text: answer.text.clone() });
    }
    let mut results = Vec::new();
    for index in 0..calls {
        let call = ToolCall {
            // The same ids again and again, in letters not every server takes.
            id: format!("functions.read:{}", (number + index) % 3),
            name: "read".into(),
            input: json!({"path": "a"}),
            invalid_input: answer.broken.then(|| "{\"path\":".into()),
            extra: serde_json::Map::new(),
            model: model.into(),
            arguments: if answer.own { "{\"path\" :\"a\"}".into() } else { String::new() },
        };
        let mut result = ToolResult::closed(&call, if answer.broken { Outcome::Failed } else { Outcome::Ok });
        result.images.extend(answer.picture.then(picture));
        results.push(ContentBlock::ToolResult(result));
        content.push(ContentBlock::ToolCall(call));
    }
    (Message { role: Role::Assistant, content }, Message { role: Role::User, content: results })
}

/// All wires, each asking the model `m` of the provider of this name.
pub(super) fn wires(strict: bool, name: fn(Protocol) -> &'static str) -> Vec<(Protocol, Box<dyn Wire>)> {
    let origin = || Origin { provider: "lab".into(), model: "m".into(), url: "http://lab".into(), secret: None };
    let settings = |protocol| {
        let mut settings = ProviderSettings::custom(name(protocol), protocol, "http://lab", "m");
        settings.vision = true;
        settings.context_window = Some(32_768);
        // Where the cache wants marks they are set, and taken out again below.
        settings.abilities.cache = super::catalogue::Cache::Marks;
        if strict {
            settings.quirks.result_pictures = super::ResultPictures::Inside;
            settings.quirks.call_ids = super::CallIds::NineAlphanumerics;
        }
        settings
    };
    Protocol::ALL
        .into_iter()
        .map(|protocol| {
            let wire: Box<dyn Wire> = match protocol {
                Protocol::OpenAiChat => Box::new(ChatWire::new(settings(protocol), origin())),
                Protocol::OpenAiResponses => Box::new(ResponsesWire::new(settings(protocol), origin())),
                Protocol::Anthropic => Box::new(MessagesWire::new(settings(protocol), origin())),
                Protocol::Gemini => Box::new(GeminiWire::new(settings(protocol), origin())),
                Protocol::Bedrock => Box::new(ConverseWire::new(settings(protocol), origin())),
                Protocol::Ollama => Box::new(OllamaWire::new(settings(protocol), origin())),
            };
            (protocol, wire)
        })
        .collect()
}

fn body(wire: &dyn Wire, messages: &[Message], tools: &[ToolSpec]) -> String {
    let request = Request { system: "Be brief.", tools, max_output_tokens: Some(64), ..Request::of(messages) };
    let body = String::from_utf8(wire.call(&request).body.unwrap()).unwrap();
    // Marks say where the cache may end; they are no part of what is cached.
    let body = body.replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "");
    body.replace(",{\"cachePoint\":{\"type\":\"default\"}}", "")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, ..ProptestConfig::default() })]

    #[test]
    fn a_request_begins_with_the_bytes_of_the_one_before(turns in turns(), strict in any::<bool>()) {
        let (messages, sent) = conversation(&turns);
        let tools = [ToolSpec { name: "read".into(), input_schema: json!({"type": "object"}), ..ToolSpec::default() }];
        for (protocol, wire) in wires(strict, |_| "lab") {
            let mut before: Option<String> = None;
            for end in &sent {
                let now = body(&*wire, &messages[..*end], &tools);
                if let Some(before) = before {
                    let kept = before.trim_end_matches([']', '}']);
                    let same = kept.bytes().zip(now.bytes()).take_while(|(a, b)| a == b).count();
                    prop_assert!(
                        now.starts_with(kept),
                        "{protocol:?} at {end}: …{}\nbecame …{}",
                        String::from_utf8_lossy(&kept.as_bytes()[same.saturating_sub(80)..]),
                        String::from_utf8_lossy(&now.as_bytes()[same.saturating_sub(80)..]),
                    );
                }
                before = Some(now);
            }
        }
    }
}
