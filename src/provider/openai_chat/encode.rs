//! A [`Request`] as the body of `POST /chat/completions`. Pure.

use serde_json::{Map, Value, json};

use super::dialect::Dialect;
use crate::conversation::{ContentBlock, Image, Message, Reasoning, Role, ToolCall, ToolResult, ToolSpec};
use crate::provider::request::Request;
use crate::provider::settings::{CallExtras, OutputLimit, ProviderSettings, ReasoningEcho};
use crate::provider::wire::{WireIds, tool_name};

/// Writes the body. What stays the same from request to request comes first.
pub(crate) fn encode(settings: &ProviderSettings, dialect: Dialect, request: &Request<'_>) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), json!(settings.model));
    body.insert("stream".into(), json!(true));
    if dialect.usage_in_stream {
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    if let Some(limit) = request.max_output_tokens {
        let field = match dialect.output_limit {
            OutputLimit::MaxTokens => "max_tokens",
            OutputLimit::MaxCompletionTokens => "max_completion_tokens",
        };
        body.insert(field.into(), json!(limit));
    }
    if let Some(temperature) = request.temperature.filter(|_| dialect.temperature) {
        body.insert("temperature".into(), json!(temperature));
    }
    if settings.tools && !request.tools.is_empty() {
        body.insert("tools".into(), request.tools.iter().map(tool).collect());
    }
    let mut writer = Writer {
        settings,
        dialect,
        id: format!("{}/{}", settings.name, settings.model),
        ids: WireIds::new(settings.quirks.call_ids),
        messages: Vec::new(),
    };
    if !request.system.is_empty() {
        writer.messages.push(json!({"role": "system", "content": request.system}));
    }
    for message in request.messages {
        match message.role {
            Role::User => writer.user(message),
            Role::Assistant => writer.assistant(message),
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
    /// Results come first, each a message of its own; words and pictures follow in one user message.
    fn user(&mut self, message: &Message) {
        let mut texts: Vec<&str> = Vec::new();
        let mut images: Vec<&Image> = Vec::new();
        for block in &message.content {
            match block {
                ContentBlock::ToolResult(result) => {
                    self.result(result);
                    images.extend(&result.images);
                }
                ContentBlock::Text { text } if !text.is_empty() => texts.push(text),
                ContentBlock::Image(image) => images.push(image),
                ContentBlock::Text { .. }
                | ContentBlock::Reasoning(_)
                | ContentBlock::ToolCall(_)
                | ContentBlock::WireItem(_) => {}
            }
        }
        let mut text = texts.join("\n\n");
        if images.is_empty() || !self.settings.vision {
            if !images.is_empty() {
                let note = format!("[{} picture(s) left out: this model cannot see]", images.len());
                text = if text.is_empty() { note } else { format!("{text}\n\n{note}") };
            }
            if !text.is_empty() {
                self.say(&text);
            }
            return;
        }
        let mut parts: Vec<Value> = Vec::new();
        if !text.is_empty() {
            parts.push(json!({"type": "text", "text": text}));
        }
        for image in images {
            let url = format!("data:{};base64,{}", image.media_type, image.data);
            parts.push(json!({"type": "image_url", "image_url": {"url": url}}));
        }
        self.messages.push(json!({"role": "user", "content": parts}));
    }

    /// Adds words to the last user message, or begins one: strict chat templates want the roles to alternate.
    fn say(&mut self, text: &str) {
        if let Some(last) = self.messages.last_mut()
            && last["role"] == "user"
            && let Some(before) = last["content"].as_str()
        {
            last["content"] = json!(format!("{before}\n\n{text}"));
            return;
        }
        self.messages.push(json!({"role": "user", "content": text}));
    }

    fn result(&mut self, result: &ToolResult) {
        let id = self.ids.of_result(&result.call_id);
        self.messages.push(json!({"role": "tool", "tool_call_id": id, "content": result.content}));
    }

    fn assistant(&mut self, message: &Message) {
        self.ids.next_message();
        let calls: Vec<Value> = message.calls().map(|call| self.call(call)).collect();
        let text = message.text();
        if text.is_empty() && calls.is_empty() {
            // Only reasoning: no server takes an empty assistant message.
            return;
        }
        let mut written = Map::new();
        written.insert("role".into(), json!("assistant"));
        let silent = text.is_empty();
        written.insert("content".into(), if silent { Value::Null } else { json!(text) });
        if !calls.is_empty() {
            self.reasoning(message, &mut written);
            written.insert("tool_calls".into(), Value::Array(calls));
        }
        self.messages.push(Value::Object(written));
    }

    /// Sends the model its own reasoning back: details byte for byte where it gave them, else the plain text.
    fn reasoning(&self, message: &Message, written: &mut Map<String, Value>) {
        if self.dialect.reasoning_echo == ReasoningEcho::Never {
            return;
        }
        let own = message.content.iter().filter_map(|block| match block {
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
        } else if self.dialect.reasoning_required {
            // Calls made by another model or without thought: a blank is accepted where nothing is not.
            written.insert("reasoning_content".into(), json!(" "));
        }
    }

    fn call(&mut self, call: &ToolCall) -> Value {
        let mut function = Map::new();
        function.insert("name".into(), json!(tool_name(&call.name)));
        function.insert("arguments".into(), json!(call.input.to_string()));
        let mut written = Map::new();
        written.insert("id".into(), json!(self.ids.assign(&call.id)));
        written.insert("type".into(), json!("function"));
        if self.dialect.call_extras == CallExtras::SendBack {
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

/// The decoder keeps `reasoning_details` as JSON text in the signature: an array, which no provider's own
/// signature is.
fn details_of(reasoning: &Reasoning) -> Option<Vec<Value>> {
    serde_json::from_str(reasoning.signature.as_deref()?).ok()
}
