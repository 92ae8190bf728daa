//! A [`Request`] as the body of `POST /responses`. Pure.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::{Map, Value, json};

use super::items::text_of;
use crate::conversation::{ContentBlock, Image, Reasoning, ToolCall, ToolResult};
use crate::provider::request::Request;
use crate::provider::settings::ProviderSettings;
use crate::provider::wire::{
    Dialect, Feature, Order, Part, Turn, WireIds, invalid_input, output, tool_name, turns,
};

/// Writes the body. What stays the same from request to request comes first, the conversation last. Where the provider
/// keeps its answers, tells this request from others, too: after a cut or a rewind the request differs, and axi sends it
/// whole.
pub(crate) fn encode(
    settings: &ProviderSettings,
    dialect: Dialect,
    request: &Request<'_>,
) -> (Value, Option<String>) {
    let dialect = dialect.without(Feature::Search, !request.search);
    let mut body = Map::new();
    body.insert("model".into(), json!(settings.model));
    body.insert("stream".into(), json!(true));
    // The provider keeps nothing unless a setting says so: axi can resume a session at any time and leaves nothing
    // there.
    body.insert("store".into(), json!(dialect.says(Feature::Store)));
    if dialect.says(Feature::Thought) {
        body.insert("include".into(), json!(["reasoning.encrypted_content"]));
    }
    let mut reasoning = Map::new();
    if let Some(effort) = settings.abilities.effort(request.effort).filter(|_| dialect.says(Feature::Effort)) {
        reasoning.insert("effort".into(), json!(effort.word()));
    }
    if dialect.says(Feature::Summary) {
        reasoning.insert("summary".into(), json!("auto"));
    }
    if !reasoning.is_empty() {
        body.insert("reasoning".into(), Value::Object(reasoning));
    }
    if let Some(limit) = request.max_output_tokens.filter(|_| dialect.says(Feature::Limit)) {
        // The least that is accepted.
        body.insert("max_output_tokens".into(), json!(limit.max(16)));
    }
    if let Some(temperature) = request.temperature.filter(|_| dialect.says(Feature::Temperature)) {
        body.insert("temperature".into(), json!(temperature));
    }
    if settings.tools && !request.tools.is_empty() {
        // Not strict: that would demand schemas in which nothing is optional.
        let own = dialect.says(Feature::Search).then(|| json!({"type": "web_search"}));
        let tools = request.tools.iter().map(|tool| {
            json!({
                "type": "function", "name": tool.name, "description": tool.description,
                "parameters": tool.input_schema, "strict": false,
            })
        });
        body.insert("tools".into(), own.into_iter().chain(tools).collect());
    }
    if !request.system.is_empty() {
        body.insert("instructions".into(), json!(request.system));
    }
    let mut written = input(settings, dialect, request);
    let mut items = written.items;
    let digest = dialect.says(Feature::Store).then(|| written.digest.of(&items));
    if let Some((id, end)) = written.stored.filter(|(_, end)| digest.is_some() && *end < items.len()) {
        body.insert("previous_response_id".into(), json!(id));
        items.drain(..end);
    }
    body.insert("input".into(), Value::Array(items));
    (Value::Object(body), digest)
}

/// The whole input of a request, and the last answer that the provider keeps for exactly the part before it.
struct Input {
    items: Vec<Value>,
    /// What was read of the items.
    digest: Digest,
    /// Its id, and how many items of the input it covers.
    stored: Option<(String, usize)>,
}

fn input(settings: &ProviderSettings, dialect: Dialect, request: &Request<'_>) -> Input {
    let id = settings.id();
    let ids = WireIds::new(settings.quirks.call_ids, &id);
    let mut writer = Writer {
        settings,
        dialect,
        ids,
        id: id.clone(),
        input: Vec::new(),
        digest: Digest::default(),
        custom: Vec::new(),
        stored: None,
    };
    let order = Order {
        two_answers: dialect.says(Feature::LooseRoles),
        words_behind_results: dialect.says(Feature::LooseRoles),
    };
    let speaks = |block: &ContentBlock| match block {
        ContentBlock::Text { text } => !text.is_empty(),
        ContentBlock::ToolCall(_) => true,
        ContentBlock::WireItem(made) => {
            made.model == id && !["message", STORED].contains(&text_of(&made.item, "type"))
        }
        // A thought alone is refused: "provided without its required following item".
        ContentBlock::Reasoning(_) | ContentBlock::ToolResult(_) | ContentBlock::Image(_) => false,
    };
    for turn in turns(request.messages, order, speaks) {
        match turn {
            Turn::Person(parts) => writer.person(&parts),
            Turn::Results(results) => writer.results(&results),
            Turn::Model(content) => writer.model(content),
            Turn::StandIn(words) => writer.input.push(said(words, None)),
        }
    }
    Input { items: writer.input, digest: writer.digest, stored: writer.stored }
}

/// The kind of what is remembered of an answer that the provider keeps: its id, and what it was the answer to. It is never
/// sent.
const STORED: &str = "stored_response";

/// Makes what is remembered of an answer.
pub(super) fn stored(id: &str, digest: &str) -> Value {
    json!({"type": STORED, "id": id, "digest": digest})
}

/// Tells apart what a request says up to some item, reading each item once however often it is asked.
#[derive(Default)]
pub(super) struct Digest {
    hasher: DefaultHasher,
    read: usize,
}

impl Digest {
    /// Of all these items; those of the last time come first and are as they were.
    pub(super) fn of(&mut self, items: &[Value]) -> String {
        for item in items.iter().skip(self.read) {
            item.to_string().hash(&mut self.hasher);
        }
        self.read = items.len();
        format!("{:016x}", self.hasher.finish())
    }
}

/// A message of the model's.
fn said(text: &str, phase: Option<&Value>) -> Value {
    let mut message =
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]});
    if let Some(phase) = phase {
        message["phase"] = phase.clone();
    }
    message
}

struct Writer<'a> {
    settings: &'a ProviderSettings,
    dialect: Dialect,
    id: String,
    ids: WireIds,
    input: Vec<Value>,
    digest: Digest,
    /// Ids of calls whose input is plain text, as they stand in the conversation.
    custom: Vec<String>,
    /// See [`Input`].
    stored: Option<(String, usize)>,
}

impl Writer<'_> {
    fn person(&mut self, parts: &[Part<'_>]) {
        let content: Vec<Value> = parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => json!({"type": "input_text", "text": text}),
                Part::Image(image) => self.image(image),
            })
            .collect();
        self.input.push(json!({"type": "message", "role": "user", "content": content}));
    }

    fn image(&self, image: &Image) -> Value {
        if !self.settings.vision {
            return json!({"type": "input_text", "text": "[a picture is left out: this model cannot see]"});
        }
        let url = format!("data:{};base64,{}", image.media_type, image.data);
        json!({"type": "input_image", "image_url": url})
    }

    fn results(&mut self, results: &[&ToolResult]) {
        for result in results {
            let given = if result.images.is_empty() {
                json!(output(result))
            } else {
                let mut parts: Vec<Value> = Vec::new();
                if !result.content.trim().is_empty() {
                    parts.push(json!({"type": "input_text", "text": result.content}));
                }
                parts.extend(result.images.iter().map(|image| self.image(image)));
                Value::Array(parts)
            };
            let is_custom = self.custom.contains(&result.call_id);
            let kind = if is_custom { "custom_tool_call_output" } else { "function_call_output" };
            let id = self.ids.of_result(&result.call_id);
            self.input.push(json!({"type": kind, "call_id": id, "output": given}));
        }
    }

    fn model(&mut self, content: &[ContentBlock]) {
        self.ids.next_message();
        self.custom.clear();
        let mut items: Vec<Value> = Vec::new();
        // The place of each thought of this model: a later signature may belong to one that came without.
        let mut thoughts: Vec<usize> = Vec::new();
        let mut phase = None;
        let mut stored = None;
        for block in content {
            match block {
                ContentBlock::Text { text } if !text.is_empty() => items.push(said(text, phase.take())),
                ContentBlock::Reasoning(reasoning)
                    if self.dialect.says(Feature::Echo) && reasoning.model == self.id =>
                {
                    Self::thought(reasoning, &mut items, &mut thoughts);
                }
                ContentBlock::ToolCall(call) => items.push(self.call(call)),
                ContentBlock::WireItem(made) if made.model == self.id => match text_of(&made.item, "type") {
                    "message" => phase = made.item.get("phase"),
                    STORED => stored = Some(&made.item),
                    _ => items.push(made.item.clone()),
                },
                ContentBlock::Text { .. }
                | ContentBlock::Reasoning(_)
                | ContentBlock::WireItem(_)
                | ContentBlock::ToolResult(_)
                | ContentBlock::Image(_) => {}
            }
        }
        let is_thought = |item: &Value| item.is_null() || text_of(item, "type") == "reasoning";
        // The server demands after a thought the item that it led to.
        while items.last().is_some_and(is_thought) {
            items.pop();
        }
        // Only what is stored is compared: nothing is read for it elsewhere.
        let stored = stored.filter(|_| self.dialect.says(Feature::Store));
        let stored = stored.filter(|stored| text_of(stored, "digest") == self.digest.of(&self.input));
        self.input.extend(items.into_iter().filter(|item| !item.is_null()));
        if let Some(stored) = stored {
            self.stored = Some((text_of(stored, "id").to_owned(), self.input.len()));
        }
    }

    /// Thoughts go back only encrypted.
    fn thought(reasoning: &Reasoning, items: &mut Vec<Value>, thoughts: &mut Vec<usize>) {
        let signature = reasoning.signature.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
        let Some(mut whole) = signature.filter(|whole| text_of(whole, "type") == "reasoning") else {
            thoughts.push(items.len());
            items.push(Value::Null);
            return;
        };
        let late = whole.as_object_mut().and_then(|whole| whole.shift_remove("thought"));
        if let Some(number) = late.and_then(|number| usize::try_from(number.as_u64()?).ok()) {
            if let Some(item) = thoughts.get(number).and_then(|at| items.get_mut(*at)) {
                *item = whole;
            }
        } else {
            thoughts.push(items.len());
            items.push(whole);
        }
    }

    fn call(&mut self, call: &ToolCall) -> Value {
        let own = self.ids.is_own(call);
        let id = self.ids.assign(call);
        let name = tool_name(&call.name);
        let is_custom = own && call.extra.get("type").is_some_and(|kind| kind == "custom_tool_call");
        let mut written = if is_custom {
            self.custom.push(call.id.clone());
            json!({"type": "custom_tool_call", "call_id": id, "name": name, "input": text_of(&call.input, "input")})
        } else {
            let arguments = match &call.invalid_input {
                Some(raw) => invalid_input(raw).to_string(),
                None if own && !call.arguments.is_empty() => call.arguments.clone(),
                None => call.input.to_string(),
            };
            json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments})
        };
        if let Some(written) = written.as_object_mut().filter(|_| own) {
            for (field, value) in &call.extra {
                written.entry(field.clone()).or_insert_with(|| value.clone());
            }
        }
        written
    }
}
