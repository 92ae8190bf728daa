//! The first start without a model: the one question, what answering it does, and what is said when it fails.

use std::process::Command;

use crate::support::home::Home;
use crate::support::pty::Pty;
use crate::support::server::{Answer, Gate, Server};
use crate::support::skip::skip;

/// Bytes that must be free for the offer to come as far as fetching: the weights, and what stays free.
const ROOM: u64 = 1_500_000_000;

fn has_room(home: &Home) -> bool {
    let room = rustix::fs::statvfs(home.path()).unwrap();
    let enough = room.f_bavail.saturating_mul(room.f_frsize) > ROOM;
    if !enough {
        skip(format_args!("less than {ROOM} bytes are free below {}", home.path().display()));
    }
    enough
}

fn offered(home: &Home, server: &Server) -> Pty {
    let pty = Pty::options().spawn(&nothing_configured(home, server));
    pty.wait_for("offline");
    pty.wait_for("not now");
    pty
}

/// A hand-off of a shell where nothing is configured; its reply goes to `reply`.
fn handed_over(home: &Home, server: &Server) -> Pty {
    let mut command = nothing_configured(home, server);
    command.arg("handoff").env("AXI_LINE", "list 'it'").env("AXI_REPLY", home.path().join("reply"));
    let pty = Pty::options().spawn(&command);
    pty.wait_for("[Y/n]");
    pty
}

fn reply(home: &Home) -> String {
    std::fs::read_to_string(home.path().join("reply")).unwrap()
}

fn nothing_configured(home: &Home, server: &Server) -> Command {
    let mut command = home.axi();
    for variable in ["OLLAMA_HOST", "LMSTUDIO_BASE_URL", "LLAMACPP_BASE_URL", "VLLM_BASE_URL"] {
        command.env(variable, "http://127.0.0.1:1");
    }
    command.env("AXI_MODEL_HUB", server.url("/weights")).env("AXI_MODEL_SPEED", "20000000000");
    command
}

/// A hub that stops after the first bytes of a model.
fn fetching() -> (Server, Gate) {
    let gate = Gate::new();
    let bytes = Answer::new(200, "application/octet-stream").bytes("GGUF").bytes("rest").gate_before(1, &gate);
    (Server::start([bytes]), gate)
}

#[test]
fn a_fetch_stopped_by_esc_is_told_in_one_word_and_goes_on_next_time() {
    let home = Home::new();
    if !has_room(&home) {
        return;
    }
    let (server, gate) = fetching();
    let mut pty = offered(&home, &server);
    pty.send(pty.number("qwen2.5-coder-"));
    pty.wait_for("ESC stops");
    gate.wait_reached();
    pty.wait_for("0 %");
    pty.send("\x1b");
    assert_eq!(pty.wait_exit().code(), Some(130));
    let seen = pty.transcript();
    assert!(seen.contains("stopped") && seen.contains("axi local pull qwen2.5-coder-"), "{seen}");
    assert_eq!(seen.matches("error:").count(), 1, "{seen}");
    assert!(!seen.contains("no model is configured"), "{seen}");
    let models = home.path().join("cache/axi/models");
    let found = std::fs::read_dir(models).unwrap().map(|entry| entry.unwrap().path());
    // Who fetches holds a lock beside it.
    let parts: Vec<_> = found.filter(|path| path.extension().is_some_and(|end| end != "lock")).collect();
    assert_eq!(parts.len(), 1, "{parts:?}");
    assert_eq!(std::fs::read(&parts[0]).unwrap(), b"GGUF");
}

#[test]
fn saying_no_fetches_nothing_and_says_what_else_there_is() {
    let home = Home::new();
    let server = Server::start([]);
    let mut pty = offered(&home, &server);
    pty.send(pty.number("not now"));
    assert_eq!(pty.wait_exit().code(), Some(3));
    let seen = pty.transcript();
    assert!(seen.contains("export ANTHROPIC_API_KEY"), "{seen}");
    assert_eq!(server.requests().len(), 0);
    assert!(!home.path().join("cache/axi/models").exists());
}

#[test]
fn escape_is_a_no_and_ctrl_c_ends_axi() {
    for (key, code) in [("\x1b", 3), ("\x03", 130)] {
        let home = Home::new();
        let server = Server::start([]);
        let mut pty = offered(&home, &server);
        pty.send(key);
        assert_eq!(pty.wait_exit().code(), Some(code));
        let seen = pty.transcript();
        assert_eq!(seen.contains("export ANTHROPIC_API_KEY"), code == 3, "{seen}");
        assert!(!seen.contains("^[") && !seen.contains("error:"), "{seen}");
        assert_eq!(server.requests().len(), 0);
    }
}

#[test]
fn a_hand_off_has_its_line_back_whatever_stops_the_fetch() {
    for (key, code) in [("\x1b", 3), ("\x04", 3), ("\x03", 130), ("n\r", 3)] {
        let home = Home::new();
        let server = Server::start([]);
        let mut pty = handed_over(&home, &server);
        pty.send(key);
        assert_eq!((pty.wait_exit().code(), reply(&home).as_str()), (Some(code), "put\nlist 'it'"), "{key:?}");
    }
    let home = Home::new();
    if !has_room(&home) {
        return;
    }
    let (server, gate) = fetching();
    let mut pty = handed_over(&home, &server);
    pty.send("y\r");
    gate.wait_reached();
    pty.wait_for("0 %");
    pty.send("\x03");
    assert_eq!((pty.wait_exit().code(), reply(&home).as_str()), (Some(130), "put\nlist 'it'"));
}

#[test]
fn the_offer_names_size_licence_and_pace_and_what_would_be_too_slow_is_not_offered() {
    let home = Home::new();
    let server = Server::start([]);
    let mut pty = offered(&home, &server);
    let seen = pty.transcript();
    // 20 GB of weights a second; a machine with little memory is offered the smaller one.
    let usual = seen.contains("qwen2.5-coder-1.5b") && seen.contains("1.1 GB, Apache-2.0");
    assert!(
        usual && seen.contains("writes about 20 tokens a second") || seen.contains("qwen2.5-coder-0.5b"),
        "{seen}"
    );
    pty.send("\x1b");
    assert_eq!(pty.wait_exit().code(), Some(3));

    let mut command = nothing_configured(&home, &server);
    let mut pty = Pty::options().spawn(command.env("AXI_MODEL_SPEED", "1000000000"));
    pty.wait_for("not now");
    assert!(!pty.transcript().contains("local/qwen"), "{}", pty.describe());
    pty.send("\x1b");
    assert_eq!(pty.wait_exit().code(), Some(3));

    let mut command = nothing_configured(&home, &server);
    command
        .env("AXI_MODEL_SPEED", "1000000000")
        .env("AXI_LINE", "list it")
        .env("AXI_REPLY", home.path().join("reply"));
    let mut pty = Pty::options().spawn(command.arg("handoff"));
    pty.wait_for("fewer than 3 tokens a second");
    assert_eq!((pty.wait_exit().code(), reply(&home).as_str()), (Some(3), "put\nlist it"));
    assert_eq!(server.requests().len(), 0);
}
