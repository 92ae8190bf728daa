//! The event stream of messages as [`StreamEvent`]s. Pure.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::conversation::{StopReason, StreamEvent, Usage};
use crate::provider::error::ProviderError;
use crate::provider::framing::{Machine, Progress, count as number};
use crate::provider::http::Origin;
use crate::provider::wire::Sources;

/// Reads one answer.
pub(crate) struct MessagesMachine {
    origin: Origin,
    blocks: BTreeMap<u64, Block>,
    calls: usize,
    usage: Map<String, Value>,
    began: bool,
    stop: Option<StopReason>,
    ended: bool,
    /// What was cited, where the provider may search.
    sources: Option<Sources>,
}

enum Block {
    Text,
    /// The signature comes in pieces; it is given out when the block stops.
    Thinking {
        signature: String,
    },
    /// Some servers put the whole input into the block's start and send no deltas.
    Call {
        slot: usize,
        input: Value,
        has_delta: bool,
    },
    /// A tool that the provider runs itself: the block, and its input as far as it came.
    Own {
        block: Value,
        input: String,
    },
    /// What nobody sends back, and whatever comes next year.
    Other,
}

impl MessagesMachine {
    pub(crate) fn new(origin: Origin) -> Self {
        Self {
            origin,
            blocks: BTreeMap::new(),
            calls: 0,
            usage: Map::new(),
            began: false,
            stop: None,
            ended: false,
            sources: None,
        }
    }

    /// Tells of the provider's own searches and keeps what they left, where it may make any.
    pub(crate) fn searching(self, may: bool) -> Self {
        Self { sources: may.then(Sources::default), ..self }
    }

    fn start_block(&mut self, index: u64, block: &Value, events: &mut Vec<StreamEvent>) {
        self.began = true;
        let text = |field: &str| block.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let made = match text("type").as_str() {
            "text" => {
                push_text(&text("text"), events);
                Block::Text
            }
            "thinking" => {
                push_reasoning(&text("thinking"), events);
                Block::Thinking { signature: text("signature") }
            }
            "redacted_thinking" => {
                events.push(StreamEvent::RedactedReasoning(text("data")));
                Block::Other
            }
            "tool_use" => {
                let slot = self.calls;
                self.calls += 1;
                let known = ["type", "id", "name", "input"];
                let extra = block.as_object().into_iter().flatten();
                let extra = extra.filter(|(name, value)| !known.contains(&name.as_str()) && !value.is_null());
                let extra = extra.map(|(name, value)| (name.clone(), value.clone())).collect();
                events.push(StreamEvent::ToolCallStart { slot, id: text("id"), name: text("name"), extra });
                let input = block.get("input").cloned().unwrap_or(Value::Null);
                Block::Call { slot, input, has_delta: false }
            }
            "server_tool_use" if self.sources.is_some() => {
                Block::Own { block: block.clone(), input: String::new() }
            }
            "web_search_tool_result" if self.sources.is_some() => {
                events.push(StreamEvent::WireItem(block.clone()));
                Block::Other
            }
            _ => Block::Other,
        };
        self.blocks.insert(index, made);
    }

    fn delta(&mut self, index: u64, delta: &Value, events: &mut Vec<StreamEvent>) {
        self.began = true;
        let text = |field: &str| delta.get(field).and_then(Value::as_str).unwrap_or_default();
        match text("type") {
            "text_delta" => push_text(text("text"), events),
            "thinking_delta" => push_reasoning(text("thinking"), events),
            "signature_delta" => {
                let empty = || Block::Thinking { signature: String::new() };
                if let Block::Thinking { signature } = self.blocks.entry(index).or_insert_with(empty) {
                    signature.push_str(text("signature"));
                }
            }
            "input_json_delta" => {
                let arguments = text("partial_json");
                match self.blocks.get_mut(&index) {
                    Some(Block::Call { slot, has_delta, .. }) if !arguments.is_empty() => {
                        *has_delta = true;
                        events.push(StreamEvent::ToolCallDelta { slot: *slot, arguments: arguments.to_owned() });
                    }
                    Some(Block::Own { input, .. }) => input.push_str(arguments),
                    Some(Block::Text | Block::Thinking { .. } | Block::Call { .. } | Block::Other) | None => {}
                }
            }
            "citations_delta" => {
                let field = |name: &str| delta.pointer(&format!("/citation/{name}")).and_then(Value::as_str);
                if let Some(sources) = &mut self.sources {
                    sources.add(field("url"), field("title"));
                }
            }
            // Kinds to come: nothing of them is sent back.
            _ => {}
        }
    }

    fn stop_block(&mut self, index: u64, events: &mut Vec<StreamEvent>) {
        match self.blocks.remove(&index) {
            Some(Block::Thinking { signature }) if !signature.is_empty() => {
                events.push(StreamEvent::ReasoningSignature(signature));
            }
            Some(Block::Call { slot, input, has_delta: false }) => {
                if input.as_object().is_some_and(|input| !input.is_empty()) {
                    events.push(StreamEvent::ToolCallDelta { slot, arguments: input.to_string() });
                }
            }
            Some(Block::Own { mut block, input }) => {
                if let Ok(input) = serde_json::from_str::<Value>(&input) {
                    block["input"] = input;
                }
                let query = block.pointer("/input/query").and_then(Value::as_str);
                events.extend(query.map(|query| StreamEvent::Searched(query.to_owned())));
                events.push(StreamEvent::WireItem(block));
            }
            Some(Block::Thinking { .. } | Block::Text | Block::Call { .. } | Block::Other) | None => {}
        }
    }

    /// The counts are cumulative and come in parts; `input_tokens` leaves out what came from or went to the cache.
    fn count(&mut self, usage: Option<&Value>, events: &mut Vec<StreamEvent>) {
        let Some(Value::Object(usage)) = usage else { return };
        for (name, value) in usage {
            if !value.is_null() {
                self.usage.insert(name.clone(), value.clone());
            }
        }
        let count = |name: &str| self.usage.get(name).and_then(number).unwrap_or(0);
        let details = self.usage.get("output_tokens_details");
        let reasoning = details.and_then(|details| {
            let named = details.get("thinking_tokens").or_else(|| details.get("reasoning_tokens"))?;
            number(named)
        });
        let reasoning = reasoning.unwrap_or(0).min(count("output_tokens"));
        events.push(StreamEvent::Usage(Usage {
            input: count("input_tokens"),
            cached_read: count("cache_read_input_tokens"),
            cached_write: count("cache_creation_input_tokens"),
            output: count("output_tokens") - reasoning,
            reasoning,
            searches: self
                .usage
                .get("server_tool_use")
                .and_then(|used| number(used.get("web_search_requests")?))
                .unwrap_or(0),
        }));
    }

    fn stop_reason(&mut self, holder: Option<&Value>) -> Result<(), ProviderError> {
        let word = holder.and_then(|holder| holder.get("stop_reason")).and_then(Value::as_str);
        if let Some(word) = word.filter(|word| !word.is_empty()) {
            self.stop = Some(self.origin.stop(word)?);
        }
        Ok(())
    }

    fn take(&mut self, value: &Value, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        let index = value.get("index").and_then(Value::as_u64).unwrap_or(0);
        match value.get("type").and_then(Value::as_str).unwrap_or_default() {
            "message_start" => {
                if self.began {
                    // What was shown belongs to an answer the server has given up.
                    return Err(self.origin.broken("the server began its answer again"));
                }
                self.count(value.pointer("/message/usage"), events);
            }
            "content_block_start" => {
                let block = value.get("content_block").unwrap_or(&Value::Null);
                self.start_block(index, block, events);
            }
            "content_block_delta" => self.delta(index, value.get("delta").unwrap_or(&Value::Null), events),
            "content_block_stop" => self.stop_block(index, events),
            "message_delta" => {
                self.count(value.get("usage"), events);
                self.stop_reason(value.get("delta"))?;
            }
            "message_stop" => self.done(events),
            // The answer stands once the model has stopped.
            "error" if self.stop.is_none() => return Err(self.origin.stream_error(value)),
            "" if value.get("error").is_some() && self.stop.is_none() => {
                return Err(self.origin.stream_error(value));
            }
            // `ping`, and kinds to come: the documentation asks clients to pass over them.
            _ => {}
        }
        Ok(())
    }
}

fn push_text(text: &str, events: &mut Vec<StreamEvent>) {
    if !text.is_empty() {
        events.push(StreamEvent::TextDelta(text.to_owned()));
    }
}

fn push_reasoning(text: &str, events: &mut Vec<StreamEvent>) {
    if !text.is_empty() {
        events.push(StreamEvent::ReasoningDelta(text.to_owned()));
    }
}

impl Machine for MessagesMachine {
    fn value(&mut self, _name: &str, value: &Value, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        self.take(value, events)
    }

    fn end_mark(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        self.done(events);
        Ok(())
    }

    fn whole(&mut self, message: &Value, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        if message.get("error").is_some_and(|error| !error.is_null()) {
            return Err(self.origin.stream_error(message));
        }
        let Some(blocks) = message.get("content").and_then(Value::as_array) else {
            return Err(self.origin.protocol("JSON came that is no message"));
        };
        for (index, block) in (0..).zip(blocks) {
            self.start_block(index, block, events);
            self.stop_block(index, events);
        }
        self.count(message.get("usage"), events);
        self.stop_reason(Some(message))?;
        self.done(events);
        Ok(())
    }

    fn done(&mut self, events: &mut Vec<StreamEvent>) {
        if self.ended {
            return;
        }
        let open: Vec<u64> = self.blocks.keys().copied().collect();
        for index in open {
            self.stop_block(index, events);
        }
        self.ended = true;
        // No text may follow calls, and a paused answer is not at its end.
        if self.calls == 0 && self.stop != Some(StopReason::Pause) {
            let links = self.sources.as_ref().and_then(Sources::text);
            events.extend(links.map(StreamEvent::TextDelta));
        }
        events.push(StreamEvent::Done(self.stop.take().unwrap_or(StopReason::Missing)));
    }

    fn progress(&self) -> Progress {
        Progress::of(self.ended, self.stop.is_some())
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }
}
