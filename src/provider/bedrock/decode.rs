//! The events of `converse-stream` as [`StreamEvent`]s. Pure.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::conversation::{StopReason, StreamEvent, Usage};
use crate::provider::error::ProviderError;
use crate::provider::framing::{Machine, Progress, count as number};
use crate::provider::http::Origin;

/// Reads one answer.
pub(crate) struct ConverseMachine {
    origin: Origin,
    /// The slots of calls that are being written, and signatures of thoughts, by the number of their block.
    calls: BTreeMap<u64, usize>,
    signatures: BTreeMap<u64, String>,
    made: usize,
    began: bool,
    /// Takes the counts, which come before or after the finish word.
    counted: bool,
    stop: Option<StopReason>,
    ended: bool,
}

impl ConverseMachine {
    pub(crate) const fn new(origin: Origin) -> Self {
        Self {
            origin,
            calls: BTreeMap::new(),
            signatures: BTreeMap::new(),
            made: 0,
            began: false,
            counted: false,
            stop: None,
            ended: false,
        }
    }

    fn start_call(&mut self, index: u64, call: &Value, events: &mut Vec<StreamEvent>) {
        let text = |field: &str| call.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let slot = self.made;
        self.made += 1;
        self.calls.insert(index, slot);
        let extra = Map::new();
        events.push(StreamEvent::ToolCallStart { slot, id: text("toolUseId"), name: text("name"), extra });
    }

    fn delta(&mut self, index: u64, delta: &Value, events: &mut Vec<StreamEvent>) {
        self.began = true;
        let text = |place: &str| delta.pointer(place).and_then(Value::as_str).filter(|text| !text.is_empty());
        if let Some(text) = text("/text") {
            events.push(StreamEvent::TextDelta(text.to_owned()));
        }
        if let (Some(arguments), Some(slot)) = (text("/toolUse/input"), self.calls.get(&index)) {
            events.push(StreamEvent::ToolCallDelta { slot: *slot, arguments: arguments.to_owned() });
        }
        if let Some(thought) = text("/reasoningContent/text") {
            events.push(StreamEvent::ReasoningDelta(thought.to_owned()));
        }
        if let Some(signature) = text("/reasoningContent/signature") {
            self.signatures.entry(index).or_default().push_str(signature);
        }
        if let Some(data) = text("/reasoningContent/redactedContent").or_else(|| text("/reasoningContent/data")) {
            events.push(StreamEvent::RedactedReasoning(data.to_owned()));
        }
    }

    fn stop_block(&mut self, index: u64, events: &mut Vec<StreamEvent>) {
        self.calls.remove(&index);
        if let Some(signature) = self.signatures.remove(&index) {
            events.push(StreamEvent::ReasoningSignature(signature));
        }
    }

    /// Tokens read from or written to the cache are not included in the input.
    fn count(&mut self, usage: Option<&Value>, events: &mut Vec<StreamEvent>) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else { return };
        self.counted = true;
        let count = |field: &str| usage.get(field).and_then(number).unwrap_or(0);
        events.push(StreamEvent::Usage(Usage {
            input: count("inputTokens"),
            cached_read: count("cacheReadInputTokens"),
            cached_write: count("cacheWriteInputTokens"),
            output: count("outputTokens"),
            ..Usage::default()
        }));
    }

    fn stop_word(&mut self, holder: &Value) -> Result<(), ProviderError> {
        let word = holder.get("stopReason").and_then(Value::as_str).unwrap_or_default();
        if !word.is_empty() {
            self.stop = Some(self.origin.stop(word)?);
        }
        Ok(())
    }

    fn block(&mut self, index: u64, block: &Value, events: &mut Vec<StreamEvent>) {
        if let Some(call) = block.get("toolUse") {
            self.start_call(index, call, events);
            let input = call.get("input").filter(|input| input.is_object()).map(Value::to_string);
            if let (Some(arguments), Some(slot)) = (input, self.calls.get(&index)) {
                events.push(StreamEvent::ToolCallDelta { slot: *slot, arguments });
            }
        }
        // A whole thought has its text and its signature one level down.
        let thought = block.pointer("/reasoningContent/reasoningText").or_else(|| block.get("reasoningContent"));
        if let Some(thought) = thought {
            self.delta(index, &serde_json::json!({"reasoningContent": thought}), events);
        }
        if let Some(text) = block.get("text") {
            self.delta(index, &serde_json::json!({"text": text}), events);
        }
        self.stop_block(index, events);
    }
}

impl Machine for ConverseMachine {
    fn value(&mut self, name: &str, value: &Value, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        let index = value.get("contentBlockIndex").and_then(Value::as_u64).unwrap_or(0);
        match name {
            // What was shown belongs to an answer the server has given up.
            "messageStart" if self.began => return Err(self.origin.broken("the server began its answer again")),
            "contentBlockStart" => {
                self.began = true;
                if let Some(call) = value.pointer("/start/toolUse") {
                    self.start_call(index, call, events);
                }
            }
            "contentBlockDelta" => self.delta(index, value.get("delta").unwrap_or(&Value::Null), events),
            "contentBlockStop" => self.stop_block(index, events),
            "messageStop" => self.stop_word(value)?,
            "metadata" => self.count(value.get("usage"), events),
            // Kinds to come.
            _ => {}
        }
        if self.counted && self.stop.is_some() {
            self.done(events);
        }
        Ok(())
    }

    fn end_mark(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        self.done(events);
        Ok(())
    }

    fn whole(&mut self, message: &Value, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        let Some(blocks) = message.pointer("/output/message/content").and_then(Value::as_array) else {
            return Err(self.origin.stream_error(message));
        };
        for (index, block) in (0..).zip(blocks) {
            self.block(index, block, events);
        }
        self.count(message.get("usage"), events);
        self.stop_word(message)?;
        self.done(events);
        Ok(())
    }

    fn done(&mut self, events: &mut Vec<StreamEvent>) {
        if self.ended {
            return;
        }
        let open: Vec<u64> = self.signatures.keys().copied().collect();
        for index in open {
            self.stop_block(index, events);
        }
        self.ended = true;
        events.push(StreamEvent::Done(self.stop.take().unwrap_or(StopReason::Missing)));
    }

    fn progress(&self) -> Progress {
        Progress::of(self.ended, self.stop.is_some())
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }
}
