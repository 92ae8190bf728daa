//! The REPL where rows are short: questions that wrap, and a terminal that wraps its rows anew.

use std::time::Instant;

use crate::support::home::Home;
use crate::support::pty::{PATIENCE, Pty, is_installed};
use crate::support::server::{Gate, Server, answer};
use crate::support::talk::{Person, axi, last_said};

#[test]
fn a_question_longer_than_its_rows_leaves_nothing_behind() {
    for (language, question, first, gone, no, denied) in [
        ("en", "Run this command?", "Yes, once", ["Yes,", "for the rest", "what to do instead"], 2, "denied"),
        ("zh-CN", "运行这条命令吗？", "是，仅此一次", ["是，", "本次会话", "并说明"], 2, "已拒绝"),
    ] {
        let home = Home::new();
        let line = "printf '%s' one-two-three-four-five-six-seven-eight-nine-ten > made.txt";
        let call = serde_json::json!({ "command": line }).to_string();
        let server = Server::start([answer::chat_call("call_1", "shell", &call), answer::chat_text("Then not.")]);
        let mut command = axi(&home, &server);
        command.args(["--lang", language]);
        let mut person = Person::on(Pty::options().size(40, 24), &command);
        person.sends("make it");
        person.sees_choice(first);
        let chosen = |rows: Vec<&str>| rows.iter().rposition(|row| row.starts_with('❯'));
        // Once round the menu and on: each step writes it anew.
        for _ in 0..4 + no {
            let before = person.pty.view(|view| chosen(view.text().lines().collect()));
            person.types("\x1b[B");
            person.waits(|view| chosen(view.text().lines().collect()) != before, "the next choice");
        }
        person.types("\r");
        person.sees("Then not.");
        person.sees_prompt();
        let text = person.pty.transcript();
        assert_eq!(text.matches(line).count(), 1, "the command whole, its title cut to a row:\n{text}");
        assert_eq!(text.matches(question).count(), 1, "{text}");
        for gone in gone {
            assert_eq!(text.matches(gone).count(), 0, "{gone:?} was left behind:\n{text}");
        }
        assert_eq!(text.matches("❯ make it").count(), 1, "nothing above was erased:\n{text}");
        assert!(text.contains(denied), "{text}");
        assert!(last_said(&server.requests()[1]).contains("denied"));
        assert_eq!(person.leaves(), Some(0));
    }
}

#[test]
fn words_stay_once_when_tmux_gets_narrower_and_wider_in_mid_stream() {
    if !is_installed("tmux") {
        let _ = std::io::Write::write_all(&mut std::io::stderr(), b"skipped: tmux is not installed\n");
        return;
    }
    let words: Vec<String> = (0..90).map(|number| format!("w{number:03}x")).collect();
    let home = Home::new();
    let (first, second) = (Gate::new(), Gate::new());
    let text = answer::chat_text(&words.join(" ")).gate_before(61, &second).gate_before(31, &first);
    let server = Server::start([text]);
    let program = axi(&home, &server);
    let socket = format!("axi-narrow-{}", std::process::id());
    let tmux = |arguments: &[&str]| {
        let mut command = home.command("tmux");
        for (name, value) in program.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        let output = command.args(["-L", &socket, "-f", "/dev/null"]).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let capture = || tmux(&["capture-pane", "-p", "-J", "-S", "-", "-E", "-"]);
    let wait = |needle: &str| {
        let deadline = Instant::now() + PATIENCE;
        while !capture().contains(needle) {
            assert!(Instant::now() < deadline, "never saw {needle:?} in:\n{}", capture());
        }
    };
    tmux(&["new-session", "-d", "-x", "80", "-y", "20", program.get_program().to_str().unwrap()]);
    wait("❯");
    tmux(&["send-keys", "go", "Enter"]);
    wait("w029");
    tmux(&["resize-window", "-x", "37", "-y", "20"]);
    first.open();
    wait("w059");
    tmux(&["resize-window", "-x", "100", "-y", "12"]);
    second.open();
    // The turn is over when the prompt is back.
    let deadline = Instant::now() + PATIENCE;
    let mut text = capture();
    while !(text.contains("w089x") && text.trim_end().ends_with('❯')) {
        assert!(Instant::now() < deadline, "the turn never ended:\n{text}");
        text = capture();
    }
    tmux(&["kill-server"]);
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in &words {
        assert_eq!(joined.matches(word.as_str()).count(), 1, "{word}:\n{text}");
    }
}
