//! A model that stands in while the chosen one's provider is overloaded: named in the settings or by a flag, on another
//! wire, and told.

use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::server::{Answer, Server, answer};
use crate::support::talk::{axi, run};

/// Nobody waits for it: it asks for more time than is ever waited.
fn overloaded() -> Answer {
    Answer::json(529, &json!({"error": {"type": "overloaded_error", "message": "Overloaded"}}))
        .header("Retry-After", "9999")
}

fn settings(other: &Server) -> String {
    format!(
        "fallback_model = \"other/m\"\n[providers.other]\nprotocol = \"anthropic\"\nbase_url = \"{}\"\n",
        other.url("")
    )
}

#[test]
fn the_rest_of_a_turn_is_answered_on_another_wire_with_the_calls_of_the_first_in_it() {
    let home = Home::new();
    let first = Server::start([answer::chat_call("c1", "list_directory", r#"{"path":"."}"#), overloaded()]);
    let other = Server::start([answer::messages_text("there are none")]);
    home.write("config/axi/config.toml", &settings(&other));
    let ran = run(axi(&home, &first).args(["-p", "what is here?", "-m", "openai/gpt-4o"]));
    assert_eq!((ran.code, ran.out.trim()), (Some(0), "there are none"), "{}", ran.err);
    assert!(ran.err.contains("openai/gpt-4o is overloaded"), "{}", ran.err);
    assert!(ran.err.contains("the price of other/m is not known"), "{}", ran.err);
    let body = other.requests()[0].body.clone();
    let kinds: Vec<&Value> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|message| message["content"].as_array()?.last())
        .map(|block| &block["type"])
        .collect();
    assert_eq!(kinds, ["text", "tool_use", "tool_result"], "{body}");
}

#[test]
fn a_flag_names_it_too_and_one_that_cannot_be_asked_is_told_before_anything_is_sent() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("hello")]);
    let ran = run(axi(&home, &server).args(["-p", "hi", "--fallback-model", "nobody/m"]));
    assert_eq!((ran.code, server.requests().len()), (Some(3), 0), "{}", ran.err);
    home.write("config/axi/config.toml", "fallback_model = \"nobody/m\"\n");
    let ran = run(axi(&home, &server).args(["-p", "hi"]));
    assert_eq!((ran.code, ran.out.trim()), (Some(0), "hello"), "{}", ran.err);
    assert!(ran.err.contains("nobody/m cannot stand in"), "{}", ran.err);
}
