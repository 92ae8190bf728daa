//! Every question in the real terminal: Enter, ESC, Ctrl+C and Ctrl+D each lead out of it, to a prompt that takes keys or
//! to the shell with its terminal as it was.

use std::process::Command;

use rustix::termios::{InputModes, LocalModes};

use crate::support::home::Home;
use crate::support::pty::{PATIENCE, Pty};
use crate::support::server::{Server, answer};
use crate::support::talk::{Person, axi};

const KEYS: [(&str, &str); 4] = [("Enter", "\r"), ("ESC", "\x1b"), ("Ctrl+C", "\x03"), ("Ctrl+D", "\x04")];

/// A question and the way to it.
struct Asked {
    _home: Home,
    _server: Server,
    person: Person,
}

/// Talks until a question stands there.
fn asked(prepare: impl FnOnce(&Home, &Server, &mut Command), lines: &[&str], keys: &[&str], sees: &str) -> Asked {
    let home = Home::new();
    let server = Server::start([]);
    let mut command = axi(&home, &server);
    prepare(&home, &server, &mut command);
    let mut person = Person { pty: Pty::options().spawn(&command) };
    for line in lines {
        person.sees_prompt();
        person.sends(line);
    }
    for key in keys {
        let (wait, key) = key.split_once('|').unwrap_or(("", key));
        person.sees(wait);
        person.types(key);
    }
    person.sees(sees);
    Asked { _home: home, _server: server, person }
}

/// Presses a key; what follows is a prompt that takes keys, or the end with the terminal as it was.
fn leads_out(mut asked: Asked, what: &str, key: &str) {
    let person = &mut asked.person;
    person.types(key);
    let prompts = |person: &Person| {
        person.pty.wait_until(
            |view| {
                let (row, column) = view.screen().cursor_position();
                let row = view.screen().rows(0, column).nth(usize::from(row)).unwrap_or_default();
                row.starts_with("~/work · ") && row.trim_end().ends_with('❯')
            },
            PATIENCE,
        )
    };
    if prompts(person) {
        person.types("still here");
        person.sees_line("still here");
        person.types("\x03");
        person.sees_prompt();
        person.types("\x04");
    }
    let status = person.pty.wait_exit();
    assert!(status.code().is_some(), "{what}: {status:?}");
    let mode = person.pty.termios();
    let usual = LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
    assert!(mode.local_modes.contains(usual) && mode.input_modes.contains(InputModes::ICRNL), "{what}: {mode:?}");
}

/// Four keys at the same question.
fn every_key(what: &str, ask: impl Fn() -> Asked) {
    for (name, key) in KEYS {
        leads_out(ask(), &format!("{what}, {name}"), key);
    }
}

fn nothing(_: &Home, _: &Server, _: &mut Command) {}

/// The model calls a tool, and ends the turn with whatever comes of that.
fn calls(tool: &'static str, input: &'static str) -> impl Fn(&Home, &Server, &mut Command) {
    move |_, server, _| {
        server.push(answer::chat_call("call_1", tool, input));
        server.push(answer::chat_text("Done with it."));
    }
}

/// So many sessions, each of one line.
fn sessions(count: usize) -> impl Fn(&Home, &Server, &mut Command) {
    move |home, server, command| {
        for number in 0..count {
            server.push(answer::chat_text("Yes."));
            let mut one = axi(home, server);
            one.args(["-p", &format!("topic {number}")]);
            assert!(one.output().unwrap().status.success());
        }
        command.arg("-r");
    }
}

#[test]
fn a_key_for_a_provider() {
    every_key("/login", || asked(nothing, &["/login openai"], &[], "Key for openai"));
    every_key("axi login", || {
        let login = |home: &Home, _: &Server, command: &mut Command| {
            *command = home.axi();
            command.args(["login", "openai"]);
        };
        asked(login, &[], &[], "Key for openai")
    });
}

#[test]
fn a_typed_key_is_not_shown_and_enter_takes_it() {
    let mut asked = asked(nothing, &["/login openai"], &[], "Key for openai");
    let person = &mut asked.person;
    person.types("sk-first\x15sk-odd-9\x7f8\r");
    person.sees_prompt();
    let raw = person.pty.view(|view| String::from_utf8_lossy(view.raw()).into_owned());
    assert!(!raw.contains("odd-9") && !raw.contains("first"), "{}", person.pty.describe());
    assert_eq!(asked.person.leaves(), Some(0));
}

#[test]
fn an_approval_and_what_to_do_instead() {
    let run = || calls("shell", r#"{"command":"touch made.txt"}"#);
    every_key("approval", || asked(run(), &["make it"], &[], "Run this command?"));
    every_key("instead", || asked(run(), &["make it"], &["Run this command?|f"], "What instead?"));
}

#[test]
fn what_a_tool_asks() {
    let several = r#"{"question":"Which ones?","choices":["red","green"],"several":true}"#;
    every_key("several", || asked(calls("ask_user", several), &["paint"], &[], "Enter answers"));
    let open = r#"{"question":"What is its name?"}"#;
    every_key("words", || asked(calls("ask_user", open), &["paint"], &[], "Your answer"));
    let one = r#"{"question":"Which colour?","choices":["red","green"]}"#;
    for (name, key) in &KEYS[1..] {
        leads_out(asked(calls("ask_user", one), &["paint"], &[], "answers"), name, key);
    }
}

#[test]
fn a_plan_and_a_projects_command() {
    let plan = |_: &Home, server: &Server, _: &mut Command| {
        server.push(answer::chat_text("1. Make it."));
        server.push(answer::chat_text("Made."));
    };
    every_key("plan", || asked(plan, &["/plan make it"], &[], "What do you want to do with this plan?"));
    let brings = |home: &Home, _: &Server, _: &mut Command| {
        home.write("work/.axi/commands/greet.md", "Greet me warmly.\n");
    };
    every_key("trust", || asked(brings, &[], &[], "Trust these files"));
}

/// Lines that open a menu, and what it asks.
const MENUS: [(&str, &str); 10] = [
    ("/login", "anthropic"),
    ("/logout", "anthropic"),
    ("/setup", "Which model shall answer?"),
    ("/settings", "which setting"),
    ("/settings theme", "which value"),
    ("/language", "Which language?"),
    ("/agent", "which one now?"),
    ("/session", "Which session?"),
    ("/resume", "Which session?"),
    ("/rewind", "Go back to before which message?"),
];

#[test]
fn each_menu_of_a_command() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("Yes.")]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("hello");
    person.sees("Yes.");
    for (line, asks) in MENUS {
        for (_, key) in &KEYS[1..] {
            person.sees_prompt();
            // The blank closes the menu of commands: Enter then runs what stands there.
            person.types(format!("{line} \r"));
            person.sees(asks);
            person.types(key);
            // It erases itself: what was asked is not there to be seen a second time.
            person.waits(|view| !view.text().contains(asks), line);
        }
    }
    person.sees_prompt();
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn a_session_among_few_and_among_many() {
    every_key("few", || asked(sessions(2), &[], &[], "topic 0"));
    every_key("many", || asked(sessions(11), &[], &[], "topic 3"));
}

#[test]
fn a_list_that_begins_on_the_first_row_stands_there_once_however_often_it_is_painted() {
    let mut asked = asked(sessions(11), &[], &[], "topic 3");
    let person = &mut asked.person;
    person.types("\x1b[B\x1b[B\x1b[A");
    person.types("topic 7");
    person.waits(|view| view.text().contains("topic 7") && !view.text().contains("topic 8"), "one of them");
    assert_eq!(person.count("Which session"), 1, "{}", person.pty.transcript());
    person.types("\r");
    person.sees_prompt();
    assert!(person.count("Which session") <= 1, "{}", person.pty.transcript());
    assert_eq!(asked.person.leaves(), Some(0));
}
