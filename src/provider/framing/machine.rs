//! What came with HTTP 200: an event stream, one whole JSON message, or something else altogether. Pure.

use serde::de::IgnoredAny;
use serde_json::Value;

use super::decode::{Decoder, Progress};
use super::values::{NoJson, ValueReader};
use crate::conversation::StreamEvent;
use crate::provider::error::ProviderError;
use crate::provider::http::Origin;
use crate::sse::{MAX_EVENT_BYTES, SseEvent, SseParser};

/// The state machine of a protocol that streams JSON values.
pub(crate) trait Machine: Send {
    /// What a whole answer ends with.
    const END: &'static str = "its end mark";

    /// Takes one value of the stream. `name` is what its frame says it is; empty when it says nothing.
    fn value(&mut self, name: &str, value: &Value, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError>;

    /// Takes an event that has words of the answer and nothing else, without making a [`Value`] of it: nearly all are so.
    /// False, with nothing done, for any other; [`Machine::value`] says the same of each that is taken here.
    fn words(&mut self, _data: &str, _events: &mut Vec<StreamEvent>) -> bool {
        false
    }

    /// The server has said that the stream ends here (`[DONE]`).
    fn end_mark(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError>;

    /// Takes a whole message from a server that does not stream.
    fn whole(&mut self, message: &Value, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError>;

    /// Gives out what is left and `Done`, once.
    fn done(&mut self, events: &mut Vec<StreamEvent>);

    /// Gives out what was held back of an answer that is not whole.
    fn broken(&mut self, _events: &mut Vec<StreamEvent>) {}

    /// The bytes have ended: gives out `Done` if the answer is whole, else what was held back, and `Broken`.
    fn end(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        if self.progress() == Progress::Open {
            self.broken(events);
            return Err(self.origin().broken(&format!("the answer ended before {}", Self::END)));
        }
        self.done(events);
        Ok(())
    }

    /// Tells how far the answer has come.
    fn progress(&self) -> Progress;

    /// Names whom errors are about.
    fn origin(&self) -> &Origin;
}

/// Feeds a machine from the bytes of server-sent events.
pub(crate) struct SseDecoder<M> {
    machine: M,
    values: ValueReader,
    body: Body,
    /// The path of each value in what comes, where a gateway wraps it.
    answer: Option<String>,
}

/// Takes an answer out of its envelope; a value without that path, such as an error, stays as it is.
fn unwrapped<'a>(answer: &str, value: &'a Value) -> &'a Value {
    answer.split('.').try_fold(value, |value, name| value.get(name)).unwrap_or(value)
}

enum Body {
    /// Only white space so far.
    Unknown,
    Events(SseParser),
    Whole(Vec<u8>),
}

impl<M: Machine> SseDecoder<M> {
    pub(crate) fn new(machine: M) -> Self {
        Self { machine, values: ValueReader::default(), body: Body::Unknown, answer: None }
    }

    /// Takes each value from this path, see [`crate::provider::Envelope`].
    pub(crate) fn within(self, answer: Option<String>) -> Self {
        Self { answer, ..self }
    }

    /// Reads the values of an event; a string at the path of an answer is itself JSON.
    fn read(&mut self, data: &str) -> Result<Vec<Value>, NoJson> {
        let values = self.values.read(data)?;
        let Some(answer) = &self.answer else { return Ok(values) };
        let mut inner = Vec::new();
        for value in values {
            match unwrapped(answer, &value) {
                Value::String(text) => inner.extend(self.values.read(text)?),
                other => inner.push(other.clone()),
            }
        }
        Ok(inner)
    }

    /// Tells whether what is wrapped in an event is the mark of the end.
    fn is_end_mark(&self, data: &str) -> bool {
        let wrapped = |answer: &str| {
            let value = serde_json::from_str(data).unwrap_or(Value::Null);
            unwrapped(answer, &value).as_str().is_some_and(|text| text.trim() == "[DONE]")
        };
        data == "[DONE]" || self.answer.as_deref().is_some_and(wrapped)
    }

    /// The first character tells: a stream begins with a field or a comment.
    fn recognise(&mut self, bytes: &[u8]) -> Result<(), ProviderError> {
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        self.body = match first {
            None => Body::Unknown,
            Some(b'<') => {
                return Err(self.machine.origin().protocol("an HTML page came instead of an answer"));
            }
            Some(b'{' | b'[') => Body::Whole(Vec::new()),
            Some(_) => Body::Events(SseParser::new()),
        };
        Ok(())
    }

    fn event(&mut self, event: &SseEvent, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        let data = event.data.trim();
        if data.is_empty() {
            return Ok(());
        }
        if self.is_end_mark(data) {
            return self.machine.end_mark(events);
        }
        // An answer whose model has stopped stands, whatever follows.
        let is_error = event.name == "error" && self.machine.progress() == Progress::Open;
        let is_plain = !is_error && self.answer.is_none() && self.machine.progress() != Progress::Ended;
        if is_plain && self.machine.words(data, events) {
            self.values.forget();
            return Ok(());
        }
        let Ok(values) = self.read(data) else {
            let origin = self.machine.origin();
            return Err(if is_error {
                origin.stream_error(&Value::String(data.to_owned()))
            } else {
                origin.protocol("an event of the stream is not JSON")
            });
        };
        for value in values {
            if is_error {
                return Err(self.machine.origin().stream_error(&value));
            }
            if self.machine.progress() == Progress::Ended {
                break;
            }
            self.machine.value(&event.name, &value, events)?;
        }
        Ok(())
    }
}

impl<M: Machine> Decoder for SseDecoder<M> {
    fn push(&mut self, bytes: &[u8], events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        if matches!(self.body, Body::Unknown) {
            self.recognise(bytes)?;
        }
        let parsed = match &mut self.body {
            Body::Unknown => return Ok(()),
            Body::Whole(whole) => {
                whole.extend_from_slice(bytes);
                if whole.len() > MAX_EVENT_BYTES {
                    return Err(self.machine.origin().protocol("the answer is too large"));
                }
                return Ok(());
            }
            Body::Events(parser) => parser.push(bytes),
        };
        let parsed = parsed.map_err(|error| self.machine.origin().protocol(error.to_string()))?;
        for event in &parsed {
            if self.machine.progress() == Progress::Ended {
                break;
            }
            self.event(event, events)?;
        }
        Ok(())
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        match &mut self.body {
            Body::Unknown => {}
            Body::Whole(whole) => {
                let text = String::from_utf8_lossy(whole).into_owned();
                let values = self.read(&text);
                let Ok([message]) = values.as_deref() else {
                    let origin = self.machine.origin();
                    let is_cut = serde_json::from_str::<IgnoredAny>(&text).is_err_and(|error| error.is_eof());
                    return Err(if is_cut {
                        origin.broken("the answer ended in its middle")
                    } else {
                        origin.protocol("the answer is not JSON")
                    });
                };
                self.machine.whole(message, events)?;
            }
            Body::Events(parser) => {
                let last = parser.finish();
                if let Some(event) = last.filter(|_| self.machine.progress() != Progress::Ended) {
                    match self.event(&event, events) {
                        // Half an event is a cut connection, not a broken protocol.
                        Ok(()) | Err(ProviderError::Protocol { .. }) => {}
                        Err(error) => return Err(error),
                    }
                }
            }
        }
        if self.machine.progress() == Progress::Ended { Ok(()) } else { self.machine.end(events) }
    }

    fn progress(&self) -> Progress {
        self.machine.progress()
    }
}
