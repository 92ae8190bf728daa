//! Searching the web: by the provider's own tool, and by a SearXNG of the person's. Off until it is chosen.

use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::server::{Answer, Server, answer};
use crate::support::talk::{Ran, axi, run};

fn ask(home: &Home, server: &Server, protocol: &str, flags: &[&str]) -> Ran {
    let section = format!("[providers.lab]\nprotocol = \"{protocol}\"\nbase_url = \"{}\"\n", server.url(""));
    let price = "[providers.lab.models.\"gemini-3.7-flash\"]\nprice = \"0/0\"\n";
    home.write("config/axi/config.toml", &format!("web_search = \"provider\"\n{section}{price}"));
    run(home.axi().args(["-p", "who won?", "-m", "lab/gemini-3.7-flash"]).args(flags))
}

fn messages() -> Answer {
    let query = r#"{"query":"race winner"}"#;
    let citation =
        json!({"type": "web_search_result_location", "url": "https://news.example/a", "title": "The [race]"});
    let found = json!([{"type": "web_search_result", "url": "https://news.example/a", "encrypted_content": "E"}]);
    Answer::named_sse([
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block":
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": &query[..9]}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": &query[9..]}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block":
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": found}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "citations_delta", "citation": citation}}),
        json!({"type": "content_block_delta", "index": 2, "delta": {"type": "text_delta", "text": "Anna won."}}),
        json!({"type": "content_block_stop", "index": 2}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 5, "server_tool_use": {"web_search_requests": 1}}}),
        json!({"type": "message_stop"}),
    ])
}

fn responses() -> Answer {
    let search = json!({"id": "ws_1", "type": "web_search_call", "status": "completed",
        "action": {"type": "search", "query": "race winner"}});
    let citation = json!({"type": "url_citation", "url": "https://news.example/a", "title": "The [race]"});
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "content":
        [{"type": "output_text", "text": "Anna won.", "annotations": [citation]}]});
    Answer::named_sse([
        json!({"type": "response.created", "response": {"id": "resp_1", "output": []}}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": search}),
        json!({"type": "response.output_item.done", "output_index": 1, "item": message}),
        json!({"type": "response.completed", "response": {"status": "completed", "output": [],
            "usage": {"input_tokens": 10, "output_tokens": 5}}}),
    ])
}

fn gemini() -> Answer {
    let found = json!({"webSearchQueries": ["race winner"],
        "groundingChunks": [{"web": {"uri": "https://news.example/a", "title": "The [race]"}}]});
    let usage = json!({"promptTokenCount": 10, "candidatesTokenCount": 5});
    Answer::sse([
        json!({"candidates": [{"content": {"parts": [{"text": "Anna won."}]}}], "usageMetadata": usage})
            .to_string(),
        json!({"candidates": [{"content": {"parts": []}, "finishReason": "STOP", "groundingMetadata": found}],
            "usageMetadata": usage})
        .to_string(),
    ])
}

#[test]
fn the_providers_own_search_is_offered_shown_cited_and_billed() {
    let wires = [
        ("anthropic", messages(), "/tools/0/type", json!("web_search_20250305")),
        ("openai-responses", responses(), "/tools/0/type", json!("web_search")),
        ("gemini", gemini(), "/tools/1/googleSearch", json!({})),
    ];
    for (protocol, answer, place, expected) in wires {
        let home = Home::new();
        let server = Server::start([answer.in_pieces_of(7)]);
        let ran = ask(&home, &server, protocol, &["--output", "json"]);
        assert_eq!(ran.code, Some(0), "{protocol}: {}", ran.err);
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        let text = "Anna won.\n\n- [The \\[race\\]](<https://news.example/a>)\n";
        assert_eq!(report["answer"].as_str().map(str::trim_end), Some(text.trim_end()), "{protocol}: {report}");
        // What this server takes for a search nobody knows, and nobody says.
        assert_eq!((&report["usage"]["searches"], &report["usd"]), (&json!(1), &Value::Null), "{protocol}");
        assert_eq!(server.requests()[0].body.pointer(place), Some(&expected), "{protocol}");
        // A person reads of each search.
        server.push(match protocol {
            "anthropic" => messages(),
            "gemini" => gemini(),
            _ => responses(),
        });
        let ran = ask(&home, &server, protocol, &[]);
        assert!(ran.err.contains("note: searched the web: race winner"), "{protocol}: {}", ran.err);
    }
}

#[test]
fn what_a_search_left_goes_back_while_searching_is_on_and_nothing_is_offered_unless_chosen() {
    let home = Home::new();
    let server = Server::start([messages(), answer::messages_text("yes"), answer::messages_text("no")]);
    assert_eq!(ask(&home, &server, "anthropic", &[]).code, Some(0));
    assert_eq!(ask(&home, &server, "anthropic", &["-c"]).code, Some(0));
    let kinds = |number: usize| {
        let body = &server.requests()[number].body;
        let blocks = body["messages"][1]["content"].as_array().unwrap();
        blocks.iter().map(|block| block["type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(kinds(1), ["server_tool_use", "web_search_tool_result", "text"]);
    assert_eq!(server.requests()[1].body["messages"][1]["content"][0]["input"], json!({"query": "race winner"}));
    let path = home.path().join("config/axi/config.toml");
    let off = std::fs::read_to_string(&path).unwrap().replace("web_search = \"provider\"\n", "");
    std::fs::write(&path, off).unwrap();
    let ran = run(home.axi().args(["-c", "-p", "sure?", "-m", "lab/gemini-3.7-flash"]));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(kinds(2), ["text"]);
    let tools = server.requests()[2].body["tools"].to_string();
    assert!(!tools.contains("web_search"), "{tools}");
}

#[test]
fn a_server_without_such_a_tool_is_asked_without_it() {
    let refusal = json!({"error": {"message": "tools.0: unknown tool type 'web_search_20250305'"}});
    let home = Home::new();
    let server = Server::start([Answer::json(400, &refusal), answer::messages_text("hello")]);
    let ran = ask(&home, &server, "anthropic", &[]);
    assert_eq!((ran.code, ran.out.trim()), (Some(0), "hello"), "{}", ran.err);
    assert!(!server.requests()[1].body["tools"].to_string().contains("web_search"));
}

#[test]
fn a_searxng_is_asked_about_as_any_network_call_and_gives_pages() {
    let home = Home::new();
    let call = || answer::chat_call("c1", "web_search", r#"{"query":"race winner"}"#);
    let server = Server::start([call(), call(), answer::chat_text("Anna")]);
    let engine = Server::start([]);
    let pages = json!({"results": [{"title": "The race", "url": "https://news.example/a", "content": "Anna won"}]});
    engine.route("GET /search", Answer::json(200, &pages));
    home.write("config/axi/config.toml", &format!("web_search = \"{}\"\n", engine.url("")));
    let ran = run(axi(&home, &server).args(["-p", "who won?"]));
    assert_eq!((ran.code, engine.requests().len()), (Some(5), 0), "nobody said yes: {}", ran.err);
    let ran = run(axi(&home, &server).args(["-p", "who won?", "--allow", "web_search(127.0.0.1)"]));
    assert_eq!((ran.code, ran.out.trim()), (Some(0), "Anna"), "{}", ran.err);
    let told = server.requests().last().unwrap().body["messages"].to_string();
    assert!(told.contains("https://news.example/a") && told.contains("Anna won"), "{told}");
    assert_eq!(engine.requests()[0].path, "/search?q=race+winner&format=json");
    let plain = Home::new();
    let server = Server::start([answer::chat_text("hi")]);
    assert_eq!(run(axi(&plain, &server).args(["-p", "hi"])).code, Some(0));
    assert!(!server.requests()[0].body["tools"].to_string().contains("web_search"), "off until chosen");
}

#[test]
fn who_forbids_searching_or_the_network_forbids_the_providers_own_search_too() {
    for flags in [&["--deny", "web_search"][..], &["--agent", "plan"]] {
        let home = Home::new();
        let server = Server::start([answer::messages_text("no")]);
        let ran = ask(&home, &server, "anthropic", flags);
        assert_eq!(ran.code, Some(0), "{flags:?}: {}", ran.err);
        let tools = server.requests()[0].body["tools"].to_string();
        assert!(!tools.contains("web_search"), "{flags:?}: {tools}");
    }
}
