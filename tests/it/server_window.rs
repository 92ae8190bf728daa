//! The window of llama.cpp's server, which stands in no answer: it is asked for, and no other server is.

use serde_json::json;

use crate::support::home::Home;
use crate::support::server::{Answer, Server, answer};
use crate::support::talk::{Ran, run};

const WINDOW: u64 = 16_384;

fn server(name: &str) -> Server {
    let texts = ["one", "two", "three"];
    let server = Server::start(texts.map(|text| answer::chat_text(text).header("server", name)));
    let properties = json!({"default_generation_settings": {"n_ctx": WINDOW}, "total_slots": 1});
    server.route("GET /props", Answer::json(200, &properties));
    server
}

fn say(home: &Home, server: &Server, words: &str, flags: &[&str]) -> Ran {
    let mut command = home.axi();
    command.args(["-m", "openai/any", "-p", words]).args(flags);
    run(command.env("OPENAI_BASE_URL", server.url("/v1")).env("OPENAI_API_KEY", "x"))
}

fn asked(server: &Server) -> Vec<String> {
    server.requests().into_iter().map(|request| request.path).collect()
}

#[test]
fn what_does_not_fit_the_window_of_llama_cpp_is_cut_before_it_is_sent() {
    let (home, server) = (Home::new(), server("llama.cpp"));
    let long = |what: &str| format!("{what} {}", "counts in words here ".repeat(2_000));
    assert_eq!(say(&home, &server, &long("first"), &[]).code, Some(0));
    assert_eq!(asked(&server), ["/v1/chat/completions", "/props"]);
    let profiles = std::fs::read_to_string(home.path().join("state/axi/profiles.json")).unwrap();
    assert!(profiles.contains("context_window=16384"), "{profiles}");
    assert_eq!(say(&home, &server, &long("second"), &["-c"]).code, Some(0));
    let sent = &server.requests()[2];
    assert_eq!(sent.path, "/v1/chat/completions");
    // About four letters a token, of which an answer and the tools have their share.
    assert!(sent.text.len() < 4 * 16_384, "{}", sent.text.len());
    assert!(sent.text.contains("second counts"));
}

#[test]
fn no_other_server_is_asked_for_it() {
    let (home, server) = (Home::new(), server("uvicorn"));
    assert_eq!(say(&home, &server, "hi", &[]).code, Some(0));
    assert_eq!(asked(&server), ["/v1/chat/completions"]);
}
