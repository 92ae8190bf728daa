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
    let roots = Roots { cwd: cwd.to_owned(), workspace: cwd.to_owned(), home: None };
    let recorded = Recorded {
        id: "20260101-000000-00000000",
        conversation,
        tools: &Toolbox::new(table::standard(None, None)),
        roots: &roots,
        taken_back,
        redact: &str::to_owned,
    };
    script(&recorded, form, &Locale::new("en"))
}

#[test]
fn what_ended_well_is_written_with_its_directory_and_what_failed_is_left_out() {
    let talk = session(&[("make all", 0), ("false", 1), ("cd sub && ls", 0)]);
    let expected = "#!/usr/bin/env bash\n\
        # The commands of the axi session 20260101-000000-00000000 that succeeded, in order. Each ran in a shell of its own.\n\
        # 1 command is left out: it failed, did not end, or was taken back.\n\
        # axi changed these files without a command, so they are not changed here: made.txt\n\
        # `sh` is another shell on some systems.\n[ -n \"${BASH_VERSION-}\" ] || exec bash \"$0\" \"$@\"\nset -euo pipefail\n\ncd '/a b'\n\n# 1. build[31m it\nmake all\n# shellcheck disable=all\n(\nset +eu +o pipefail\ncd sub && ls\n)\n";
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
        // What is written below a line that does not end is not its own.
        ("cat >>log <<EOF\n'four' {{.x}}", 0),
        ("echo five >>log; exit 0\n)", 0),
        ("echo $'six\\t' \u{2028}\u{85}\ttab \\\n >>log; echo seven >>log \\", 0),
    ];
    for (form, name, program) in [
        (ScriptForm::Shell, "run.sh", "bash"),
        (ScriptForm::Makefile, "Makefile", "make"),
        (ScriptForm::Justfile, "justfile", "just"),
        (ScriptForm::Taskfile, "Taskfile.yml", "task"),
    ] {
        if Command::new(program).arg("--version").output().is_err() {
            continue;
        }
        let home = tempfile::tempdir().unwrap();
        let cwd = home.path().canonicalize().unwrap();
        let text = written(&session(&lines), &cwd, &[], form).unwrap();
        std::fs::write(cwd.join(name), &text).unwrap();
        let mut command = Command::new(program);
        if form == ScriptForm::Shell {
            command.arg(name);
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let ran = command.current_dir(&cwd).env_clear().env("PATH", path).env("HOME", &cwd).output().unwrap();
        assert!(ran.status.success(), "{text}\n{ran:?}");
        let log = std::fs::read_to_string(cwd.join("log")).unwrap();
        let folder = cwd.file_name().unwrap().to_string_lossy();
        let expected = format!(
            "one $x\ntwo 5\nthree {{{{x}}}} $$\n{}\n{folder} none\n1\n.\n'four' {{{{.x}}}}\nfive\nsix\t \u{2028}\u{85} tab\nseven \\\n",
            cwd.display()
        );
        assert_eq!(log, expected, "{text}");
    }
}

/// Lines of the corpora by which shell lines are judged, those that bash reads.
fn corpus() -> Vec<String> {
    let written = concat!(
        include_str!("../../tests/it/corpus/shell_lines.tsv"),
        include_str!("../../tests/it/corpus/everyday_lines.tsv"),
        include_str!("../../tests/it/corpus/red_team_lines.tsv"),
        include_str!("../../tests/it/corpus/unseen_first_lines.tsv"),
    );
    let marks = [("⏎", "\n"), ("␍", "\r"), ("⍽", "\u{a0}"), ("␠", " "), ("⟪", "\u{200b}")];
    let rows = written.lines().filter(|row| !row.starts_with('#')).filter_map(|row| row.split('\t').nth(1));
    let lines = rows.map(|line| marks.iter().fold(line.to_owned(), |line, (mark, is)| line.replace(mark, is)));
    let lines: Vec<String> = lines.filter(|line| !line.trim().is_empty()).collect();
    assert!(lines.len() > 1_000, "{}", lines.len());
    lines
}

fn reads(line: &str) -> bool {
    Command::new("bash").args(["-n", "-c", line]).output().is_ok_and(|read| read.status.success())
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 12, ..Default::default() })]

    /// Whatever was run, bash reads the script, and shellcheck has nothing to say.
    #[test]
    fn a_script_of_any_commands_is_clean(
        picked in proptest::collection::vec(proptest::prelude::any::<proptest::sample::Index>(), 1..40),
        failed in proptest::collection::vec(0..4_i32, 40),
        words in proptest::collection::vec("[ -~]{1,12}( [ -~\\n]{0,12}){0,3}", 0..6),
    ) {
        let all = corpus();
        let lines = picked.iter().map(|at| at.get(&all).as_str()).chain(words.iter().map(String::as_str));
        let lines: Vec<(&str, i32)> = lines.filter(|line| reads(line)).zip(failed.iter().copied()).collect();
        let secret = ["curl -H 'X: [redacted]' https://x.example", "echo $(a [redacted])"].map(|line| (line, 0));
        let lines: Vec<(&str, i32)> = lines.into_iter().chain(secret).collect();
        let text = written(&session(&lines), Path::new("/a 'b"), &[], ScriptForm::Shell).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.sh");
        std::fs::write(&path, &text).unwrap();
        let read = Command::new("bash").arg("-n").arg(&path).output().unwrap();
        proptest::prop_assert!(read.status.success() && read.stderr.is_empty(), "{read:?}\n{text}");
        if let Ok(checked) = Command::new("shellcheck").arg(&path).output() {
            proptest::prop_assert!(checked.status.success(), "{}\n{text}", String::from_utf8_lossy(&checked.stdout));
        }
    }
}

#[test]
fn commands_of_the_corpora_and_a_backslash_alone_are_clean() {
    let all = corpus();
    let plain: Vec<&str> = all.iter().map(String::as_str).chain(["\\"]).filter(|line| reads(line)).collect();
    let lines: Vec<(&str, i32)> = plain.iter().map(|line| (*line, 0)).collect();
    let text = written(&session(&lines), Path::new("/src"), &[], ScriptForm::Shell).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.sh");
    std::fs::write(&path, &text).unwrap();
    if let Ok(checked) = Command::new("shellcheck").arg(&path).output() {
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
    }
}
