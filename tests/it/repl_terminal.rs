//! The REPL and the terminal itself: its mode comes back, its size changes, nothing raw reaches it.

use std::io::{Read as _, Write as _};
use std::process::Command;

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::support::home::Home;
use crate::support::pty::{PATIENCE, Pty, ended};
use crate::support::server::{Gate, Server, answer};
use crate::support::talk::{Person, axi, in_the_middle};

/// axi under a shell that writes down the terminal's mode before and after, axi's process id and its exit code.
fn witnessed(home: &Home, server: &Server) -> Command {
    redirected(home, server, "")
}

/// The same with redirections behind axi.
fn redirected(home: &Home, server: &Server, redirections: &str) -> Command {
    let axi = axi(home, server);
    let mut shell = home.command("bash");
    for (name, value) in axi.get_envs() {
        shell.env(name, value.unwrap_or_default());
    }
    let script = r#"stty -g >before; bash -c 'echo $$ >id; exec "$AXI" REDIRECTIONS'; echo $? >code; stty -g >after; echo over"#;
    let script = script.replace("REDIRECTIONS", redirections);
    shell.env("AXI", axi.get_program()).args(["--norc", "-c", &script]);
    shell
}

fn told(home: &Home, name: &str) -> String {
    std::fs::read_to_string(home.work().join(name)).unwrap().trim().to_owned()
}

/// Waits for the shell's last word and checks that the terminal is as it was.
fn is_as_before(person: &mut Person, home: &Home, code: &str) {
    person.sees("over");
    person.pty.wait_exit();
    assert_eq!(told(home, "code"), code);
    assert_eq!(told(home, "after"), told(home, "before"));
    let (hidden, paste) = person.pty.view(|view| (view.screen().hide_cursor(), view.screen().bracketed_paste()));
    assert_eq!((hidden, paste), (false, false));
}

fn signalled(home: &Home, signal: Signal) {
    let id = Pid::from_raw(told(home, "id").parse().unwrap()).unwrap();
    rustix::process::kill_process(id, signal).unwrap();
}

#[test]
fn ctrl_d_leaves_with_0_and_the_terminal_is_as_it_was() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("hello there")]);
    let mut person = Person::meets(&witnessed(&home, &server));
    person.sends("hi");
    person.sees("hello there");
    person.sees_prompt();
    person.types("\x04");
    is_as_before(&mut person, &home, "0");
}

#[test]
fn the_prompt_is_seen_though_standard_error_goes_elsewhere() {
    for redirection in ["2>err", "2>&-"] {
        let home = Home::new();
        let server = Server::start([answer::chat_text("hello there")]);
        let mut person = Person::meets(&redirected(&home, &server, redirection));
        person.types("hi you");
        person.sees_line("hi you");
        person.types("\r");
        person.sees("hello there");
        person.sees_prompt();
        person.types("\x04");
        is_as_before(&mut person, &home, "0");
    }
}

#[test]
fn a_signal_leaves_the_terminal_as_it_was() {
    for (signal, code) in [(Signal::TERM, "143"), (Signal::HUP, "129"), (Signal::QUIT, "131")] {
        let home = Home::new();
        let server = Server::start([]);
        let mut person = Person::meets(&witnessed(&home, &server));
        signalled(&home, signal);
        is_as_before(&mut person, &home, code);
        // The same in the middle of a turn.
        let home = Home::new();
        let mut person = Person::meets(&witnessed(&home, &server));
        in_the_middle(&mut person, &server);
        signalled(&home, signal);
        is_as_before(&mut person, &home, code);
        server.wait_closed(1);
    }
}

#[test]
fn a_signal_during_a_question_leaves_the_terminal_as_it_was() {
    let home = Home::new();
    let server = Server::start([answer::chat_call("call_1", "shell", r#"{"command":"touch made.txt"}"#)]);
    let mut person = Person::meets(&witnessed(&home, &server));
    person.sends("make it");
    person.sees_choice("Yes, once");
    signalled(&home, Signal::TERM);
    is_as_before(&mut person, &home, "143");
    assert!(!home.work().join("made.txt").exists());
}

/// axi as a job of a shell.
fn in_a_shell(home: &Home, server: &Server) -> Person {
    let axi = axi(home, server);
    let mut shell = home.command("bash");
    for (name, value) in axi.get_envs() {
        shell.env(name, value.unwrap_or_default());
    }
    shell.env("AXI", axi.get_program()).env("PS1", "shell> ").args(["--norc", "--noprofile", "--noediting", "-i"]);
    let mut person = Person { pty: Pty::options().spawn(&shell) };
    person.sees("shell> ");
    person.types("\"$AXI\"\r");
    person.sees_prompt();
    person
}

#[test]
fn ctrl_z_at_every_question_gives_the_terminal_to_the_shell_and_fg_asks_on() {
    let choose = r#"{"question":"Which colour?","choices":["red","green"]}"#;
    let open = r#"{"question":"What is its name?"}"#;
    let make = r#"{"command":"touch made.txt"}"#;
    for (tool, input, before, sees, answers) in [
        ("ask_user", choose, "", "1–3 answers", "2"),
        ("ask_user", open, "Ad", "Your answer", "a\r"),
        ("shell", make, "", "Yes, once", "n"),
        ("shell", make, "f", "What instead?", "nothing\r"),
    ] {
        let home = Home::new();
        let server = Server::start([answer::chat_call("call_1", tool, input), answer::chat_text("So it is.")]);
        let mut person = in_a_shell(&home, &server);
        person.sends("go");
        person.sees(if before == "f" { "Yes, once" } else { sees });
        person.types(before);
        person.sees(sees);
        person.types("\x1a");
        person.waits(|view| view.text().trim_end().ends_with("shell>"), "the shell's prompt");
        person.types("echo in the shell; fg\r");
        person.sees("in the shell\n");
        person.waits(|view| view.text().rsplit("in the shell\n").next().unwrap().contains(sees), sees);
        person.types(answers);
        person.sees("So it is.");
        person.sees_prompt();
        person.types("\x04");
        person.waits(|view| view.text().trim_end().ends_with("shell>"), "the shell's prompt");
        person.types("exit\r");
        person.pty.wait_exit();
    }
}

#[test]
fn ctrl_z_gives_the_terminal_to_the_shell_and_fg_brings_the_turn_back() {
    let home = Home::new();
    let server = Server::start([]);
    let mut person = in_a_shell(&home, &server);
    // In the middle of a turn.
    let gate = in_the_middle(&mut person, &server);
    person.types("\x1a");
    person.sees("Stopped");
    person.waits(|view| view.text().trim_end().ends_with("shell>"), "the shell's prompt");
    person.types("echo in the shell; fg\r");
    person.sees("in the shell\n");
    gate.open();
    person.sees("gamma delta");
    person.sees_prompt();
    assert_eq!(person.count("alpha beta"), 1, "{}", person.pty.transcript());
    // At the prompt; what is on the line is still there afterwards.
    person.types("half");
    person.sees_line("half");
    person.types("\x1a");
    person.waits(|view| view.text().trim_end().ends_with("shell>"), "the shell's prompt");
    person.types("fg\r");
    person.sees_line("half");
    person.types("\x15");
    person.sees_prompt();
    person.types("\x04");
    person.waits(|view| view.text().trim_end().ends_with("shell>"), "the shell's prompt");
    person.types("echo code $?; exit\r");
    person.pty.wait_exit();
    assert!(person.count("code 0") > 0, "{}", person.pty.transcript());
}

#[test]
fn every_word_is_there_once_on_narrow_and_wide_terminals() {
    let words: Vec<String> = (0..120).map(|number| format!("w{number:03}x")).collect();
    for columns in [40, 200] {
        let home = Home::new();
        let server = Server::start([answer::chat_text(&words.join(" "))]);
        let mut person = Person::on(Pty::options().size(columns, 12), &axi(&home, &server));
        person.sends("go");
        person.sees("w119x");
        person.sees_prompt();
        let text = person.pty.transcript();
        for word in &words {
            assert_eq!(text.matches(word.as_str()).count(), 1, "{columns} columns, {word}:\n{text}");
        }
        assert!(person.pty.view(|view| view.rows().iter().all(|row| row.chars().count() <= usize::from(columns))));
        assert_eq!(person.leaves(), Some(0));
    }
}

#[test]
fn a_resize_in_mid_stream_loses_and_repeats_no_word() {
    let words: Vec<String> = (0..60).map(|number| format!("w{number:03}x")).collect();
    // The screen of these tests does not wrap rows anew; what narrower does is tested with a terminal that does.
    for (before, after) in [(44, 90), (70, 71)] {
        let home = Home::new();
        let gate = Gate::new();
        let server = Server::start([answer::chat_text(&words.join(" ")).gate_before(31, &gate)]);
        let mut person = Person::on(Pty::options().size(before, 20), &axi(&home, &server));
        person.sends("go");
        person.sees("w029x");
        person.pty.resize(after, 20);
        gate.open();
        person.sees("w059x");
        person.sees_prompt();
        let text = person.pty.transcript();
        for word in &words {
            assert_eq!(text.matches(word.as_str()).count(), 1, "{before} to {after}, {word}:\n{text}");
        }
    }
}

#[test]
fn control_sequences_of_model_and_tools_never_reach_the_terminal() {
    let home = Home::new();
    home.write("work/evil.txt", "\x1b]0;from a file\x07\x1b[31mred\u{9b}2J\x1bPq\x1b\\\n");
    let evil = "before \u{1b}]0;owned\u{7} \u{1b}[2J\u{1b}[31mred\u{9b}5m \u{202e}after \u{8}\r `\u{1b}[7m` done";
    let server = Server::start([
        answer::chat_call(
            "call_1",
            "shell",
            r#"{"command":"cat evil.txt; printf '\\033]0;by a tool\\007\\033[6n'"}"#,
        ),
        answer::chat_text(evil),
    ]);
    let mut command = axi(&home, &server);
    command.args(["-y"]);
    let mut person = Person::meets(&command);
    person.sends("show me");
    person.sees("done");
    person.sees_prompt();
    let raw = person.pty.view(|view| String::from_utf8_lossy(view.raw()).into_owned());
    for sequence in ["\x1b]0;", "\x1b[2J", "\x1b[31mred", "\u{9b}", "\u{202e}", "\x1bP", "\x07"] {
        assert!(!raw.contains(sequence), "{sequence:?} got through:\n{}", raw.escape_debug());
    }
    // axi's own title says what the person asked, then is given back.
    let titles = person.pty.view(|view| view.titles().to_vec());
    assert!(titles.iter().all(|title| title.is_empty() || title == "axi · show me"), "{titles:?}");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn without_colour_nothing_is_coloured() {
    let home = Home::new();
    let text = "# Title\n\nsome `code` and [a link](http://example.org/)\n\n```rust\nfn main() {}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n";
    let touch = r#"{"command":"touch made.txt; false"}"#;
    let server = Server::start([answer::chat_call("call_1", "shell", touch), answer::chat_text(text)]);
    let mut command = axi(&home, &server);
    command.env("NO_COLOR", "1");
    let mut person = Person::meets(&command);
    person.sends("/modle");
    person.sees("did you mean");
    person.sees_prompt();
    person.sends("go");
    person.sees("Run this command?");
    person.types("\r");
    // No style tells code from prose: its fences do.
    person.sees("```rust");
    person.sees("fn main");
    person.sees_prompt();
    person.types("/he");
    person.sees("show keys and commands");
    person.types("\x15");
    let raw = person.pty.view(|view| view.raw().to_vec());
    let coloured = colours(&raw);
    assert!(coloured.is_empty(), "{coloured:?}");
    assert_eq!(person.leaves(), Some(0));
}

/// The SGR sequences among these bytes that set a colour (39 and 49 take it back).
fn colours(raw: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(raw);
    let sequences = text.split("\x1b[").skip(1).filter_map(|rest| {
        let end =
            rest.find(|character: char| !character.is_ascii_digit() && character != ';' && character != ':')?;
        rest[end..].starts_with('m').then(|| rest[..end].to_owned())
    });
    let sets = |parameter: &str| matches!(parameter.parse(), Ok(30..=38 | 40..=48 | 90..=97 | 100..=107));
    sequences.filter(|sequence| sequence.split([';', ':']).any(sets)).collect()
}

#[test]
fn the_prompt_is_there_though_the_terminal_answers_no_question() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("hello there")]);
    let pty = Pty::options().mute().spawn(&axi(&home, &server));
    let mut person = Person { pty };
    assert!(person.pty.wait_until(|view| view.text().contains('❯'), PATIENCE), "{}", person.pty.describe());
    person.types("hi\r");
    person.sees("hello there");
}

#[test]
fn a_terminal_that_goes_away_ends_axi_though_no_signal_tells_it() {
    let home = Home::new();
    let server = Server::start([]);
    let axi = axi(&home, &server);
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave = rustix::fs::open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty());
    let slave = slave.unwrap();
    // The system tells only the first process of a terminal, which keeps it to itself.
    let mut shell = Command::new("/usr/bin/setsid");
    shell.args(["--ctty", "bash", "--norc", "-c", r#"trap "" HUP; "$AXI"; echo $? >code"#]).env_clear();
    shell.envs(axi.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("AXI", axi.get_program());
    shell.current_dir(home.work());
    shell.stdin(slave.try_clone().unwrap()).stdout(slave.try_clone().unwrap()).stderr(slave);
    let mut child = shell.spawn().unwrap();
    drop(shell);
    let (mut master, mut seen, mut buffer) = (std::fs::File::from(master), Vec::new(), [0; 4096]);
    // The line editor asks where it stands, and waits for keys once it knows.
    while !String::from_utf8_lossy(&seen).contains("\u{1b}[6n") {
        let count = master.read(&mut buffer).unwrap();
        seen.extend_from_slice(&buffer[..count]);
    }
    master.write_all(b"\x1b[2;1R").unwrap();
    assert_ne!(master.read(&mut buffer).unwrap(), 0);
    drop(master);
    if ended(&mut child).is_none() {
        child.kill().unwrap();
        child.wait().unwrap();
        panic!("still running");
    }
    // 1 where it was about to ask the terminal something just then.
    assert!(["129", "1"].contains(&told(&home, "code").as_str()));
}
