//! The harness itself: a program on the pseudo-terminal sees a real terminal, and we see what it does.

use std::time::Duration;

use rustix::process::Signal;
use rustix::termios::LocalModes;

use crate::support::home::Home;
use crate::support::pty::{Pty, is_installed};

#[test]
fn a_program_sees_a_terminal_of_the_size_asked_for_and_of_the_size_set_later() {
    let home = Home::new();
    let mut command = home.command("bash");
    command.args([
        "--norc",
        "-c",
        "stty size; tty -s && echo terminal; echo $HOME > /dev/tty; read x; stty size; exit 3",
    ]);
    let mut pty = Pty::options().size(100, 10).spawn(&command);
    pty.wait_for("terminal");
    pty.wait_for(home.path().to_str().unwrap());
    pty.resize(40, 12);
    pty.send("\r");
    assert_eq!(pty.wait_exit().code(), Some(3));
    let text = pty.transcript();
    assert!(text.starts_with("10 100\nterminal\n") && text.contains("\n12 40\n"), "{text}");
}

#[test]
fn scrollback_is_kept_and_wrapped_rows_are_joined() {
    let home = Home::new();
    let mut command = home.command("bash");
    command.args(["--norc", "-c", "for i in $(seq 50); do echo line $i; done; printf '%030d\\n' 7"]);
    let mut pty = Pty::options().size(20, 5).spawn(&command);
    pty.wait_exit();
    let text = pty.transcript();
    assert!(text.starts_with("line 1\nline 2\n") && text.ends_with(&format!("line 50\n{:030}\n", 7)), "{text}");
    assert_eq!(pty.view(|view| view.rows().len()), 52);
}

#[test]
fn questions_are_answered_as_the_options_say() {
    let home = Home::new();
    let mut command = home.command("bash");
    let script = "stty -icanon -echo min 0 time 5; printf '\\033[6n\\033[c\\033[?u\\033]11;?\\033\\\\\\033]2;name\\007'; cat | od -An -c | tr -d ' \\n'";
    command.args(["--norc", "-c", script]);
    let mut pty = Pty::options().kitty().background("rgb:ffff/0000/ffff").spawn(&command);
    pty.wait_exit();
    let text = pty.transcript().replace('\n', "");
    assert_eq!(text, "033[1;1R033[?62;22c033[?0u033]11;rgb:ffff/0000/ffff033\\", "{text}");
    assert_eq!(pty.view(|view| view.titles().to_vec()), ["name"]);
    let mut pty = Pty::options().mute().spawn(&command);
    pty.wait_exit();
    assert_eq!(pty.transcript(), "");
}

#[test]
fn modes_and_signals_are_those_of_the_program() {
    let home = Home::new();
    let mut command = home.command("bash");
    command.args([
        "--norc",
        "-c",
        "trap 'echo got; exit 9' USR1; echo ready; stty -echo; while :; do sleep 0.02; done",
    ]);
    let mut pty = Pty::options().spawn(&command);
    pty.wait_for("ready");
    while pty.termios().local_modes.contains(LocalModes::ECHO) {
        std::thread::yield_now();
    }
    assert!(pty.id() > 1);
    assert!(!pty.wait_until(|view| view.text().contains("got"), Duration::from_millis(1)));
    pty.signal(Signal::USR1);
    assert_eq!(pty.wait_exit().code(), Some(9));
    assert!(pty.view(|view| view.screen().contents().ends_with("got")));
}

#[test]
fn the_binary_runs_in_a_hermetic_home() {
    let home = Home::new();
    home.write("work/a/b", "text");
    let output = home.command("cat").arg("a/b").output().unwrap();
    assert_eq!(output.stdout, b"text");
    assert!(home.axi().get_program().to_str().unwrap().ends_with("axi"));
    assert!(is_installed("sh") && !is_installed("no-such-program-here"));
}
