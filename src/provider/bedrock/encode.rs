//! A [`Request`] as the body of `converse-stream`. Pure.

use serde_json::{Map, Value, json};

use crate::conversation::{ContentBlock, Image, Message, Outcome, Reasoning, ToolCall, ToolResult};
use crate::provider::anthropic::{effort_word, thinking};
use crate::provider::catalogue::{Cache, Effort};
use crate::provider::request::Request;
use crate::provider::settings::{CallIds, ProviderSettings};
use crate::provider::wire::{
    Dialect, Feature, Messages, Order, Part, Turn, WireIds, invalid_input, output, tool_name, turns,
};

/// Results and a person's words have the same role, and a role must not speak twice in a row.
const ORDER: Order = Order { two_answers: true, words_behind_results: false };

/// What a model that thinks by a budget may write, where nothing is said of it.
const USUAL_LIMIT: u64 = 32_000;

/// Writes the body. What stays the same from request to request comes first, the conversation last.
pub(crate) fn encode(settings: &ProviderSettings, dialect: Dialect, request: &Request<'_>) -> Value {
    let marks = dialect.says(Feature::CacheMarks) && settings.abilities.cache == Cache::Marks;
    let mark = || mark(dialect.says(Feature::LongCache));
    let mut body = Map::new();
    if !request.system.is_empty() {
        let mut system = vec![json!({"text": request.system})];
        system.extend(marks.then(mark));
        body.insert("system".into(), Value::Array(system));
    }
    if let Some(mut tools) = tools(settings, request) {
        tools.extend(marks.then(mark));
        body.insert("toolConfig".into(), json!({"tools": tools}));
    }
    let (fields, budgeted) =
        if dialect.says(Feature::Effort) { thoughts(settings, request) } else { (Map::new(), false) };
    let mut config = Map::new();
    // Without a limit the model may write as much as it can; half of that may be thought.
    let limit = request.max_output_tokens.or_else(|| budgeted.then(|| limit(settings)));
    if let Some(limit) = limit {
        config.insert("maxTokens".into(), json!(limit));
    }
    if let Some(temperature) =
        request.temperature.filter(|_| dialect.says(Feature::Temperature) && !fields.contains_key("thinking"))
    {
        config.insert("temperature".into(), json!(temperature));
    }
    if !config.is_empty() {
        body.insert("inferenceConfig".into(), Value::Object(config));
    }
    if !fields.is_empty() {
        body.insert("additionalModelRequestFields".into(), Value::Object(fields));
    }
    let id = settings.id();
    let rule =
        if settings.model.contains("mistral") { CallIds::NineAlphanumerics } else { settings.quirks.call_ids };
    let mut writer = Writer { settings, dialect, ids: WireIds::new(rule, &id), id, messages: Messages::default() };
    let speaks = |block: &ContentBlock| match block {
        ContentBlock::Text { text } => !text.trim().is_empty(),
        ContentBlock::ToolCall(_) => true,
        ContentBlock::Reasoning(_)
        | ContentBlock::WireItem(_)
        | ContentBlock::ToolResult(_)
        | ContentBlock::Image(_) => false,
    };
    for turn in turns(request.messages, ORDER, speaks) {
        match turn {
            Turn::Person(parts) => writer.person(&parts),
            Turn::Results(results) => writer.results(&results),
            Turn::Model(content) => writer.model(content),
            Turn::StandIn(words) => writer.messages.of_model(vec![json!({"text": words})]),
        }
    }
    let mut messages = writer.messages;
    if marks {
        for blocks in messages.last_of_user(2) {
            blocks.push(mark());
        }
    }
    body.insert("messages".into(), messages.written());
    Value::Object(body)
}

/// A mark of the cache, which lasts five minutes where nothing is said (Bedrock's `CachePointBlock`).
fn mark(long: bool) -> Value {
    if long {
        json!({"cachePoint": {"type": "default", "ttl": "1h"}})
    } else {
        json!({"cachePoint": {"type": "default"}})
    }
}

fn limit(settings: &ProviderSettings) -> u64 {
    settings.abilities.most_written.unwrap_or(USUAL_LIMIT).min(USUAL_LIMIT)
}

/// The tools. Bedrock refuses a conversation with calls but without tools, so the called tools are declared then.
fn tools(settings: &ProviderSettings, request: &Request<'_>) -> Option<Vec<Value>> {
    let spec = |name: &str, description: &str, schema: &Value| {
        let mut spec = json!({"name": name, "inputSchema": {"json": schema}});
        // Blank text is refused.
        if !description.trim().is_empty() {
            spec["description"] = json!(description);
        }
        json!({"toolSpec": spec})
    };
    if settings.tools && !request.tools.is_empty() {
        let tools = request.tools.iter();
        return Some(tools.map(|tool| spec(&tool.name, &tool.description, &tool.input_schema)).collect());
    }
    let mut called: Vec<String> =
        request.messages.iter().flat_map(Message::calls).map(|call| tool_name(&call.name)).collect();
    called.sort_unstable();
    called.dedup();
    let gone = |name: &String| spec(name, "Cannot be called any more.", &json!({"type": "object"}));
    (!called.is_empty()).then(|| called.iter().map(gone).collect())
}

/// How much to think, in the fields of the model's maker, and whether it is a number of tokens.
fn thoughts(settings: &ProviderSettings, request: &Request<'_>) -> (Map<String, Value>, bool) {
    let (model, abilities) = (&settings.model, &settings.abilities);
    let effort = abilities.effort(request.effort);
    let mut fields = Map::new();
    if model.contains("claude") {
        let limit = request.max_output_tokens.unwrap_or_else(|| limit(settings));
        if let Some(thinking) = thinking(abilities, abilities.thinking.adaptive, effort, limit) {
            fields.insert("thinking".into(), thinking);
        }
        if let Some(word) = effort_word(abilities, abilities.thinking.adaptive, effort) {
            fields.insert("output_config".into(), json!({"effort": word}));
        }
        let budgeted = fields.get("thinking").is_some_and(|thinking| thinking.get("budget_tokens").is_some());
        return (fields, budgeted);
    }
    let Some(effort) = effort.filter(|effort| *effort != Effort::None) else { return (fields, false) };
    let word = match effort {
        Effort::None | Effort::Minimal | Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High | Effort::Xhigh | Effort::Max => "high",
    };
    if model.contains("nova-2") {
        fields.insert("reasoningConfig".into(), json!({"type": "enabled", "maxReasoningEffort": word}));
    } else if model.contains("gpt-oss") {
        fields.insert("reasoning_effort".into(), json!(word));
    }
    (fields, false)
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
            Part::Text(text) => json!({"text": text}),
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
                ContentBlock::Text { text } if !text.trim().is_empty() => blocks.push(json!({"text": text})),
                ContentBlock::Reasoning(reasoning) => blocks.extend(self.reasoning(reasoning)),
                ContentBlock::ToolCall(call) => blocks.push(self.call(call)),
                ContentBlock::Text { .. }
                | ContentBlock::WireItem(_)
                | ContentBlock::ToolResult(_)
                | ContentBlock::Image(_) => {}
            }
        }
        self.messages.of_model(blocks);
    }

    /// Only thoughts of this same model, only signed or encrypted ones, byte for byte.
    fn reasoning(&self, reasoning: &Reasoning) -> Option<Value> {
        if !self.dialect.says(Feature::Reasoning) || reasoning.model != self.id {
            return None;
        }
        if let Some(data) = &reasoning.redacted {
            return Some(json!({"reasoningContent": {"redactedContent": data}}));
        }
        let signature = reasoning.signature.as_ref()?;
        Some(json!({"reasoningContent": {"reasoningText": {"text": reasoning.text, "signature": signature}}}))
    }

    fn call(&mut self, call: &ToolCall) -> Value {
        let id = self.ids.assign(call);
        let input = call.invalid_input.as_deref().map_or_else(|| call.input.clone(), invalid_input);
        json!({"toolUse": {"toolUseId": id, "name": tool_name(&call.name), "input": input}})
    }

    fn result(&self, result: &ToolResult) -> Value {
        let mut content = vec![json!({"text": without_tags(output(result))})];
        content.extend(result.images.iter().map(|image| self.image(image)));
        let mut block = json!({"toolUseId": self.ids.of_result(&result.call_id), "content": content});
        match result.outcome {
            Outcome::Ok => {}
            Outcome::Failed | Outcome::Denied | Outcome::Interrupted if !self.dialect.says(Feature::Status) => {}
            Outcome::Failed | Outcome::Denied | Outcome::Interrupted => block["status"] = json!("error"),
        }
        json!({"toolResult": block})
    }

    fn image(&self, image: &Image) -> Value {
        if !self.settings.vision {
            return json!({"text": "[a picture is left out: this model cannot see]"});
        }
        let format = image.media_type.strip_prefix("image/").unwrap_or("png");
        json!({"image": {"format": format, "source": {"bytes": image.data}}})
    }
}

/// Characters that nobody sees and that Bedrock refuses in results (block/goose PR#10934).
fn without_tags(text: &str) -> String {
    text.chars().filter(|letter| !matches!(letter, '\u{e0000}'..='\u{e007f}')).collect()
}
