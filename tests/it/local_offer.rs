//! The first start without a model: the one question, what answering it does, and what is said when it fails.

use crate::support::home::Home;
use crate::support::pty::Pty;
use crate::support::server::{Answer, Gate, Server};

/// Bytes that must be free for the offer to come as far as fetching: the weights, and what stays free.
const ROOM: u64 = 1_500_000_000;

fn has_room(home: &Home) -> bool {
    let room = rustix::fs::statvfs(home.path()).unwrap();
    let enough = room.f_bavail.saturating_mul(room.f_frsize) > ROOM;
    if !enough {
        eprintln!("skipped: less than {ROOM} bytes are free below {}", home.path().display());
    }
    enough
}

fn offered(home: &Home, server: &Server) -> Pty {
    let mut command = home.axi();
    for variable in ["OLLAMA_HOST", "LMSTUDIO_BASE_URL", "LLAMACPP_BASE_URL", "VLLM_BASE_URL"] {
        command.env(variable, "http://127.0.0.1:1");
    }
    command.env("AXI_MODEL_HUB", server.url("/weights"));
    let pty = Pty::options().spawn(&command);
    pty.wait_for("[Y/n]");
    pty
}

#[test]
fn a_fetch_stopped_by_esc_is_told_in_one_word_and_goes_on_next_time() {
    let home = Home::new();
    if !has_room(&home) {
        return;
    }
    let gate = Gate::new();
    let bytes = Answer::new(200, "application/octet-stream").bytes("GGUF").bytes("rest").gate_before(1, &gate);
    let server = Server::start([bytes]);
    let mut pty = offered(&home, &server);
    pty.send("y\r");
    pty.wait_for("ESC stops");
    gate.wait_reached();
    pty.wait_for("0 %");
    pty.send("\x1b");
    assert_eq!(pty.wait_exit().code(), Some(130));
    let seen = pty.transcript();
    assert!(seen.contains("stopped") && seen.contains("axi local pull qwen2.5-coder-"), "{seen}");
    assert_eq!(seen.matches("error:").count(), 1, "{seen}");
    assert!(!seen.contains("no key is in the environment"), "{seen}");
    let models = home.path().join("cache/axi/models");
    let parts: Vec<_> = std::fs::read_dir(models).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(parts.len(), 1, "{parts:?}");
    assert_eq!(std::fs::read(&parts[0]).unwrap(), b"GGUF");
}

#[test]
fn saying_no_fetches_nothing_and_says_what_else_there_is() {
    let home = Home::new();
    let server = Server::start([]);
    let mut pty = offered(&home, &server);
    pty.send("n\r");
    assert_eq!(pty.wait_exit().code(), Some(3));
    let seen = pty.transcript();
    assert!(seen.contains("export ANTHROPIC_API_KEY"), "{seen}");
    assert_eq!(server.requests().len(), 0);
    assert!(!home.path().join("cache/axi/models").exists());
}
