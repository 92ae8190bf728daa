//! The REPL in a real terminal: sub-agents that look around side by side.

use crate::support::home::Home;
use crate::support::pty::Pty;
use crate::support::server::{Gate, Server, answer};
use crate::support::talk::{Person, axi, last_said, roles, said};

const WHERE: &str = r#"{"question":"Where is the door painted?"}"#;
const WHY: &str = r#"{"question":"Why is it blue?"}"#;

#[test]
fn each_is_a_line_and_its_answer_alone_joins_the_context() {
    let home = Home::new();
    let gate = Gate::new();
    let server = Server::start([
        answer::chat_calls(&[("call_1", "explore", WHERE), ("call_2", "explore", WHY)]),
        answer::chat_call("call_3", "glob", r#"{"pattern":"*.rs"}"#),
        answer::chat_text("Nobody said.").gate_before(1, &gate),
        answer::chat_text("In door.rs:3.").gate_before(1, &gate),
        answer::chat_text("So it is."),
    ]);
    let mut person = Person::on(Pty::options().size(60, 20), &axi(&home, &server));
    person.sends("look");
    person.sees("exploring (2 running)");
    // Each in the row above, the one whose tool ran with what it did; which that is they race for.
    let each = |row: &str| ["1 ", " · 2 ", "glob \"*.rs\"", "thinking"].iter().all(|part| row.contains(part));
    person.waits(|view| view.rows().iter().any(|row| each(row)), "both of them in one row");
    gate.open();
    person.sees("So it is.");
    person.sees_prompt();
    let text = person.pty.transcript();
    assert!(text.contains("✓ Explored: Where is the door painted?"), "{text}");
    assert!(text.contains("✓ Explored: Why is it blue?"), "{text}");
    assert!(!text.contains("Nobody said") && !text.contains("glob"), "{text}");
    let requests = server.requests();
    let own: Vec<usize> = (0..requests.len()).filter(|index| said(&requests[*index], 1) == "look").collect();
    assert_eq!(own, [0, 4]);
    assert_eq!(roles(&requests[4]), ["system", "user", "assistant", "tool", "tool"]);
    assert!(["Nobody said.", "In door.rs:3."].contains(&last_said(&requests[4]).as_str()));
    assert_eq!(server.violations(), Vec::<String>::new());
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn escape_stops_them_all() {
    let home = Home::new();
    let gate = Gate::new();
    let server = Server::start([
        answer::chat_calls(&[("call_1", "explore", WHERE), ("call_2", "explore", WHY)]),
        answer::chat_text("Nobody said.").gate_before(1, &gate),
        answer::chat_text("In door.rs:3.").gate_before(1, &gate),
    ]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("look");
    person.sees("exploring (2 running)");
    gate.wait_reached();
    person.types("\x1b");
    person.sees("stopped");
    person.sees_prompt();
    server.push(answer::chat_text("Fine."));
    person.sends("never mind");
    person.sees("Fine.");
    let requests = server.requests();
    assert_eq!(roles(requests.last().unwrap()), ["system", "user", "assistant", "tool", "tool", "user"]);
    assert_eq!(server.violations(), Vec::<String>::new());
    assert_eq!(person.leaves(), Some(0));
}
