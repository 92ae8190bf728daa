//! The event stream of chat completions as [`StreamEvent`]s. Pure.

use serde_json::{Map, Value, json};

use crate::conversation::{StopReason, StreamEvent, Totals, Usage};
use crate::provider::error::ProviderError;
use crate::provider::framing::{Machine, Progress, SseEvent};
use crate::provider::http::Origin;

/// Reads one answer.
pub(crate) struct ChatMachine {
    origin: Origin,
    slots: Vec<Slot>,
    details: Vec<Value>,
    stop: Option<StopReason>,
    refused: bool,
    ended: bool,
}

/// A call as far as it is known.
#[derive(Default)]
struct Slot {
    index: Option<i64>,
    id: String,
    name: String,
    has_arguments: bool,
}

impl ChatMachine {
    pub(crate) const fn new(origin: Origin) -> Self {
        Self { origin, slots: Vec::new(), details: Vec::new(), stop: None, refused: false, ended: false }
    }

    fn chunk(&mut self, chunk: &Value, events: &mut Vec<StreamEvent>) {
        let choices = chunk.get("choices").and_then(Value::as_array);
        // Some servers number choices, some do not; we never ask for more than one.
        let choice = choices.and_then(|choices| choices.first());
        if let Some(choice) = choice {
            let delta = choice.get("delta").or_else(|| choice.get("message")).unwrap_or(&Value::Null);
            self.delta(delta, events);
            if let Some(word) = first_text(choice, &["finish_reason"]) {
                self.stop = Some(StopReason::parse(word));
            }
        }
        // Moonshot reports usage inside the choice, Groq inside `x_groq`.
        let places = [chunk.get("usage"), choice.and_then(|c| c.get("usage")), chunk.pointer("/x_groq/usage")];
        if let Some(usage) = places.into_iter().flatten().find(|usage| usage.is_object()) {
            events.push(StreamEvent::Usage(read_usage(usage)));
        }
    }

    fn delta(&mut self, delta: &Value, events: &mut Vec<StreamEvent>) {
        self.reasoning(delta, events);
        match delta.get("content") {
            Some(Value::String(text)) => self.text(text, events),
            // Mistral's reasoning models answer in parts.
            Some(Value::Array(parts)) => {
                for part in parts {
                    self.part(part, events);
                }
            }
            _ => {}
        }
        if let Some(text) = first_text(delta, &["refusal"]) {
            self.refused = true;
            self.text(text, events);
        }
        let calls = delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
        for call in calls {
            self.call(call, events);
        }
        if let Some(function) = delta.get("function_call").filter(|function| function.is_object()) {
            self.call(&json!({"index": 0, "function": function}), events);
        }
    }

    fn text(&mut self, text: &str, events: &mut Vec<StreamEvent>) {
        if !text.is_empty() {
            self.sign(events);
            events.push(StreamEvent::TextDelta(text.to_owned()));
        }
    }

    fn part(&mut self, part: &Value, events: &mut Vec<StreamEvent>) {
        match part.get("thinking") {
            Some(Value::String(text)) => events.push(StreamEvent::ReasoningDelta(text.clone())),
            Some(Value::Array(inner)) => {
                let texts = inner.iter().filter_map(|inner| first_text(inner, &["text"]));
                events.extend(texts.map(|text| StreamEvent::ReasoningDelta(text.to_owned())));
            }
            _ => self.text(first_text(part, &["text"]).unwrap_or_default(), events),
        }
    }

    /// The same words may stand in several fields at once: they are taken from the first that has any.
    fn reasoning(&mut self, delta: &Value, events: &mut Vec<StreamEvent>) {
        let details = delta.get("reasoning_details").and_then(Value::as_array);
        let details = details.map_or(&[][..], Vec::as_slice);
        if let Some(text) = first_text(delta, &["reasoning_content", "reasoning"]) {
            events.push(StreamEvent::ReasoningDelta(text.to_owned()));
        } else {
            let texts = details.iter().filter_map(|detail| first_text(detail, &["text", "summary"]));
            events.extend(texts.map(|text| StreamEvent::ReasoningDelta(text.to_owned())));
        }
        for detail in details {
            self.keep_detail(detail);
        }
    }

    /// Puts the pieces of one detail together, so that what goes back is what a request without streaming gives.
    fn keep_detail(&mut self, detail: &Value) {
        let Value::Object(new) = detail else { return };
        let same = |old: &Value| {
            ["type", "index", "id"].iter().all(|field| match (old.get(field), new.get(*field)) {
                (Some(old), Some(new)) => old == new || old.is_null() || new.is_null(),
                _ => true,
            }) && old.get("type") == new.get("type")
        };
        let Some(Value::Object(last)) = self.details.last_mut().filter(|last| same(last)) else {
            self.details.push(detail.clone());
            return;
        };
        for (field, value) in new {
            match (last.get_mut(field), value) {
                (Some(Value::String(old)), Value::String(more))
                    if matches!(field.as_str(), "text" | "summary" | "data") =>
                {
                    old.push_str(more);
                }
                (Some(old), _) if value.is_null() || (value == "" && !old.is_null()) => {}
                (_, value) => {
                    last.insert(field.clone(), value.clone());
                }
            }
        }
    }

    /// Gives out the details kept so far; they go back only if something in them cannot be had from the text.
    fn sign(&mut self, events: &mut Vec<StreamEvent>) {
        let details = std::mem::take(&mut self.details);
        if !details.is_empty() {
            events.push(StreamEvent::ReasoningSignature(Value::Array(details).to_string()));
        }
    }

    fn call(&mut self, call: &Value, events: &mut Vec<StreamEvent>) {
        let function = call.get("function").unwrap_or(&Value::Null);
        let id = first_text(call, &["id"]).unwrap_or_default();
        let name = first_text(function, &["name"]).unwrap_or_default();
        let index = call.get("index").and_then(Value::as_i64);
        let at = self.find(id, name, index).unwrap_or_else(|| {
            self.slots.push(Slot { index, id: id.to_owned(), ..Slot::default() });
            self.slots.len() - 1
        });
        let slot = &mut self.slots[at];
        if slot.name.is_empty() && !name.is_empty() {
            name.clone_into(&mut slot.name);
            if slot.id.is_empty() {
                id.clone_into(&mut slot.id);
            }
            let start = StreamEvent::ToolCallStart {
                slot: at,
                id: slot.id.clone(),
                name: slot.name.clone(),
                extra: unknown_fields(call),
            };
            self.sign(events);
            events.push(start);
        }
        let arguments = match function.get("arguments") {
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => String::new(),
            Some(value) => value.to_string(),
        };
        let slot = &mut self.slots[at];
        // A nameless call is nobody's: its arguments have nowhere to go.
        if !arguments.is_empty() && !slot.name.is_empty() {
            slot.has_arguments = true;
            events.push(StreamEvent::ToolCallDelta { slot: at, arguments });
        }
    }

    /// Finds the call that a piece belongs to; `None` means a new one begins.
    ///
    /// Told apart by id first: the index may be missing (Gemini, mistral.rs: open-webui PR#27190) or 0 for all
    /// (any-llm#1148). Without id a name begins a new call unless it repeats the one under way; without either the
    /// piece goes on with the last call of that index, or the last at all.
    fn find(&self, id: &str, name: &str, index: Option<i64>) -> Option<usize> {
        let matches_index = |slot: &Slot| index.is_none() || slot.index.is_none() || slot.index == index;
        if !id.is_empty() {
            if let Some(at) = self.slots.iter().rposition(|slot| slot.id == id && matches_index(slot)) {
                return Some(at);
            }
            // An id that is new but comes with nothing new: it arrived late, or changes with each piece.
            let at = self.slots.iter().rposition(|slot| index.is_some() && slot.index == index)?;
            let slot = &self.slots[at];
            return (name.is_empty() || (slot.id.is_empty() && slot.name.is_empty())).then_some(at);
        }
        let at = self.slots.iter().rposition(matches_index)?;
        let slot = &self.slots[at];
        let repeats = index.is_some() && slot.index == index && slot.name == name && !slot.id.is_empty();
        (name.is_empty() || slot.name.is_empty() || repeats).then_some(at)
    }

    fn done(&mut self, events: &mut Vec<StreamEvent>) {
        if self.ended {
            return;
        }
        self.sign(events);
        self.ended = true;
        let stop = self.stop.take().unwrap_or(StopReason::Missing);
        let stop = if self.refused && stop == StopReason::EndTurn { StopReason::Refusal } else { stop };
        events.push(StreamEvent::Done(stop));
    }

    /// An error beside or inside a chunk. Once the model has stopped its answer stands, whatever follows.
    fn error(&self, value: &Value) -> Option<ProviderError> {
        let named = value.get("error").is_some_and(|error| !error.is_null());
        let bare = value.get("object").and_then(Value::as_str) == Some("error")
            || value.get("type").and_then(Value::as_str) == Some("error");
        ((named || bare) && self.stop.is_none()).then(|| self.origin.stream_error(value))
    }
}

impl Machine for ChatMachine {
    fn event(&mut self, event: &SseEvent, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        let data = event.data.trim();
        if data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            self.done(events);
            return Ok(());
        }
        let Ok(value) = serde_json::from_str::<Value>(data) else {
            return if event.name == "error" {
                Err(self.origin.stream_error(&Value::String(data.to_owned())))
            } else {
                Err(self.origin.protocol("an event of the stream is not JSON"))
            };
        };
        if let Some(error) = self.error(&value) {
            return Err(error);
        }
        if event.name == "error" && self.stop.is_none() {
            return Err(self.origin.stream_error(&value));
        }
        self.chunk(&value, events);
        Ok(())
    }

    fn whole(&mut self, message: &Value, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        if let Some(error) = self.error(message) {
            return Err(error);
        }
        if message.get("choices").and_then(Value::as_array).is_none_or(Vec::is_empty) {
            return Err(self.origin.protocol("JSON came that is no chat completion"));
        }
        self.chunk(message, events);
        self.done(events);
        Ok(())
    }

    fn end(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        if self.stop.is_none() {
            self.sign(events);
            return Err(self.origin.broken("the answer ended before its end mark"));
        }
        self.done(events);
        Ok(())
    }

    fn progress(&self) -> Progress {
        match (self.ended, &self.stop) {
            (true, _) => Progress::Ended,
            (false, Some(_)) => Progress::Stopped,
            (false, None) => Progress::Open,
        }
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }
}

/// Returns a text that may stand in a field of several names.
fn first_text<'a>(holder: &'a Value, fields: &[&str]) -> Option<&'a str> {
    fields.iter().filter_map(|field| holder.get(field)?.as_str()).find(|text| !text.is_empty())
}

/// Keeps what we do not know of a call, and under `function` what we do not know of its function.
fn unknown_fields(call: &Value) -> Map<String, Value> {
    let unknown = |holder: &Value, known: &[&str]| -> Map<String, Value> {
        let fields = holder.as_object().into_iter().flatten();
        let fields = fields.filter(|(name, value)| !known.contains(&name.as_str()) && !value.is_null());
        fields.map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    let mut extra = unknown(call, &["id", "index", "type", "function"]);
    let function = unknown(call.get("function").unwrap_or(&Value::Null), &["name", "arguments"]);
    if !function.is_empty() {
        extra.insert("function".into(), Value::Object(function));
    }
    extra
}

/// Reads token counts in the spellings of OpenAI, DeepSeek, OpenRouter and LiteLLM.
pub(crate) fn read_usage(usage: &Value) -> Usage {
    let count = |paths: &[&str]| {
        paths.iter().filter_map(|path| usage.pointer(path)?.as_u64()).find(|count| *count > 0).unwrap_or(0)
    };
    let input_tokens = count(&["/prompt_tokens", "/input_tokens"]);
    let mut output_tokens = count(&["/completion_tokens", "/output_tokens"]);
    let reasoning_tokens = count(&["/completion_tokens_details/reasoning_tokens", "/reasoning_tokens"]);
    // xAI counts reasoning beside the output, not in it; the total gives it away.
    if reasoning_tokens > 0 && count(&["/total_tokens"]) == input_tokens + output_tokens + reasoning_tokens {
        output_tokens += reasoning_tokens;
    }
    Usage::from(Totals {
        input_tokens,
        output_tokens,
        cache_read_tokens: count(&[
            "/prompt_tokens_details/cached_tokens",
            "/prompt_cache_hit_tokens",
            "/cache_read_input_tokens",
            "/cached_tokens",
        ]),
        cache_write_tokens: count(&["/prompt_tokens_details/cache_write_tokens", "/cache_creation_input_tokens"]),
        reasoning_tokens,
        searches: 0,
    })
}
