//! The window of llama.cpp's server, which stands in no answer: it is asked for, before the first request too where the
//! server is on this machine. Any other server is asked no more once it has answered.

use serde_json::json;

use crate::support::home::Home;
use crate::support::server::{Answer, Recorded, Server, answer};
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

fn tools(request: &Recorded) -> Vec<String> {
    let tools = request.body["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn what_does_not_fit_the_window_of_llama_cpp_is_cut_before_it_is_sent() {
    let (home, server) = (Home::new(), server("llama.cpp"));
    let long = |what: &str| format!("{what} {}", "counts in words here ".repeat(2_000));
    assert_eq!(say(&home, &server, &long("first"), &[]).code, Some(0));
    assert_eq!(asked(&server), ["/props", "/v1/chat/completions", "/props"]);
    let first = &server.requests()[1];
    assert!(first.text.len() < 4 * 16_384, "{}", first.text.len());
    let profiles = std::fs::read_to_string(home.path().join("state/axi/profiles.json")).unwrap();
    assert!(profiles.contains("context_window=16384"), "{profiles}");
    assert_eq!(say(&home, &server, &long("second"), &["-c"]).code, Some(0));
    let sent = &server.requests()[3];
    assert_eq!(sent.path, "/v1/chat/completions");
    // About four letters a token, of which an answer and the tools have their share.
    assert!(sent.text.len() < 4 * 16_384, "{}", sent.text.len());
    assert!(sent.text.contains("second counts"));
    // What stands for the rest names this tool.
    assert!(tools(sent).contains(&"recall".to_owned()), "{:?}", tools(sent));
}

#[test]
fn in_a_small_window_the_first_request_already_tells_the_tools_briefly() {
    let of = |window: u64| {
        let server = Server::start([answer::chat_text("one").header("server", "llama.cpp")]);
        let properties = json!({"default_generation_settings": {"n_ctx": window}});
        server.route("GET /props", Answer::json(200, &properties));
        assert_eq!(say(&Home::new(), &server, "hi", &[]).code, Some(0));
        server.requests()[1].text.len()
    };
    let (small, large) = (of(4_096), of(131_072));
    assert!(small * 2 < large, "{small} of {large}");
}

#[test]
fn tools_are_told_briefly_before_anything_is_cut_when_a_server_refuses_for_length() {
    let refused = json!({"error": {
        "code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 4310, "n_ctx": 4096,
        "message": "request (4310 tokens) exceeds the available context size (4096 tokens), try increasing it"
    }});
    let server = Server::start([Answer::json(400, &refused), answer::chat_text("one")]);
    assert_eq!(say(&Home::new(), &server, "hi there", &[]).code, Some(0));
    let [whole, brief] = &server.requests()[..] else { panic!("{:?}", asked(&server)) };
    assert!(brief.text.len() * 2 < whole.text.len(), "{} of {}", brief.text.len(), whole.text.len());
    assert!(brief.text.contains("hi there") && !tools(brief).contains(&"recall".to_owned()), "{}", brief.text);
}

#[test]
fn no_other_server_is_asked_again() {
    let (home, server) = (Home::new(), server("uvicorn"));
    assert_eq!(say(&home, &server, "hi", &[]).code, Some(0));
    assert_eq!(asked(&server), ["/props", "/v1/chat/completions"]);
    // Nor one whose window is known.
    let settings = format!(
        "[providers.lab]\nprotocol = \"openai-chat\"\nbase_url = \"{}\"\n[providers.lab.models.m]\n\
         context_window = 9000\n",
        server.url("/v1")
    );
    home.write("config/axi/config.toml", &settings);
    let mut command = home.axi();
    command.args(["-m", "lab/m", "-p", "hi"]);
    assert_eq!(run(&mut command).code, Some(0));
    assert_eq!(asked(&server)[2..], ["/v1/chat/completions"]);
}
