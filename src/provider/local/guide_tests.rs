use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::conversation::ToolVerb;
use crate::provider::examples::tests::tool as shown;
use crate::provider::examples::{Step, arguments, named, talks};

fn guide() -> Guide {
    let spec = |name: &str, properties: Value, required: Value| ToolSpec {
        name: name.into(),
        description: String::new(),
        input_schema: json!({"type": "object", "properties": properties, "required": required}),
        ..ToolSpec::default()
    };
    let text = json!({"type": "string"});
    Guide::new(&[
        spec("list", json!({"path": text}), json!([])),
        spec("shell", json!({"command": text, "timeout": {"type": "integer"}}), json!(["command"])),
        spec("edit", json!({"path": text, "old": text, "new": text}), json!(["path", "old", "new"])),
    ])
}

fn guide_tool() -> ToolSpec {
    let schema = json!({"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]});
    ToolSpec { name: "shell".into(), input_schema: schema, ..ToolSpec::default() }
}

fn place(text: &str) -> Option<CallState> {
    guide().follow(CallState::START, text.as_bytes())
}

#[test]
fn whole_calls_of_the_tools_fit() {
    for call in [
        r#"{"name": "list", "arguments": {}}"#,
        r#"{"name": "list", "arguments": {"path": "."}}"#,
        r#"{"name":"shell","arguments":{"command":"grep \"a\" \u00e9 中 | wc"}}"#,
        r#"{"name": "shell", "arguments": {"timeout": 5, "command": "a"}}"#,
        r#"{"name": "shell", "arguments": {"command": "a", "timeout": 5}}"#,
        "{\n  \"name\": \"edit\",\n  \"arguments\": {\n    \"new\": \"a\",\n    \"path\": \"b\", \"old\": \"\"\n  }\n}",
    ] {
        assert!(place(call).is_some_and(CallState::is_end), "{call}");
        serde_json::from_str::<Value>(call).unwrap();
    }
    let raw = r#"{"name": "shell", "arguments": {"command": "find . -name '*.\(a\|b\)' -exec rm {} \;"}}"#;
    assert!(place(raw).is_some_and(CallState::is_end));
}

#[test]
fn a_command_is_known_from_the_tool_s_name_on() {
    let mut tool = guide_tool();
    tool.identity.verb = ToolVerb::Run;
    let guide = Guide::new(&[tool]);
    let place = |text: &str| guide.follow(CallState::START, text.as_bytes()).unwrap();
    assert!(!guide.is_command(place(r#"{"name": "sh"#)));
    assert!(guide.is_command(place(r#"{"name": "shell", "arg"#)));
    assert!(guide.is_command(place(r#"{"name": "shell", "arguments": {"command": "ls"#)));
}

#[test]
fn what_no_tool_takes_does_not_fit_from_the_first_wrong_byte_on() {
    for (fits, not) in [
        (r#"{"name": ""#, "rename"),
        (r#"{"name": "li"#, "\""),
        (r#"{"name": "shell", ""#, "parameters"),
        (r#"{"name": "shell", "arguments": {"co"#, "de\""),
        (r#"{"name": "shell", "arguments": {"command": "#, "5"),
        (r#"{"name": "shell", "arguments": {"command": "a"#, "\n"),
        (r#"{"name": "shell", "arguments": {"command": "a\"#, "\n"),
        (r#"{"name": "shell", "arguments": {"command": "a""#, "b"),
        // Nothing twice, nothing missing.
        (r#"{"name": "shell", "arguments": {"command": "a", ""#, "c"),
        (r#"{"name": "shell", "arguments": {"timeout": 5"#, "}"),
        (r#"{"name": "list", "arguments": {"path": "a""#, ","),
    ] {
        assert!(place(fits).is_some(), "{fits}");
        assert_eq!(place(&format!("{fits}{not}")), None, "{fits} and {not}");
    }
    assert!(place(&format!("{{{}", " ".repeat(24))).is_some());
    assert_eq!(place(&format!("{{{}", " ".repeat(25))), None);
}

#[test]
fn the_end_of_a_text_and_its_inside_are_told_apart() {
    let open = r#"{"name": "shell", "arguments": {"command": "a"#;
    assert!(place(open).unwrap().is_in_text());
    assert!(place(&format!("{open}\\")).unwrap().is_in_text());
    let ended = place(&format!("{open}\"")).unwrap();
    assert!(ended.is_behind_text() && !ended.is_in_text());
    assert!(!place(&format!("{open}\" ")).unwrap().is_behind_text());
}

proptest! {
    #[test]
    fn whatever_fits_to_the_end_is_a_call_with_what_its_tool_needs(
        command in "[ -~中\n\"\\\\]{0,20}",
        junk in prop::collection::vec(prop::sample::select(b"{}[]\",:\\ae5 \n".to_vec()), 0..30),
        cut in 0_usize..60,
    ) {
        let call = json!({"name": "shell", "arguments": {"command": command}}).to_string();
        prop_assert!(place(&call).is_some_and(CallState::is_end));
        let cut = call.floor_char_boundary(cut);
        let mixed = [&call.as_bytes()[..cut], &junk].concat();
        if guide().follow(CallState::START, &mixed).is_some_and(CallState::is_end) {
            // Behind its end anything may stand.
            let mended = super::super::calls::mended(&String::from_utf8_lossy(&mixed));
            let value = serde_json::Deserializer::from_str(&mended).into_iter::<Value>().next();
            let value = value.and_then(Result::ok);
            prop_assert!(value.is_some_and(|call| call["arguments"].is_object()), "{}", String::from_utf8_lossy(&mixed));
        }
    }
}

#[test]
fn the_calls_that_are_shown_are_calls_of_the_tools() {
    let shell = shown(ToolVerb::Run, &["command"]);
    let edit = shown(ToolVerb::Edit, &["path", "old_string", "new_string"]);
    let propose = shown(ToolVerb::Propose, &["command", "why"]);
    for tools in [vec![shell.clone(), edit], vec![propose]] {
        let guide = Guide::new(&tools);
        let mut calls = 0;
        for step in talks(&tools).flatten() {
            if let Step::Calls(verb, fields) = step {
                let name = named(&tools, *verb).unwrap();
                let call = format!("{{\"name\": \"{name}\", \"arguments\": {}}}", arguments(fields));
                assert!(guide.follow(CallState::START, call.as_bytes()).is_some_and(CallState::is_end), "{call}");
                calls += 1;
            }
        }
        assert!(calls > 3);
    }
}
