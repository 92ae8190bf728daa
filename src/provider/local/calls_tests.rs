use proptest::prelude::*;
use serde_json::json;

use super::*;

fn tools() -> Vec<ToolSpec> {
    let shell = json!({"type": "object", "properties": {"command": {"type": "string"}, "timeout": {"type": "integer"}},
        "required": ["command"]});
    let read = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let spec = |name: &str, schema| ToolSpec {
        name: name.into(),
        description: "x".into(),
        input_schema: schema,
        ..ToolSpec::default()
    };
    vec![spec("shell", shell), spec("read", read)]
}

fn said(text: &str, size: usize) -> Vec<Said> {
    let tools = tools();
    let mut reader = CallReader::new(&tools);
    let mut all = Vec::new();
    let characters: Vec<char> = text.chars().collect();
    for piece in characters.chunks(size) {
        all.extend(reader.push(&piece.iter().collect::<String>()));
    }
    all.extend(reader.finish());
    let mut joined: Vec<Said> = Vec::new();
    for said in all {
        match (joined.last_mut(), said) {
            (Some(Said::Text(before)), Said::Text(text)) => before.push_str(&text),
            (_, said) => joined.push(said),
        }
    }
    joined
}

fn call(name: &str, arguments: &serde_json::Value) -> Said {
    Said::Call { name: name.into(), arguments: arguments.to_string() }
}

#[test]
fn a_backslash_that_is_meant_for_the_shell_stays_one() {
    for (written, meant) in [
        (r"find . -name '*.o' -exec rm {} \;", r"find . -name '*.o' -exec rm {} \;"),
        (r"grep -E '\bfoo\b|\.rs$' a\/b", r"grep -E '\bfoo\b|\.rs$' a\/b"),
        (r"sed 's/\(a\)\1/\u0041\u0/'", r"sed 's/\(a\)\1/A\u0/'"),
        (r#"awk '{print \"a\\;\"}'"#, r#"awk '{print "a\;"}'"#),
        (r"echo 'don'\''t' \é \中", r"echo 'don'\''t' \é \中"),
    ] {
        let text = format!("{{\"name\": \"shell\", \"arguments\": {{\"command\": \"{written}\"}}}}");
        for size in [1, 1000] {
            assert_eq!(said(&text, size), vec![call("shell", &json!({"command": meant}))], "{written}");
        }
    }
}

proptest! {
    #[test]
    fn json_without_escapes_that_are_odd_is_read_as_json(command in "[ -~中\n\t\"\\\\]{0,40}") {
        let whole = json!({"name": "shell", "arguments": {"command": command}});
        prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&mended(&whole.to_string())).unwrap(), whole);
    }
}

#[test]
fn calls_are_read_in_every_way_these_models_write_them() {
    let whole = call("shell", &json!({"command": "ls -la"}));
    for text in [
        "```json\n{\"name\": \"shell\", \"arguments\": {\"command\": \"ls -la\"}}\n```",
        "<tool_call>\n{\"name\": \"shell\", \"arguments\": {\"command\": \"ls -la\"}}\n</tool_call>",
        "{\"name\":\"shell\",\"arguments\":{\"command\":\"ls -la\"}}",
        "```json\n{\n  \"name\": \"shell\",\n  \"arguments\": {\n    \"command\": \"ls -la\"\n  }\n}\n```",
        "```\n{\"name\": \"shell\", \"arguments\": \"{\\\"command\\\": \\\"ls -la\\\"}\"}\n```",
        "{\"name\": \"shell\", \"arguments\": {\"cmd\": \"ls -la\"}}",
        "{\"name\": \"shell\", \"arguments\": \"ls -la\"}",
        "```json\n{\"name\": \"shell\", \"arguments\": {\"command\": \"ls -la\"",
    ] {
        for size in [1, 3, 1000] {
            assert_eq!(said(text, size), vec![whole.clone()], "{text:?} in pieces of {size}");
        }
    }
}

#[test]
fn a_call_of_a_tool_that_does_not_exist_is_a_call() {
    for size in [1, 5, 1000] {
        let text = "```json\n{\"name\": \"rename\", \"arguments\": {\"path\": \"a\"}}\n```";
        assert_eq!(said(text, size), vec![call("rename", &json!({"path": "a"}))], "in pieces of {size}");
    }
}

#[test]
fn an_answers_own_code_stays_text() {
    for text in [
        "Use `ls`:\n```json\n{\"name\": \"axi\", \"version\": 1}\n```\nDone.",
        "```sh\nls -la\n```",
        "{\"a\": 1}",
        "Text {\"name\": \"shell\", \"arguments\": {}} inside of a line",
        "```json\n{\"scripts\": {}}\n```",
        "```json\n{\"name\": \"tool\", \"arguments\": 3}\n```",
        "```json\n{\"name\": \"tool\"}\n```",
        "```\n",
    ] {
        for size in [1, 7, 1000] {
            assert_eq!(said(text, size), vec![Said::Text(text.into())], "in pieces of {size}");
        }
    }
}

#[test]
fn words_before_a_call_are_kept_and_line_ends_in_strings_mended() {
    let text = "I will look.\n\n```json\n{\"name\": \"shell\", \"arguments\": {\"command\": \"a\nb\", \"timeout\": \"5\"}}\n```";
    let expected =
        vec![Said::Text("I will look.\n\n".into()), call("shell", &json!({"command": "a\nb", "timeout": 5}))];
    assert_eq!(said(text, 2), expected);
}

proptest! {
    #[test]
    fn whatever_is_said_comes_out_whole_however_it_is_cut(text in "[a`{}\":n<>/\n ]{0,60}", size in 1_usize..9) {
        let out: String = said(&text, size).into_iter().map(|said| match said {
            Said::Text(text) => text,
            Said::Call { .. } => String::new(),
        }).collect();
        prop_assert_eq!(out, text);
    }
}
