//! `previous_response_id`, which is used only by a setting: what a request says then, and when it is whole all the same.

use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::server::{Answer, Server, answer};
use crate::support::talk::{Person, Ran, run};

fn ask(home: &Home, server: &Server, words: &str, flags: &[&str]) -> Ran {
    ask_model(home, server, "lab/m", words, flags)
}

fn ask_model(home: &Home, server: &Server, model: &str, words: &str, flags: &[&str]) -> Ran {
    let section = format!("[providers.lab]\nprotocol = \"openai-responses\"\nbase_url = \"{}\"\n", server.url(""));
    home.write("config/axi/config.toml", &format!("stored_responses = \"on\"\n{section}"));
    run(home.axi().args(["-p", words, "-m", model]).args(flags))
}

/// The id it names, the kinds of what it says, and whether it is to be kept.
fn said(server: &Server, number: usize) -> (Option<String>, Vec<String>, bool) {
    let body = server.requests()[number].body.clone();
    let kinds = body["input"].as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap().to_owned());
    (body["previous_response_id"].as_str().map(str::to_owned), kinds.collect(), body["store"] == true)
}

fn expected(id: Option<&str>, kinds: &[&str], stored: bool) -> (Option<String>, Vec<String>, bool) {
    (id.map(str::to_owned), kinds.iter().map(|kind| (*kind).to_owned()).collect(), stored)
}

#[test]
fn a_request_names_the_last_answer_and_says_only_what_is_new() {
    let home = Home::new();
    let call = answer::responses_call("c1", "list_directory", r#"{"path":"."}"#);
    let server = Server::start([call, answer::responses_text("one"), answer::responses_text("two")]);
    assert_eq!(ask(&home, &server, "look", &[]).code, Some(0));
    assert_eq!(ask(&home, &server, "again", &["-c"]).code, Some(0));
    assert_eq!(said(&server, 0), expected(None, &["message"], true));
    assert_eq!(said(&server, 1), expected(Some("resp_1"), &["function_call_output"], true));
    assert_eq!(said(&server, 2), expected(Some("resp_1"), &["message"], true));
    assert!(server.requests()[2].body["instructions"].is_string(), "those are not kept there");
    assert!(!server.requests()[2].text.contains("stored_response"));
}

#[test]
fn an_answer_that_is_gone_there_costs_one_whole_request_and_nothing_is_kept_from_then_on() {
    let home = Home::new();
    let gone = json!({"error": {"message": "Previous response with id 'resp_1' not found.",
                      "code": "previous_response_not_found"}});
    let server =
        Server::start([answer::responses_text("one"), Answer::json(400, &gone), answer::responses_text("two")]);
    assert_eq!(ask(&home, &server, "hi", &[]).code, Some(0));
    let ran = ask(&home, &server, "again", &["-c"]);
    assert_eq!((ran.code, ran.out.trim()), (Some(0), "two"), "{}", ran.err);
    assert_eq!(said(&server, 2), expected(None, &["message", "message", "message"], false));
}

#[test]
fn what_another_model_said_meanwhile_is_sent_too() {
    let home = Home::new();
    let texts = ["one", "two", "three"].map(answer::responses_text);
    let server = Server::start(texts);
    assert_eq!(ask(&home, &server, "hi", &[]).code, Some(0));
    assert_eq!(ask_model(&home, &server, "lab/other", "and you?", &["-c"]).code, Some(0));
    assert_eq!(ask(&home, &server, "again", &["-c"]).code, Some(0));
    // The other one has kept nothing; the first its own answer, behind which all of this is new.
    assert_eq!(said(&server, 1), expected(None, &["message", "message", "message"], true));
    assert_eq!(said(&server, 2), expected(Some("resp_1"), &["message", "message", "message"], true));
    let words: Value = server.requests()[2].body["input"].clone();
    assert!(words.to_string().contains("and you?") && words.to_string().contains("two"), "{words}");
}

/// An answer that is kept under this id.
fn kept_as(id: &str, text: &str) -> Answer {
    let item = json!({"id": "msg", "type": "message", "role": "assistant",
                      "content": [{"type": "output_text", "text": text}]});
    let response = json!({"id": id, "status": "completed", "output": [],
                          "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}});
    Answer::named_sse([
        json!({"type": "response.created", "response": {"id": id, "output": []}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
        json!({"type": "response.output_text.delta", "output_index": 0, "delta": text}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": response}),
    ])
}

#[test]
fn after_a_rewind_the_answer_is_named_behind_which_the_conversation_goes_on() {
    let home = Home::new();
    let texts = [("resp_a", "one"), ("resp_b", "two"), ("resp_c", "three"), ("resp_d", "four")];
    let server = Server::start(texts.map(|(id, text)| kept_as(id, text)));
    let section = format!("[providers.lab]\nprotocol = \"openai-responses\"\nbase_url = \"{}\"\n", server.url(""));
    home.write("config/axi/config.toml", &format!("stored_responses = \"on\"\n{section}"));
    let mut person = Person::meets(home.axi().args(["-m", "lab/m"]));
    for (words, answer) in [("first", "one"), ("second", "two")] {
        person.sends(words);
        person.sees(answer);
        person.sees_prompt();
    }
    person.sends("/rewind 2 conversation");
    person.sees("Back before that message");
    person.types(" anew\r");
    person.sees("three");
    // Nothing of the second answer is named, nor what was said of it.
    assert_eq!(said(&server, 1), expected(Some("resp_a"), &["message"], true));
    assert_eq!(said(&server, 2), expected(Some("resp_a"), &["message"], true));
    let anew = server.requests()[2].body["input"].to_string();
    assert!(anew.contains("second anew") && !anew.contains("two"), "{anew}");
    // Before the first there is none to name.
    person.sends("/rewind 1 conversation");
    person.waits(|view| view.transcript().matches("Back before that message").count() == 2, "the second rewind");
    person.types(" again\r");
    person.sees("four");
    assert_eq!(said(&server, 3), expected(None, &["message"], true));
    assert_eq!(person.leaves(), Some(0));
}
