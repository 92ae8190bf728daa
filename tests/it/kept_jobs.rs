//! Commands that outlive axi because the person said so, and everything else that does not.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use axi::conversation::Outcome;
use axi::tool::{ShellJobTool, ShellTool};
use rustix::process::{Signal, kill_process};
use serde_json::json;

use crate::support::changes::{all_end, command_line, processes};
use crate::support::home::Home;
use crate::support::lifeline::Lifeline;
use crate::support::pty::Pty;
use crate::support::server::{Server, answer};
use crate::support::talk::{Person, axi};
use crate::support::tool_bench::ToolBench;

/// A time to sleep that no other run of the tests has.
fn own(seconds: u32) -> String {
    format!("{seconds}.{}", std::process::id())
}

/// Tells whether a process has become this sleep.
fn is_sleep(own: &str) -> impl Fn(&Path) -> bool {
    let words = format!("sleep\0{own}\0").into_bytes();
    move |process| std::fs::read(process.join("cmdline")).is_ok_and(|line| line == words)
}

fn sleeps(own: &str) -> usize {
    processes(is_sleep(own)).len()
}

/// Kills what a failed test would leave.
struct Mop(String);

impl Drop for Mop {
    fn drop(&mut self) {
        for process in processes(|process| command_line(process).contains(&self.0)) {
            let _ = kill_process(process, Signal::KILL);
        }
    }
}

#[test]
fn one_that_is_kept_is_found_read_and_ended_by_the_next_session() {
    let mut bench = ToolBench::new();
    let time = own(411);
    let _mop = Mop(time.clone());
    let shell = ShellTool::new(Some(PathBuf::from(env!("CARGO_BIN_EXE_axi"))));
    let (own, apart) = (Lifeline::new(bench.path("own")), Lifeline::new(bench.path("apart")));
    let left = apart.held_by(&format!("env -i setsid sleep {time} &"));
    let rest = own.held_by(&format!("trap '' TERM; sleep {time}; sleep {time}"));
    let line = format!("echo begun; : hunter2-hunter2; ({left}); {rest}");
    let output = bench.run(&shell, json!({"command": line, "keep": true}));
    assert_eq!(output.outcome, Outcome::Ok, "{}", output.content);
    assert!(output.content.starts_with("begun\n[job 1001: kept running, for "), "{}", output.content);
    assert!(output.content.ends_with("shell_job reads and kills it, in later sessions, too]"));
    own.begins();
    apart.begins();
    let noted = std::fs::read_to_string(bench.output_dir().join("kept-1001.json")).unwrap();
    assert!(noted.contains(": [redacted]; (exec 9>") && !noted.contains("hunter2"), "{noted}");
    drop(std::mem::take(&mut bench.memory));
    let _ = axi::tool::sweep(
        &bench.output_dir(),
        bench.sandbox.temporary(),
        std::time::SystemTime::now() + Duration::from_hours(99 * 24),
    );
    let job = |action: &str| bench.run(&ShellJobTool, json!({"action": action, "job": 1001})).content;
    assert!(job("list").starts_with("job 1001: kept running, for "), "{}", job("list"));
    assert!(job("read").starts_with("begun\n[job 1001: "));
    assert!(job("read").starts_with("(no new output)\n"));
    assert!(own.is_held() && apart.is_held());
    assert!(job("kill").ends_with("[job 1001 was ended]"));
    own.ends();
    apart.ends();
    assert_eq!(job("list"), "No jobs.");
    assert_eq!(job("kill"), "shell_job: there is no job 1001; action list shows them");
}

#[test]
fn one_that_ends_at_once_says_so() {
    let bench = ToolBench::new();
    let shell = ShellTool::new(Some(PathBuf::from(env!("CARGO_BIN_EXE_axi"))));
    let mut output =
        bench.run(&shell, json!({"command": "echo no port; exit 3", "keep": true, "background": true}));
    let at_once = if output.facts.exit_code.is_some() { Outcome::Failed } else { Outcome::Ok };
    assert_eq!(output.outcome, at_once, "{}", output.content);
    let (mut said, until) = (output.content.clone(), Instant::now() + Duration::from_secs(20));
    // On a busy machine the first look may be over before it ends.
    while output.facts.exit_code.is_none() && Instant::now() < until {
        output = bench.run(&ShellJobTool, json!({"action": "read", "job": 1001}));
        said.push_str(&output.content);
    }
    assert!(said.contains("no port\n[job 1001: ") && said.contains("[job 1001: ended"), "{said}");
    assert_eq!(output.facts.exit_code, Some(3));
    let both = bench.run(&shell, json!({"commands": ["true", "true"], "keep": true}));
    assert_eq!(both.outcome, Outcome::Failed);
}

#[test]
fn a_killed_axi_leaves_what_the_person_agreed_to_and_nothing_else() {
    let home = Home::new();
    let (kept, plain) = (own(412), own(413));
    let _mops = (Mop(kept.clone()), Mop(plain.clone()));
    let start = |line: String, keep: bool| json!({"command": line, "keep": keep, "background": true}).to_string();
    let server = Server::start([
        answer::chat_call("c1", "shell", &start(format!("(env -i setsid sleep {plain} &); sleep {plain}"), false)),
        answer::chat_call("c2", "shell", &start(format!("sleep {kept}"), true)),
        answer::chat_text("Both run."),
    ]);
    // So wide that no row of the list is broken, however long the numbers of processes are.
    let mut person = Person::on(Pty::options().size(160, 40), axi(&home, &server).args(["--allow", "shell"]));
    person.sends("start them");
    // What is allowed is asked all the same when it is to outlive axi, and for this once only.
    person.sees("it goes on when axi ends; /jobs shows and ends it");
    person.sees_choice("Yes, once");
    assert_eq!(person.count("for the rest of this session"), 0);
    person.types("\r");
    person.sees("Both run.");
    person.sees_prompt();
    person.sends("/jobs");
    // Where the row breaks hangs on the length of a process number.
    person.sees("axi)");
    person.sees("continues when axi ends)");
    assert_eq!((sleeps(&kept), sleeps(&plain)), (1, 2));
    person.pty.signal(Signal::KILL);
    person.pty.wait_exit();
    all_end("axi was killed", is_sleep(&plain));
    assert_eq!(sleeps(&kept), 1);
    server.push(answer::chat_text("Hello."));
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("hi");
    person.sees("Hello.");
    person.sees_prompt();
    assert_eq!(sleeps(&kept), 1);
    person.sends("/jobs kill 1001");
    person.sees("job 1001 was ended");
    all_end("the job was ended", is_sleep(&kept));
    person.sees_prompt();
    person.sends("/jobs kill 7");
    person.sees("there is no running job 7");
    assert_eq!(person.leaves(), Some(0));
}
