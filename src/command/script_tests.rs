use std::process::Command;

use serde_json::json;

use super::*;
use crate::conversation::{ContentBlock, Message, ToolCall, ToolFacts, ToolResult};
use crate::tool::table;

fn call(id: usize, name: &str, input: serde_json::Value) -> Message {
    let call = ToolCall {
        id: format!("{id}"),
        name: name.into(),
        input,
        invalid_input: None,
        extra: serde_json::Map::new(),
        model: String::new(),
        arguments: String::new(),
    };
    Message { role: Role::Assistant, content: vec![ContentBlock::ToolCall(call)] }
}

fn result(id: usize, name: &str, exit_code: Option<i32>) -> Message {
    let outcome = if exit_code.is_none_or(|code| code == 0) { Ended::Ok } else { Ended::Failed };
    let result = ToolResult {
        call_id: format!("{id}"),
        name: name.into(),
        content: "out".into(),
        outcome,
        images: Vec::new(),
        facts: ToolFacts { exit_code, ..ToolFacts::default() },
        duration_ms: 1,
    };
    Message { role: Role::User, content: vec![ContentBlock::ToolResult(result)] }
}

/// A session in which these commands ran with these exit codes.
fn session(lines: &[(&str, i32)]) -> Conversation {
    let mut messages = vec![Message::user("build\u{1b}[31m it\nplease")];
    for (id, (line, code)) in lines.iter().enumerate() {
        messages.push(call(id, "shell", json!({"command": line})));
        messages.push(result(id, "shell", Some(*code)));
    }
    messages.push(call(99, "write", json!({"path": "made.txt", "content": "x"})));
    messages.push(result(99, "write", None));
    Conversation::restore(messages)
}

fn written(conversation: &Conversation, cwd: &Path, taken_back: &[u64], form: ScriptForm) -> Option<String> {
    let place = Place { cwd: cwd.to_owned(), workspace: cwd.to_owned(), home: None };
    let recorded = Recorded {
        id: "20260101-000000-00000000",
        conversation,
        tools: &Toolbox::new(table::standard(None, None)),
        place: &place,
        taken_back,
        redact: &str::to_owned,
    };
    script(&recorded, form, &Locale::new("en"))
}

#[test]
fn what_ended_well_is_written_with_its_directory_and_what_failed_is_left_out() {
    let talk = session(&[("make all", 0), ("false", 1), ("cd sub && ls", 0)]);
    let expected = "#!/usr/bin/env bash\n\
        # The commands of the axi session 20260101-000000-00000000 that ended well, in their order. Each ran in a shell of its own.\n\
        # 1 command is left out: it failed, did not end, or was taken back.\n\
        # Changed by axi without a command, and so not done here: made.txt\n\
        set -euo pipefail\n\ncd '/a b'\n\n# 1. build[31m it\nmake all\n(\nset +eu +o pipefail\ncd sub && ls\n)\n";
    assert_eq!(written(&talk, Path::new("/a b"), &[], ScriptForm::Shell).as_deref(), Some(expected));
    // What was taken back, and a session without anything that worked.
    assert_eq!(written(&talk, Path::new("/src"), &[0], ScriptForm::Shell), None);
    assert_eq!(written(&session(&[("false", 1)]), Path::new("/src"), &[], ScriptForm::Makefile), None);
}

#[test]
fn a_secret_is_a_variable_whatever_the_quotes_around_it_and_else_nothing_is_run() {
    let line = "curl -H 'X: AXI-HIDDEN-0123456789' -d \"k=[redacted]\" AXI-HIDDEN-0123456789 x";
    let odd = "cat <<EOF\n[redacted]\nEOF";
    let text = written(&session(&[(line, 0), (odd, 0)]), Path::new("/src"), &[], ScriptForm::Shell).unwrap();
    let expected = "curl -H 'X: '\"${SECRET_1}\"'' -d \"k=${SECRET_2}\" \"${SECRET_1}\" x";
    assert!(text.contains(expected) && text.contains(": \"${SECRET_2:?}\"\n"), "{text}");
    assert!(text.contains("# cat <<EOF\n# [redacted]\n# EOF\n") && !text.contains("\ncat"), "{text}");
}

/// Each form does what the commands did, in the order in which they ran, each in a shell of its own.
#[test]
fn each_form_runs_as_the_commands_ran() {
    let lines = [
        ("mkdir -p sub; echo 'one $x' >log", 0),
        ("cd sub && x=5 && echo \"two $x\" >>../log", 0),
        ("cat >>log <<'EOF'\nthree {{x}} $$\nEOF", 0),
        ("pwd >>log; exit 0", 0),
        ("echo \"$(basename \"$PWD\") ${x-none}\" >>log", 0),
        // Each worked, and would not with the options of a strict script.
        ("seq 100000 | head -1 >>log", 0),
        ("false; echo \"$unset.\" >>log", 0),
        ("false | true", 0),
        ("read -r line <log; ulimit -c 0", 0),
    ];
    for (form, name) in [(ScriptForm::Shell, "run.sh"), (ScriptForm::Makefile, "Makefile")] {
        let home = tempfile::tempdir().unwrap();
        let cwd = home.path().canonicalize().unwrap();
        let text = written(&session(&lines), &cwd, &[], form).unwrap();
        std::fs::write(cwd.join(name), &text).unwrap();
        let mut command = match form {
            ScriptForm::Shell => Command::new("bash"),
            ScriptForm::Makefile | ScriptForm::Justfile => Command::new("make"),
        };
        if form == ScriptForm::Shell {
            command.arg(name);
        } else if Command::new("make").arg("--version").output().is_err() {
            continue;
        }
        let ran = command.current_dir(&cwd).env_clear().env("PATH", "/usr/bin:/bin").output().unwrap();
        assert!(ran.status.success(), "{text}\n{ran:?}");
        let log = std::fs::read_to_string(cwd.join("log")).unwrap();
        let folder = cwd.file_name().unwrap().to_string_lossy();
        let expected = format!("one $x\ntwo 5\nthree {{{{x}}}} $$\n{}\n{folder} none\n1\n.\n", cwd.display());
        assert_eq!(log, expected, "{text}");
    }
}
