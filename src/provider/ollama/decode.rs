//! The lines of Ollama's chat as [`StreamEvent`]s. Pure.

use serde_json::{Map, Value};

use crate::conversation::{StopReason, StreamEvent, ToolSpec, Usage};
use crate::provider::error::ProviderError;
use crate::provider::framing::{Decoder, NdjsonParser, Progress, ValueReader, count};
use crate::provider::http::Origin;
use crate::provider::inline::{InlineReader, Piece};

/// Reads one answer. A server that does not stream sends one line that is also the last.
pub(crate) struct OllamaDecoder<'a> {
    origin: Origin,
    parser: NdjsonParser,
    values: ValueReader,
    inline: InlineReader<'a>,
    calls: usize,
    ended: bool,
}

impl<'a> OllamaDecoder<'a> {
    /// Makes a reader of an answer to a request that offered `tools`.
    pub(crate) fn new(origin: Origin, tools: &'a [ToolSpec]) -> Self {
        let inline = InlineReader::new(&origin.model, tools);
        Self { origin, parser: NdjsonParser::new(), values: ValueReader::default(), inline, calls: 0, ended: false }
    }

    fn line(&mut self, line: &str, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        // Proxies that imitate Ollama have been seen to frame its lines as events.
        let line = line.strip_prefix("data:").unwrap_or(line).trim();
        let Ok(values) = self.values.read(line) else {
            let page = line.starts_with('<');
            let cause =
                if page { "an HTML page came instead of an answer" } else { "a line of the stream is not JSON" };
            return Err(self.origin.protocol(cause));
        };
        for value in values {
            if !self.ended {
                self.value(&value, events)?;
            }
        }
        Ok(())
    }

    fn value(&mut self, value: &Value, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        if value.get("error").is_some_and(|error| !error.is_null()) {
            return Err(self.origin.stream_error(value));
        }
        self.message(value.get("message").unwrap_or(&Value::Null), events);
        if value.get("done").and_then(Value::as_bool) != Some(true) {
            return Ok(());
        }
        let number = |name: &str| value.get(name).and_then(count).unwrap_or(0);
        let usage = Usage { input: number("prompt_eval_count"), output: number("eval_count"), ..Usage::default() };
        events.push(StreamEvent::Usage(usage));
        let word = value.get("done_reason").and_then(Value::as_str).unwrap_or_default();
        let stop = self.origin.stop(word)?;
        let mut pieces = Vec::new();
        self.inline.finish(self.calls == 0 && stop != StopReason::Length, &mut pieces);
        self.pieces(pieces, events);
        self.ended = true;
        events.push(StreamEvent::Done(stop));
        Ok(())
    }

    fn message(&mut self, message: &Value, events: &mut Vec<StreamEvent>) {
        let text = |field: &str| message.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
        if let Some(thinking) = text("thinking").or_else(|| text("reasoning_content")) {
            events.push(StreamEvent::ReasoningDelta(thinking.to_owned()));
        }
        if let Some(content) = text("content") {
            let mut pieces = Vec::new();
            self.inline.push(content, &mut pieces);
            self.pieces(pieces, events);
        }
        // Each entry is a whole call; `index` may be 0 for all of them and says nothing.
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let function = call.get("function").unwrap_or(&Value::Null);
            let Some(name) = function.get("name").and_then(Value::as_str).filter(|name| !name.is_empty()) else {
                continue;
            };
            // Without an id the builder makes one from the call's place, the same at every replay.
            let id = call.get("id").and_then(Value::as_str).unwrap_or_default();
            let arguments = match function.get("arguments") {
                Some(Value::String(text)) => text.clone(),
                None | Some(Value::Null) => String::new(),
                Some(value) => value.to_string(),
            };
            self.call(id, name, arguments, events);
        }
    }

    fn call(&mut self, id: &str, name: &str, arguments: String, events: &mut Vec<StreamEvent>) {
        let slot = self.calls;
        self.calls += 1;
        let (id, name, extra) = (id.to_owned(), name.to_owned(), Map::new());
        events.push(StreamEvent::ToolCallStart { slot, id, name, extra });
        if !arguments.is_empty() {
            events.push(StreamEvent::ToolCallDelta { slot, arguments });
        }
    }

    fn pieces(&mut self, pieces: Vec<Piece>, events: &mut Vec<StreamEvent>) {
        for piece in pieces {
            match piece {
                Piece::Text(text) => events.push(StreamEvent::TextDelta(text)),
                Piece::Thought(text) => events.push(StreamEvent::ReasoningDelta(text)),
                Piece::Call(call) => {
                    tracing::warn!(
                        provider = self.origin.provider,
                        tool = call.name,
                        "a call leaked as text is taken"
                    );
                    self.call(&call.id, &call.name, call.arguments, events);
                }
            }
        }
    }
}

impl Decoder for OllamaDecoder<'_> {
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
        if self.ended {
            return Ok(());
        }
        let mut pieces = Vec::new();
        self.inline.finish(false, &mut pieces);
        self.pieces(pieces, events);
        Err(self.origin.broken("the answer ended before its end mark"))
    }

    fn progress(&self) -> Progress {
        if self.ended { Progress::Ended } else { Progress::Open }
    }
}
