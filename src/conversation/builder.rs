//! Folds a stream of events into one assistant message.

use serde_json::{Map, Value};

use super::{ContentBlock, Message, Reasoning, Role, StopReason, StreamEvent, ToolCall, Usage, WireItem};

/// Folds [`StreamEvent`]s into one message; can be finished early at any event.
#[derive(Debug, Clone)]
pub struct MessageBuilder {
    model: String,
    parts: Vec<Part>,
    usage: Usage,
    stop: Option<StopReason>,
}

#[derive(Debug, Clone)]
enum Part {
    Text(String),
    Reasoning { text: String, signature: Option<String>, redacted: Option<String> },
    Call { slot: usize, id: String, name: String, arguments: String, extra: Map<String, Value> },
    WireItem(Value),
}

/// The result of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// The message; `None` when nothing worth keeping arrived.
    pub message: Option<Message>,
    /// Why the model stopped; [`StopReason::Missing`] when the stream did not say.
    pub stop: StopReason,
    /// Token counts as reported; zero when they were not.
    pub usage: Usage,
}

impl MessageBuilder {
    /// Starts a message of the model named `PROVIDER/MODEL`.
    #[must_use]
    pub fn new(model: impl Into<String>) -> Self {
        Self { model: model.into(), parts: Vec::new(), usage: Usage::default(), stop: None }
    }

    /// Adds one event.
    pub fn push(&mut self, event: &StreamEvent) {
        match event {
            StreamEvent::Loading
            | StreamEvent::Reading { .. }
            | StreamEvent::Silent { .. }
            | StreamEvent::Searched(_) => {}
            StreamEvent::TextDelta(delta) => self.push_text(delta),
            StreamEvent::ReasoningDelta(delta) => self.push_reasoning(delta),
            StreamEvent::ReasoningSignature(signature) => self.sign(signature),
            StreamEvent::RedactedReasoning(data) => self.parts.push(Part::Reasoning {
                text: String::new(),
                signature: None,
                redacted: Some(data.clone()),
            }),
            StreamEvent::ToolCallStart { slot, id, name, extra } => self.parts.push(Part::Call {
                slot: *slot,
                id: id.clone(),
                name: name.clone(),
                arguments: String::new(),
                extra: extra.clone(),
            }),
            StreamEvent::ToolCallExtra { slot, extra } => self.push_extra(*slot, extra),
            StreamEvent::ToolCallDelta { slot, arguments } => self.push_arguments(*slot, arguments),
            StreamEvent::WireItem(item) => self.parts.push(Part::WireItem(item.clone())),
            StreamEvent::Usage(usage) => self.usage = *usage,
            StreamEvent::Done(reason) => self.stop = Some(reason.clone()),
        }
    }

    fn push_text(&mut self, delta: &str) {
        if delta.is_empty() {
            return;
        }
        if let Some(Part::Text(text)) = self.parts.last_mut() {
            text.push_str(delta);
        } else {
            self.parts.push(Part::Text(delta.to_owned()));
        }
    }

    fn push_reasoning(&mut self, delta: &str) {
        if delta.is_empty() {
            return;
        }
        if let Some(Part::Reasoning { text, signature: None, redacted: None }) = self.parts.last_mut() {
            text.push_str(delta);
        } else {
            self.parts.push(Part::Reasoning { text: delta.to_owned(), signature: None, redacted: None });
        }
    }

    fn sign(&mut self, new: &str) {
        match self.parts.last_mut() {
            Some(Part::Reasoning { signature: open @ None, redacted: None, .. }) => *open = Some(new.to_owned()),
            // Empty text with a signature is legal: RooCodeInc/Roo-Code PR#10351.
            Some(_) | None => self.parts.push(Part::Reasoning {
                text: String::new(),
                signature: Some(new.to_owned()),
                redacted: None,
            }),
        }
    }

    fn push_arguments(&mut self, wanted: usize, delta: &str) {
        let call = self.parts.iter_mut().rev().find_map(|part| match part {
            Part::Call { slot, arguments, .. } if *slot == wanted => Some(arguments),
            Part::Call { .. } | Part::Text(_) | Part::Reasoning { .. } | Part::WireItem(_) => None,
        });
        if let Some(arguments) = call {
            arguments.push_str(delta);
        }
    }

    fn push_extra(&mut self, wanted: usize, more: &Map<String, Value>) {
        let call = self.parts.iter_mut().rev().find_map(|part| match part {
            Part::Call { slot, extra, .. } if *slot == wanted => Some(extra),
            Part::Call { .. } | Part::Text(_) | Part::Reasoning { .. } | Part::WireItem(_) => None,
        });
        if let Some(extra) = call {
            extra.extend(more.clone());
        }
    }

    /// Returns the arguments of the call that is being written, as far as they have arrived.
    #[must_use]
    pub fn open_arguments(&self) -> &str {
        match self.parts.last() {
            Some(Part::Call { arguments, .. }) => arguments,
            Some(Part::Text(_) | Part::Reasoning { .. } | Part::WireItem(_)) | None => "",
        }
    }

    /// Returns the token counts that were reported so far.
    #[must_use]
    pub const fn usage(&self) -> Usage {
        self.usage
    }

    /// Tells whether any text, reasoning or call has arrived.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Tells whether the stream reported its end.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.stop.is_some()
    }

    /// Ends a stream that ran to its end. A call cut by the output limit stays, marked not executable.
    #[must_use]
    pub fn finish(self) -> Finished {
        self.build(true)
    }

    /// Ends a stream that was stopped in the middle: text is kept, calls are dropped.
    ///
    /// Unsigned reasoning of a cut stream is kept, too: the wire decides whether it can be sent back.
    #[must_use]
    pub fn finish_early(self) -> Finished {
        self.build(false)
    }

    fn build(self, keep_calls: bool) -> Finished {
        let stop = self.stop.unwrap_or(StopReason::Missing);
        let last_call = self.parts.iter().rposition(|part| matches!(part, Part::Call { .. }));
        let mut content = Vec::new();
        let mut ids: Vec<String> = Vec::new();
        for (index, part) in self.parts.into_iter().enumerate() {
            match part {
                Part::Text(text) => content.push(ContentBlock::Text { text }),
                Part::Reasoning { text, signature, redacted } => {
                    content.push(ContentBlock::Reasoning(Reasoning {
                        text,
                        signature,
                        redacted,
                        model: self.model.clone(),
                    }));
                }
                Part::Call { id, name, arguments, extra, .. } if keep_calls => {
                    let cut = stop == StopReason::Length && Some(index) == last_call;
                    let id = unique_id(id, &ids);
                    ids.push(id.clone());
                    let call = make_call(id, name, arguments, extra, cut);
                    content.push(ContentBlock::ToolCall(ToolCall { model: self.model.clone(), ..call }));
                }
                Part::Call { .. } => {}
                Part::WireItem(item) => {
                    content.push(ContentBlock::WireItem(WireItem { model: self.model.clone(), item }));
                }
            }
        }
        let spoken = content.iter().any(|block| match block {
            ContentBlock::Text { text } => !text.is_empty(),
            ContentBlock::ToolCall(_) => true,
            ContentBlock::Reasoning(_) | ContentBlock::WireItem(_) => keep_calls,
            ContentBlock::ToolResult(_) | ContentBlock::Image(_) => false,
        });
        let message = spoken.then_some(Message { role: Role::Assistant, content });
        Finished { message, stop, usage: self.usage }
    }
}

/// Returns an id that differs from those in `taken`, and is the same at every replay: servers repeat ids, or give
/// none.
fn unique_id(id: String, taken: &[String]) -> String {
    if !id.is_empty() && !taken.contains(&id) {
        return id;
    }
    let stem = if id.is_empty() { "call" } else { &id };
    let mut number = taken.len();
    loop {
        let candidate = format!("{stem}_{number}");
        if !taken.contains(&candidate) {
            return candidate;
        }
        number += 1;
    }
}

fn make_call(id: String, name: String, arguments: String, extra: Map<String, Value>, cut: bool) -> ToolCall {
    let parsed = parse_arguments(&arguments);
    let (input, invalid_input) = match parsed {
        Some(input) if !cut => (input, None),
        Some(_) | None => (Value::Object(Map::new()), Some(arguments.clone())),
    };
    let anew = input.to_string();
    let is_same = invalid_input.is_some() || anew == arguments || arguments.trim().is_empty();
    let arguments = if is_same { String::new() } else { arguments };
    ToolCall { id, name, input, invalid_input, extra, model: String::new(), arguments }
}

/// Parses a call's arguments: blank means `{}`, and a JSON string that contains an object is unwrapped once.
fn parse_arguments(arguments: &str) -> Option<Value> {
    if arguments.trim().is_empty() {
        return Some(Value::Object(Map::new()));
    }
    match serde_json::from_str(arguments) {
        Ok(Value::Object(object)) => Some(Value::Object(object)),
        Ok(Value::Null) => Some(Value::Object(Map::new())),
        Ok(Value::String(inner)) => match serde_json::from_str(&inner) {
            Ok(Value::Object(object)) => Some(Value::Object(object)),
            Ok(_) | Err(_) => None,
        },
        Ok(_) | Err(_) => None,
    }
}

#[cfg(test)]
#[path = "builder_tests.rs"]
mod tests;
