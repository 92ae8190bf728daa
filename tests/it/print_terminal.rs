//! `axi -p` where a person watches: on a terminal, without the REPL.

use crate::support::home::Home;
use crate::support::pty::Pty;
use crate::support::server::{Gate, Server, answer};
use crate::support::talk::{axi, session_lines};

#[test]
fn ctrl_c_keeps_what_was_shown_and_ends_with_130() {
    let home = Home::new();
    let gate = Gate::new();
    let server = Server::start([answer::chat_text("alpha beta gamma").gate_before(3, &gate)]);
    let mut command = axi(&home, &server);
    command.args(["-p", "count"]);
    let mut pty = Pty::options().spawn(&command);
    let before = pty.termios();
    pty.wait_for("alpha beta");
    pty.send("\x03");
    assert_eq!(pty.wait_exit().code(), Some(130));
    server.wait_closed(1);
    let text = pty.transcript();
    assert_eq!((text.matches("alpha beta").count(), text.matches("stopped").count()), (1, 1), "{text}");
    assert!(!pty.view(|view| view.screen().hide_cursor() || view.screen().bracketed_paste()));
    assert_eq!(format!("{:?}", pty.termios()), format!("{before:?}"));
    assert!(session_lines(&home).iter().any(|line| line.to_string().contains("alpha beta ")));
}

#[test]
fn a_call_nobody_is_asked_about_ends_with_5_and_says_how_to_allow_it() {
    let home = Home::new();
    let server = Server::start([answer::chat_call("call_1", "shell", r#"{"command":"touch made.txt"}"#)]);
    let mut command = axi(&home, &server);
    command.args(["-p", "make it"]);
    let mut pty = Pty::options().spawn(&command);
    assert_eq!(pty.wait_exit().code(), Some(5));
    let text = pty.transcript();
    assert!(text.contains("needs an approval") && text.contains("--allow 'shell(touch made.txt)'"), "{text}");
    assert!(!home.work().join("made.txt").exists());
}
