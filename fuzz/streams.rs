//! Arbitrary bytes in two pieces through the parsers of the wires: no panic, and the same events as in one piece.
//!
//! `bash fuzz/run 600 streams`, or with a nightly compiler `cargo fuzz run streams`.
#![no_main]

use axi::provider::NdjsonParser;
use axi::sse::SseParser;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&cut, data)) = data.split_first() else { return };
    let cut = usize::from(cut).min(data.len());
    let (before, after) = data.split_at(cut);
    let sse = |pieces: &[&[u8]]| {
        let mut parser = SseParser::new();
        let mut events = Vec::new();
        for piece in pieces {
            events.extend(parser.push(piece).unwrap_or_default());
        }
        events.extend(parser.finish());
        events
    };
    assert_eq!(sse(&[before, after]), sse(&[data]));
    let lines = |pieces: &[&[u8]]| {
        let mut parser = NdjsonParser::new();
        let mut lines = Vec::new();
        for piece in pieces {
            lines.extend(parser.push(piece).unwrap_or_default());
        }
        lines.extend(parser.finish());
        lines
    };
    assert_eq!(lines(&[before, after]), lines(&[data]));
});
