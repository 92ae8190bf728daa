//! The lines of Ollama's chat as [`StreamEvent`]s. Pure.

use serde_json::{Map, Value};

use crate::conversation::{StopReason, StreamEvent, Usage};
use crate::provider::error::ProviderError;
use crate::provider::framing::{Decoder, NdjsonParser, Progress};
use crate::provider::http::Origin;

/// Reads one answer. A server that does not stream sends one line that is also the last.
pub(crate) struct OllamaDecoder {
    origin: Origin,
    parser: NdjsonParser,
    calls: usize,
    ended: bool,
}

impl OllamaDecoder {
    pub(crate) const fn new(origin: Origin) -> Self {
        Self { origin, parser: NdjsonParser::new(), calls: 0, ended: false }
    }

    fn line(&mut self, line: &str, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        if self.ended {
            return Ok(());
        }
        // Proxies that imitate Ollama have been seen to frame its lines as events.
        let line = line.strip_prefix("data:").unwrap_or(line).trim();
        let Ok(value) = serde_json::from_str::<Value>(line) else {
            let page = line.starts_with('<');
            let cause =
                if page { "an HTML page came instead of an answer" } else { "a line of the stream is not JSON" };
            return Err(self.origin.protocol(cause));
        };
        if value.get("error").is_some_and(|error| !error.is_null()) {
            return Err(self.origin.stream_error(&value));
        }
        self.message(value.get("message").unwrap_or(&Value::Null), events);
        let count = |name: &str| value.get(name).and_then(Value::as_u64).unwrap_or(0);
        if value.get("done").and_then(Value::as_bool) == Some(true) {
            self.ended = true;
            events.push(StreamEvent::Usage(Usage {
                input: count("prompt_eval_count"),
                output: count("eval_count"),
                ..Usage::default()
            }));
            let word = value.get("done_reason").and_then(Value::as_str).unwrap_or_default();
            events.push(StreamEvent::Done(StopReason::parse(word)));
        }
        Ok(())
    }

    fn message(&mut self, message: &Value, events: &mut Vec<StreamEvent>) {
        let text = |field: &str| message.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
        if let Some(thinking) = text("thinking").or_else(|| text("reasoning_content")) {
            events.push(StreamEvent::ReasoningDelta(thinking.to_owned()));
        }
        if let Some(content) = text("content") {
            events.push(StreamEvent::TextDelta(content.to_owned()));
        }
        // Each entry is a whole call; `index` may be 0 for all of them and says nothing.
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let function = call.get("function").unwrap_or(&Value::Null);
            let Some(name) = function.get("name").and_then(Value::as_str).filter(|name| !name.is_empty()) else {
                continue;
            };
            let slot = self.calls;
            self.calls += 1;
            // Without an id the builder makes one from the call's place, the same at every replay.
            let id = call.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
            events.push(StreamEvent::ToolCallStart { slot, id, name: name.to_owned(), extra: Map::new() });
            let arguments = match function.get("arguments") {
                Some(Value::String(text)) => text.clone(),
                None | Some(Value::Null) => String::new(),
                Some(value) => value.to_string(),
            };
            if !arguments.is_empty() {
                events.push(StreamEvent::ToolCallDelta { slot, arguments });
            }
        }
    }
}

impl Decoder for OllamaDecoder {
    fn push(&mut self, bytes: &[u8], events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        let lines = match self.parser.push(bytes) {
            Ok(lines) => lines,
            Err(error) => return Err(self.origin.protocol(error.to_string())),
        };
        for line in lines {
            self.line(&line, events)?;
        }
        Ok(())
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        if let Some(line) = self.parser.finish() {
            match self.line(&line, events) {
                // Half a line is a cut connection, unless it is a page.
                Err(ProviderError::Protocol { .. }) if !line.starts_with('<') => {}
                other => other?,
            }
        }
        if self.ended { Ok(()) } else { Err(self.origin.broken("the answer ended before its end mark")) }
    }

    fn progress(&self) -> Progress {
        if self.ended { Progress::Ended } else { Progress::Open }
    }
}
