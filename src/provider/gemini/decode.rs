//! The event stream of `streamGenerateContent` as [`StreamEvent`]s. Pure.

use serde_json::{Map, Value, json};

use super::partial::PartialArguments;
use crate::conversation::{StopReason, StreamEvent, Totals, Usage};
use crate::provider::error::ProviderError;
use crate::provider::framing::{Machine, Progress, count};
use crate::provider::http::Origin;
use crate::provider::wire::Sources;

/// Reads one answer.
pub(crate) struct GeminiMachine {
    origin: Origin,
    calls: usize,
    /// A call whose arguments come field by field.
    open: Option<(usize, PartialArguments)>,
    stop: Option<StopReason>,
    ended: bool,
    /// What was searched for, and cited, where the provider may search.
    searches: Vec<String>,
    sources: Option<Sources>,
    usage: Option<Usage>,
}

impl GeminiMachine {
    pub(crate) const fn new(origin: Origin) -> Self {
        let (open, stop, sources, usage) = (None, None, None, None);
        Self { origin, calls: 0, open, stop, ended: false, searches: Vec::new(), sources, usage }
    }

    /// Tells of the provider's own searches, and what they found, where it may make any.
    pub(crate) fn searching(self, may: bool) -> Self {
        Self { sources: may.then(Sources::default), ..self }
    }

    fn grounded(&mut self, found: &Value, events: &mut Vec<StreamEvent>) {
        let Some(sources) = &mut self.sources else { return };
        let list = |field: &str| found.get(field).and_then(Value::as_array).into_iter().flatten();
        for query in list("webSearchQueries").filter_map(Value::as_str) {
            if !self.searches.iter().any(|known| known == query) {
                self.searches.push(query.to_owned());
                events.push(StreamEvent::Searched(query.to_owned()));
            }
        }
        for page in list("groundingChunks").filter_map(|chunk| chunk.get("web")) {
            let field = |name: &str| page.get(name).and_then(Value::as_str);
            sources.add(field("uri"), field("title"));
        }
    }

    fn chunk(&mut self, chunk: &Value, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            // The answer stands once the model has stopped.
            return if self.stop.is_none() { Err(self.origin.stream_error(chunk)) } else { Ok(()) };
        }
        self.usage = chunk.get("usageMetadata").and_then(usage).or(self.usage);
        // We never ask for more than one.
        let candidate = chunk.pointer("/candidates/0").unwrap_or(&Value::Null);
        for part in candidate.pointer("/content/parts").and_then(Value::as_array).into_iter().flatten() {
            self.part(part, events);
        }
        if let Some(found) = candidate.get("groundingMetadata") {
            self.grounded(found, events);
        }
        if let Some(usage) = self.usage {
            let searches = self.searches.len() as u64;
            events.push(StreamEvent::Usage(Usage { searches, ..usage }));
        }
        if let Some(word) = candidate.get("finishReason").and_then(Value::as_str).filter(|word| !word.is_empty()) {
            self.stop = Some(self.origin.stop(word)?);
        } else if chunk.pointer("/promptFeedback/blockReason").is_some_and(Value::is_string) {
            self.stop = Some(StopReason::ContentFilter);
        }
        Ok(())
    }

    fn part(&mut self, part: &Value, events: &mut Vec<StreamEvent>) {
        let signature = part.get("thoughtSignature").filter(|signature| signature.is_string());
        if let Some(call) = part.get("functionCall") {
            self.call(call, signature, events);
            return;
        }
        match part.get("text").and_then(Value::as_str) {
            Some(text) if part.get("thought").and_then(Value::as_bool) == Some(true) => {
                events.extend((!text.is_empty()).then(|| StreamEvent::ReasoningDelta(text.to_owned())));
            }
            Some(text) => {
                if !text.is_empty() {
                    events.push(StreamEvent::TextDelta(text.to_owned()));
                }
                // A signature may come on an empty text after the text that it signs (vercel/ai
                // google-language-model.ts).
                if let Some(signature) = signature {
                    events.push(StreamEvent::WireItem(json!({"thoughtSignature": signature})));
                }
            }
            // Code that the provider ran and what it gave: the model wants them back.
            None if part.get("executableCode").is_some() || part.get("codeExecutionResult").is_some() => {
                events.push(StreamEvent::WireItem(json!({"part": part})));
            }
            None => {}
        }
    }

    fn call(&mut self, call: &Value, signature: Option<&Value>, events: &mut Vec<StreamEvent>) {
        let text = |field: &str| call.get(field).and_then(Value::as_str).unwrap_or_default();
        let pieces = call.get("partialArgs").and_then(Value::as_array);
        let goes_on = call.get("willContinue").and_then(Value::as_bool) == Some(true);
        if !text("name").is_empty() {
            self.close(events);
            let slot = self.calls;
            self.calls += 1;
            let mut extra = Map::new();
            // An id of our own making must not go back.
            if !text("id").is_empty() {
                extra.insert("id".into(), json!(text("id")));
            }
            if let Some(signature) = signature {
                extra.insert("thoughtSignature".into(), signature.clone());
            }
            let (id, name) = (text("id").to_owned(), text("name").to_owned());
            events.push(StreamEvent::ToolCallStart { slot, id, name, extra });
            if !goes_on && pieces.is_none() {
                if let Some(arguments) = call.get("args").filter(|arguments| !arguments.is_null()) {
                    events.push(StreamEvent::ToolCallDelta { slot, arguments: arguments.to_string() });
                }
                return;
            }
            self.open = Some((slot, PartialArguments::new(call.get("args"))));
        }
        if let Some((_, arguments)) = &mut self.open {
            for piece in pieces.into_iter().flatten() {
                arguments.push(piece);
            }
        }
        if !goes_on {
            self.close(events);
        }
    }

    fn close(&mut self, events: &mut Vec<StreamEvent>) {
        if let Some((slot, arguments)) = self.open.take() {
            events.push(StreamEvent::ToolCallDelta { slot, arguments: arguments.finish() });
        }
    }
}

/// Cached tokens are included in the prompt's count; thoughts and the results of Google's tools are counted apart.
/// Each chunk counts the whole answer so far; the first may have no counts.
fn usage(usage: &Value) -> Option<Usage> {
    let number = |field: &str| usage.get(field).and_then(count);
    let prompt = number("promptTokenCount")?;
    let thoughts = number("thoughtsTokenCount").unwrap_or(0);
    Some(Usage::from(Totals {
        input_tokens: prompt + number("toolUsePromptTokenCount").unwrap_or(0),
        output_tokens: number("candidatesTokenCount").or_else(|| number("responseTokenCount")).unwrap_or(0)
            + thoughts,
        cache_read_tokens: number("cachedContentTokenCount").unwrap_or(0),
        cache_write_tokens: 0,
        reasoning_tokens: thoughts,
        searches: 0,
    }))
}

impl Machine for GeminiMachine {
    fn value(&mut self, _name: &str, value: &Value, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        self.chunk(value, events)
    }

    fn end_mark(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        self.done(events);
        Ok(())
    }

    /// Without `alt=sse` the answer is a list of the same chunks.
    fn whole(&mut self, message: &Value, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        let chunks = message.as_array().map_or(std::slice::from_ref(message), Vec::as_slice);
        if !chunks
            .iter()
            .any(|chunk| ["candidates", "promptFeedback", "error"].iter().any(|field| chunk.get(field).is_some()))
        {
            return Err(self.origin.protocol("JSON came that is no answer"));
        }
        for chunk in chunks {
            self.chunk(chunk, events)?;
        }
        self.end(events)
    }

    fn done(&mut self, events: &mut Vec<StreamEvent>) {
        if self.ended {
            return;
        }
        self.close(events);
        self.ended = true;
        // No text may follow calls.
        if self.calls == 0 {
            let links = self.sources.as_ref().and_then(Sources::text);
            events.extend(links.map(StreamEvent::TextDelta));
        }
        let stop = self.stop.take().unwrap_or(StopReason::Missing);
        let stop = if stop == StopReason::EndTurn && self.calls > 0 { StopReason::ToolUse } else { stop };
        events.push(StreamEvent::Done(stop));
    }

    fn progress(&self) -> Progress {
        Progress::of(self.ended, self.stop.is_some())
    }

    fn origin(&self) -> &Origin {
        &self.origin
    }
}
