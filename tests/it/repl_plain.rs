//! The REPL where the terminal can nothing (`TERM=dumb`) or shall be asked for nothing (`--linear`, `ACCESSIBLE=1`): plain
//! lines.

use std::process::Command;

use crate::support::home::Home;
use crate::support::pty::{PATIENCE, Pty};
use crate::support::server::{Gate, Server, answer};
use crate::support::talk::{Person, axi, last_said};

/// The ways to ask for it: also a terminal that does not say what it is.
fn plainly(home: &Home, server: &Server) -> [Command; 4] {
    let mut dumb = axi(home, server);
    dumb.env("TERM", "dumb");
    let mut linear = axi(home, server);
    linear.arg("--linear");
    let mut unknown = axi(home, server);
    unknown.env_remove("TERM");
    let mut accessible = axi(home, server);
    accessible.env("ACCESSIBLE", "1");
    [dumb, linear, unknown, accessible]
}

fn starts(command: &Command) -> Person {
    let person = Person { pty: Pty::options().mute().spawn(command) };
    prompts(&person, 1);
    person
}

/// Waits for this many prompts in all.
fn prompts(person: &Person, count: usize) {
    let enough = |view: &mut crate::support::pty::View<'_>| {
        let text = view.transcript();
        text.matches("~/work · any ❯").count() >= count && text.trim_end().ends_with('❯')
    };
    assert!(person.pty.wait_until(enough, PATIENCE), "{count} prompts:\n{}", person.pty.describe());
}

/// Leaves, and makes sure that not one escape sequence was written since the start.
fn ends(mut person: Person) {
    person.types("\x04");
    assert_eq!(person.pty.wait_exit().code(), Some(0));
    let raw = person.pty.view(|view| view.raw().to_vec());
    assert!(!raw.contains(&0x1b), "{}", String::from_utf8_lossy(&raw).escape_debug());
    assert!(!raw.contains(&0x07) && !raw.contains(&0x08), "{}", String::from_utf8_lossy(&raw).escape_debug());
}

#[test]
fn a_conversation_is_plain_lines() {
    let home = Home::new();
    let text = "# Title\n\nsome **bold** words\n\n- one\n- two\n\n```rust\nfn main() {}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n";
    for command in plainly(&home, &Server::start([])) {
        let server = Server::start([answer::chat_text(text), answer::chat_text("and more")]);
        let mut command = command;
        command.env("OPENAI_BASE_URL", server.url("/v1"));
        let mut person = starts(&command);
        person.types("hello\r");
        person.sees("fn main");
        prompts(&person, 2);
        person.types("second \\\rrow\r");
        person.sees("and more");
        prompts(&person, 3);
        person.types("/modle\r");
        person.sees("did you mean /model?");
        prompts(&person, 4);
        person.types("/copy\r");
        person.sees("axi does not send to this terminal");
        prompts(&person, 5);
        assert_eq!(last_said(&server.requests()[1]), "second \nrow");
        ends(person);
    }
}

#[test]
fn a_question_is_answered_by_number() {
    let home = Home::new();
    for command in plainly(&home, &Server::start([])) {
        let touch = r#"{"command":"touch made.txt"}"#;
        let server = Server::start([
            answer::chat_call("call_1", "shell", touch),
            answer::chat_text("made"),
            answer::chat_call("call_2", "shell", touch),
            answer::chat_text("not made"),
            answer::chat_call("call_3", "shell", touch),
        ]);
        let mut command = command;
        command.env("OPENAI_BASE_URL", server.url("/v1"));
        let mut person = starts(&command);
        person.types("make it\r");
        person.sees("$ touch made.txt");
        person.sees("1) Yes, once");
        person.sees("5) No, and say what to do instead");
        // Nothing, and what is no choice, answers nothing.
        for (count, answer) in [(2, "\r"), (3, "9\r")] {
            person.types(answer);
            person.waits(|view| view.transcript().matches("1-6, y").count() == count, "the question again");
        }
        assert!(!home.work().join("made.txt").exists());
        person.types("1\r");
        person.sees("made");
        prompts(&person, 2);
        std::fs::remove_file(home.work().join("made.txt")).unwrap();
        person.types("again\r");
        person.waits(|view| view.transcript().matches("1) Yes, once").count() == 2, "the question again");
        person.types("5\r");
        person.sees("What instead?");
        person.types("mkdir\r");
        person.sees("not made");
        prompts(&person, 3);
        assert!(last_said(&server.requests()[3]).contains("mkdir"));
        person.types("again\r");
        person.waits(|view| view.transcript().matches("1) Yes, once").count() == 3, "the question again");
        person.types("\x1b\r");
        person.sees("stopped");
        prompts(&person, 4);
        assert!(!home.work().join("made.txt").exists());
        assert_eq!(server.violations(), Vec::<String>::new());
        ends(person);
    }
}

#[test]
fn escape_stops_and_what_was_typed_ahead_is_not_lost() {
    let home = Home::new();
    for command in plainly(&home, &Server::start([])) {
        let gate = Gate::new();
        let slow = answer::chat_text("alpha beta gamma delta").gate_before(3, &gate);
        let server = Server::start([slow, answer::chat_text("second answer")]);
        let mut command = command;
        command.env("OPENAI_BASE_URL", server.url("/v1"));
        let mut person = starts(&command);
        person.types("count\r");
        gate.wait_reached();
        person.types("half\x1b");
        server.wait_closed(1);
        person.sees("stopped");
        person.sees("❯ half");
        person.types(" and whole\r");
        person.sees("second answer");
        prompts(&person, 2);
        assert_eq!(last_said(&server.requests()[1]), "half and whole");
        ends(person);
    }
}

#[test]
fn each_sub_agent_is_told_when_it_begins_and_when_it_ends() {
    let home = Home::new();
    let calls =
        [("call_1", r#"{"question":"Where is the door?"}"#), ("call_2", r#"{"question":"Why is it blue?"}"#)];
    let server = Server::start([
        answer::chat_calls(&calls.map(|(id, input)| (id, "explore", input))),
        answer::chat_text("Nobody said."),
        answer::chat_text("In door.rs:3."),
        answer::chat_text("So it is."),
    ]);
    let [_, linear, ..] = plainly(&home, &server);
    let mut person = starts(&linear);
    person.types("look\r");
    person.sees("So it is.");
    prompts(&person, 2);
    let text = person.pty.transcript();
    let told = ["exploring: Where is the door …", "exploring: Why is it blue …", "✓ Explored: Where is the door?"];
    for line in told {
        assert_eq!(text.matches(line).count(), 1, "{line}\n{text}");
    }
    assert!(!text.contains("running"), "{text}");
    ends(person);
}

/// What a reader says aloud of a whole turn with a question in it, and of a menu.
const STORY: &str = "\
~/work · any ❯ make it
waiting for the model …

$ touch made.txt
Run this command? (Esc stops the turn)
1) Yes, once (y)
2) Yes, and for the rest of this session: shell(touch:*) (s)
3) Always, by a rule (shown first) (a)
4) No (n)
5) No, and say what to do instead (f)
6) Not yet: explain it, from the manual pages here (e)
1-6, y/s/a/n/f/e: 1
running touch made.txt …
✓ Ran touch made.txt · allowed once
waiting for the model …

It is **made**.

~/work · any ❯ /language
Which language?
1) en  English
2) ja  日本語
3) zh-CN  简体中文
1-3: 1
Now speaking English.
~/work · any ❯ ";

#[test]
fn an_approval_a_menu_and_a_turn_are_a_story_in_order_each_line_once() {
    let home = Home::new();
    for command in plainly(&home, &Server::start([])) {
        let touch = r#"{"command":"touch made.txt"}"#;
        let server =
            Server::start([answer::chat_call("call_1", "shell", touch), answer::chat_text("It is **made**.")]);
        let mut command = command;
        command.env("OPENAI_BASE_URL", server.url("/v1")).env("AXI_TRIAL", "off");
        let mut person = starts(&command);
        person.types("make it\r");
        person.sees("1-6, y/s/a/n/f/e:");
        person.types("1\r");
        prompts(&person, 2);
        person.types("/language\r");
        person.sees("1-3:");
        person.types("1\r");
        prompts(&person, 3);
        let raw = person.pty.view(|view| String::from_utf8_lossy(view.raw()).into_owned());
        // How long it took is said where it took longer than an instant.
        let told = raw.replace("\r\n", "\n").lines().map(without_time).collect::<Vec<_>>().join("\n");
        assert_eq!(told, STORY);
        std::fs::remove_file(home.work().join("made.txt")).unwrap();
        ends(person);
    }
}

/// A row without the part that says how many seconds something took.
fn without_time(row: &str) -> String {
    let is_time = |part: &&str| part.strip_suffix(" s").is_some_and(|number| number.parse::<f32>().is_ok());
    row.split(" · ").filter(|part| !is_time(part)).collect::<Vec<_>>().join(" · ")
}
