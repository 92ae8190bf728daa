//! A [`Request`] as the body of `POST /chat/completions`. Pure.

use serde_json::{Map, Value, json};

use crate::conversation::{ContentBlock, Image, Reasoning, ToolCall, ToolResult, ToolSpec};
use crate::provider::catalogue::Effort;
use crate::provider::request::Request;
use crate::provider::settings::{OutputLimit, ProviderSettings, ReasoningEcho, ResultPictures};
use crate::provider::wire::{
    Dialect, Feature, NO_ANSWER, Order, Part, Turn, WireIds, has_words, invalid_input, output, tool_name, turns,
};

/// Returns the field that limits the output: the one that the model's table names, or the other if that was refused.
pub(super) fn output_limit(settings: &ProviderSettings, dialect: Dialect) -> OutputLimit {
    match (settings.quirks.output_limit, dialect.says(Feature::LimitField)) {
        (OutputLimit::MaxTokens, true) | (OutputLimit::MaxCompletionTokens, false) => OutputLimit::MaxTokens,
        (OutputLimit::MaxTokens, false) | (OutputLimit::MaxCompletionTokens, true) => {
            OutputLimit::MaxCompletionTokens
        }
    }
}

/// Writes the body. What stays the same from request to request comes first.
pub(crate) fn encode(settings: &ProviderSettings, dialect: Dialect, request: &Request<'_>) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), json!(settings.model));
    body.insert("stream".into(), json!(true));
    if dialect.says(Feature::Usage) {
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    if let Some(limit) = request.max_output_tokens {
        let field = match output_limit(settings, dialect) {
            OutputLimit::MaxTokens => "max_tokens",
            OutputLimit::MaxCompletionTokens => "max_completion_tokens",
        };
        body.insert(field.into(), json!(limit));
    }
    if let Some(temperature) = request.temperature.filter(|_| dialect.says(Feature::Temperature)) {
        body.insert("temperature".into(), json!(temperature));
    }
    if dialect.says(Feature::Effort)
        && let Some(effort) = settings.abilities.effort(request.effort)
    {
        // Models with a switch but no efforts get the switch (GLM, Kimi, DeepSeek); all others get the word.
        let field = if settings.abilities.thinking.switch && settings.abilities.efforts.is_empty() {
            let state = if effort == Effort::None { "disabled" } else { "enabled" };
            ("thinking", json!({"type": state}))
        } else {
            ("reasoning_effort", json!(effort.word()))
        };
        body.insert(field.0.into(), field.1);
    }
    if settings.tools && !request.tools.is_empty() {
        body.insert("tools".into(), request.tools.iter().map(tool).collect());
    }
    let id = settings.id();
    let mut writer =
        Writer { settings, dialect, ids: WireIds::new(settings.quirks.call_ids, &id), id, messages: Vec::new() };
    if !request.system.is_empty() {
        writer.messages.push(json!({"role": "system", "content": request.system}));
    }
    let order = Order { two_answers: false, words_behind_results: dialect.says(Feature::LooseRoles) };
    for turn in turns(request.messages, order, has_words) {
        match turn {
            Turn::Person(parts) => writer.person(&parts),
            Turn::Results(results) => writer.results(&results),
            Turn::Model(content) => writer.model(content),
            Turn::StandIn(words) => writer.messages.push(json!({"role": "assistant", "content": words})),
        }
    }
    body.insert("messages".into(), Value::Array(writer.messages));
    Value::Object(body)
}

/// One tool in the words of this wire; Ollama uses the same.
pub(crate) fn tool(spec: &ToolSpec) -> Value {
    json!({"type": "function", "function": {
        "name": spec.name, "description": spec.description, "parameters": spec.input_schema,
    }})
}

struct Writer<'a> {
    settings: &'a ProviderSettings,
    dialect: Dialect,
    id: String,
    ids: WireIds,
    messages: Vec<Value>,
}

impl Writer<'_> {
    fn person(&mut self, parts: &[Part<'_>]) {
        let text = |parts: &[Part<'_>]| {
            let texts = parts.iter().filter_map(|part| match part {
                Part::Text(text) => Some(*text),
                Part::Image(_) => None,
            });
            texts.collect::<Vec<_>>().join("\n\n")
        };
        let images: Vec<&Image> = parts
            .iter()
            .filter_map(|part| match part {
                Part::Image(image) => Some(*image),
                Part::Text(_) => None,
            })
            .collect();
        let content = self.content(&text(parts), &images);
        self.messages.push(json!({"role": "user", "content": content}));
    }

    /// Words alone are a string, which every server takes; with pictures they are parts.
    fn content(&self, text: &str, images: &[&Image]) -> Value {
        if images.is_empty() {
            return json!(text);
        }
        if !self.settings.vision {
            let note = left_out(images.len());
            return json!(if text.is_empty() { note } else { format!("{text}\n\n{note}") });
        }
        let mut parts: Vec<Value> = Vec::new();
        if !text.is_empty() {
            parts.push(json!({"type": "text", "text": text}));
        }
        for image in images {
            let url = format!("data:{};base64,{}", image.media_type, image.data);
            parts.push(json!({"type": "image_url", "image_url": {"url": url}}));
        }
        Value::Array(parts)
    }

    /// Each result is a message of its own. Their pictures follow in one of the person's.
    fn results(&mut self, results: &[&ToolResult]) {
        let mut behind: Vec<&Image> = Vec::new();
        for result in results {
            let id = self.ids.of_result(&result.call_id);
            let images: Vec<&Image> = result.images.iter().collect();
            let content = match self.settings.quirks.result_pictures {
                ResultPictures::Inside => self.content(output(result), &images),
                ResultPictures::Behind => {
                    behind.extend(images);
                    json!(output(result))
                }
            };
            self.messages.push(json!({"role": "tool", "tool_call_id": id, "content": content}));
        }
        if !behind.is_empty() {
            if !self.dialect.says(Feature::LooseRoles) {
                self.messages.push(json!({"role": "assistant", "content": NO_ANSWER}));
            }
            let content = self.content("", &behind);
            self.messages.push(json!({"role": "user", "content": content}));
        }
    }

    fn model(&mut self, content: &[ContentBlock]) {
        self.ids.next_message();
        let mut text = String::new();
        let mut calls: Vec<Value> = Vec::new();
        for block in content {
            match block {
                ContentBlock::Text { text: words } => text.push_str(words),
                ContentBlock::ToolCall(call) => calls.push(self.call(call)),
                ContentBlock::Reasoning(_)
                | ContentBlock::ToolResult(_)
                | ContentBlock::Image(_)
                | ContentBlock::WireItem(_) => {}
            }
        }
        let mut written = Map::new();
        written.insert("role".into(), json!("assistant"));
        let silent = text.is_empty();
        written.insert("content".into(), if silent { Value::Null } else { json!(text) });
        if !calls.is_empty() {
            self.reasoning(content, &mut written);
            written.insert("tool_calls".into(), Value::Array(calls));
        }
        self.messages.push(Value::Object(written));
    }

    /// Sends the model its own reasoning back: details byte for byte where it gave them, else the plain text.
    fn reasoning(&self, content: &[ContentBlock], written: &mut Map<String, Value>) {
        if !self.dialect.says(Feature::Reasoning) || self.settings.quirks.reasoning_echo == ReasoningEcho::Never {
            return;
        }
        let own = content.iter().filter_map(|block| match block {
            ContentBlock::Reasoning(reasoning) if reasoning.model == self.id => Some(reasoning),
            _ => None,
        });
        let own: Vec<&Reasoning> = own.collect();
        let details: Vec<Value> = own.iter().filter_map(|reasoning| details_of(reasoning)).flatten().collect();
        if !details.is_empty() {
            written.insert("reasoning_details".into(), Value::Array(details));
            return;
        }
        let text: String = own.iter().map(|reasoning| reasoning.text.as_str()).collect();
        if !text.is_empty() {
            written.insert("reasoning_content".into(), json!(text));
        } else if !self.dialect.says(Feature::BareCalls) {
            // Calls made by another model or without thought: a blank is accepted where nothing is not.
            written.insert("reasoning_content".into(), json!(" "));
        }
    }

    fn call(&mut self, call: &ToolCall) -> Value {
        let own = self.ids.is_own(call);
        let arguments = match &call.invalid_input {
            Some(raw) => invalid_input(raw).to_string(),
            None if own && !call.arguments.is_empty() => call.arguments.clone(),
            None => call.input.to_string(),
        };
        let mut function = Map::new();
        function.insert("name".into(), json!(tool_name(&call.name)));
        function.insert("arguments".into(), json!(arguments));
        let mut written = Map::new();
        written.insert("id".into(), json!(self.ids.assign(call)));
        written.insert("type".into(), json!("function"));
        if own && self.dialect.says(Feature::CallExtras) {
            for (field, value) in &call.extra {
                match (field.as_str(), value) {
                    ("function", Value::Object(inner)) => function.extend(inner.clone()),
                    _ => {
                        written.entry(field.clone()).or_insert_with(|| value.clone());
                    }
                }
            }
        }
        written.insert("function".into(), Value::Object(function));
        Value::Object(written)
    }
}

fn left_out(pictures: usize) -> String {
    format!("[{pictures} picture(s) left out: this model cannot see]")
}

/// The decoder keeps `reasoning_details` as JSON text in the signature: an array, which no provider's own
/// signature is.
fn details_of(reasoning: &Reasoning) -> Option<Vec<Value>> {
    serde_json::from_str(reasoning.signature.as_deref()?).ok()
}
