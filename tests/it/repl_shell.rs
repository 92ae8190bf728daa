//! `!` lines in the REPL: the person's own commands, with a full terminal.

use crate::support::home::Home;
use crate::support::server::{Server, answer};
use crate::support::talk::{Person, axi, last_said};

/// Waits for a row of its own: the line that was typed has the same words in it.
fn sees_row(person: &Person, row: &str) {
    person.waits(|view| view.text().lines().any(|seen| seen.trim_end() == row), row);
}

#[test]
fn a_shell_line_has_a_terminal_and_its_output_joins_the_next_message() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("I see."), answer::chat_text("Yes.")]);
    let mut command = axi(&home, &server);
    command.env("SHELL", "/bin/sh");
    let mut person = Person::meets(&command);
    person.types("!test -t 0 && test -t 1 && printf 'name? ' && read name && echo \"hello $name\"\r");
    sees_row(&person, "name?");
    person.types("bob\r");
    sees_row(&person, "name? bob");
    sees_row(&person, "hello bob");
    person.types("!printf 'no newline'; exit 3\r");
    sees_row(&person, "exit 3");
    person.sends("what did I run?");
    person.sees("I see.");
    let said = last_said(&server.requests()[0]);
    assert!(said.contains("hello bob") && said.contains("exit code 3") && said.contains("no newline"), "{said}");
    person.sends("and now?");
    person.sees("Yes.");
    let said = last_said(&server.requests()[1]);
    assert!(!said.contains("hello bob"), "said once: {said}");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn ctrl_c_stops_a_shell_line_and_not_axi() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("Still here.")]);
    let mut command = axi(&home, &server);
    command.env("SHELL", "/bin/sh");
    let mut person = Person::meets(&command);
    person.types("!echo begun; read never\r");
    sees_row(&person, "begun");
    person.types("\x03");
    sees_row(&person, "exit 130");
    person.sends("are you there?");
    person.sees("Still here.");
    assert_eq!(person.leaves(), Some(0));
}
