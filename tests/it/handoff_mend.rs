//! A command failed, and Ctrl+G on the empty line: the mended command stands on the prompt line. Nothing is run
//! unasked, and what was printed is read where it can be.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::support::home::Home;
use crate::support::pty::Pty;
use crate::support::server::{Server, answer};
use crate::support::shells::ROWS;
use crate::support::skip::{has, skip};
use crate::support::talk::{axi, last_said};

const ANSWER: &str = "COMMAND: cat notes.txt\nWHY: the file is called notes.txt";

/// A hand-off with an empty line, after `command` ended with `status`.
fn after(home: &Home, server: &Server, command: &str, status: &str) -> Command {
    let mut handoff = axi(home, server);
    handoff.arg("handoff").env("AXI_LINE", "").env("AXI_REPLY", home.path().join("runtime/axi/reply"));
    handoff.env("AXI_SHELL", "bash").env("AXI_LAST_COMMAND", command).env("AXI_LAST_STATUS", status);
    handoff
}

fn reply(home: &Home) -> String {
    std::fs::read_to_string(home.path().join("runtime/axi/reply")).unwrap_or_default()
}

fn ends(mut pty: Pty) -> (Option<i32>, String) {
    let code = pty.wait_exit().code();
    (code, pty.transcript())
}

#[test]
fn what_tmux_holds_is_read_and_stays_on_this_machine() {
    let home = Home::new();
    home.write("work/notes.txt", "hello\n");
    let path = home.write(
        "bin/tmux",
        "#!/bin/sh\nprintf '$ cat nots.txt\\ncat: nots.txt: No such file or directory\\n$ \\n'\n",
    );
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let server = Server::start([answer::chat_text(ANSWER)]);
    let mut command = after(&home, &server, "cat nots.txt", "1");
    command.env("TMUX", "/tmp/tmux-0/default,1,0").env("TMUX_PANE", "%3");
    command.env("PATH", format!("{}/bin:/usr/bin:/bin", home.path().display()));
    let (code, screen) = ends(Pty::options().spawn(&command));
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("with its output: 1 line, from tmux; it stays on this machine"), "{screen}");
    assert!(screen.contains("\nthe file is called notes.txt\n"), "{screen}");
    assert_eq!(reply(&home), "put\ncat notes.txt");
    let question = last_said(&server.requests()[0]);
    assert_eq!(
        question,
        "$ cat nots.txt\nexit code 1\nprinted:\ncat: nots.txt: No such file or directory\nexists here: notes.txt"
    );
}

#[test]
fn what_only_looks_is_run_again_after_a_yes_and_nothing_without() {
    let home = Home::new();
    home.write("work/notes.txt", "hello\n");
    let server = Server::start(["NONE", "It is missing."].map(answer::chat_text));
    // Enter says no: only what is known is read, and that is said.
    let pty = || Pty::options().spawn(&after(&home, &server, "cat nots.txt", "1"));
    let mut asked = pty();
    asked.wait_for("Run cat nots.txt again to see what it prints? It only looks");
    asked.wait_for("❯ n  No");
    asked.send("\r");
    let (code, screen) = ends(asked);
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("axi reads only the command and its exit code"), "{screen}");
    assert!(!last_said(&server.requests()[0]).contains("printed"), "{screen}");
    // A yes for good asks no more.
    for times in 0..2 {
        server.push(answer::chat_text(ANSWER));
        let mut asked = pty();
        if times == 0 {
            asked.wait_for("❯ n  No");
            asked.send("a");
        }
        let (code, screen) = ends(asked);
        assert_eq!(code, Some(0), "{screen}");
        assert!(screen.contains("1 line, from a second run; it stays on this machine"), "{screen}");
        assert_eq!(reply(&home), "put\ncat notes.txt");
        let question = last_said(server.requests().last().unwrap());
        assert!(question.contains("printed:\ncat: nots.txt: No such file or directory"), "{question}");
    }
}

#[test]
fn what_changes_files_is_run_again_in_a_trial_whose_changes_are_dropped() {
    let home = Home::new();
    let mut probe = axi(&home, &Server::start([]));
    let probe = probe.args(["try", "--json", "--", "true"]).output().unwrap();
    if !probe.status.success() {
        return skip("no trials here");
    }
    let server = Server::start([answer::chat_text("COMMAND: mkdir -p a/b\nWHY: a does not exist")]);
    let script = "touch made && mkdir a/b";
    let mut command = after(&home, &server, script, "1");
    let mut asked = Pty::options().spawn(command.env_remove("AXI_TRIAL"));
    asked.wait_for("again in a trial to see what it prints?");
    asked.wait_for("❯ n  No");
    asked.send("y");
    let (code, screen) = ends(asked);
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("1 line, from a second run"), "{screen}");
    assert!(last_said(&server.requests()[0]).contains("mkdir: cannot create directory"), "{screen}");
    assert!(!home.work().join("made").exists() && !home.work().join("a").exists(), "nothing of it stays");
    assert_eq!(reply(&home), "put\nmkdir -p a/b");
}

#[test]
fn what_leaves_the_machine_is_never_run_again() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("COMMAND: git push -u origin main\nWHY: no upstream is set")]);
    let (code, screen) = ends(Pty::options().spawn(&after(&home, &server, "git push", "128")));
    assert_eq!(code, Some(0), "{screen}");
    assert!(!screen.contains("again"), "{screen}");
    assert!(screen.contains("its output is not known here"), "{screen}");
    assert_eq!(reply(&home), "put\ngit push -u origin main");
}

#[test]
fn escape_stops_it_and_off_leaves_it_to_the_conversation() {
    let home = Home::new();
    let gate = crate::support::server::Gate::new();
    let server = Server::start([answer::chat_text(ANSWER).gate_before(1, &gate)]);
    let mut pty = Pty::options().spawn(&after(&home, &server, "gti status", "127"));
    pty.wait_for("esc to stop");
    pty.send("\x1b");
    assert_eq!(ends(pty).0, Some(130));
    assert_eq!(reply(&home), "");
    gate.open();
    home.write("config/axi/config.toml", "[handoff]\nmend_model = \"off\"\n");
    let server = Server::start([answer::chat_text("There is no gti.")]);
    let (code, screen) = ends(Pty::options().spawn(&after(&home, &server, "gti status", "127")));
    assert_eq!((code, reply(&home).as_str()), (Some(0), ""), "{screen}");
    assert_eq!(last_said(&server.requests()[0]).lines().next(), Some("What happened?"));
}

#[test]
fn in_every_shell_the_mended_command_waits_for_enter() {
    for row in &ROWS {
        let server = Server::start([answer::chat_text("COMMAND: touch mended\nWHY: tuoch should be touch")]);
        let Some(mut person) = row.start(&server, "", None, false) else { continue };
        person.enters("tuoch mended");
        person.sees_line("");
        person.types("\x07");
        person.sees("tuoch should be touch");
        person.sees_line("touch mended");
        assert!(!person.home.work().join("mended").exists(), "{}: nobody pressed Enter", person.name());
        let question = last_said(&server.requests()[0]);
        assert!(question.starts_with("$ tuoch mended\nexit code 127: there is no such command\n"), "{question}");
        if has("touch") {
            assert!(question.contains("programs: ") && question.contains("touch"), "{question}");
        }
        person.types("\r");
        person.sees_line("");
        assert!(person.home.work().join("mended").exists());
    }
}
