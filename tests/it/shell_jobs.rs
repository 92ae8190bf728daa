//! Commands in the background: read, awaited, killed, told about, and gone with the session.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use axi::approval::{Decision, Mode, Policy};
use axi::conversation::{Effect, Outcome, Subject};
use axi::tool::{ShellJobTool, ShellTool, TodoTool, Tool as _, ToolOutput};
use serde_json::{Value, json};

use crate::support::lifeline::Lifeline;
use crate::support::tool_bench::ToolBench;

fn start(bench: &ToolBench, command: &str) -> ToolOutput {
    let shell = ShellTool::new(Some(PathBuf::from(env!("CARGO_BIN_EXE_axi"))));
    bench.run(&shell, json!({"command": command, "background": true}))
}

fn job(bench: &ToolBench, input: Value) -> ToolOutput {
    bench.run(&ShellJobTool, input)
}

#[test]
fn a_job_goes_on_is_read_bit_by_bit_and_killed_with_all_it_started() {
    let bench = ToolBench::new();
    let (go, lifeline) = (bench.path("go"), Lifeline::new(bench.path("lifeline")));
    let command =
        "echo begun; (env -i setsid sleep 401 &); until [ -e go ]; do sleep 0.01; done; echo more; sleep 401";
    let output = start(&bench, &lifeline.held_by(command));
    assert!(output.content.starts_with("begun\n[job 1: running for "), "{}", output.content);
    assert!(output.content.ends_with("[it goes on in the background: shell_job reads and kills it]"));
    assert_eq!(output.outcome, Outcome::Ok);
    std::fs::write(go, "").unwrap();
    let until = Instant::now() + Duration::from_secs(10);
    let mut read = String::new();
    while !read.contains("more") && Instant::now() < until {
        read = job(&bench, json!({"action": "read", "job": 1})).content;
    }
    assert!(read.starts_with("more\n[job 1: running for "), "{read}");
    assert!(job(&bench, json!({"action": "read", "id": "1"})).content.starts_with("(no new output)\n"));
    assert!(job(&bench, json!({"action": "list"})).content.starts_with("job 1: running for "));
    let killed = job(&bench, json!({"action": "kill", "job": 1}));
    assert!(killed.content.contains("[job 1: ended after "), "{}", killed.content);
    assert_eq!(killed.outcome, Outcome::Ok);
    lifeline.ends();
    assert_eq!(bench.memory.notes(), Vec::<String>::new());
}

#[test]
fn one_that_fails_at_once_says_so_and_the_end_of_another_is_told_once() {
    let bench = ToolBench::new();
    let output = start(&bench, "echo no such thing; exit 3");
    assert!(
        output.content.starts_with("no such thing\n[job 1: ended after 0 s with exit code 3"),
        "{}",
        output.content
    );
    assert_eq!((output.outcome, output.facts.exit_code), (Outcome::Failed, Some(3)));
    start(&bench, "until [ -e go ]; do sleep 0.01; done; echo done");
    assert_eq!(bench.memory.notes(), Vec::<String>::new());
    bench.put("go", "");
    let until = Instant::now() + Duration::from_secs(10);
    let mut notes = Vec::new();
    while notes.is_empty() && Instant::now() < until {
        notes = bench.memory.notes();
    }
    assert!(notes[0].starts_with("[background job 2: done after "), "{notes:?}");
    assert_eq!(bench.memory.notes(), Vec::<String>::new());
    let output = job(&bench, json!({"action": "read", "job": 2, "wait": 5}));
    assert!(output.content.starts_with("done\n[job 2: done after "), "{}", output.content);
}

#[test]
fn they_end_with_the_session_whatever_they_do() {
    let mut bench = ToolBench::new();
    let lifeline = Lifeline::new(bench.path("lifeline"));
    let line = "trap '' TERM HUP; (env -i setsid sleep 402 &); echo x; sleep 402 & exec >&- 2>&-; sleep 402";
    start(&bench, &lifeline.held_by(line));
    assert!(lifeline.is_held());
    drop(std::mem::take(&mut bench.memory));
    lifeline.ends();
}

#[test]
fn a_flood_is_bounded_and_the_whole_is_in_a_file() {
    let bench = ToolBench::new();
    start(&bench, "until [ -e go ]; do sleep 0.01; done; seq 1000000");
    bench.put("go", "");
    let output = job(&bench, json!({"action": "read", "job": 1, "wait": 30}));
    assert!(output.content.len() < 12_000, "{}", output.content.len());
    assert!(output.content.contains("1000000\n[job 1: done"), "{}", output.content);
    let whole = std::fs::read_to_string(output.facts.full_output.unwrap()).unwrap();
    assert_eq!(whole.lines().count(), 1_000_000);
}

#[test]
fn a_cancelled_start_leaves_nothing() {
    let mut bench = ToolBench::new();
    let lifeline = Lifeline::new(bench.path("lifeline"));
    let (cancel, line) = (bench.cancel.clone(), lifeline.held_by("sleep 403"));
    let output = std::thread::scope(|scope| {
        scope.spawn(|| {
            lifeline.begins();
            cancel.cancel();
        });
        start(&bench, &line)
    });
    // Seen in its first second it is killed; seen later it had been handed over, and ends with the session.
    if output.outcome != Outcome::Interrupted {
        assert!(output.content.contains("[it goes on in the background"), "{}", output.content);
        drop(std::mem::take(&mut bench.memory));
    }
    lifeline.ends();
}

#[test]
fn a_list_runs_in_order_until_one_fails() {
    let bench = ToolBench::new();
    let shell = ShellTool::new(Some(PathBuf::from(env!("CARGO_BIN_EXE_axi"))));
    let output =
        bench.run(&shell, json!({"commands": ["echo one # x", "cat <<E\ntwo\nE", "exit 4", "echo never"]}));
    assert_eq!(output.content, "one\ntwo\n[exit code 4]");
    assert_eq!((output.outcome, output.facts.exit_code), (Outcome::Failed, Some(4)));
    let output = bench.run(&shell, json!({"commands": ["sleep 0.7", "sleep 5"], "timeout": 1}));
    assert!(output.content.contains("[timed out after 1 s"), "{}", output.content);
    let bad = bench.run(&shell, json!({"commands": [1]})).content;
    assert_eq!(bad, "shell: argument `commands` must be an array of non-empty strings, got 1");
}

#[test]
fn no_line_of_a_list_quotes_the_next_one_away() {
    let bench = ToolBench::new();
    let shell = ShellTool::new(Some(PathBuf::from(env!("CARGO_BIN_EXE_axi"))));
    for list in [
        json!(["cat <<'E'", "touch made", "E"]),
        json!(["echo hi \\", "touch made"]),
        json!(["echo 'hi", "touch made'"]),
        json!(["cat <<'E'\nset -e\nE", "true \\", "touch made"]),
    ] {
        let input = json!({ "commands": list });
        let Subject::Command { line } = shell.read(&input, &bench.roots).subject() else { panic!("{input}") };
        // What is judged is data to bash, and so it is when it is run.
        let surroundings = crate::approval::place();
        let policy = Policy::new(Mode::Build, false);
        let judged = policy.decide("shell", Effect::Execute, &Subject::Command { line }, &surroundings).verdict;
        assert_eq!(judged.decision, Decision::Allow, "{input}");
        bench.run(&shell, input.clone());
        assert!(!bench.path("made").exists(), "{input}");
    }
}

#[test]
fn a_directory_changed_in_one_line_of_a_list_holds_for_the_next() {
    let bench = ToolBench::new();
    let shell = ShellTool::new(Some(PathBuf::from(env!("CARGO_BIN_EXE_axi"))));
    std::fs::create_dir(bench.path("build")).unwrap();
    bench.run(&shell, json!({"commands": ["cd build", "touch made"]}));
    assert!(bench.path("build/made").exists() && !bench.path("made").exists());
}

#[test]
fn a_plan_that_is_forgotten_is_shown_again() {
    let bench = ToolBench::new();
    bench.run(&TodoTool, json!({"todos": [{"text": "look", "status": "in_progress"}]}));
    let reminded: Vec<usize> = (0..14).filter(|_| !bench.memory.notes().is_empty()).collect();
    assert_eq!(reminded, [6, 13]);
    bench.run(&TodoTool, json!({"todos": [{"text": "look", "status": "completed"}]}));
    assert!((0..20).all(|_| bench.memory.notes().is_empty()));
    assert!(bench.check(&ShellJobTool, &json!({"action": "kill", "job": 3})).is_err());
}
