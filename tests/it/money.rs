//! What requests cost: the bill of a turn, of a session, of all of them; a budget that holds.

use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::server::{Answer, Server, answer};
use crate::support::talk::{Person, Ran, axi, run, session_lines};

/// A model of the catalogue: $2.50 and $10 a million; an answer of the scripted server costs $0.000075.
const PRICED: &str = "openai/gpt-4o";

fn ask(home: &Home, server: &Server, flags: &[&str]) -> Ran {
    run(axi(home, server).args(["-p", "hi"]).args(flags))
}

#[test]
fn a_request_that_would_surely_pass_the_budget_is_not_sent_and_ends_with_6() {
    let home = Home::new();
    let server = Server::start([]);
    let ran = ask(&home, &server, &["-m", PRICED, "--budget", "0.000001"]);
    assert_eq!(ran.code, Some(6), "{}", ran.err);
    assert!(ran.err.contains("the next request would cost at least"), "{}", ran.err);
    assert!(server.requests().is_empty());
    let json = ask(&home, &server, &["-m", PRICED, "--budget", "0", "--output", "json"]);
    let report: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((json.code, &report["end"]["kind"]), (Some(6), &json!("budget_limit")));
    for wrong in ["-1", "much", "nan", ""] {
        assert_eq!(ask(&home, &server, &["--budget", wrong]).code, Some(2), "{wrong}");
    }
}

#[test]
fn a_budget_ends_a_turn_between_its_steps() {
    let home = Home::new();
    // Each token that is written costs a dollar: the first step 5, the second at least 1.
    let config = "[providers.openai.models.dear]\nprice = \"0/1000000\"\n";
    home.write("config/axi/config.toml", config);
    let server = Server::start([answer::chat_call("c1", "list_directory", r#"{"path":"."}"#)]);
    let ran = ask(&home, &server, &["-m", "openai/dear", "--budget", "5.5"]);
    assert_eq!((ran.code, server.requests().len()), (Some(6), 1), "{}", ran.err);
}

#[test]
fn a_bill_is_in_the_report_the_session_and_the_sum_of_all_sessions() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("a"), answer::chat_text("b"), answer::chat_text("c")]);
    let ran = ask(&home, &server, &["-m", PRICED, "--output", "json"]);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["usd"], json!(0.000_075), "{report}");
    let line = session_lines(&home).into_iter().find(|line| line["kind"] == "usage").unwrap();
    assert_eq!(line["usd"], json!(0.000_075));
    assert_eq!(ask(&home, &server, &["-m", PRICED]).code, Some(0));
    let usage = |flags: &[&str]| {
        let ran = run(home.axi().args(["usage", "--json"]).args(flags));
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        serde_json::from_str::<Value>(&ran.out).unwrap()
    };
    let all = usage(&[]);
    let expected = json!({
        "input": 20, "cached_read": 0, "cached_write": 0, "output": 10, "reasoning": 0, "searches": 0,
        "usd": 0.000_15, "usd_at_least": 0.000_15,
    });
    assert_eq!(all["total"], expected);
    assert_eq!((&all["models"][0]["model"], &all["models"][0]["usd"]), (&json!(PRICED), &json!(0.000_15)));
    // A price that nobody knows is null, and so is a sum that has it.
    assert_eq!(ask(&home, &server, &[]).code, Some(0));
    let all = usage(&["--since", "7d"]);
    assert_eq!((&all["total"]["usd"], &all["total"]["usd_at_least"]), (&Value::Null, &json!(0.000_15)));
    assert_eq!(
        all["models"][1],
        json!({
            "model": "openai/any", "input": 10, "cached_read": 0, "cached_write": 0, "output": 5, "reasoning": 0,
            "searches": 0, "usd": null, "usd_at_least": 0.0,
        })
    );
    assert_eq!(usage(&["--since", "0m"])["models"], json!([]));
    let shown = run(home.axi().arg("usage"));
    assert!(shown.out.contains("openai/gpt-4o  20 tokens read, 10 written · $0.0001"), "{}", shown.out);
    assert!(shown.out.contains("in all: 30 tokens read, 15 written · at least $0.0001"), "{}", shown.out);
    assert_eq!(run(home.axi().args(["usage", "--since", "soon"])).code, Some(2));
}

#[test]
fn a_turn_ends_with_what_it_cost_and_usage_draws_the_turns() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("one"), answer::chat_text("two")]);
    let mut command = axi(&home, &server);
    command.env("AXI_MODEL", PRICED);
    let mut person = Person::meets(&command);
    person.sends("hi");
    person.sees("10 tokens read, 5 written · $0.0001");
    person.sends("again");
    person.waits(|view| view.transcript().matches("5 written · $0.0001").count() == 2, "the second bill");
    person.sends("/usage");
    person.sees("by turn: cost (tokens read + written)");
    person.sees("turn 2  ████████████████████████████████████████  $0.0001 (10 + 5)");
    person.sees("in all: 20 tokens read, 10 written");
    person.sends("/budget 0.0001");
    person.sees("budget: $0.0001; so far:");
    person.sends("more");
    person.sees("raise the budget with /budget USD");
    assert_eq!(server.requests().len(), 2);
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn an_effort_goes_with_every_request_until_it_is_taken_back() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("one"), answer::chat_text("two"), answer::chat_text("three")]);
    let mut person = Person::meets(&axi(&home, &server));
    person.sends("/effort high");
    person.sees("effort: high");
    person.sends("hi");
    person.sees("one");
    person.sends("/effort off");
    person.sees("effort: the provider's default");
    person.sends("again");
    person.sees("two");
    person.sends("/effort");
    person.sees("(choices: off, none, minimal, low,");
    person.sends("/theme");
    person.sees("(choices: auto, dark, light, plain)");
    let requests = server.requests();
    assert_eq!(
        (&requests[0].body["reasoning_effort"], &requests[1].body["reasoning_effort"]),
        (&json!("high"), &Value::Null)
    );
    person.sends("/effort loud");
    person.sees("loud is not possible here");
    assert_eq!(person.leaves(), Some(0));
}

#[test]
fn what_a_message_will_cost_is_told_before_it_is_sent() {
    let home = Home::new();
    let config = "tell_price_from = 0.5\n[providers.openai.models.dear]\nprice = \"1000/2000\"\n";
    home.write("config/axi/config.toml", config);
    let server = Server::start([answer::chat_text("one"), answer::chat_text("two")]);
    let ran = ask(&home, &server, &["-m", "openai/dear"]);
    assert!(ran.err.contains("this message costs at least $") && ran.err.contains(", probably $"), "{}", ran.err);
    let ran = ask(&home, &server, &["-m", PRICED]);
    assert!(!ran.err.contains("this message costs"), "{}", ran.err);
    let server = Server::start([answer::chat_text("three")]);
    let ran = ask(&home, &server, &["-m", "openai/unheard-of"]);
    assert!(ran.err.contains("the price of openai/unheard-of is not known"), "{}", ran.err);
}

#[test]
fn the_window_that_a_server_lists_is_that_of_the_model_that_is_picked() {
    let home = Home::new();
    let server = Server::start([]);
    let models = json!({"data": [{"id": "m", "context_length": 4_000}, {"id": "wide", "context_length": 987_000}]});
    server.route("GET /v1/models", Answer::json(200, &models));
    let section = format!("model = \"lab/m\"\n[providers.lab]\nbase_url = \"{}\"\n", server.url("/v1"));
    home.write("config/axi/config.toml", &section);
    let mut person = Person::meets(&home.axi());
    person.sends("/context");
    person.sees("how many the model can read is not known");
    person.sends("/model");
    person.sees("lab/wide");
    person.types("2");
    person.sees("using lab/wide");
    person.sends("/context");
    person.sees("of 987,000 tokens, estimated");
    assert_eq!(person.leaves(), Some(0));
    // The next run knows it, and asks for no list.
    let asked = server.requests().len();
    let mut person = Person::meets(home.axi().args(["-m", "lab/wide"]));
    person.sends("/context");
    person.sees("of 987,000 tokens, estimated");
    assert_eq!((person.leaves(), server.requests().len()), (Some(0), asked));
}
