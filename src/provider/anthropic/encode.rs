//! A [`Request`] as the body of `POST /v1/messages`. Pure.

use serde_json::{Map, Value, json};

use super::thinking::{effort_word, thinking};
use crate::conversation::{ContentBlock, Image, Outcome, Reasoning, ToolCall, ToolResult, WireItem};
use crate::provider::request::Request;
use crate::provider::settings::ProviderSettings;
use crate::provider::wire::{
    Dialect, Feature, Messages, Order, Part, Turn, WireIds, invalid_input, output, tool_name, turns,
};

/// axi sends a paused answer back, and the next answer continues it. Results and a person's words have one role, so
/// an answer has to stand between them.
const ORDER: Order = Order { two_answers: true, words_behind_results: false };

/// The provider's own search (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool>), and how
/// often it may be used for one answer.
const SEARCH: &str = "web_search_20250305";
const MOST_SEARCHES: u64 = 8;

/// What the provider's own search leaves in an answer: without the tool it is refused.
const SEARCH_BLOCKS: [&str; 2] = ["server_tool_use", "web_search_tool_result"];

fn goes_back(made: &WireItem, id: &str, dialect: Dialect) -> bool {
    let is_search = made.item.get("type").and_then(Value::as_str).is_some_and(|kind| SEARCH_BLOCKS.contains(&kind));
    made.model == id && (dialect.says(Feature::Search) || !is_search)
}

/// How many tokens an answer may have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Where the request names no limit.
    pub(crate) default: u64,
    /// The most the server has said it accepts.
    pub(crate) highest: u64,
}

/// Writes the body. What stays the same from request to request comes first.
///
/// Four cache marks at most, or HTTP 400 "A maximum of 4 blocks" (continuedev/continue PR#6937): the end of the
/// tools, the system prompt, and the last two messages of the user, so that the next request finds this one's.
pub(crate) fn encode(
    settings: &ProviderSettings,
    dialect: Dialect,
    limits: Limits,
    request: &Request<'_>,
) -> Value {
    let dialect = dialect.without(Feature::Search, !request.search);
    let limit = request.max_output_tokens.unwrap_or(limits.default).min(limits.highest);
    let mut body = Map::new();
    body.insert("model".into(), json!(settings.model));
    body.insert("max_tokens".into(), json!(limit));
    body.insert("stream".into(), json!(true));
    let effort = settings.abilities.effort(request.effort).filter(|_| dialect.says(Feature::Effort));
    let thinking = thinking(&settings.abilities, dialect.says(Feature::Thinking), effort, limit);
    // A model that thinks takes no temperature.
    let says = dialect.says(Feature::Temperature) && thinking.is_none();
    if let Some(thinking) = thinking {
        body.insert("thinking".into(), thinking);
    }
    if let Some(word) = effort_word(&settings.abilities, dialect.says(Feature::Thinking), effort) {
        body.insert("output_config".into(), json!({"effort": word}));
    }
    if let Some(temperature) = request.temperature.filter(|_| says) {
        body.insert("temperature".into(), json!(temperature));
    }
    if settings.tools && !request.tools.is_empty() {
        let own = dialect
            .says(Feature::Search)
            .then(|| json!({"type": SEARCH, "name": "web_search", "max_uses": MOST_SEARCHES}));
        let tools = request.tools.iter();
        let tools = tools.map(
            |tool| json!({"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}),
        );
        let mut tools: Vec<Value> = own.into_iter().chain(tools).collect();
        mark(dialect, tools.last_mut());
        body.insert("tools".into(), Value::Array(tools));
    }
    if !request.system.is_empty() {
        let mut system = vec![json!({"type": "text", "text": request.system})];
        mark(dialect, system.last_mut());
        body.insert("system".into(), Value::Array(system));
    }
    let mut writer = Writer {
        settings,
        dialect,
        id: settings.id(),
        ids: WireIds::new(settings.quirks.call_ids, &settings.id()),
        messages: Messages::default(),
    };
    let own = settings.id();
    let speaks = |block: &ContentBlock| match block {
        ContentBlock::Text { text } => !text.trim().is_empty(),
        ContentBlock::ToolCall(_) => true,
        ContentBlock::WireItem(made) => goes_back(made, &own, dialect),
        // A message must not end with a thought: text or a call has to follow it.
        ContentBlock::Reasoning(_) | ContentBlock::ToolResult(_) | ContentBlock::Image(_) => false,
    };
    for turn in turns(request.messages, ORDER, speaks) {
        match turn {
            Turn::Person(parts) => writer.person(&parts),
            Turn::Results(results) => writer.results(&results),
            Turn::Model(content) => writer.model(content),
            Turn::StandIn(words) => writer.messages.of_model(vec![json!({"type": "text", "text": words})]),
        }
    }
    let mut messages = writer.messages;
    for blocks in messages.last_of_user(2) {
        mark(dialect, blocks.last_mut());
    }
    body.insert("messages".into(), messages.written());
    Value::Object(body)
}

fn mark(dialect: Dialect, block: Option<&mut Value>) {
    if let Some(block) = block.filter(|_| dialect.says(Feature::CacheMarks)) {
        block["cache_control"] = if dialect.says(Feature::LongCache) {
            json!({"type": "ephemeral", "ttl": "1h"})
        } else {
            json!({"type": "ephemeral"})
        };
    }
}

struct Writer<'a> {
    settings: &'a ProviderSettings,
    dialect: Dialect,
    id: String,
    ids: WireIds,
    messages: Messages,
}

impl Writer<'_> {
    fn person(&mut self, parts: &[Part<'_>]) {
        let blocks = parts.iter().map(|part| match part {
            Part::Text(text) => json!({"type": "text", "text": text}),
            Part::Image(image) => self.image(image),
        });
        let blocks: Vec<Value> = blocks.collect();
        self.messages.of_user(blocks);
    }

    fn results(&mut self, results: &[&ToolResult]) {
        let blocks = results.iter().map(|result| self.result(result)).collect();
        self.messages.of_user(blocks);
    }

    fn model(&mut self, content: &[ContentBlock]) {
        self.ids.next_message();
        let mut blocks = Vec::new();
        for block in content {
            match block {
                ContentBlock::Text { text } => blocks.extend(text_block(text)),
                ContentBlock::Reasoning(reasoning) => blocks.extend(self.reasoning(reasoning)),
                ContentBlock::ToolCall(call) => blocks.push(self.call(call)),
                ContentBlock::WireItem(made) if goes_back(made, &self.id, self.dialect) => {
                    blocks.push(made.item.clone());
                }
                ContentBlock::WireItem(_) | ContentBlock::ToolResult(_) | ContentBlock::Image(_) => {}
            }
        }
        self.messages.of_model(blocks);
    }

    /// Only thoughts of this same model, only signed or redacted ones, byte for byte: a signature is bound to its
    /// model (llxprt-code#2335).
    fn reasoning(&self, reasoning: &Reasoning) -> Option<Value> {
        if !self.dialect.says(Feature::Reasoning) || reasoning.model != self.id {
            return None;
        }
        if let Some(data) = &reasoning.redacted {
            return Some(json!({"type": "redacted_thinking", "data": data}));
        }
        let signature = reasoning.signature.as_ref()?;
        Some(json!({"type": "thinking", "thinking": reasoning.text, "signature": signature}))
    }

    fn call(&mut self, call: &ToolCall) -> Value {
        let id = self.ids.assign(call);
        let input = call.invalid_input.as_deref().map_or_else(|| call.input.clone(), invalid_input);
        json!({"type": "tool_use", "id": id, "name": tool_name(&call.name), "input": input})
    }

    fn result(&self, result: &ToolResult) -> Value {
        let mut content: Vec<Value> = text_block(output(result)).into_iter().collect();
        content.extend(result.images.iter().map(|image| self.image(image)));
        let mut block = json!({"type": "tool_result", "tool_use_id": self.ids.of_result(&result.call_id)});
        block["content"] = Value::Array(content);
        match result.outcome {
            Outcome::Ok => {}
            Outcome::Failed | Outcome::Denied | Outcome::Interrupted => block["is_error"] = json!(true),
        }
        block
    }

    fn image(&self, image: &Image) -> Value {
        if !self.settings.vision {
            return json!({"type": "text", "text": "[a picture is left out: this model cannot see]"});
        }
        let source = json!({"type": "base64", "media_type": image.media_type, "data": image.data});
        json!({"type": "image", "source": source})
    }
}

/// Blank text is refused ("text content blocks must contain non-whitespace text").
fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}
