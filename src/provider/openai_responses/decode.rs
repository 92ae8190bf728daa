//! The event stream of responses as [`StreamEvent`]s. Pure.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use super::encode::stored;
use super::items::{Item, Late, joined, kept, text_of, unknown_fields, wrapped};
use crate::conversation::{StopReason, StreamEvent, ToolSpec};
use crate::provider::error::ProviderError;
use crate::provider::framing::{Machine, Progress};
use crate::provider::http::Origin;
use crate::provider::openai_chat::read_usage;
use crate::provider::wire::Sources;

/// Reads one answer.
pub(crate) struct ResponsesMachine<'a> {
    origin: Origin,
    tools: &'a [ToolSpec],
    /// By `output_index`: some servers change ids from event to event (GitHub Copilot, vercel/ai 73d48d0).
    items: BTreeMap<u64, Item>,
    /// Places by id, for servers that number nothing.
    places: HashMap<String, u64>,
    calls: usize,
    searches: u64,
    refused: bool,
    ended: bool,
    /// What was cited, where the provider may search.
    sources: Option<Sources>,
    /// The request that this answers, where the provider keeps answers.
    asked: Option<String>,
}

impl<'a> ResponsesMachine<'a> {
    /// Makes a reader of an answer to a request that offered `tools`.
    pub(crate) fn new(origin: Origin, tools: &'a [ToolSpec]) -> Self {
        Self {
            origin,
            tools,
            items: BTreeMap::new(),
            places: HashMap::new(),
            calls: 0,
            searches: 0,
            refused: false,
            ended: false,
            sources: None,
            asked: None,
        }
    }

    /// Tells of the provider's own searches, and what they found, where it may make any.
    pub(crate) fn searching(self, may: bool) -> Self {
        Self { sources: may.then(Sources::default), ..self }
    }

    /// Remembers the id of an answer that the provider keeps, with what was asked.
    pub(crate) fn stored_behind(self, asked: Option<String>) -> Self {
        Self { asked, ..self }
    }

    fn cite(&mut self, item: &Value) {
        let Some(sources) = &mut self.sources else { return };
        let parts = item.get("content").and_then(Value::as_array).into_iter().flatten();
        let notes = parts.filter_map(|part| part.get("annotations")?.as_array()).flatten();
        for note in notes.filter(|note| text_of(note, "type") == "url_citation") {
            sources.add(Some(text_of(note, "url")), Some(text_of(note, "title")));
        }
    }

    /// Finds the place that an event is about.
    fn place(&mut self, value: &Value, brings_item: bool) -> u64 {
        if let Some(place) = value.get("output_index").and_then(Value::as_u64) {
            return place;
        }
        let id =
            value.get("item_id").or_else(|| value.pointer("/item/id")).and_then(Value::as_str).unwrap_or_default();
        if let Some(place) = self.places.get(id) {
            return *place;
        }
        let last = self.items.last_key_value().map(|(place, _)| *place);
        match last {
            Some(last) if !brings_item || id.is_empty() => last,
            _ => {
                let place = last.map_or(0, |last| last + 1);
                self.places.insert(id.to_owned(), place);
                place
            }
        }
    }

    /// An item begins.
    fn open(&mut self, place: u64, item: &Value, events: &mut Vec<StreamEvent>) {
        if self.items.contains_key(&place) {
            return;
        }
        let made = match text_of(item, "type") {
            "message" => {
                self.begin_message(place, item, events);
                Item::Message { text: String::new() }
            }
            "reasoning" => Item::Reasoning { text: String::new(), part: None, signed: false },
            "function_call" => self.open_call(item, events),
            "custom_tool_call" => Item::Custom,
            _ => Item::Other,
        };
        self.items.insert(place, made);
    }

    /// The phase of a message goes back with it, and messages stay apart (gpt-5.3-codex and later lose their thread
    /// otherwise: turnstonelabs/turnstone PR#1112).
    fn begin_message(&self, place: u64, item: &Value, events: &mut Vec<StreamEvent>) {
        let phase = item.get("phase").filter(|phase| phase.is_string());
        let follows = matches!(self.items.range(..place).next_back(), Some((_, Item::Message { .. })));
        match phase {
            Some(phase) => events.push(StreamEvent::WireItem(json!({"type": "message", "phase": phase}))),
            None if follows => events.push(StreamEvent::WireItem(json!({"type": "message"}))),
            None => {}
        }
    }

    fn open_call(&mut self, item: &Value, events: &mut Vec<StreamEvent>) -> Item {
        let name = text_of(item, "name");
        let offered = self.tools.iter().any(|tool| tool.name == name);
        // A wrapper that the model puts around several calls: axi reads the calls when the wrapper is whole.
        if matches!(name, "parallel" | "multi_tool_use.parallel") && !offered {
            return Item::Wrapper;
        }
        let slot = self.start(text_of(item, "call_id"), name, item, events);
        Item::Call { slot, arguments: String::new() }
    }

    fn start(&mut self, id: &str, name: &str, item: &Value, events: &mut Vec<StreamEvent>) -> usize {
        let slot = self.calls;
        self.calls += 1;
        events.push(StreamEvent::ToolCallStart {
            slot,
            id: id.to_owned(),
            name: name.to_owned(),
            extra: unknown_fields(item),
        });
        slot
    }

    fn text(&mut self, place: u64, delta: &str, events: &mut Vec<StreamEvent>) {
        let empty = || Item::Message { text: String::new() };
        if let Item::Message { text } = self.items.entry(place).or_insert_with(empty)
            && !delta.is_empty()
        {
            text.push_str(delta);
            events.push(StreamEvent::TextDelta(delta.to_owned()));
        }
    }

    /// `part` is a number of the summary, or of the thought itself: parts are paragraphs.
    fn reasoning(&mut self, place: u64, number: Option<u64>, delta: &str, events: &mut Vec<StreamEvent>) {
        let empty = || Item::Reasoning { text: String::new(), part: None, signed: false };
        let Item::Reasoning { text, part, .. } = self.items.entry(place).or_insert_with(empty) else { return };
        if delta.is_empty() {
            return;
        }
        let number = number.unwrap_or(0);
        if part.replace(number).is_some_and(|before| before != number) && !text.ends_with('\n') {
            text.push_str("\n\n");
            events.push(StreamEvent::ReasoningDelta("\n\n".into()));
        }
        text.push_str(delta);
        events.push(StreamEvent::ReasoningDelta(delta.to_owned()));
    }

    fn arguments(&mut self, place: u64, delta: &str, events: &mut Vec<StreamEvent>) {
        if let Some(Item::Call { slot, arguments }) = self.items.get_mut(&place)
            && !delta.is_empty()
        {
            arguments.push_str(delta);
            events.push(StreamEvent::ToolCallDelta { slot: *slot, arguments: delta.to_owned() });
        }
    }

    /// An item is whole: what of it has not been streamed is given out now.
    fn close(&mut self, place: u64, item: &Value, events: &mut Vec<StreamEvent>) {
        self.open(place, item, events);
        let rest = |whole: &str, before: &str| whole.strip_prefix(before).unwrap_or_default().to_owned();
        match self.items.get_mut(&place) {
            Some(Item::Message { text }) => {
                let rest = rest(&joined(item.get("content"), "\u{0}").replace('\u{0}', ""), text);
                let refused = item.get("content").and_then(Value::as_array).into_iter().flatten();
                self.refused |= refused.into_iter().any(|part| text_of(part, "type") == "refusal");
                self.text(place, &rest, events);
                self.cite(item);
            }
            Some(Item::Reasoning { text, .. }) => {
                let summary = joined(item.get("summary"), "\n\n");
                let whole = if summary.is_empty() { joined(item.get("content"), "\n\n") } else { summary };
                if text.is_empty() {
                    self.reasoning(place, None, &whole, events);
                }
                self.sign(place, item, Late::No, events);
            }
            Some(Item::Call { arguments, .. }) => {
                let whole = match item.get("arguments") {
                    Some(Value::String(whole)) => whole.clone(),
                    None | Some(Value::Null) => String::new(),
                    Some(whole) => whole.to_string(),
                };
                let rest = rest(&whole, arguments);
                self.arguments(place, &rest, events);
            }
            Some(Item::Wrapper) => self.unwrap_calls(item, events),
            Some(Item::Custom) => {
                let input = json!({"input": text_of(item, "input")}).to_string();
                let slot = self.start(text_of(item, "call_id"), text_of(item, "name"), item, events);
                events.push(StreamEvent::ToolCallDelta { slot, arguments: input });
                self.items.insert(place, Item::Other);
            }
            Some(Item::Other) | None => {
                let is_search = text_of(item, "type") == "web_search_call";
                self.searches += u64::from(is_search);
                let query = item.pointer("/action/query").and_then(Value::as_str);
                if let Some(query) = query.filter(|query| is_search && !query.is_empty() && self.sources.is_some())
                {
                    events.push(StreamEvent::Searched(query.to_owned()));
                }
                events.extend(kept(item).map(StreamEvent::WireItem));
                self.items.insert(place, Item::Done);
            }
            Some(Item::Done) => {}
        }
    }

    /// Encrypted thought goes back as it came, without its id: the provider stores nothing under that id
    /// (earendil-works/pi#6409). Thought that is not encrypted cannot go back.
    fn sign(&mut self, place: u64, item: &Value, late: Late, events: &mut Vec<StreamEvent>) {
        let Some(Item::Reasoning { signed, .. }) = self.items.get_mut(&place) else { return };
        let encrypted = item.get("encrypted_content").and_then(Value::as_str).filter(|text| !text.is_empty());
        if let Some(encrypted) = encrypted.filter(|_| !*signed) {
            *signed = true;
            let mut whole = json!({"type": "reasoning", "summary": item.get("summary").unwrap_or(&json!([]))});
            whole["encrypted_content"] = json!(encrypted);
            if late == Late::Yes {
                // Which of the thoughts before it is meant, counted from 0.
                let before = self.items.range(..place);
                let thoughts = before.filter(|(_, item)| matches!(item, Item::Reasoning { .. })).count();
                whole["thought"] = json!(thoughts);
            }
            events.push(StreamEvent::ReasoningSignature(whole.to_string()));
        }
    }

    fn unwrap_calls(&mut self, item: &Value, events: &mut Vec<StreamEvent>) {
        let arguments = item.get("arguments").and_then(Value::as_str).unwrap_or_default();
        let id = text_of(item, "call_id");
        let Some(calls) = wrapped(arguments) else {
            let slot = self.start(id, text_of(item, "name"), item, events);
            events.push(StreamEvent::ToolCallDelta { slot, arguments: arguments.to_owned() });
            return;
        };
        for (number, (name, arguments)) in calls.into_iter().enumerate() {
            let slot = self.start(&format!("{id}_{number}"), &name, &Value::Null, events);
            events.push(StreamEvent::ToolCallDelta { slot, arguments });
        }
    }

    /// The answer is at its end, as one of the three events says; nothing else ends it.
    fn finish(
        &mut self,
        response: &Value,
        status: &str,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), ProviderError> {
        let output = response.get("output").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if self.items.is_empty() {
            for (place, item) in (0..).zip(output) {
                self.close(place, item, events);
            }
        } else {
            self.backfill(output, events);
        }
        if let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) {
            let mut usage = read_usage(usage);
            usage.searches = usage.searches.max(self.searches);
            events.push(StreamEvent::Usage(usage));
        }
        let stop = match status {
            "failed" => return Err(self.origin.stream_error(response)),
            "cancelled" => return Err(self.origin.broken("the provider gave its answer up (cancelled)")),
            "incomplete" => {
                let reason = response.pointer("/incomplete_details/reason").and_then(Value::as_str);
                self.origin.stop(reason.unwrap_or("length"))?
            }
            _ if self.calls > 0 => StopReason::ToolUse,
            _ if self.refused => StopReason::Refusal,
            _ => StopReason::EndTurn,
        };
        self.ended = true;
        let id = text_of(response, "id");
        if let Some(asked) = self.asked.as_deref().filter(|_| !id.is_empty() && status == "completed") {
            events.push(StreamEvent::WireItem(stored(id, asked)));
        }
        // No text may follow calls.
        if self.calls == 0 {
            let links = self.sources.as_ref().and_then(Sources::text);
            events.extend(links.map(StreamEvent::TextDelta));
        }
        events.push(StreamEvent::Done(stop));
        Ok(())
    }

    /// Some servers give the encryption only at the end (can1357/oh-my-pi PR#50).
    fn backfill(&mut self, output: &[Value], events: &mut Vec<StreamEvent>) {
        let places: Vec<u64> = self.items.keys().copied().collect();
        let thoughts = places.iter().filter(|place| matches!(self.items[place], Item::Reasoning { .. }));
        let given = output.iter().filter(|item| text_of(item, "type") == "reasoning");
        let pairs: Vec<(u64, &Value)> = thoughts.copied().zip(given).collect();
        for (place, item) in pairs {
            self.sign(place, item, Late::Yes, events);
        }
    }

    fn take(&mut self, kind: &str, value: &Value, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        let delta = text_of(value, "delta");
        let number = |field: &str| value.get(field).and_then(Value::as_u64);
        let response = value.get("response").unwrap_or(&Value::Null);
        let null = Value::Null;
        match kind {
            "response.output_item.added" => {
                let place = self.place(value, true);
                self.open(place, value.get("item").unwrap_or(&null), events);
            }
            "response.output_item.done" => {
                let place = self.place(value, true);
                self.close(place, value.get("item").unwrap_or(&null), events);
            }
            "response.output_text.delta" => {
                let place = self.place(value, false);
                self.text(place, delta, events);
            }
            "response.refusal.delta" => {
                self.refused = true;
                let place = self.place(value, false);
                self.text(place, delta, events);
            }
            "response.reasoning_summary_text.delta" => {
                let place = self.place(value, false);
                self.reasoning(place, number("summary_index"), delta, events);
            }
            "response.reasoning_text.delta" | "response.reasoning.delta" => {
                let place = self.place(value, false);
                self.reasoning(place, number("content_index"), delta, events);
            }
            "response.function_call_arguments.delta" => {
                let place = self.place(value, false);
                self.arguments(place, delta, events);
            }
            "response.completed" | "response.done" => {
                let status = text_of(response, "status");
                return self.finish(response, status, events);
            }
            "response.incomplete" => return self.finish(response, "incomplete", events),
            "response.failed" => return self.finish(response, "failed", events),
            "response.cancelled" => return self.finish(response, "cancelled", events),
            "error" => return Err(self.origin.stream_error(value)),
            "" if value.get("error").is_some_and(|error| !error.is_null()) => {
                return Err(self.origin.stream_error(value));
            }
            // Beginnings and ends of parts, progress of the provider's own tools, and kinds to come.
            _ => {}
        }
        Ok(())
    }
}

impl Machine for ResponsesMachine<'_> {
    const END: &'static str = "response.completed";

    fn value(&mut self, name: &str, value: &Value, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        let kind = value.get("type").and_then(Value::as_str).unwrap_or(name).to_owned();
        self.take(&kind, value, events)
    }

    fn end_mark(&mut self, _events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        if self.ended { Ok(()) } else { Err(self.origin.broken(&format!("the answer ended before {}", Self::END))) }
    }

    fn whole(&mut self, message: &Value, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        let status = text_of(message, "status");
        if message.get("error").is_some_and(|error| !error.is_null()) {
            return Err(self.origin.stream_error(message));
        }
        if message.get("output").and_then(Value::as_array).is_none() {
            return Err(self.origin.protocol("JSON came that is no response"));
        }
        self.finish(message, status, events)
    }

    /// The event that ends an answer has already given out the rest of it.
    fn done(&mut self, _events: &mut Vec<StreamEvent>) {}

    fn progress(&self) -> Progress {
        if self.ended { Progress::Ended } else { Progress::Open }
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }
}
