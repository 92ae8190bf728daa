//! axi is ended while an answer arrives: what was shown of it is kept, and the window has its own title again.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use rustix::process::{Pid, Signal};
use serde_json::Value;

use crate::support::changes::Changes;
use crate::support::home::Home;
use crate::support::server::{Gate, Server, answer};
use crate::support::talk::{Person, axi, in_the_middle, roles, run, said, session_files, session_lines};

const ENDING: [(Signal, i32); 3] = [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::QUIT, 131)];

/// What the session's file has of the last answer.
fn kept(home: &Home) -> String {
    let lines = session_lines(home);
    let said = lines.iter().rev().find(|line| line["message"]["role"] == "assistant");
    said.and_then(|line| line["message"]["content"][0]["text"].as_str()).unwrap_or_default().to_owned()
}

fn title_is_back(person: &Person) -> bool {
    person.pty.view(|view| {
        let raw = String::from_utf8_lossy(view.raw());
        raw.matches("\x1b[22;2t").count() == 1 && raw.matches("\x1b[23;2t").count() == 1
    })
}

#[test]
fn a_signal_in_mid_stream_keeps_what_was_shown() {
    for (signal, code) in ENDING {
        let home = Home::new();
        let server = Server::start([]);
        let mut person = Person::meets(&axi(&home, &server));
        in_the_middle(&mut person, &server);
        person.pty.signal(signal);
        assert_eq!(person.pty.wait_exit().code(), Some(code));
        assert_eq!(kept(&home), "alpha beta ", "{signal:?}");
        assert_eq!(session_lines(&home).last().unwrap()["end"], "interrupted", "{signal:?}");
        assert!(title_is_back(&person), "{signal:?}");
        assert!(!session_files(&home)[0].with_extension("partial").exists());
    }
}

#[test]
fn a_signal_in_mid_stream_keeps_what_was_printed() {
    for (signal, code) in ENDING {
        let home = Home::new();
        let gate = Gate::new();
        let server = Server::start([answer::chat_text("one two three").gate_before(3, &gate)]);
        let mut command = axi(&home, &server);
        command.args(["-p", "--output", "stream-json", "count"]).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("\"two \"") {
            line.clear();
            assert!(out.read_line(&mut line).unwrap() > 0, "the answer never came");
        }
        rustix::process::kill_process(Pid::from_child(&child), signal).unwrap();
        let last = out.lines().map_while(Result::ok).last().unwrap();
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(code));
        let ended: Value = serde_json::from_str(&last).unwrap();
        assert_eq!(ended["end"]["kind"], "interrupted", "{signal:?}");
        assert_eq!(kept(&home), "one two ", "{signal:?}");
    }
}

/// As `nohup` does, and a script with `&`.
#[test]
fn a_signal_that_whoever_starts_axi_ignores_does_not_end_it() {
    for (signal, name) in [(Signal::HUP, "HUP"), (Signal::INT, "INT")] {
        let home = Home::new();
        let gate = Gate::new();
        let server = Server::start([answer::chat_text("one two three").gate_before(3, &gate)]);
        let own = axi(&home, &server);
        let mut command = home.command("sh");
        command.args(["-c", &format!("trap '' {name}; exec \"$0\" \"$@\"")]).arg(own.get_program());
        command.args(own.get_args()).args(["-p", "--output", "stream-json", "count"]).stdin(Stdio::null());
        command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("\"two \"") {
            line.clear();
            assert!(out.read_line(&mut line).unwrap() > 0, "the answer never came");
        }
        rustix::process::kill_process(Pid::from_child(&child), signal).unwrap();
        gate.open();
        let last = out.lines().map_while(Result::ok).last().unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{name}");
        assert_eq!(serde_json::from_str::<Value>(&last).unwrap()["end"]["kind"], "done", "{name}");
        assert_eq!(kept(&home), "one two three", "{name}");
    }
}

#[test]
fn a_signal_during_a_question_gives_the_title_back() {
    let home = Home::new();
    let server = Server::start([answer::chat_call("call_1", "shell", r#"{"command":"touch made.txt"}"#)]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("make it");
    person.sees_choice("Yes, once");
    person.pty.signal(Signal::TERM);
    assert_eq!(person.pty.wait_exit().code(), Some(143));
    assert!(title_is_back(&person));
}

#[test]
fn a_killed_axi_has_kept_what_was_shown_a_second_before() {
    let home = Home::new();
    let server = Server::start([]);
    let mut person = Person::meets(&axi(&home, &server));
    in_the_middle(&mut person, &server);
    let partial = session_files(&home)[0].with_extension("partial");
    Changes::of(partial.parent().unwrap()).until("what is kept of the answer", || partial.exists());
    person.pty.signal(Signal::KILL);
    person.pty.wait_exit();
    server.push(answer::chat_text("gamma delta"));
    let ran = run(axi(&home, &server).args(["-c", "-p", "go on"]));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "gamma delta\n"), "{ran:?}");
    let asked = &server.requests()[1];
    assert_eq!(roles(asked), ["system", "user", "assistant", "user"]);
    assert_eq!(said(asked, 2), "alpha beta ");
    assert!(!partial.exists());
}
