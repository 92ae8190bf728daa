//! Servers of one's own: what they want around a request, and whose key goes where.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::server::{Answer, Server, answer};
use crate::support::talk::{Ran, run, run_with};

fn ask(home: &Home, model: &str) -> Ran {
    run(home.axi().args(["-p", "hi", "-m", model]))
}

#[test]
fn an_in_house_gateway_gets_the_request_in_its_envelope_and_the_answer_is_taken_out_of_it() {
    let home = Home::new();
    let chunk = |delta: Value, end: Value| {
        let inner = json!({"choices": [{"index": 0, "delta": delta, "finish_reason": end}]}).to_string();
        json!({"code": 0, "data": {"answer": inner}}).to_string()
    };
    let payloads = [
        chunk(json!({"role": "assistant", "content": "wrapped "}), Value::Null),
        chunk(json!({"content": "well"}), Value::Null),
        chunk(json!({}), json!("stop")),
        json!({"code": 0, "data": {"answer": "[DONE]"}}).to_string(),
    ];
    let server = Server::start([Answer::sse(payloads)]);
    let config = format!(
        "[providers.house]\nprotocol = \"openai-compatible\"\nbase_url = \"{}\"\n\
         headers = {{ x-team = \"blue-${{TEAM_TOKEN}}\" }}\nquery = {{ tenant = \"7\" }}\n\
         [providers.house.envelope]\nfield = \"payload\"\nanswer = \"data.answer\"\nfixed = {{ app = \"axi\" }}\n",
        server.url("/v1")
    );
    home.write("config/axi/config.toml", &config);
    let ran = run(home.axi().env("TEAM_TOKEN", "t0k").args(["-p", "hi", "-m", "house/big"]));
    assert_eq!((ran.code, ran.out.trim()), (Some(0), "wrapped well"), "{}", ran.err);
    let request = &server.requests()[0];
    assert_eq!(request.header("x-team"), Some("blue-t0k"));
    assert!(request.path.contains("tenant=7"), "{}", request.path);
    assert_eq!(request.body["app"], "axi");
    let inner: Value = serde_json::from_str(request.body["payload"].as_str().unwrap()).unwrap();
    assert_eq!(inner["model"], "big");
}

#[test]
fn a_header_whose_variable_is_not_set_is_told_before_anything_is_sent() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("hello")]);
    let config = |value: &str| {
        let url = server.url("/v1");
        let section = format!("[providers.lab]\nbase_url = \"{url}\"\nheaders = {{ x-team = \"{value}\" }}\n");
        home.write("config/axi/config.toml", &section);
    };
    config("Bearer ${TEAM_TOKEN}");
    let ran = ask(&home, "lab/m");
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains("header x-team of lab needs TEAM_TOKEN, which is not set"), "{}", ran.err);
    assert!(server.requests().is_empty());
    config("${TEAM_TOKEN:-blue}");
    assert_eq!(ask(&home, "lab/m").code, Some(0));
    assert_eq!(server.requests()[0].header("x-team"), Some("blue"));
}

#[test]
fn a_provider_of_ones_own_has_a_variable_for_its_key_though_the_settings_name_none() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("one"), answer::chat_text("two")]);
    let named = format!("base_url = \"{}\"\n", server.url("/v1"));
    home.write(
        "config/axi/config.toml",
        &format!("[providers.my-lab]\n{named}[providers.other]\n{named}api_key_env = \"OTHER_KEY\"\n"),
    );
    let keys = [("MY_LAB_API_KEY", "sk-of-my-lab-1"), ("OTHER_API_KEY", "sk-of-nobody-2")];
    for model in ["my-lab/m", "other/m"] {
        let ran = run(home.axi().args(["-p", "hi", "-m", model]).envs(keys));
        assert_eq!(ran.code, Some(0), "{model}: {}", ran.err);
    }
    let keys: Vec<Option<String>> =
        server.requests().iter().map(|sent| sent.header("authorization").map(str::to_owned)).collect();
    // Where the settings name a variable, no other one is read.
    assert_eq!(keys, [Some("Bearer sk-of-my-lab-1".to_owned()), None]);
}

#[test]
fn a_command_gives_the_key_and_one_that_fails_is_told() {
    let home = Home::new();
    let server = Server::start([answer::chat_text("hello")]);
    let config = |command: &str| {
        format!("[providers.lab]\nbase_url = \"{}\"\napi_key_cmd = \"{command}\"\n", server.url("/v1"))
    };
    home.write("config/axi/config.toml", &config("echo sk-from-pass; echo note"));
    assert_eq!(ask(&home, "lab/m").code, Some(0));
    assert_eq!(server.requests()[0].header("authorization"), Some("Bearer sk-from-pass"));
    home.write("config/axi/config.toml", &config("exit 7"));
    let ran = ask(&home, "lab/m");
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains("exit 7") && ran.err.contains("correct api_key_cmd"), "{}", ran.err);
}

#[test]
fn a_key_is_tried_before_it_is_kept_and_goes_to_the_address_it_was_kept_for_alone() {
    let home = Home::new();
    let (server, other) = (Server::start([answer::chat_text("one")]), Server::start([answer::chat_text("two")]));
    let config = |server: &Server| format!("[providers.lab]\nbase_url = \"{}\"\n", server.url("/v1"));
    home.write("config/axi/config.toml", &config(&server));
    let login = |key: &str| run_with(home.axi().args(["login", "lab", "--file"]), key);
    let refusing = Server::start([]);
    refusing.route("GET /v1/models", Answer::json(401, &json!({"error": {"message": "bad key"}})));
    home.write("config/axi/config.toml", &config(&refusing));
    let ran = login("sk-wrong");
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("bad key") && ran.err.contains("the key was not kept"), "{}", ran.err);
    let file = home.path().join("state/axi/keys.json");
    assert!(!file.exists());
    home.write("config/axi/config.toml", &config(&server));
    server.route("GET /v1/models", Answer::json(200, &json!({"data": [{"id": "m"}]})));
    let ran = login("sk-right-7f3b1c9d");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("which only you can read") && ran.err.contains("lab accepts it"), "{}", ran.err);
    assert!(!ran.err.contains("sk-right"), "{}", ran.err);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(ask(&home, "lab/m").code, Some(0));
    let last = |server: &Server| server.requests().last().unwrap().header("authorization").map(str::to_owned);
    assert_eq!(last(&server).as_deref(), Some("Bearer sk-right-7f3b1c9d"));
    // Another address under the same name does not get it.
    home.write("config/axi/config.toml", &config(&other));
    assert_eq!(ask(&home, "lab/m").code, Some(0));
    assert_eq!(last(&other), None);
    home.write("config/axi/config.toml", &config(&server));
    assert_eq!(run(home.axi().args(["logout", "lab"])).code, Some(0));
    assert!(!std::fs::read_to_string(&file).unwrap().contains("sk-right"));
}
