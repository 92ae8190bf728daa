//! A [`Request`] as the body of `POST /api/chat`. Pure.

use serde_json::{Map, Value, json};

use crate::conversation::{ContentBlock, Image, ToolCall, ToolResult, tokens};
use crate::provider::catalogue::Effort;
use crate::provider::openai_chat::tool;
use crate::provider::request::Request;
use crate::provider::settings::{ProviderSettings, ReasoningEcho};
use crate::provider::wire::{Order, Part, Turn, WireIds, has_words, invalid_input, output, tool_name, turns};

/// The smallest context asked for. The server's own default of 4,096 (2,048 before) cuts the conversation from the
/// front, system prompt and tools first, and answers HTTP 200 (NousResearch/hermes-agent#43900).
const SMALLEST_CONTEXT: u64 = 8_192;

/// The largest context asked for without being told to: memory grows with it.
const LARGEST_CONTEXT: u64 = 131_072;

/// Templates of models may refuse two answers in a row.
const ORDER: Order = Order { two_answers: false, words_behind_results: true };

/// Room for the answer, in tokens.
const ROOM: u64 = 4_096;

/// Chooses a context for a request when the settings name none: the next power of two that holds the request and
/// an answer, so that it changes (and the model is loaded anew) seldom.
pub(crate) fn context_for(request: &Request<'_>) -> u64 {
    let tools = request.tools.iter().map(|tool| {
        tokens::estimate(&tool.name)
            + tokens::estimate(&tool.description)
            + tokens::estimate(&tool.input_schema.to_string())
    });
    let messages = request.messages.iter().map(tokens::estimate_message);
    let needed = tokens::estimate(request.system) + tools.sum::<u64>() + messages.sum::<u64>();
    let needed = needed + request.max_output_tokens.unwrap_or(ROOM);
    needed.checked_next_power_of_two().unwrap_or(LARGEST_CONTEXT).clamp(SMALLEST_CONTEXT, LARGEST_CONTEXT)
}

/// Writes the body for a context of this many tokens.
pub(crate) fn encode(settings: &ProviderSettings, context: u64, request: &Request<'_>) -> Value {
    let mut options = Map::new();
    options.insert("num_ctx".into(), json!(context));
    if let Some(limit) = request.max_output_tokens {
        options.insert("num_predict".into(), json!(limit));
    }
    if let Some(temperature) = request.temperature {
        options.insert("temperature".into(), json!(temperature));
    }
    let mut body = Map::new();
    body.insert("model".into(), json!(settings.model));
    body.insert("stream".into(), json!(true));
    // These make newer servers report an error instead of silently cutting; older servers ignore them.
    body.insert("truncate".into(), json!(false));
    body.insert("shift".into(), json!(false));
    if let Some(effort) = request.effort {
        // gpt-oss takes these words, all others yes or no (<https://docs.ollama.com/capabilities/thinking>).
        let words = settings.model.contains("gpt-oss");
        let think = match effort {
            Effort::None => json!(false),
            Effort::Minimal | Effort::Low if words => json!("low"),
            Effort::Medium if words => json!("medium"),
            Effort::High | Effort::Xhigh | Effort::Max if words => json!("high"),
            Effort::Minimal | Effort::Low | Effort::Medium | Effort::High | Effort::Xhigh | Effort::Max => {
                json!(true)
            }
        };
        body.insert("think".into(), think);
    }
    body.insert("options".into(), Value::Object(options));
    if settings.tools && !request.tools.is_empty() {
        body.insert("tools".into(), request.tools.iter().map(tool).collect());
    }
    let mut writer = Writer {
        settings,
        id: settings.id(),
        ids: WireIds::new(settings.quirks.call_ids, &settings.id()),
        messages: Vec::new(),
    };
    if !request.system.is_empty() {
        writer.messages.push(json!({"role": "system", "content": request.system}));
    }
    for turn in turns(request.messages, ORDER, has_words) {
        match turn {
            Turn::Person(parts) => writer.person(&parts),
            Turn::Results(results) => writer.results(&results),
            Turn::Model(blocks) => writer.model(blocks),
            Turn::StandIn(words) => writer.messages.push(json!({"role": "assistant", "content": words})),
        }
    }
    body.insert("messages".into(), Value::Array(writer.messages));
    Value::Object(body)
}

struct Writer<'a> {
    settings: &'a ProviderSettings,
    id: String,
    ids: WireIds,
    messages: Vec<Value>,
}

impl Writer<'_> {
    fn person(&mut self, parts: &[Part<'_>]) {
        let mut texts: Vec<&str> = Vec::new();
        let mut images: Vec<&Image> = Vec::new();
        for part in parts {
            match part {
                Part::Text(text) => texts.push(text),
                Part::Image(image) => images.push(image),
            }
        }
        let mut written = json!({"role": "user", "content": texts.join("\n\n")});
        self.pictures(&mut written, &images);
        self.messages.push(written);
    }

    fn results(&mut self, results: &[&ToolResult]) {
        for result in results {
            let mut written = json!({
                "role": "tool", "content": output(result), "tool_name": tool_name(&result.name),
                "tool_call_id": self.ids.of_result(&result.call_id),
            });
            self.pictures(&mut written, &result.images.iter().collect::<Vec<_>>());
            self.messages.push(written);
        }
    }

    fn pictures(&self, message: &mut Value, images: &[&Image]) {
        if images.is_empty() {
            return;
        }
        if self.settings.vision {
            message["images"] = images.iter().map(|image| json!(image.data)).collect();
        } else {
            let text = message["content"].as_str().unwrap_or_default();
            let note = format!("[{} picture(s) left out: this model cannot see]", images.len());
            message["content"] = json!(if text.is_empty() { note } else { format!("{text}\n\n{note}") });
        }
    }

    fn model(&mut self, content: &[ContentBlock]) {
        self.ids.next_message();
        let (mut text, mut thinking) = (String::new(), String::new());
        let mut calls: Vec<Value> = Vec::new();
        for block in content {
            match block {
                ContentBlock::Text { text: words } => text.push_str(words),
                ContentBlock::ToolCall(call) => calls.push(self.call(call)),
                ContentBlock::Reasoning(own) if own.model == self.id => thinking.push_str(&own.text),
                ContentBlock::Reasoning(_)
                | ContentBlock::ToolResult(_)
                | ContentBlock::Image(_)
                | ContentBlock::WireItem(_) => {}
            }
        }
        let mut written = Map::new();
        written.insert("role".into(), json!("assistant"));
        written.insert("content".into(), json!(text));
        if !calls.is_empty() {
            if !thinking.is_empty() && self.settings.quirks.reasoning_echo == ReasoningEcho::WithCalls {
                written.insert("thinking".into(), json!(thinking));
            }
            written.insert("tool_calls".into(), Value::Array(calls));
        }
        self.messages.push(Value::Object(written));
    }

    fn call(&mut self, call: &ToolCall) -> Value {
        let id = self.ids.assign(call);
        let arguments = call.invalid_input.as_deref().map_or_else(|| call.input.clone(), invalid_input);
        json!({"id": id, "function": {"name": tool_name(&call.name), "arguments": arguments}})
    }
}
