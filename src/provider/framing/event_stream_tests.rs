use proptest::prelude::*;

use super::*;
use crate::sse::pieces::cut;

fn header(name: &str, kind: u8, value: &[u8]) -> Vec<u8> {
    let mut header = vec![u8::try_from(name.len()).unwrap()];
    header.extend(name.bytes());
    header.push(kind);
    if matches!(kind, 6 | 7) {
        header.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
    }
    header.extend(value);
    header
}

/// A frame as Amazon's documentation draws it.
fn frame(headers: &[u8], payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(PRELUDE + headers.len() + payload.len() + SUM).unwrap();
    let mut bytes = [length.to_be_bytes(), u32::try_from(headers.len()).unwrap().to_be_bytes()].concat();
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    bytes.extend(headers);
    bytes.extend(payload);
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    bytes
}

fn event(name: &str, payload: &str) -> Vec<u8> {
    let headers = [
        header(":event-type", 7, name.as_bytes()),
        header(":content-type", 7, b"application/json"),
        header(":message-type", 7, b"event"),
    ];
    frame(&headers.concat(), payload.as_bytes())
}

fn parse(pieces: &[&[u8]]) -> (Vec<Frame>, Result<(), NoFrame>) {
    let (mut parser, mut frames) = (FrameParser::default(), Vec::new());
    for piece in pieces {
        if let Err(error) = parser.push(piece, &mut frames) {
            return (frames, Err(error));
        }
    }
    (frames, Ok(()))
}

fn made(name: &str, payload: &str) -> Frame {
    Frame { kind: "event".into(), name: name.into(), payload: payload.into() }
}

#[test]
fn the_empty_frame_of_the_documentation_is_read() {
    // The test vector `empty_message` of Amazon's own clients: no headers, no payload.
    let bytes = [0, 0, 0, 0x10, 0, 0, 0, 0, 0x05, 0xc2, 0x48, 0xeb, 0x7d, 0x98, 0xc8, 0xff];
    assert_eq!(frame(&[], &[]), bytes);
    assert_eq!(parse(&[&bytes]), (vec![Frame::default()], Ok(())));
}

#[test]
fn headers_of_every_type_are_passed_over() {
    let headers = [
        header("true", 0, &[]),
        header("false", 1, &[]),
        header("byte", 2, &[1]),
        header("short", 3, &[1; 2]),
        header("integer", 4, &[1; 4]),
        header("long", 5, &[1; 8]),
        header("bytes", 6, b"any"),
        header("time", 8, &[1; 8]),
        header("uuid", 9, &[1; 16]),
        header(":message-type", 7, b"event"),
        header(":event-type", 7, "é".as_bytes()),
    ];
    assert_eq!(parse(&[&frame(&headers.concat(), b"{}")]).0, vec![made("é", "{}")]);
    assert_eq!(parse(&[&frame(&header("strange", 10, &[]), b"")]).1, Err(NoFrame::Headers));
    assert_eq!(parse(&[&frame(&header("cut", 7, b"value")[..6], b"")]).1, Err(NoFrame::Headers));
}

#[test]
fn a_byte_that_came_damaged_is_noticed_wherever_it_stands() {
    let bytes = [event("a", "{\"x\":1}"), event("b", "{}")].concat();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        let (frames, outcome) = parse(&[&damaged]);
        assert_eq!(outcome, Err(NoFrame::Checksum), "byte {at}");
        assert!(frames.len() < 2, "byte {at}");
    }
}

#[test]
fn lengths_that_cannot_be_are_refused_before_anything_is_waited_for() {
    for (length, headers) in [(u32::MAX, 0), (15, 0), (0, 0), (20, 5), (16, 17)] {
        let mut bytes = [length.to_be_bytes(), u32::to_be_bytes(headers)].concat();
        bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
        assert_eq!(parse(&[&bytes]).1, Err(NoFrame::Length), "{length} {headers}");
    }
}

proptest! {
    #[test]
    fn any_cutting_gives_the_same_frames(
        events in prop::collection::vec(("[a-z]{0,6}", "[a-zé{}]{0,40}"), 0..6),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let bytes: Vec<u8> = events.iter().flat_map(|(name, payload)| event(name, payload)).collect();
        let expected: Vec<Frame> = events.iter().map(|(name, payload)| made(name, payload)).collect();
        prop_assert_eq!(parse(&cut(&bytes, &places)), (expected, Ok(())));
    }

    #[test]
    fn any_bytes_cut_anyhow_never_panic_and_never_differ(
        bytes in prop::collection::vec(prop_oneof![Just(0), Just(16), any::<u8>()], 0..60),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        prop_assert_eq!(parse(&cut(&bytes, &places)), parse(&[&bytes]));
    }
}
