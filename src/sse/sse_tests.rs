use proptest::prelude::*;

use super::pieces::cut;
use super::*;

fn parse_pieces(pieces: &[&[u8]]) -> Vec<SseEvent> {
    let mut parser = SseParser::new();
    let mut events = Vec::new();
    for piece in pieces {
        events.extend(parser.push(piece).unwrap());
    }
    events.extend(parser.finish());
    events
}

fn event(name: &str, data: &str) -> SseEvent {
    SseEvent { name: name.into(), data: data.into() }
}

#[test]
fn events_comments_names_and_joined_data() {
    let text = "\u{feff}: keep-alive\n\ndata: one\n\nevent: ping\ndata:two\ndata:  three\nid: 7\nretry: 5\n\n\
                event: dropped\n\ndata\n\n";
    assert_eq!(
        parse_pieces(&[text.as_bytes()]),
        vec![event("", "one"), event("ping", "two\n three"), event("", "")]
    );
}

#[test]
fn all_line_ends_mean_the_same() {
    for end in ["\n", "\r", "\r\n"] {
        let text = format!("event: a{end}data: 1{end}data: 2{end}{end}data: 3{end}{end}");
        assert_eq!(parse_pieces(&[text.as_bytes()]), vec![event("a", "1\n2"), event("", "3")], "{end:?}");
    }
}

#[test]
fn a_line_end_split_between_chunks_is_one() {
    assert_eq!(parse_pieces(&[b"data: 1\r", b"\ndata: 2\r", b"\n\r", b"\n"]), vec![event("", "1\n2")]);
}

#[test]
fn a_missing_blank_line_at_the_end_loses_nothing() {
    assert_eq!(parse_pieces(&[b"data: 1\n\ndata: [DONE]"]), vec![event("", "1"), event("", "[DONE]")]);
}

#[test]
fn invalid_utf8_is_replaced_in_its_event_only() {
    let events = parse_pieces(&[b"data: a\xff\xc3", b"\n\ndata: \xc3", b"\xa9\n\n"]);
    assert_eq!(events, vec![event("", "a\u{fffd}\u{fffd}"), event("", "é")]);
}

#[test]
fn bare_json_and_error_fields_are_heard() {
    let events = parse_pieces(&[b"data: 1\n\n{\"error\":\"x\"}\n\nerror: {\"code\":500}\n\n"]);
    assert_eq!(events, vec![event("", "1"), event("", "{\"error\":\"x\"}"), event("error", "{\"code\":500}")]);
}

#[test]
fn one_newline_between_events_is_enough_and_one_object_over_several_lines_stays_whole() {
    let text = "data: {\"a\":1}\ndata: {\"b\":2}\nevent: x\ndata: {\"c\":3}\ndata: [DONE]\n";
    let expected =
        vec![event("", "{\"a\":1}"), event("", "{\"b\":2}"), event("x", "{\"c\":3}"), event("", "[DONE]")];
    assert_eq!(parse_pieces(&[text.as_bytes()]), expected);
    let over_lines = "data: {\ndata: \"a\": {}\ndata: }\n\n";
    assert_eq!(parse_pieces(&[over_lines.as_bytes()]), vec![event("", "{\n\"a\": {}\n}")]);
}

#[test]
fn an_id_counts_once_its_event_is_whole_and_outlives_the_stream() {
    let mut parser = SseParser::new();
    let seen = |parser: &SseParser| (parser.last_id().map(str::to_owned), parser.retry());
    parser.push(b"retry: 20\nid: 7\ndata: a\n\nid: 8\ndata: half").unwrap();
    assert_eq!(seen(&parser), (Some("7".into()), Some(Duration::from_millis(20))));
    parser.begin_again();
    assert_eq!(parser.push(b"data: whole\nretry: soon\n\n").unwrap(), [event("", "whole")]);
    assert_eq!(seen(&parser), (Some("7".into()), Some(Duration::from_millis(20))));
    parser.push(b"id\0: 9\nid: 9\0\ndata: b\n\n").unwrap();
    assert_eq!(parser.last_id(), Some("7"));
    parser.push(b"id:\n\n").unwrap();
    assert_eq!(parser.last_id(), None);
}

#[test]
fn a_stream_that_breaks_off_anywhere_is_taken_up_behind_its_last_whole_event() {
    let event = |number: usize| format!("id: {number}\r\ndata: {{\"n\":\ndata: {number}}}\r\n\r\n");
    let whole: String = (0..4).map(event).collect();
    let all: Vec<SseEvent> = (0..4).map(|number| self::event("", &format!("{{\"n\":\n{number}}}"))).collect();
    for at in 0..=whole.len() {
        let mut parser = SseParser::new();
        let mut found = parser.push(&whole.as_bytes()[..at]).unwrap();
        parser.begin_again();
        // The server begins behind the event that it is told.
        let next = parser.last_id().map_or(0, |last| last.parse::<usize>().unwrap() + 1);
        let rest: String = (next..4).map(event).collect();
        found.extend(parser.push(rest.as_bytes()).unwrap());
        assert_eq!(found, all, "{at}");
    }
}

#[test]
fn an_event_without_end_is_refused_at_the_limit() {
    let mut parser = SseParser::with_limit(64);
    assert_eq!(parser.push(&[b'x'; 65]), Err(TooLong { limit: 64 }));
    let mut parser = SseParser::with_limit(64);
    let lines = b"data: 0123456789\n".repeat(7);
    assert_eq!(parser.push(&lines), Err(TooLong { limit: 64 }));
    let mut parser = SseParser::with_limit(64);
    let many = b"data: 0123456789\n\n".repeat(100);
    assert_eq!(parser.push(&many).map(|events| events.len()), Ok(100));
}

proptest! {
    #[test]
    fn any_cutting_gives_the_same_events(
        lines in prop::collection::vec("(data|event|id|error|:|\u{feff}|\\{)?:? ?[a-zé\u{1F600} ]{0,6}(\r|\n|\r\n|\n\n|\r\n\r\n)", 0..12),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let text = lines.concat();
        prop_assert_eq!(parse_pieces(&cut(text.as_bytes(), &places)), parse_pieces(&[text.as_bytes()]));
    }

    #[test]
    fn any_bytes_cut_anyhow_never_panic_and_never_differ(
        bytes in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b':'), Just(b'd'), any::<u8>()], 0..80),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        prop_assert_eq!(parse_pieces(&cut(&bytes, &places)), parse_pieces(&[&bytes]));
    }
}
