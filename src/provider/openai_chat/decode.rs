//! The event stream of chat completions as [`StreamEvent`]s. Pure.

use serde_json::{Map, Value, json};

use super::plain;
use super::slots::{CallPiece, CallSlots};
use super::usage::read_usage;
use crate::conversation::{StopReason, StreamEvent, ToolSpec};
use crate::provider::error::ProviderError;
use crate::provider::framing::{Machine, Progress};
use crate::provider::http::Origin;
use crate::provider::inline::{InlineReader, Piece};

/// Reads one answer.
pub(crate) struct ChatMachine<'a> {
    origin: Origin,
    inline: InlineReader<'a>,
    slots: CallSlots,
    details: Vec<Value>,
    stop: Option<StopReason>,
    refused: bool,
    ended: bool,
}

impl<'a> ChatMachine<'a> {
    /// Makes a reader of an answer to a request that offered `tools`.
    pub(crate) fn new(origin: Origin, tools: &'a [ToolSpec]) -> Self {
        let inline = InlineReader::new(&origin.model, tools);
        Self {
            origin,
            inline,
            slots: CallSlots::default(),
            details: Vec::new(),
            stop: None,
            refused: false,
            ended: false,
        }
    }

    fn chunk(&mut self, chunk: &Value, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        let choices = chunk.get("choices").and_then(Value::as_array);
        // Some servers number choices, some do not; we never ask for more than one.
        let choice = choices.and_then(|choices| choices.first());
        // Moonshot reports usage inside the choice, Groq inside `x_groq`.
        let places = [chunk.get("usage"), choice.and_then(|c| c.get("usage")), chunk.pointer("/x_groq/usage")];
        if let Some(usage) = places.into_iter().flatten().find(|usage| usage.is_object()) {
            events.push(StreamEvent::Usage(read_usage(usage)));
        }
        if let Some(choice) = choice {
            let delta = choice.get("delta").or_else(|| choice.get("message")).unwrap_or(&Value::Null);
            self.delta(delta, events);
            if let Some(word) = first_text(choice, &["finish_reason"]) {
                self.stop = Some(self.origin.stop(word)?);
            }
        }
        Ok(())
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
        let mut pieces = Vec::new();
        self.inline.push(text, &mut pieces);
        self.pieces(pieces, events);
    }

    fn pieces(&mut self, pieces: Vec<Piece>, events: &mut Vec<StreamEvent>) {
        for piece in pieces {
            match piece {
                Piece::Text(text) => {
                    self.sign(events);
                    events.push(StreamEvent::TextDelta(text));
                }
                Piece::Thought(text) => events.push(StreamEvent::ReasoningDelta(text)),
                Piece::Call(call) => {
                    self.sign(events);
                    tracing::warn!(
                        provider = self.origin.provider,
                        tool = call.name,
                        "a call leaked as text is taken"
                    );
                    let (id, name, arguments) = (call.id, call.name, call.arguments);
                    self.slots.push(CallPiece { id, name, arguments, ..CallPiece::default() }, events);
                }
            }
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

    /// Gives out the details kept so far. They go back only if the text lacks something that they have.
    fn sign(&mut self, events: &mut Vec<StreamEvent>) {
        let details = std::mem::take(&mut self.details);
        if !details.is_empty() {
            events.push(StreamEvent::ReasoningSignature(Value::Array(details).to_string()));
        }
    }

    fn call(&mut self, call: &Value, events: &mut Vec<StreamEvent>) {
        let function = call.get("function").unwrap_or(&Value::Null);
        let piece = CallPiece {
            id: first_text(call, &["id"]).unwrap_or_default().to_owned(),
            name: first_text(function, &["name"]).unwrap_or_default().to_owned(),
            index: call.get("index").and_then(Value::as_i64),
            arguments: match function.get("arguments") {
                Some(Value::String(text)) => text.clone(),
                None | Some(Value::Null) => String::new(),
                Some(value) => value.to_string(),
            },
            extra: unknown_fields(call),
        };
        self.sign(events);
        self.slots.push(piece, events);
    }

    /// Gives out what was held back of the text.
    fn flush(&mut self, events: &mut Vec<StreamEvent>) {
        let whole =
            matches!(self.stop, None | Some(StopReason::EndTurn | StopReason::ToolUse | StopReason::Other(_)));
        let mut pieces = Vec::new();
        self.inline.finish(whole && self.slots.is_empty(), &mut pieces);
        self.pieces(pieces, events);
        self.sign(events);
    }

    /// An error beside or inside a chunk. An answer whose model has stopped stands, whatever follows.
    fn error(&self, value: &Value) -> Option<ProviderError> {
        let named = value.get("error").is_some_and(|error| !error.is_null());
        let inside = value.pointer("/choices/0/error").filter(|error| !error.is_null());
        let bare = value.get("object").and_then(Value::as_str) == Some("error")
            || value.get("type").and_then(Value::as_str) == Some("error");
        let error = if named || bare { Some(value) } else { inside };
        error.filter(|_| self.stop.is_none()).map(|error| self.origin.stream_error(error))
    }
}

impl Machine for ChatMachine<'_> {
    fn value(&mut self, _name: &str, value: &Value, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        match self.error(value) {
            Some(error) => Err(error),
            None => self.chunk(value, events),
        }
    }

    fn words(&mut self, data: &str, events: &mut Vec<StreamEvent>) -> bool {
        let words = plain::words(data);
        if let Some(words) = &words {
            self.text(words, events);
        }
        words.is_some()
    }

    fn end_mark(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        self.done(events);
        Ok(())
    }

    fn whole(&mut self, message: &Value, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        if let Some(error) = self.error(message) {
            return Err(error);
        }
        if message.get("choices").and_then(Value::as_array).is_none_or(Vec::is_empty) {
            return Err(self.origin.protocol("JSON came that is no chat completion"));
        }
        self.chunk(message, events)?;
        self.done(events);
        Ok(())
    }

    fn done(&mut self, events: &mut Vec<StreamEvent>) {
        if self.ended {
            return;
        }
        self.flush(events);
        self.ended = true;
        let stop = self.stop.take().unwrap_or(StopReason::Missing);
        let stop = if self.refused && stop == StopReason::EndTurn { StopReason::Refusal } else { stop };
        events.push(StreamEvent::Done(stop));
    }

    fn broken(&mut self, events: &mut Vec<StreamEvent>) {
        let mut pieces = Vec::new();
        self.inline.finish(false, &mut pieces);
        self.pieces(pieces, events);
        self.sign(events);
    }

    fn progress(&self) -> Progress {
        Progress::of(self.ended, self.stop.is_some())
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
