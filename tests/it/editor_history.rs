//! The history and the ghost text in a real terminal.

use std::time::Duration;

use crate::editor::{DOWN, RIGHT, UP, play};
use crate::support::home::Home;
use crate::support::pty::{Pty, View};

const PATIENCE: Duration = Duration::from_secs(20);

fn send_lines(pty: &mut Pty, lines: &[&str]) {
    for line in lines {
        let before = pty.transcript().matches("sent ").count();
        pty.send(format!("{line}\r"));
        let sent = pty.wait_until(|view| view.transcript().matches("sent ").count() > before, PATIENCE);
        assert!(sent && pty.transcript().contains(&format!("sent {line:?}")), "{}", pty.describe());
        wait_for_row(pty, "~/work ❯");
    }
}

/// The row of the prompt, as it is seen.
fn prompt_row(pty: &Pty) -> String {
    let text = pty.view(|view| view.text());
    text.lines().rfind(|row| row.contains('❯')).unwrap_or_default().trim_end().to_owned()
}

fn wait_for_row(pty: &Pty, row: &str) {
    let seen = pty.wait_until(
        |view| view.text().lines().rfind(|line| line.contains('❯')).is_some_and(|line| line.trim_end() == row),
        PATIENCE,
    );
    assert!(seen, "never saw the row {row:?} in\n{}", pty.describe());
}

#[test]
fn up_goes_by_prefix_and_down_brings_the_draft_back() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    send_lines(&mut pty, &["git log", "make", "git status"]);
    pty.send("git");
    wait_for_row(&pty, "~/work ❯ git status");
    pty.send(UP);
    pty.send(UP);
    wait_for_row(&pty, "~/work ❯ git log");
    pty.send(DOWN);
    wait_for_row(&pty, "~/work ❯ git status");
    pty.send(DOWN);
    pty.send("!\r");
    pty.wait_for("sent \"git!\"");
    pty.send(format!("{UP}{UP}{UP}"));
    wait_for_row(&pty, "~/work ❯ make");
}

#[test]
fn ctrl_r_searches_fuzzily_and_escape_keeps_the_line() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    send_lines(&mut pty, &["explain the parser", "make test", "rewrite the lexer"]);
    pty.send("\x12");
    pty.wait_for("› rewrite the lexer");
    pty.send("xpars");
    pty.wait_for("› explain the parser");
    pty.send("\r");
    wait_for_row(&pty, "~/work ❯ explain the parser");
    pty.send("!\r");
    pty.wait_for("sent \"explain the parser!\"");
    pty.send("mak\x12");
    pty.wait_for("› make test");
    pty.send("\x1b");
    assert!(pty.wait_until(|view| !view.text().contains("› make"), PATIENCE));
    assert!(prompt_row(&pty).starts_with("~/work ❯ mak"));
}

#[test]
fn ghost_text_is_dim_and_never_taken_by_enter() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    send_lines(&mut pty, &["explain the parser"]);
    pty.send("expl");
    wait_for_row(&pty, "~/work ❯ explain the parser");
    let dim = |view: &mut View<'_>| {
        let (row, column) = view.screen().cursor_position();
        let before = view.screen().cell(row, column.saturating_sub(1)).is_some_and(vt100::Cell::dim);
        !before && view.screen().cell(row, column).is_some_and(vt100::Cell::dim)
    };
    assert!(pty.wait_until(dim, PATIENCE), "the ghost text is dim, what was typed is not");
    pty.send("\r");
    pty.wait_for("sent \"expl\"");
    // Nothing of it is left on the row of the line.
    assert!(pty.transcript().contains("❯ expl\n"), "{}", pty.describe());
}

#[test]
fn ghost_text_is_taken_whole_or_by_words() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    send_lines(&mut pty, &["explain the parser"]);
    for (keys, sent) in [("\t", "explain the parser"), (RIGHT, "explain the parser"), ("\x1b[1;5C", "explain")] {
        pty.send("expl");
        wait_for_row(&pty, "~/work ❯ explain the parser");
        pty.send(keys);
        pty.send("!\r");
        pty.wait_for(&format!("sent \"{sent}!\""));
        wait_for_row(&pty, "~/work ❯");
        send_lines(&mut pty, &["explain the parser"]);
    }
}

#[test]
fn escape_takes_the_ghost_text_away() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    send_lines(&mut pty, &["explain the parser"]);
    pty.send("expl");
    wait_for_row(&pty, "~/work ❯ explain the parser");
    pty.send("\x1b");
    wait_for_row(&pty, "~/work ❯ expl");
    pty.send("a");
    wait_for_row(&pty, "~/work ❯ explain the parser");
}

#[test]
fn a_model_suggests_without_a_key() {
    let home = Home::new();
    let mut pty = play(&home, "emacs suggest");
    wait_for_row(&pty, "~/work ❯ Run the tests");
    pty.send("tell me");
    wait_for_row(&pty, "~/work ❯ tell me and say why");
    pty.send("\r");
    pty.wait_for("sent \"tell me\"");
    wait_for_row(&pty, "~/work ❯ Run the tests");
    pty.send("\t");
    pty.send("\r");
    pty.wait_for("sent \"Run the tests\"");
    wait_for_row(&pty, "~/work ❯ Run the tests");
    // Enter does not take what is proposed on an empty line, and Ctrl+C leaves nothing of it.
    pty.send("\r");
    pty.send("\x03");
    pty.wait_for("Interrupted");
    assert!(!pty.transcript().contains("Run the tests\nInterrupted"), "{}", pty.describe());
}

#[test]
fn private_and_secret_lines_are_not_kept() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    send_lines(&mut pty, &["kept", " private", "password=hunter2", "use sk-abcdefghijklmnop1234"]);
    pty.send(UP);
    wait_for_row(&pty, "~/work ❯ kept");
    pty.send("\x03\x04");
    pty.wait_exit();
    let file = std::fs::read_to_string(home.path().join("history.jsonl")).unwrap();
    assert_eq!((file.lines().count(), file.contains("kept")), (1, true), "{file}");
    let mut pty = play(&home, "emacs private");
    send_lines(&mut pty, &["not for the file"]);
    pty.send("\x04");
    pty.wait_exit();
    assert_eq!(std::fs::read_to_string(home.path().join("history.jsonl")).unwrap(), file);
}

#[test]
fn two_at_once_share_one_history() {
    let home = Home::new();
    let (mut one, mut other) = (play(&home, "emacs"), play(&home, "emacs"));
    send_lines(&mut one, &["from the first"]);
    send_lines(&mut other, &["from the second"]);
    send_lines(&mut one, &["x"]);
    one.send(format!("{UP}{UP}"));
    wait_for_row(&one, "~/work ❯ from the second");
    one.send(UP);
    wait_for_row(&one, "~/work ❯ from the first");
}

#[test]
fn keys_in_one_burst_complete_what_they_typed() {
    let home = Home::new();
    let mut pty = play(&home, "emacs");
    send_lines(&mut pty, &["explain the parser"]);
    pty.send("expl\t");
    wait_for_row(&pty, "~/work ❯ explain the parser");
    pty.send(" again");
    wait_for_row(&pty, "~/work ❯ explain the parser again");
    pty.send("\x03/mo\tloc\tllama\t\r");
    pty.wait_for("sent \"/model local ollama/llama3\"");
}
