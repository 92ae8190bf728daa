//! From bytes to events: how a body is cut into values, cut anywhere itself. Knows no protocol.

mod decode;
mod event_stream;
mod machine;
mod ndjson;
#[cfg(test)]
mod pieces;
mod sse;
mod values;

pub use decode::{Decoder, Progress};
pub(crate) use event_stream::EventStreamDecoder;
pub(crate) use machine::{Machine, SseDecoder};
pub use ndjson::NdjsonParser;
pub use sse::{MAX_EVENT_BYTES, SseEvent, SseParser, TooLong};
pub(crate) use values::{ValueReader, count};
