use crate::conversation::ContentBlock;

use super::*;

fn imported(lines: &str) -> Imported {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), lines).unwrap();
    import(file.path()).unwrap()
}

/// Who said what, calls and results by name.
fn said(imported: &Imported) -> Vec<String> {
    assert_eq!(imported.conversation.check(), Ok(()));
    let blocks = imported.conversation.messages().iter().flat_map(|message| {
        message.content.iter().map(move |block| match block {
            ContentBlock::Text { text } => format!("{:?}: {text}", message.role),
            ContentBlock::ToolCall(call) => format!("{} {}", call.name, call.input),
            ContentBlock::ToolResult(result) => format!("{} {:?}: {}", result.name, result.outcome, result.content),
            other => format!("{other:?}"),
        })
    });
    blocks.collect()
}

#[test]
fn a_session_of_claude_code_is_read() {
    let read = imported(concat!(
        "{\"type\":\"summary\",\"summary\":\"Mend\",\"leafUuid\":\"x\"}\n",
        "{\"type\":\"user\",\"isMeta\":true,\"message\":{\"role\":\"user\",\"content\":\"Caveat\"},\"cwd\":\"/src\"}\n",
        "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"mend it\"},\"cwd\":\"/src\"}\n",
        "{\"type\":\"assistant\",\"message\":{\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"s\"}]}}\n",
        "{\"type\":\"assistant\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"I look.\"}]}}\n",
        "{\"type\":\"assistant\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Bash\",\"input\":{\"command\":\"make\"}}]}}\n",
        "not json\n",
        "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":[{\"type\":\"text\",\"text\":\"error: 1\"}],\"is_error\":true}]}}\n",
        "{\"type\":\"assistant\",\"isSidechain\":true,\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"aside\"}]}}\n",
        "{\"type\":\"assistant\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"It fails.\"}]}}\n",
    ));
    let expected = [
        "User: mend it",
        "Assistant: I look.",
        "Bash {\"command\":\"make\"}",
        "Bash Failed: error: 1",
        "Assistant: It fails.",
    ];
    assert_eq!(said(&read), expected);
    let of = (read.from, read.directory.to_str(), read.model.as_str(), read.skipped);
    assert_eq!(of, (Foreign::ClaudeCode, Some("/src"), "anthropic/claude-x", 1));
}

/// A line of Claude Code's that follows another.
fn line(id: &str, follows: Option<&str>, role: &str, content: &serde_json::Value) -> String {
    let message = serde_json::json!({"role": role, "content": content});
    let line =
        serde_json::json!({"type": role, "uuid": id, "parentUuid": follows, "message": message, "cwd": "/src"});
    format!("{line}\n")
}

#[test]
fn what_was_edited_away_in_claude_code_does_not_come_along() {
    use serde_json::json;
    let read = imported(&[
        line("1", None, "user", &json!("a first try")),
        line("2", Some("1"), "assistant", &json!([{"type": "text", "text": "an abandoned answer"}])),
        // The first message was edited.
        line("3", None, "user", &json!("mend it")),
        line("4", Some("3"), "assistant", &json!([{"type": "tool_use", "id": "t1", "name": "Read", "input": {"n": 1}}])),
        line("5", Some("4"), "assistant", &json!([{"type": "tool_use", "id": "t2", "name": "Read", "input": {"n": 2}}])),
        // Results of parallel calls follow each their own call.
        line("6", Some("4"), "user", &json!([{"type": "tool_result", "tool_use_id": "t1", "content": "one"}])),
        line("7", Some("5"), "user", &json!([{"type": "tool_result", "tool_use_id": "t2", "content": "two"}])),
        line("8", Some("7"), "assistant", &json!([{"type": "text", "text": "Both read."}])),
        line("9", Some("8"), "user", &json!("wrong way")),
        line("10", Some("8"), "user", &json!("right way")),
        "{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"11\",\"parentUuid\":null,\"logicalParentUuid\":\"10\"}\n".to_owned(),
        line("12", Some("11"), "assistant", &json!([{"type": "text", "text": "Done."}])),
    ].concat());
    let expected = [
        "User: mend it",
        "Read {\"n\":1}",
        "Read {\"n\":2}",
        "Read Ok: one",
        "Read Ok: two",
        "Assistant: Both read.",
        "User: right way",
        "Assistant: Done.",
    ];
    assert_eq!(said(&read), expected);
    // The file was cut: what the first line follows is not there.
    let cut = imported(
        &[
            line("2", Some("gone"), "user", &json!("so far")),
            line("3", Some("2"), "assistant", &json!([{"type": "text", "text": "yes"}])),
            line("5", Some("gone too"), "user", &json!("and now")),
        ]
        .concat(),
    );
    assert_eq!(said(&cut), ["User: so far", "Assistant: yes", "User: and now"]);
}

#[test]
fn a_session_of_codex_is_read_in_its_envelope_and_without() {
    let enveloped = imported(concat!(
        "{\"timestamp\":\"t\",\"type\":\"session_meta\",\"payload\":{\"id\":\"1\",\"cwd\":\"/src\"}}\n",
        "{\"timestamp\":\"t\",\"type\":\"turn_context\",\"payload\":{\"cwd\":\"/src\",\"model\":\"gpt-x\"}}\n",
        "{\"timestamp\":\"t\",\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"<environment_context>x\"}]}}\n",
        "{\"timestamp\":\"t\",\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"build it\"}]}}\n",
        "{\"timestamp\":\"t\",\"type\":\"event_msg\",\"payload\":{\"type\":\"user_message\",\"message\":\"build it\"}}\n",
        "{\"timestamp\":\"t\",\"type\":\"response_item\",\"payload\":{\"type\":\"reasoning\",\"encrypted_content\":\"z\"}}\n",
        "{\"timestamp\":\"t\",\"type\":\"response_item\",\"payload\":{\"type\":\"function_call\",\"name\":\"shell\",\"arguments\":\"{\\\"command\\\":[\\\"make\\\"]}\",\"call_id\":\"c\"}}\n",
        "{\"timestamp\":\"t\",\"type\":\"response_item\",\"payload\":{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"{\\\"output\\\":\\\"no rule\\\",\\\"metadata\\\":{\\\"exit_code\\\":2}}\"}}\n",
        "{\"timestamp\":\"t\",\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"No rule.\"}]}}\n",
    ));
    let expected =
        ["User: build it", "shell {\"command\":[\"make\"]}", "shell Failed: no rule", "Assistant: No rule."];
    assert_eq!(said(&enveloped), expected);
    let of = (enveloped.from, enveloped.directory.to_str(), enveloped.model.as_str());
    assert_eq!(of, (Foreign::Codex, Some("/src"), "openai/gpt-x"));
    let older = imported(concat!(
        "{\"id\":\"1\",\"timestamp\":\"t\",\"instructions\":null}\n",
        "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"hi\"}]}\n",
        "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"hello\"}]}\n",
        "{\"type\":\"function_call\",\"name\":\"shell\",\"arguments\":\"{}\",\"call_id\":\"open\"}\n",
    ));
    let expected = [
        "User: hi",
        "Assistant: hello",
        "shell {}",
        "shell Interrupted: Interrupted: it may have run in part, or not at all.",
    ];
    assert_eq!((older.from, said(&older)), (Foreign::Codex, expected.map(str::to_owned).to_vec()));
}

#[test]
fn what_is_no_session_is_none() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for text in ["", "hello\n", "{\"a\":1}\n", "[1]\n"] {
        std::fs::write(file.path(), text).unwrap();
        assert!(matches!(import(file.path()), Err(ImportError::Unknown)), "{text}");
    }
}
