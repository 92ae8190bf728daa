//! From bytes to values: cuts a body into events, lines or frames, wherever the network cut it. Knows no protocol.

mod decode;
mod event_stream;
mod machine;
mod ndjson;
mod values;

pub use decode::{Decoder, Progress};
pub(crate) use event_stream::EventStreamDecoder;
pub(crate) use machine::{Machine, SseDecoder};
pub use ndjson::NdjsonParser;
pub(crate) use values::{ValueReader, count};
