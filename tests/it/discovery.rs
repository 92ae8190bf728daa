//! Finding keys and local servers without any settings.

use std::net::TcpListener;
use std::process::Command;
use std::time::Duration;

use axi::provider::{Client, Discovery, Protocol, ProviderError, ProviderSettings, Secret, discover, list_models};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::home::Home;
use crate::support::server::{Answer, Gate, Server, answer};
use crate::support::talk::run as run_process;

/// Long, so that a loaded machine cannot make the test fail; only the test of the limit itself uses less.
const LIMIT: Duration = Duration::from_secs(10);

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn closed() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

/// Every local server's address is one of the test's own: nothing that runs on this machine is asked.
fn search(pairs: &[(&str, String)], limit: Duration, cancel: &CancellationToken) -> Discovery {
    let nowhere = closed();
    let environment = |name: &str| {
        let given = pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| value.clone());
        let local = ["OLLAMA_HOST", "LMSTUDIO_BASE_URL", "LLAMACPP_BASE_URL", "VLLM_BASE_URL"].contains(&name);
        given.or_else(|| local.then(|| nowhere.clone()))
    };
    run(discover(&environment, &Client::default(), limit, cancel))
}

#[test]
fn keys_come_in_the_order_of_preference() {
    let pairs = [
        ("OPENAI_API_KEY", "a".to_owned()),
        ("ANTHROPIC_API_KEY", "b".to_owned()),
        ("XAI_API_KEY", " ".to_owned()),
    ];
    let found = search(&pairs, LIMIT, &CancellationToken::new());
    let names: Vec<(&str, &str)> = found.keys.iter().map(|key| (key.row.name, key.variable)).collect();
    assert_eq!(names, vec![("anthropic", "ANTHROPIC_API_KEY"), ("openai", "OPENAI_API_KEY")]);
    assert_eq!(found.servers, vec![]);
}

#[test]
fn ollama_with_a_model_that_can_call_tools_first() {
    let server = Server::start([]);
    let models = json!({"models": [{"name": "plain:1b"}, {"name": "nomic-embed-text"}, {"name": "able:8b"}]});
    server.route("GET /api/tags", Answer::json(200, &models));
    // The two questions come in any order, so that both get an answer that tells them apart by what was asked:
    // the scripted server answers in order of arrival, and the model list keeps its order otherwise.
    server.push(Answer::json(200, &json!({"capabilities": ["completion"]})));
    server.push(Answer::json(200, &json!({"capabilities": ["completion", "tools"]})));
    let found = search(&[("OLLAMA_HOST", server.url(""))], LIMIT, &CancellationToken::new());
    assert_eq!(found.servers.len(), 1);
    let server_found = &found.servers[0];
    assert_eq!((server_found.row.name, &server_found.base_url), ("ollama", &server.url("")));
    let tools: Vec<Option<bool>> = server_found.models.iter().map(|model| model.tools).collect();
    assert_eq!(tools, vec![Some(true), Some(false)]);
}

#[test]
fn servers_of_the_openai_kind_are_found_and_strangers_are_not() {
    let model_server = Server::start([Answer::json(200, &json!({"data": [{"id": "qwen"}]}))]);
    let web_server = Server::start([Answer::new(200, "text/html").bytes("<html>hello</html>")]);
    let pairs = [("LLAMACPP_BASE_URL", model_server.url("")), ("VLLM_BASE_URL", web_server.url("/v1"))];
    let found = search(&pairs, LIMIT, &CancellationToken::new());
    let names: Vec<(&str, &str)> =
        found.servers.iter().map(|server| (server.row.name, server.models[0].name.as_str())).collect();
    assert_eq!(names, vec![("llamacpp", "qwen")]);
}

#[test]
fn a_server_that_does_not_answer_is_not_waited_for() {
    let gate = Gate::new();
    let server = Server::start([Answer::new(200, "application/json").gate(&gate)]);
    let pairs = [("VLLM_BASE_URL", server.url("/v1"))];
    let found = search(&pairs, Duration::from_millis(200), &CancellationToken::new());
    assert_eq!(found, Discovery::default());
}

#[test]
fn a_cancelled_search_ends_with_the_keys() {
    let gate = Gate::new();
    let server = Server::start([Answer::new(200, "application/json").gate(&gate)]);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let pairs = [("VLLM_BASE_URL", server.url("/v1")), ("OPENAI_API_KEY", "k".to_owned())];
    let found = search(&pairs, LIMIT, &cancel);
    assert_eq!((found.keys.len(), found.servers.len()), (1, 0));
}

#[test]
fn models_are_listed_on_every_wire_with_its_headers() {
    for (protocol, path, header) in [
        (Protocol::OpenAiChat, "/v1/models", ("authorization", "Bearer k")),
        (Protocol::Anthropic, "/v1/models?limit=1000", ("x-api-key", "k")),
        (Protocol::Gemini, "/v1beta/models?pageSize=1000", ("x-goog-api-key", "k")),
        (Protocol::Ollama, "/api/tags", ("authorization", "Bearer k")),
    ] {
        let list = json!({"data": [{"id": "one"}, {"id": "two"}]});
        let refusal = json!({"error": {"message": "no"}});
        let server = Server::start([Answer::json(200, &list), Answer::json(401, &refusal)]);
        let mut settings = ProviderSettings::custom("lab", protocol, &server.url(""), "");
        settings.key = Some(Secret::new("k"));
        let listed = run(list_models(&settings, &Client::default())).unwrap();
        assert_eq!(listed.iter().map(|model| model.name.as_str()).collect::<Vec<_>>(), vec!["one", "two"]);
        let error = run(list_models(&settings, &Client::default())).unwrap_err();
        assert!(matches!(error, ProviderError::Unauthorized { .. }), "{error:?}");
        let sent = &server.requests()[0];
        assert_eq!((sent.path.as_str(), sent.header(header.0)), (path, Some(header.1)));
    }
}

#[test]
fn bedrocks_models_and_the_profiles_that_newer_ones_need_are_listed() {
    let models = json!({"modelSummaries": [{"modelId": "amazon.nova-lite-v1:0"}]});
    let profiles = json!({"inferenceProfileSummaries": [{"inferenceProfileId": "us.anthropic.claude-sonnet-5"}]});
    let server = Server::start([
        Answer::json(200, &models),
        Answer::json(200, &profiles),
        Answer::json(200, &models),
        Answer::json(403, &json!({"message": "no"})),
    ]);
    let mut settings = ProviderSettings::custom("lab", Protocol::Bedrock, &server.url(""), "");
    settings.key = Some(Secret::new("k"));
    let names = || {
        let listed = run(list_models(&settings, &Client::default())).unwrap();
        listed.into_iter().map(|model| model.name).collect::<Vec<_>>()
    };
    assert_eq!(names(), ["amazon.nova-lite-v1:0", "us.anthropic.claude-sonnet-5"]);
    assert_eq!(names(), ["amazon.nova-lite-v1:0"], "who may not list profiles is told the rest");
    assert_eq!(server.requests()[0].path, "/foundation-models?byOutputModality=TEXT");
    assert_eq!(server.requests()[1].header("authorization"), Some("Bearer k"));
}

#[test]
fn a_person_with_a_server_and_no_settings_gets_an_answer_and_a_list() {
    let home = Home::new();
    let server = Server::start([]);
    server.route("GET /api/tags", Answer::json(200, &json!({"models": [{"name": "able:8b"}]})));
    server.route("POST /api/show", Answer::json(200, &json!({"capabilities": ["completion", "tools"]})));
    server.route("POST /api/chat", answer::ollama_text("found and asked"));
    let nowhere = closed();
    let with = |mut command: Command| {
        command.env("OLLAMA_HOST", server.url(""));
        for name in ["LMSTUDIO_BASE_URL", "LLAMACPP_BASE_URL", "VLLM_BASE_URL"] {
            command.env(name, &nowhere);
        }
        command
    };
    let asked = run_process(with(home.axi()).args(["-p", "hi"]));
    assert_eq!((asked.code, asked.out.as_str()), (Some(0), "found and asked\n"), "{}", asked.err);
    assert!(asked.err.contains("ollama/able:8b"), "the person is told what was found: {}", asked.err);
    let listed = run_process(with(home.axi()).args(["models", "ollama"]));
    assert_eq!((listed.code, listed.out.as_str()), (Some(0), "ollama/able:8b\n"), "{}", listed.err);
    let all = run_process(with(home.axi()).arg("models"));
    assert_eq!((all.code, all.out.as_str()), (Some(0), "ollama/able:8b\n"), "{}", all.err);
}
