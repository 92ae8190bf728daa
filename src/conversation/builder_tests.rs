use serde_json::json;

use super::*;

fn fold(events: &[StreamEvent]) -> MessageBuilder {
    let mut builder = MessageBuilder::new("lab/model");
    for event in events {
        builder.push(event);
    }
    builder
}

fn start(slot: usize, id: &str) -> StreamEvent {
    StreamEvent::ToolCallStart { slot, id: id.into(), name: "read".into(), extra: Map::new() }
}

fn arguments(slot: usize, text: &str) -> StreamEvent {
    StreamEvent::ToolCallDelta { slot, arguments: text.into() }
}

fn calls(finished: &Finished) -> Vec<ToolCall> {
    finished.message.iter().flat_map(Message::calls).cloned().collect()
}

#[test]
fn interleaved_calls_are_told_apart_by_their_slot() {
    let finished = fold(&[
        start(0, "a"),
        start(1, "b"),
        arguments(0, "{\"path\":"),
        arguments(1, "{\"path\":\"y\"}"),
        arguments(0, "\"x\"}"),
    ])
    .finish();
    let inputs: Vec<Value> = calls(&finished).into_iter().map(|call| call.input).collect();
    assert_eq!(inputs, vec![json!({"path": "x"}), json!({"path": "y"})]);
}

#[test]
fn arguments_are_kept_as_written_where_writing_them_anew_differs() {
    let finished =
        fold(&[start(0, "a"), arguments(0, "{\"n\": 1e2}"), start(1, "b"), arguments(1, "{\"n\":1}")]).finish();
    let kept: Vec<(String, String)> =
        calls(&finished).into_iter().map(|call| (call.arguments, call.model)).collect();
    assert_eq!(
        kept,
        [("{\"n\": 1e2}".to_owned(), "lab/model".to_owned()), (String::new(), "lab/model".to_owned())]
    );
}

#[test]
fn blank_arguments_are_an_empty_object() {
    let finished = fold(&[start(0, "a"), arguments(0, "")]).finish();
    assert_eq!(calls(&finished)[0].input, json!({}));
    assert_eq!(calls(&finished)[0].invalid_input, None);
}

#[test]
fn a_call_cut_by_length_is_kept_but_not_executable() {
    let finished = fold(&[
        start(0, "a"),
        arguments(0, "{\"path\":\"x\"}"),
        start(1, "b"),
        arguments(1, "{\"path\":\"y"),
        StreamEvent::Done(StopReason::Length),
    ])
    .finish();
    let calls = calls(&finished);
    assert_eq!(calls[0].invalid_input, None);
    assert_eq!(calls[1].invalid_input, Some("{\"path\":\"y".into()));
    assert_eq!(calls[1].input, json!({}));
}

#[test]
fn repeated_and_missing_ids_become_unique() {
    let finished = fold(&[start(0, "a"), start(1, "a"), start(2, "")]).finish();
    let ids: Vec<String> = calls(&finished).into_iter().map(|call| call.id).collect();
    assert_eq!(ids, vec!["a", "a_1", "call_2"]);
}

#[test]
fn a_stream_cut_in_the_middle_keeps_its_text_and_drops_its_calls() {
    let finished =
        fold(&[StreamEvent::TextDelta("half an ans".into()), start(0, "a"), arguments(0, "{\"pa")]).finish_early();
    assert_eq!(finished.message, Some(Message::assistant("half an ans")));
}

#[test]
fn a_signature_closes_its_reasoning_block_and_may_stand_alone() {
    let finished = fold(&[
        StreamEvent::ReasoningDelta("one".into()),
        StreamEvent::ReasoningSignature("s1".into()),
        StreamEvent::ReasoningSignature("s2".into()),
        StreamEvent::ReasoningDelta("two".into()),
        StreamEvent::TextDelta("done".into()),
    ])
    .finish();
    let blocks: Vec<(String, Option<String>)> = finished
        .message
        .expect("a message")
        .content
        .into_iter()
        .filter_map(|block| match block {
            ContentBlock::Reasoning(reasoning) => Some((reasoning.text, reasoning.signature)),
            _ => None,
        })
        .collect();
    let expected = [("one", Some("s1")), ("", Some("s2")), ("two", None)];
    let expected: Vec<(String, Option<String>)> =
        expected.map(|(text, signature)| (text.to_owned(), signature.map(str::to_owned))).to_vec();
    assert_eq!(blocks, expected);
}
