//! The shell tool against commands that misbehave: nothing hangs, nothing is left behind.

use std::path::PathBuf;

use axi::conversation::{Outcome, Preview, Subject};
use axi::tool::{ShellTool, Tool as _, end_orphans};
use serde_json::json;

use crate::support::lifeline::Lifeline;
use crate::support::tool_bench::ToolBench;

fn shell() -> ShellTool {
    ShellTool::new(Some(PathBuf::from(env!("CARGO_BIN_EXE_axi"))))
}

#[test]
fn output_of_both_kinds_comes_in_order_with_the_exit_code() {
    let bench = ToolBench::new();
    let output = bench.run(&shell(), json!({"command": "echo one; echo two >&2; echo three; exit 3"}));
    assert_eq!(output.content, "one\ntwo\nthree\n[exit code 3]");
    assert_eq!((output.outcome, output.facts.exit_code, output.facts.lines), (Outcome::Failed, Some(3), Some(3)));
    let output = bench.run(&shell(), json!({"command": "true"}));
    assert_eq!((output.content.as_str(), output.outcome), ("(no output)", Outcome::Ok));
    let output = bench.run(&shell(), json!({"command": "kill -9 $$"}));
    assert_eq!(output.facts.exit_code, Some(137));
}

#[test]
fn there_is_no_terminal_no_input_no_pager_and_no_editor() {
    let bench = ToolBench::new();
    let command = "cat; (: </dev/tty) 2>/dev/null || echo no tty; echo $PAGER $TERM $GIT_TERMINAL_PROMPT; \
                   $EDITOR x 2>/dev/null; eval \"$EDITOR x\" || echo editor $?; ps -o sid= -p $$ | tr -d ' '; echo $$";
    let output = bench.run(&shell(), json!({ "command": command }));
    let lines: Vec<&str> = output.content.lines().collect();
    assert_eq!(lines[0], "no tty");
    assert_eq!(lines[1], "cat dumb 0");
    assert!(lines[2].starts_with("no editor here"), "{lines:?}");
    assert_eq!(lines[3], "editor 1");
    // A session of its own, led by itself.
    assert_eq!(lines[4], lines[5], "{lines:?}");
}

#[test]
fn a_directory_can_be_given_and_is_part_of_what_is_judged() {
    let bench = ToolBench::new();
    bench.put("it's here/x", "");
    let input = json!({"cmd": "pwd; ls", "cwd": "it's here"});
    let output = bench.run(&shell(), input.clone());
    assert_eq!(output.content, format!("{}\nx\n", bench.path("it's here").display()));
    let line = format!("cd \"{}\" && pwd; ls", bench.path("it's here").display());
    assert_eq!(shell().read(&input, &bench.roots).subject(), Subject::Command { line: line.clone() });
    assert_eq!(bench.check(&shell(), &input), Ok(Preview::Command { line }));
    let output = bench.run(&shell(), json!({"command": "pwd", "cwd": "nowhere"}));
    assert_eq!(output.content, "nowhere does not exist.");
}

#[test]
fn a_timeout_ends_a_command_that_ignores_term_and_keeps_its_output() {
    let bench = ToolBench::new();
    let lifeline = Lifeline::new(bench.path("lifeline"));
    let input =
        json!({"command": lifeline.held_by("trap '' TERM; echo begun; sleep 301 & sleep 301"), "timeout": 1});
    let output = bench.run(&shell(), input);
    assert!(output.content.starts_with("begun\n[timed out after 1 s"), "{}", output.content);
    assert_eq!((output.outcome, output.facts.timed_out_after), (Outcome::Failed, Some(1)));
    lifeline.ends();
}

#[test]
fn a_command_that_closes_its_output_and_sleeps_ends_at_the_timeout() {
    let bench = ToolBench::new();
    let lifeline = Lifeline::new(bench.path("lifeline"));
    let input = json!({"command": lifeline.held_by("echo x; exec >&- 2>&-; sleep 302"), "timeout": 1});
    let output = bench.run(&shell(), input);
    assert!(output.content.starts_with("x\n[timed out"), "{}", output.content);
    lifeline.ends();
}

#[test]
fn a_cancelled_command_ends_in_time_with_all_that_left_its_group() {
    let bench = ToolBench::new();
    let lifeline = Lifeline::new(bench.path("lifeline"));
    let command = "trap '' TERM; env -i setsid sleep 303 & setsid sleep 303 & (trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep 303' &) ; \
                   echo begun; sleep 303; echo it was waited for";
    let output = bench.run_cancelled(&shell(), json!({ "command": lifeline.held_by(command) }));
    assert_eq!(output.content, "begun\n[interrupted by the user]");
    assert_eq!(output.outcome, Outcome::Interrupted);
    lifeline.ends();
}

#[test]
fn a_polite_command_ends_at_once_when_cancelled() {
    let bench = ToolBench::new();
    let lifeline = Lifeline::new(bench.path("lifeline"));
    let command = "trap 'echo goodbye; exit' TERM; echo begun; sleep 304 & wait; echo it was waited for";
    let output = bench.run_cancelled(&shell(), json!({ "command": lifeline.held_by(command) }));
    assert_eq!(output.outcome, Outcome::Interrupted);
    assert_eq!(output.content, "begun\ngoodbye\n[interrupted by the user]");
    lifeline.ends();
}

#[test]
fn a_dropped_command_is_killed() {
    let bench = ToolBench::new();
    let lifeline = Lifeline::new(bench.path("lifeline"));
    bench.run_dropped(
        &shell(),
        json!({"command": lifeline.held_by("trap '' TERM; (env -i setsid sleep 305 &); setsid sleep 305 & sleep 305 & echo begun; sleep 305")}),
    );
    lifeline.ends();
}

#[test]
fn background_processes_are_ended_whether_or_not_they_hold_the_output_open() {
    let bench = ToolBench::new();
    let lifeline = Lifeline::new(bench.path("lifeline"));
    for command in [
        "sleep 306 & echo done",
        "sleep 306 >/dev/null 2>&1 & echo done",
        "setsid sleep 306 & echo done",
        "(setsid nohup sleep 306 >/dev/null 2>&1 &) ; echo done",
        "trap '' TERM; env -i sleep 306 & echo done",
        "env -i setsid sleep 306 >/dev/null 2>&1 & echo done",
        "(env -i setsid sh -c 'trap \"\" TERM; env -i setsid sleep 306 & sleep 306' >/dev/null 2>&1 &); echo done",
    ] {
        let output = bench.run(&shell(), json!({ "command": lifeline.held_by(command) }));
        assert_eq!(output.content, "done\n[processes left in the background were ended]", "{command}");
        assert_eq!(output.outcome, Outcome::Ok);
        lifeline.ends();
    }
}

#[test]
fn without_the_helper_it_works_in_a_group_of_its_own() {
    let bench = ToolBench::new();
    let lifeline = Lifeline::new(bench.path("lifeline"));
    let tool = ShellTool::new(None);
    let output = bench.run(
        &tool,
        json!({"command": lifeline.held_by("sleep 307 & echo done; ps -o pgid= -p $$ | tr -d ' '; echo $$")}),
    );
    let lines: Vec<&str> = output.content.lines().collect();
    assert_eq!((lines[0], lines[1]), ("done", lines[2]));
    lifeline.ends();
}

#[test]
fn progress_shows_lines_and_the_open_line_as_they_come() {
    let bench = ToolBench::new();
    let input = json!({"command": "echo first; printf 'Proceed? '; sleep 0.5; printf '\\r10%%\\r20%%\\n'"});
    let (output, told) = bench.run_watched(&shell(), input);
    assert_eq!(output.content, "20%\n".replace("20%", "first\n20%"));
    assert_eq!(told, ["first", "Proceed? ", "20%"]);
}

#[test]
fn long_and_binary_outputs_are_cut_and_kept() {
    let bench = ToolBench::new();
    let output = bench.run(&shell(), json!({"command": "seq 100000"}));
    assert!(output.content.len() < 11_000, "{}", output.content.len());
    assert!(output.content.starts_with("1\n2\n") && output.content.ends_with("\n99999\n100000\n"));
    let whole = std::fs::read_to_string(output.facts.full_output.unwrap()).unwrap();
    assert_eq!(whole.lines().count(), 100_000);
    let output = bench.run(&shell(), json!({"command": "head -c 1000000 /dev/zero | tr '\\0' x"}));
    assert!(output.content.len() < 11_000);
    let output = bench.run(&shell(), json!({"command": "head -c 100000 /dev/urandom"}));
    assert!(output.content.starts_with("[binary output, 97.6 KB; the whole is in "), "{}", output.content);
    let output = bench.run(&shell(), json!({"command": "printf '\\033[31mred\\033[0m\\n'"}));
    assert_eq!(output.content, "red\n");
}

#[test]
fn what_a_killed_axi_left_behind_is_ended_at_the_next_start() {
    let Ok(space) = std::fs::read_link("/proc/self/ns/pid") else {
        // Only where there is a /proc can they be found.
        return;
    };
    let space = space.to_string_lossy().replace(|letter: char| !letter.is_ascii_digit(), "");
    // This process's number, but with the start time of one that came before it.
    let mark = format!("{}.1.{space}.0", std::process::id());
    let mut orphan = std::process::Command::new("sleep").arg("30.5").env("AXI_CHILD", mark).spawn().unwrap();
    // Another run of these tests on this machine may be the one that ends it.
    let _ = end_orphans();
    let ended = orphan.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended), Some(9));
}

#[test]
fn a_flood_can_be_cancelled_and_one_that_forks_for_ever_is_caught() {
    for command in ["yes", "echo begun; while :; do (setsid sleep 310 &) ; sleep 0.02; done"] {
        let bench = ToolBench::new();
        let lifeline = Lifeline::new(bench.path("lifeline"));
        let output = bench.run_cancelled(&shell(), json!({ "command": lifeline.held_by(command) }));
        assert_eq!(output.outcome, Outcome::Interrupted);
        lifeline.ends();
    }
}

#[test]
fn a_megabyte_without_a_line_end_is_cut() {
    let bench = ToolBench::new();
    let input = json!({"command": "head -c 1000000 /dev/zero | tr '\\0' x"});
    let (output, told) = bench.run_watched(&shell(), input);
    assert_eq!(output.facts.lines, Some(1));
    assert!(
        output.content.len() < 11_000 && output.content.contains("[… 966.5 KB cut; "),
        "{}",
        output.content.len()
    );
    assert!(told.iter().all(|line| line.len() <= 2048));
}

#[test]
fn bad_arguments_are_named() {
    let bench = ToolBench::new();
    for (input, says) in [
        (json!({}), "shell: missing argument `command`, which must be a string"),
        (json!({"command": " "}), "shell: argument `command` is empty; it must be a non-empty string"),
        (json!({"command": "a\0b"}), "shell: argument `command` holds a NUL"),
        (json!({"command": 1}), "shell: argument `command` must be a string, got 1"),
    ] {
        assert_eq!(bench.run(&shell(), input).content, says);
    }
    let long = bench.run(&shell(), json!({"command": "x".repeat(200_000)}));
    assert!(long.content.contains("too long"), "{}", long.content);
}

/// Run alone for the figure: `cargo test --test it gigabyte -- --ignored --nocapture`.
#[test]
#[ignore = "takes a while, and its memory can only be measured alone in its process"]
fn a_gigabyte_of_output_takes_bounded_memory() {
    let bench = ToolBench::new();
    let output = bench.run(&shell(), json!({"command": "yes | head -c 1G", "timeout": 600}));
    assert!(output.content.contains("the first 100.0 MB are in "), "{}", output.content);
    assert_eq!(output.facts.lines, Some(1 << 29));
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    let kilobytes: u64 = peak.split_ascii_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kilobytes < 64 * 1024, "{peak}");
}

#[test]
fn commands_run_where_there_is_no_such_place_for_temporary_files_as_the_environment_says() {
    use axi::sandbox::{Reach, Sandbox, Wanted};
    let mut bench = ToolBench::new();
    let nowhere = bench.path("nowhere");
    bench.sandbox = Sandbox::new(Wanted::On, None, Vec::new(), Vec::new(), nowhere.clone());
    for reach in [Reach::ReadOnly, Reach::Workspace { network: false, also: Vec::new() }, Reach::Full] {
        bench.reach = reach;
        let line = "test -d \"$TMPDIR\" && mktemp -u > /dev/null && echo there is one";
        let output = bench.run(&shell(), json!({ "command": line }));
        assert_eq!(output.content, "there is one\n", "{:?}", bench.reach);
    }
    assert!(!nowhere.exists());
}
