//! Interactive programs on terminals of their own: started, typed at, looked at, gone with the session.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use axi::conversation::{Effect, Outcome, Subject};
use axi::tool::{TerminalTool, Tool as _};
use serde_json::{Value, json};

use crate::support::skip::has;
use crate::support::tool_bench::ToolBench;

fn terminal() -> TerminalTool {
    TerminalTool::new(Some(PathBuf::from(env!("CARGO_BIN_EXE_axi"))))
}

fn run(bench: &ToolBench, input: Value) -> String {
    bench.run(&terminal(), input).content
}

/// Looks until the state is told; the last look in any case.
fn look(bench: &ToolBench, state: &str) -> String {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let content = run(bench, json!({"action": "read", "terminal": 1, "wait": 1}));
        if content.contains(state) || Instant::now() > until {
            return content;
        }
    }
}

#[test]
fn a_question_is_seen_and_answered() {
    let bench = ToolBench::new();
    let command = "tty >/dev/null && printf 'Name? '; read name; echo \"hello $name\"; stty size; exit 3";
    let asked = run(&bench, json!({"action": "start", "command": command, "until": "Name\\?"}));
    assert!(asked.starts_with("Name?\n[terminal 1: "), "{asked}");
    let waiting = look(&bench, "waiting");
    // bash itself reads here.
    assert!(waiting.contains("idle: a shell waits") || waiting.contains("waiting for input"), "{waiting}");
    assert!(waiting.contains("cursor at row 1, column 7]"), "{waiting}");
    let answered = run(&bench, json!({"action": "send", "terminal": 1, "keys": "you<enter>", "until": "30 100"}));
    assert!(answered.starts_with("Name? you\nhello you\n30 100\n[terminal 1: "), "{answered}");
    assert!(look(&bench, "ended").contains("ended with exit code 3"));
}

#[test]
fn keys_work_and_a_busy_program_is_told_from_one_that_waits() {
    let bench = ToolBench::new();
    run(&bench, json!({"action": "start", "command": "echo busy; while :; do :; done", "until": "busy"}));
    assert!(look(&bench, "busy;").contains("[terminal 1: busy;"));
    run(&bench, json!({"action": "send", "terminal": 1, "keys": "<ctrl+c>", "wait": 10}));
    let ended = look(&bench, "ended");
    assert!(ended.contains("^C"), "{ended}");
    assert!(ended.contains("ended with exit code 130"), "{ended}");
    let gone = run(&bench, json!({"action": "read", "terminal": 7}));
    assert_eq!(gone, "terminal: there is no terminal 7; there are [1]");
}

#[test]
fn a_line_editor_at_its_prompt_is_told_from_a_program_that_works() {
    let bench = ToolBench::new();
    run(&bench, json!({"action": "start", "command": "bash --norc --noprofile -i", "until": "\\$ "}));
    let idle = look(&bench, "idle");
    assert!(idle.contains("idle: a shell waits at its prompt"), "{idle}");
}

#[test]
fn every_look_at_a_busy_program_is_news_until_another_approach_is_advised() {
    let bench = ToolBench::new();
    run(&bench, json!({"action": "start", "command": "echo busy; while :; do :; done", "until": "busy"}));
    let looks: Vec<String> =
        (0..8).map(|_| run(&bench, json!({"action": "read", "terminal": 1, "wait": 0}))).collect();
    let advised = looks.iter().position(|look| look.contains("change the approach")).unwrap();
    // A guard against loops stops the third of three that are alike.
    assert!(
        looks[..=advised].windows(2).all(|pair| pair[0] != pair[1] || !pair[0].contains("looks")),
        "{looks:#?}"
    );
    assert!(looks[advised].contains("busy at 5 looks"), "{looks:#?}");
    assert_eq!(looks[6], looks[7]);
}

#[test]
fn a_server_is_told_by_its_port() {
    if !has("python3") {
        return;
    }
    let bench = ToolBench::new();
    let serve = "python3 -c 'import socket,time; s=socket.socket(); s.bind((\"127.0.0.1\",0)); s.listen(); \
                 print(\"port\", s.getsockname()[1], flush=True); time.sleep(60)'";
    let started = run(&bench, json!({"action": "start", "command": serve, "until": "port \\d+"}));
    let port = started.split_whitespace().nth(1).unwrap().to_owned();
    assert!(started.contains(&format!("server listening on port {port};")), "{started}");
    assert!(run(&bench, json!({"action": "stop", "terminal": 1})).contains("ended with exit code"));
}

#[test]
fn python_at_its_prompt_waits_for_input() {
    if !has("python3") {
        return;
    }
    let bench = ToolBench::new();
    run(&bench, json!({"action": "start", "command": "python3 -q", "until": ">>> "}));
    let until = Instant::now() + Duration::from_secs(20);
    let mut look = run(&bench, json!({"action": "read", "terminal": 1, "wait": 2}));
    while !look.contains("waiting for input") && Instant::now() < until {
        look = run(&bench, json!({"action": "read", "terminal": 1, "wait": 2}));
    }
    assert!(look.contains(">>>\n[terminal 1: waiting for input"), "{look}");
    assert!(run(&bench, json!({"action": "stop", "terminal": 1})).contains("ended"));
}

#[test]
fn a_full_screen_program_is_read_as_its_screen() {
    let bench = ToolBench::new();
    // Without the echo first: the answer comes as fast as the question goes.
    let draw = "stty -echo; printf '\\033[2J\\033[5;10Hmiddle\\033[1;1Htop\\033[6n'; read -r -s -d R answer; echo \"${#answer}\"; sleep 60";
    let drawn = run(&bench, json!({"action": "start", "command": draw, "until": "top5"}));
    // The program asked where the cursor is, and was answered.
    assert!(drawn.starts_with("top5\n\n\n\n         middle\n[terminal 1: "), "{drawn}");
}

#[test]
fn programs_end_with_the_session() {
    let mut bench = ToolBench::new();
    let time = format!("404.{}", std::process::id());
    let command = format!("trap '' HUP TERM INT; (env -i setsid sleep {time} &); echo on; sleep {time}");
    run(&bench, json!({"action": "start", "command": command, "until": "on"}));
    let alive = || {
        let lines = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let lines = lines.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
        lines.filter(|line| String::from_utf8_lossy(line).contains(&format!("sleep\0{time}\0"))).count()
    };
    // The shell says so before they run.
    let until = Instant::now() + Duration::from_secs(20);
    while alive() == 0 && Instant::now() < until {
        std::thread::yield_now();
    }
    assert!(alive() > 0);
    drop(std::mem::take(&mut bench.memory));
    let until = Instant::now() + Duration::from_secs(20);
    while alive() > 0 && Instant::now() < until {
        std::thread::yield_now();
    }
    assert_eq!(alive(), 0);
}

#[test]
fn keys_are_no_command_line_whatever_they_spell() {
    let bench = ToolBench::new();
    let tool = terminal();
    let send = json!({"action": "send", "terminal": 2, "keys": "ls\n"});
    assert_eq!(tool.read(&send, &bench.roots).effect(), Effect::Execute);
    let line = "terminal_keys 2 \"ls<enter>\"".to_owned();
    assert_eq!(tool.read(&send, &bench.roots).subject(), Subject::Command { line: line.replace('"', "'") });
    let start = json!({"action": "start", "command": "python3"});
    assert_eq!(tool.read(&start, &bench.roots).subject(), Subject::Command { line: "python3".to_owned() });
    for look in [json!({"action": "read", "terminal": 1}), json!({"action": "stop", "terminal": 1})] {
        assert_eq!(
            (tool.read(&look, &bench.roots).effect(), tool.read(&look, &bench.roots).subject()),
            (Effect::Read, Subject::Whole)
        );
    }
    let output = bench.run(&tool, json!({"action": "start", "command": "x", "until": "("}));
    assert_eq!(output.outcome, Outcome::Failed);
    assert!(output.content.contains("is no regular expression"), "{}", output.content);
}
