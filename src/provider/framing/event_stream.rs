//! Amazon's event stream, cut anywhere: bytes in, whole frames out. Pure; knows no provider.
//!
//! A frame (<https://docs.aws.amazon.com/transcribe/latest/dg/event-stream.html>): its length and that of its headers, 4
//! bytes each, big-endian; the CRC-32 of those eight; headers; payload; the CRC-32 of all before. A header: the length of its
//! name, 1 byte, the name, its type, 1 byte, and a value whose length depends on the type.

use serde_json::{Value, json};

use super::decode::{Decoder, Progress};
use super::machine::Machine;
use crate::conversation::StreamEvent;
use crate::provider::error::ProviderError;
use crate::sse::MAX_EVENT_BYTES;

/// Bytes before the headers, and the sum at the end.
const PRELUDE: usize = 12;
const SUM: usize = 4;

/// Why bytes are no frame; nothing more can be read from this stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoFrame {
    /// The frame claims a length that no frame has.
    #[error("a frame of the event stream has an impossible length")]
    Length,
    /// The bytes are not those that were sent.
    #[error("a frame of the event stream does not fit its checksum")]
    Checksum,
    /// The headers are cut, or have an unknown type.
    #[error("the headers of a frame of the event stream are damaged")]
    Headers,
}

/// One frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    /// `event`, `exception` or `error`.
    pub(crate) kind: String,
    /// What the event or the exception is called.
    pub(crate) name: String,
    /// JSON, as a rule.
    pub(crate) payload: Vec<u8>,
}

/// Cuts bytes into frames. Give it the bytes of a response in order, in pieces of any size.
#[derive(Debug, Default)]
pub(crate) struct FrameParser {
    bytes: Vec<u8>,
}

impl FrameParser {
    /// Takes the next bytes and appends the frames they complete; on an error those before it have been appended.
    ///
    /// # Errors
    /// [`NoFrame`].
    pub(crate) fn push(&mut self, bytes: &[u8], frames: &mut Vec<Frame>) -> Result<(), NoFrame> {
        self.bytes.extend_from_slice(bytes);
        let mut begin = 0;
        let outcome = loop {
            match first(&self.bytes[begin..]) {
                Ok(Some((frame, length))) => {
                    begin += length;
                    frames.push(frame);
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        self.bytes.drain(..begin);
        outcome
    }

    /// Tells whether a frame has begun and not ended.
    pub(crate) fn is_within(&self) -> bool {
        !self.bytes.is_empty()
    }
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..)?.first_chunk::<4>()?;
    usize::try_from(u32::from_be_bytes(*four)).ok()
}

fn fits(bytes: &[u8], at: usize) -> bool {
    number(bytes, at) == usize::try_from(crc32fast::hash(&bytes[..at])).ok()
}

/// Reads the first frame and how many bytes it has; none where it is not whole yet.
fn first(bytes: &[u8]) -> Result<Option<(Frame, usize)>, NoFrame> {
    let (Some(length), Some(headers)) = (number(bytes, 0), number(bytes, 4)) else { return Ok(None) };
    if bytes.len() < PRELUDE {
        return Ok(None);
    }
    // Checked first: axi would wait in vain for the bytes of a damaged length.
    if !fits(&bytes[..PRELUDE], 8) {
        return Err(NoFrame::Checksum);
    }
    if length > MAX_EVENT_BYTES || headers > length || length - headers < PRELUDE + SUM {
        return Err(NoFrame::Length);
    }
    let Some(frame) = bytes.get(..length) else { return Ok(None) };
    if !fits(frame, length - SUM) {
        return Err(NoFrame::Checksum);
    }
    let (kind, name) = names(&frame[PRELUDE..PRELUDE + headers]).ok_or(NoFrame::Headers)?;
    let payload = frame[PRELUDE + headers..length - SUM].to_vec();
    Ok(Some((Frame { kind, name, payload }, length)))
}

/// What the headers say the frame is.
fn names(mut headers: &[u8]) -> Option<(String, String)> {
    let (mut kind, mut name) = (String::new(), String::new());
    while let Some((length, rest)) = headers.split_first() {
        let (key, rest) = rest.split_at_checked(usize::from(*length))?;
        let (of, rest) = rest.split_first()?;
        let (size, rest) = match of {
            // True and false.
            0 | 1 => (0, rest),
            2 => (1, rest),
            3 => (2, rest),
            4 => (4, rest),
            // A number of eight bytes, and a time.
            5 | 8 => (8, rest),
            // Bytes and text begin with their length.
            6 | 7 => {
                let (size, rest) = rest.split_first_chunk::<2>()?;
                (usize::from(u16::from_be_bytes(*size)), rest)
            }
            // A UUID.
            9 => (16, rest),
            _ => return None,
        };
        let (value, rest) = rest.split_at_checked(size)?;
        let value = || String::from_utf8_lossy(value).into_owned();
        match key {
            b":message-type" => kind = value(),
            b":event-type" | b":exception-type" | b":error-code" => name = value(),
            _ => {}
        }
        headers = rest;
    }
    Some((kind, name))
}

/// Feeds a machine from frames; JSON without any frame, from a proxy say, is a whole message.
pub(crate) struct EventStreamDecoder<M> {
    machine: M,
    parser: FrameParser,
    /// What came, where it is no frame.
    whole: Vec<u8>,
    began: bool,
}

impl<M: Machine> EventStreamDecoder<M> {
    pub(crate) fn new(machine: M) -> Self {
        Self { machine, parser: FrameParser::default(), whole: Vec::new(), began: false }
    }

    fn frame(&mut self, frame: &Frame, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        if frame.kind == "exception" || frame.kind == "error" {
            // An answer whose model has stopped stands, whatever follows.
            if self.machine.progress() != Progress::Open {
                return Ok(());
            }
            let mut said: Value = serde_json::from_slice(&frame.payload).unwrap_or_else(|_| json!({}));
            if let Some(said) = said.as_object_mut() {
                said.entry("type").or_insert_with(|| json!(frame.name));
            }
            return Err(self.machine.origin().stream_error(&said));
        }
        let value = serde_json::from_slice(&frame.payload);
        let value = value.map_err(|_| self.machine.origin().protocol("an event of the stream is not JSON"))?;
        self.machine.value(&frame.name, &value, events)
    }
}

impl<M: Machine> Decoder for EventStreamDecoder<M> {
    fn push(&mut self, bytes: &[u8], events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        // A first byte that is a letter or white space would mean a frame longer than the limit.
        if !self.began && bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(());
        }
        match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'<') if !self.began => {
                return Err(self.machine.origin().protocol("an HTML page came instead of an answer"));
            }
            Some(b'{') if !self.began => self.whole.push(b' '),
            _ => {}
        }
        self.began = true;
        if !self.whole.is_empty() {
            self.whole.extend_from_slice(bytes);
            if self.whole.len() > MAX_EVENT_BYTES {
                return Err(self.machine.origin().protocol("the answer is too large"));
            }
            return Ok(());
        }
        let mut frames = Vec::new();
        let parsed = self.parser.push(bytes, &mut frames);
        for frame in &frames {
            if self.machine.progress() == Progress::Ended {
                return Ok(());
            }
            self.frame(frame, events)?;
        }
        parsed.map_err(|error| self.machine.origin().protocol(error.to_string()))
    }

    fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        if self.machine.progress() == Progress::Ended {
            return Ok(());
        }
        if !self.whole.is_empty() {
            let message = serde_json::from_slice(&self.whole);
            let message = message.map_err(|_| self.machine.origin().broken("the answer ended in its middle"))?;
            return self.machine.whole(&message, events);
        }
        if self.parser.is_within() && self.machine.progress() == Progress::Open {
            return Err(self.machine.origin().broken("the answer ended in the middle of a frame"));
        }
        self.machine.end(events)
    }

    fn progress(&self) -> Progress {
        self.machine.progress()
    }
}

#[cfg(test)]
#[path = "event_stream_tests.rs"]
mod tests;
