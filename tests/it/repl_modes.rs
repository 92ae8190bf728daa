//! Shift+Tab in the real REPL: ask, accept edits, plan; the prompt says which, in place, and each lets through what it says.

use serde_json::json;

use crate::support::home::Home;
use crate::support::server::{Server, answer};
use crate::support::talk::{Person, axi, last_said};

const SHIFT_TAB: &str = "\x1b[Z";

fn write(name: &str) -> String {
    json!({"path": name, "content": "hello\n"}).to_string()
}

#[test]
fn the_prompt_says_the_mode_and_keeps_the_line_and_no_row_is_left_behind() {
    let home = Home::new();
    let server = Server::start([]);
    let mut person = Person::meets(&axi(&home, &server));
    person.types("half a line");
    person.sees_line("half a line");
    for mode in ["~/work · accept edits", "~/work · plan, only reads", "~/work · any ❯ half a line"] {
        person.types(SHIFT_TAB);
        person.sees(mode);
        person.sees_line("half a line");
        assert_eq!(person.count("half a line"), 1, "{}", person.pty.transcript());
    }
    person.types("\x03");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn accepted_edits_run_unasked_and_commands_and_the_mode_before_ask() {
    let home = Home::new();
    let server = Server::start([
        answer::chat_call("call_1", "write", &write("made.txt")),
        answer::chat_call("call_2", "shell", r#"{"command":"touch by_command"}"#),
        answer::chat_text("Done."),
    ]);
    let mut person = Person::meets(&axi(&home, &server));
    person.types(SHIFT_TAB);
    person.sees("accept edits");
    person.sends("write it");
    person.sees("Run this command?");
    assert!(home.work().join("made.txt").exists());
    person.types("n");
    person.sees("· denied");
    person.sees_prompt();
    // Two more: asking again.
    person.types(SHIFT_TAB);
    person.sees("plan");
    person.types(SHIFT_TAB);
    person.waits(|view| view.text().lines().last().is_some_and(|row| row.starts_with("~/work · any ❯")), "asking");
    server.push(answer::chat_call("call_3", "write", &write("other.txt")));
    server.push(answer::chat_text("Well."));
    person.sends("another");
    person.sees("Write this file?");
    person.types("n");
    person.sees_prompt();
    assert!(!home.work().join("other.txt").exists());
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn planning_changes_nothing() {
    let home = Home::new();
    let server = Server::start([
        answer::chat_call("call_1", "write", &write("made.txt")),
        answer::chat_text("1. Write it."),
    ]);
    let mut person = Person::meets(&axi(&home, &server));
    person.types(SHIFT_TAB);
    person.sees("accept edits");
    person.types(SHIFT_TAB);
    person.sees("plan, only reads");
    person.sends("write it");
    person.sees("What do you want to do with this plan?");
    assert!(!home.work().join("made.txt").exists());
    assert!(last_said(&server.requests()[1]).contains("you can only read now"));
    person.types("\x1b");
    person.sees_prompt();
    assert_eq!(person.leaves(), Some(0));
}
