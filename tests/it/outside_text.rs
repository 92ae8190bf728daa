//! What a server or a conversation holds reaches a terminal as text only, and a program as JSON that shows what it holds.

use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::pty::Pty;
use crate::support::server::{Answer, Server, answer};
use crate::support::talk::{Person, axi, run, session_files};

/// Copies, names the window, clears the screen, in 7 and in 8 bits; turns round, hides.
const HOSTILE: &str = "a\x1b]52;c;ZWNobw==\x07b\x1b]0;owned\x1b\\c\x1b[2Jd\u{9b}2Je\u{202e}f\u{e0041}g";

fn on_a_terminal(command: &std::process::Command) -> (Vec<u8>, String) {
    let mut pty = Pty::options().spawn(command);
    assert!(pty.wait_exit().success(), "{}", pty.describe());
    let raw = pty.view(|view| view.raw().to_vec());
    (raw, pty.transcript())
}

fn assert_harmless(raw: &[u8]) {
    let text = String::from_utf8_lossy(raw);
    for bad in ["\x1b]", "\x1b[2J", "\u{9b}", "\u{202e}", "\u{e0041}"] {
        assert!(!text.contains(bad), "{bad:?} in {text:?}");
    }
}

#[test]
fn models_of_a_server_cannot_command_the_terminal() {
    let home = Home::new();
    let server = Server::start([]);
    server.route("GET /v1/models", Answer::json(200, &json!({"data": [{"id": HOSTILE}, {"id": "good"}]})));
    let mut command = home.axi();
    command.env("OPENAI_BASE_URL", server.url("/v1")).env("OPENAI_API_KEY", "x").args(["models", "openai"]);
    let (raw, shown) = on_a_terminal(&command);
    assert_harmless(&raw);
    assert!(shown.contains("openai/a␛]52;c;ZWNobw==␇b") && shown.contains("openai/good"), "{shown}");
}

#[test]
fn an_error_that_quotes_an_argument_cannot_command_the_terminal() {
    let home = Home::new();
    for command in ["login", "logout", "models"] {
        let mut axi = home.axi();
        axi.args([command, HOSTILE]);
        let mut pty = Pty::options().size(200, 24).spawn(&axi);
        assert_eq!(pty.wait_exit().code(), Some(3), "{command}");
        assert_harmless(&pty.view(|view| view.raw().to_vec()));
        assert!(pty.transcript().contains("a␛]52;c;ZWNobw==␇b"), "{command}: {}", pty.describe());
    }
}

#[test]
fn an_exported_conversation_cannot_command_the_terminal_and_a_pipe_gets_it_as_it_is() {
    let home = Home::new();
    let server = Server::start([answer::chat_text(HOSTILE)]);
    assert_eq!(run(axi(&home, &server).args(["-p", "hi"])).code, Some(0));
    let id = session_files(&home)[0].file_stem().unwrap().to_string_lossy().into_owned();
    for action in ["export", "show"] {
        let mut command = home.axi();
        command.args(["sessions", action, &id]);
        assert_harmless(&on_a_terminal(&command).0);
    }
    assert!(run(home.axi().args(["sessions", "export", &id])).out.contains(HOSTILE));
}

#[test]
fn json_shows_what_a_terminal_would_hide() {
    let home = Home::new();
    for form in ["json", "stream-json"] {
        let server = Server::start([answer::chat_text(HOSTILE)]);
        let ran = run(axi(&home, &server).args(["-p", "hi", "--output", form]));
        assert_harmless(ran.out.as_bytes());
        let texts = ran.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let told: String = texts
            .map(|value| value["answer"].as_str().or(value["text"].as_str()).unwrap_or_default().to_owned())
            .collect();
        assert_eq!(told, HOSTILE, "{}", ran.out);
    }
}

#[test]
fn the_json_of_every_command_shows_what_a_terminal_would_hide() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("Yes.")]);
    server.route("GET /v1/models", Answer::json(200, &json!({"data": [{"id": HOSTILE}]})));
    let asked = HOSTILE.replace('\x1b', "").replace(['\x07', '\u{9b}'], "") + "findme";
    assert_eq!(run(axi(&home, &server).args(["-p", &asked])).code, Some(0));
    let id = session_files(&home)[0].file_stem().unwrap().to_string_lossy().into_owned();
    home.write("work/.mcp.json", &json!({"mcpServers": {"odd": {"command": HOSTILE}}}).to_string());
    for words in [
        &["models", "openai", "--json"] as &[&str],
        &["sessions", "list", "--json"],
        &["sessions", "search", "findme", "--json"],
        &["sessions", "export", &id, "--as", "json"],
        &["recall", "findme", "--json"],
        &["usage", "--json"],
        &["mcp", "list", "--json"],
        &["tools", "--json"],
        &["config", "check", "--json"],
    ] {
        let ran = run(axi(&home, &server).args(words));
        assert!(serde_json::from_str::<Value>(&ran.out).is_ok(), "{words:?}: {} {}", ran.out, ran.err);
        assert_harmless(ran.out.as_bytes());
    }
}

#[test]
fn what_is_recalled_pasted_and_offered_is_seen() {
    let home = Home::new();
    home.write("config/axi/commands/odd.md", "---\ndescription: safe\u{202e}elif\n---\nSay it.\n");
    let server = Server::start([answer::chat_text("Yes.")]);
    let mut person = Person::meets(&axi(&home, &server));
    person.types("\x1b[200~ask\u{200b}me\u{202e}x\x1b[201~");
    person.sees("ask<?>me<?>x");
    person.types("\r");
    person.sees("Yes.");
    person.sees_prompt();
    person.types("\x1b[A");
    person.sees("ask<?>me<?>x");
    person.types("\x03");
    person.sees_prompt();
    person.types("\x12me");
    person.sees("ask<U+200B>me<U+202E>x");
    person.types("\x03");
    person.sees_prompt();
    person.types("/odd");
    person.sees("safe<U+202E>elif");
    person.types("\x03");
    let raw = person.pty.view(|view| view.raw().to_vec());
    assert!(!String::from_utf8_lossy(&raw).contains(['\u{202e}', '\u{200b}']));
    assert_eq!(person.leaves(), Some(0));
}
