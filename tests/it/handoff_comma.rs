//! `, question` at the prompt is handed over when it is entered, quotes and globs as they are, where the settings ask
//! for it; a `,` of the person's own stays theirs.

use crate::support::server::{Server, answer};
use crate::support::shells::{AtPrompt, ROWS, Row};
use crate::support::talk::last_said;

const ON: &str = "[handoff]\ncomma = true\n";

fn start(row: &Row, server: &Server, before: &str, settings: &str) -> Option<AtPrompt> {
    let load = format!("PS1='@@ '\n{before}{}", row.load);
    let fish = format!("function fish_prompt; echo '@@ '; end\nfunction fish_greeting; end\n{before}{}", row.load);
    let load =
        if row.name() == "fish" { fish } else { format!("HISTFILE=~/.history HISTSIZE=50 SAVEHIST=50\n{load}") };
    let settings = settings.to_owned();
    row.start_prepared(server, &load, &|home| {
        let config = home.join("config/axi");
        std::fs::create_dir_all(&config).unwrap();
        std::fs::write(config.join("config.toml"), &settings).unwrap();
    })
}

fn asked(server: &Server) -> String {
    let text = last_said(server.requests().last().unwrap());
    text.split("\n\n<shell>").next().unwrap().trim_end().to_owned()
}

#[test]
fn the_line_goes_over_untouched_and_stays_in_the_history() {
    for row in &ROWS {
        let server = Server::start([]);
        let Some(mut person) = start(row, &server, "", ON) else { continue };
        person.enters("true first");
        person.sees_line("");
        for question in ["what's in *.rs & $HOME (\"all\" of it)? | `x` # y", "and 'now'?"] {
            server.push(answer::chat_text("A lot is."));
            let line = format!(", {question}");
            person.types(&line);
            person.sees_line(&line);
            person.types("\r");
            person.sees("A lot is.");
            person.sees_line("");
            assert_eq!(asked(&server), question, "{}", row.name());
            person.types("\x0c");
            person.waits(|view| view.text().trim_end() == "@@", "an empty screen");
        }
        assert!(last_said(&server.requests()[0]).contains("last command: true first"), "{}", row.name());
        // ↑ brings it back as it was typed; fish orders what was added in one second as it likes, and looks for a text.
        person.types(if row.name() == "fish" { ", and\x1b[A" } else { "\x1b[A" });
        person.sees_line(", and 'now'?");
        // A command comes back; an ordinary line is an ordinary line.
        let arguments = serde_json::json!({"command": "touch made", "why": "", "touches": ""}).to_string();
        server.push(answer::chat_call("call_1", "propose_command", &arguments));
        person.types("\x15, make it\r");
        person.sees_line("touch made");
        assert!(!person.home.work().join("made").exists(), "{}: nobody pressed Enter", row.name());
        person.types("\r");
        person.sees_line("");
        assert!(person.home.work().join("made").exists(), "{}", row.name());
        // The terminal was asked once: a second answer would go to the command.
        person.waits(|view| !view.text().contains("[0n"), "no answer of the terminal on the screen");
    }
}

#[test]
fn a_comma_of_the_persons_own_stays_theirs_and_without_the_setting_there_is_none() {
    for row in &ROWS {
        let own =
            if row.name() == "fish" { "function ,; echo mine $argv; end\n" } else { ",() { echo mine $*; }\n" };
        let server = Server::start([]);
        let Some(mut person) = start(row, &server, own, ON) else { continue };
        person.enters(", hello");
        person.sees("mine hello");
        let Some(mut person) = start(row, &server, "", "") else { continue };
        person.enters(", hello");
        person.waits(
            |view| ["not found", "Unknown command"].iter().any(|said| view.text().contains(said)),
            "no comma",
        );
        assert_eq!(server.requests().len(), 0, "{}", row.name());
    }
}

#[test]
fn what_a_shell_would_read_of_the_line_goes_over_as_it_is() {
    for row in &ROWS {
        let server = Server::start([]);
        let Some(mut person) = start(row, &server, "", ON) else { continue };
        person.enters("true first");
        person.sees_line("");
        // bash reads a `!` before anything else, and each row of a paste as a line of its own.
        for question in ["does !true or !! help!", "why this?\necho ran >made\n!! and 'an odd quote"] {
            server.push(answer::chat_text("It is known."));
            person.pastes(&format!(", {question}"));
            person.waits(|view| view.text().contains(question.lines().last().unwrap()), "the paste");
            person.types("\r");
            person.sees("It is known.");
            person.sees_line("");
            assert_eq!(asked(&server), question, "{}", row.name());
            person.types("\x0c");
            person.waits(|view| view.text().trim_end() == "@@", "an empty screen");
        }
        assert!(!person.home.work().join("made").exists(), "{}: a row of the paste was run", row.name());
        if row.name() == "bash" {
            person.types("\x1b[A");
            person.waits(|view| view.text().contains("an odd quote"), "the question in the history");
        }
    }
}

#[test]
fn in_bash_enter_is_enter_for_every_other_line() {
    let row = ROWS.iter().find(|row| row.name() == "bash").unwrap();
    let server = Server::start([]);
    let Some(mut person) = start(row, &server, "", ON) else { return };
    for (line, said) in [
        ("mkdir deep", ""),
        ("cd $_ && false", ""),
        ("echo \"code $?, ${PWD##*/}\"", "code 1, deep"),
        ("true a b-c", ""),
        ("echo \"last $_\"", "last b-c"),
        ("echo one,two , three", "one,two , three"),
        ("for each in 1 2; do\recho \"each $each\"\rdone", "each 2"),
    ] {
        person.types(format!("{line}\r"));
        person.sees(said);
        person.sees_line("");
    }
    // An answer to a program that reads with the shell's editor is no question.
    person.types("read -e answer\r, is it!\r");
    person.waits(|view| view.text().contains(", is it!"), "the answer");
    person.sees_line("");
    person.enters("echo \"<$answer>\"");
    person.sees("<, is it!>");
    assert_eq!(server.requests().len(), 0);
    // Comments and history may be off: then the line goes over as by the key.
    let off = "shopt -u interactive_comments\nset +o history\n";
    let server = Server::start([answer::chat_text("Without.")]);
    let Some(mut person) = start(row, &server, off, ON) else { return };
    person.types(", what's # this\r");
    person.sees("Without.");
    assert_eq!(asked(&server), "what's # this");
    // An Enter of the person's own stays theirs.
    let own =
        "mine() { READLINE_LINE=\"echo mine\"; }\nbind -x '\"\\C-xm\": mine'\nbind '\"\\C-m\": \"\\C-xm\\C-j\"'\n";
    let server = Server::start([]);
    let Some(mut person) = start(row, &server, own, ON) else { return };
    person.types("anything\r");
    person.sees("mine");
}
