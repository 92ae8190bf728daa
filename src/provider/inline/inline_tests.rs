use proptest::prelude::*;
use serde_json::json;

use super::piece::LeakedCall;
use super::*;
use crate::conversation::ToolIdentity;

fn tools() -> Vec<ToolSpec> {
    let schema =
        json!({"type": "object", "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}}});
    vec![ToolSpec {
        name: "read".into(),
        description: String::new(),
        input_schema: schema,
        identity: ToolIdentity::default(),
    }]
}

/// The pieces of an answer that arrives in these parts; text and thought joined.
fn pieces(model: &str, parts: &[&str]) -> Vec<Piece> {
    let tools = tools();
    let mut reader = InlineReader::new(model, &tools);
    let mut found = Vec::new();
    for part in parts {
        reader.push(part, &mut found);
    }
    reader.finish(true, &mut found);
    let mut joined: Vec<Piece> = Vec::new();
    for piece in found {
        match (joined.last_mut(), piece) {
            (Some(Piece::Text(before)), Piece::Text(more))
            | (Some(Piece::Thought(before)), Piece::Thought(more)) => {
                before.push_str(&more);
            }
            (_, piece) => joined.push(piece),
        }
    }
    joined
}

fn text(words: &str) -> Piece {
    Piece::Text(words.into())
}

fn thought(words: &str) -> Piece {
    Piece::Thought(words.into())
}

fn call(id: &str, arguments: &str) -> Piece {
    Piece::Call(LeakedCall { id: id.into(), name: "read".into(), arguments: arguments.into() })
}

/// Each of these is a call of `read`, with its id and arguments.
const DIALECTS: &[(&str, &str, &str)] = &[
    ("<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\":\"a\"}}\n</tool_call>", "", "{\"path\":\"a\"}"),
    ("<tool_call>{\"name\": \"read\", \"arguments\": \"{\\\"path\\\":1}\"}</tool_call>", "", "{\"path\":1}"),
    (
        "<tool_call>\n<function=read>\n<parameter=path>\n12\n</parameter>\n<parameter=limit>\n5\n</parameter>\n</function>\n</tool_call>",
        "",
        "{\"path\":\"12\",\"limit\":5}",
    ),
    (
        "<function=read>\n<parameter=path>\na\nb\n</parameter>\n</function>\n</tool_call>",
        "",
        "{\"path\":\"a\\nb\"}",
    ),
    (
        "<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n<arg_key>limit</arg_key>\n<arg_value>7</arg_value>\n</tool_call>",
        "",
        "{\"path\":\"a\",\"limit\":7}",
    ),
    ("<tool_call>read</tool_call>", "", "{}"),
    (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.read:3<|tool_call_argument_begin|>{\"path\": \"a\"}<|tool_call_end|><|tool_calls_section_end|>",
        "functions.read:3",
        "{\"path\": \"a\"}",
    ),
    (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read\n```json\n{\"path\":\"a\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "",
        "{\"path\":\"a\"}",
    ),
    ("<｜tool▁call▁begin｜>read<｜tool▁sep｜>{\"path\":\"a\"}<｜tool▁call▁end｜>", "", "{\"path\":\"a\"}"),
    (
        "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"read\">\n<｜DSML｜parameter name=\"path\" string=\"true\">a</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
        "",
        "{\"path\":\"a\"}",
    ),
    (
        "<minimax:tool_call>\n<invoke name=\"read\">\n<parameter name=\"path\">a</parameter>\n</invoke>\n</minimax:tool_call>",
        "",
        "{\"path\":\"a\"}",
    ),
];

#[test]
fn calls_in_every_known_markup_are_found_behind_the_words_before_them() {
    for (markup, id, arguments) in DIALECTS {
        let answer = format!("I look.\n{markup}\n");
        assert_eq!(pieces("Qwen3-Coder-30B", &[&answer]), [text("I look.\n"), call(id, arguments)], "{markup}");
    }
}

#[test]
fn an_answer_that_is_nothing_but_the_object_of_a_call_is_one() {
    let object = "{\n  \"name\": \"read\",\n  \"arguments\": {\"path\": \"a\"}\n}";
    assert_eq!(pieces("qwen", &[object]), [call("", "{\"path\":\"a\"}")]);
    let blanks = format!("\n{object}\n");
    assert_eq!(pieces("qwen", &[&blanks]), [text("\n"), call("", "{\"path\":\"a\"}")]);
    for answer in [
        format!("It is this: {object}"),
        format!("{object}\nThat is the call."),
        format!("{object}\n{object}"),
        object.replace("read", "rm"),
        object.replace("\"name\"", "\"title\""),
        object.replace('}', ", \"why\": 1}"),
        "{\"name\": \"read\"}".to_owned(),
        "{\"arguments\": {}, \"name\": \"read\"}".to_owned(),
        "{".to_owned(),
    ] {
        assert_eq!(pieces("qwen", &[&answer]), [text(&answer)], "{answer}");
    }
    assert_eq!(pieces("gpt-5", &[object]), [text(object)], "no family that leaks");
}

#[test]
fn what_a_model_quotes_or_nobody_offered_stays_text() {
    let markup = DIALECTS[0].0;
    for answer in [
        format!("```xml\n{markup}\n```\n"),
        format!("write `{markup}`"),
        markup.replace("read", "rm"),
        "<tool_call> is how Qwen calls tools.".to_owned(),
        "<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\":".to_owned(),
        "<function=read>\n<parameter=path>\na".to_owned(),
        [markup, markup, markup].join("\n"),
        "a <| b <function a < b".to_owned(),
    ] {
        assert_eq!(pieces("glm-4.6", &[&answer]), [text(&answer)], "{answer}");
    }
    assert_eq!(pieces("gpt-5", &[markup]), [text(markup)], "no family that leaks");
    let tools = tools();
    let mut reader = InlineReader::new("kimi-k2", &tools);
    let mut found = Vec::new();
    reader.push(markup, &mut found);
    reader.finish(false, &mut found);
    assert_eq!(found, [text(markup)], "the answer has proper calls, or was cut");
}

#[test]
fn thought_at_the_beginning_is_thought_and_elsewhere_a_word() {
    let cases: [(&str, Vec<Piece>); 7] = [
        ("\n<think>\nhm\n</think>\n\nyes", vec![thought("hm\n"), text("yes")]),
        ("<think></think>yes", vec![text("yes")]),
        ("<think>never closed", vec![thought("never closed")]),
        ("the <think> tag", vec![text("the <think> tag")]),
        ("<thin ice", vec![text("<thin ice")]),
        ("<think>a</thin b</think>c <think>d", vec![thought("a</thin b"), text("c <think>d")]),
        ("  ", vec![text("  ")]),
    ];
    for (answer, expected) in cases {
        assert_eq!(pieces("any", &[answer]), expected, "{answer}");
    }
}

#[test]
fn text_is_shown_as_soon_as_it_can_be_nothing_else() {
    let tools = tools();
    let mut reader = InlineReader::new("qwen3", &tools);
    let mut shown = String::new();
    for (part, expected) in
        [("Hel", "Hel"), ("lo <", "Hello "), ("b> <tool", "Hello <b> "), ("box>", "Hello <b> <toolbox>")]
    {
        let mut found = Vec::new();
        reader.push(part, &mut found);
        for piece in found {
            let Piece::Text(text) = piece else { panic!("{piece:?}") };
            shown.push_str(&text);
        }
        assert_eq!(shown, expected);
    }
}

proptest! {
    #[test]
    fn any_cutting_gives_the_same_pieces_and_loses_no_letter(
        parts in prop::collection::vec(prop_oneof![
            Just("<think>".to_owned()), Just("</think>".to_owned()), Just("```\n".to_owned()), Just("`".to_owned()),
            Just("<tool_call>".to_owned()), Just("</tool_call>".to_owned()), Just("\n".to_owned()), Just("read".to_owned()),
            Just("{\"name\": \"read\", ".to_owned()), Just("\"arguments\": {}}".to_owned()), Just("{".to_owned()),
            (0..DIALECTS.len()).prop_map(|which| DIALECTS[which].0.to_owned()), "[a-z <é]{0,6}",
        ], 0..7),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let answer = parts.concat();
        let whole = pieces("qwen", &[&answer]);
        let letters: Vec<(usize, char)> = answer.char_indices().collect();
        let mut at: Vec<usize> = places.iter().map(|place| place.index(letters.len() + 1)).collect();
        at.sort_unstable();
        let byte = |at: usize| letters.get(at).map_or(answer.len(), |(byte, _)| *byte);
        let mut cut = Vec::new();
        let mut from = 0;
        for to in at.into_iter().map(byte) {
            cut.push(&answer[from..to]);
            from = to;
        }
        cut.push(&answer[from..]);
        prop_assert_eq!(&pieces("qwen", &cut), &whole);
        if !answer.contains("think>") && !whole.iter().any(|piece| matches!(piece, Piece::Call(_))) {
            let said: String = whole.iter().map(|piece| match piece {
                Piece::Text(text) | Piece::Thought(text) => text.as_str(),
                Piece::Call(_) => "",
            }).collect();
            prop_assert_eq!(said, answer);
        }
    }
}
