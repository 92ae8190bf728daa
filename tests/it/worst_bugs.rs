//! The fifteen bugs with providers that cost people the most in 2026, each by its number, as axi meets it: the program
//! itself, asked once or twice. What each wire does in detail stands in the tests beside it.

use serde_json::{Value, json};

use crate::support::home::Home;
use crate::support::server::{Answer, Server, answer};
use crate::support::talk::{Ran, axi, run};

/// Asks a server in the words of a protocol.
fn ask(home: &Home, server: &Server, protocol: &str, model: &str, flags: &[&str]) -> Ran {
    let section = format!("[providers.lab]\nprotocol = \"{protocol}\"\nbase_url = \"{}\"\n", server.url(""));
    home.write("config/axi/config.toml", &section);
    run(home.axi().args(["-p", "look", "-m", &format!("lab/{model}")]).args(flags))
}

fn refused(status: u16, message: &str) -> Answer {
    Answer::json(status, &json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}}))
}

const HERE: &str = r#"{"path":"."}"#;

/// A thought with its signature, and a call behind it.
fn thought_and_call() -> Answer {
    let delta = |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    answer::anthropic(
        vec![
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}),
            delta(0, json!({"type": "thinking_delta", "thinking": " I  look.\n"})),
            delta(0, json!({"type": "signature_delta", "signature": "c2ln"})),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "content_block_start", "index": 1,
                   "content_block": {"type": "tool_use", "id": "toolu_1", "name": "list_directory", "input": {}}}),
            delta(1, json!({"type": "input_json_delta", "partial_json": HERE})),
            json!({"type": "content_block_stop", "index": 1}),
        ],
        "tool_use",
    )
}

/// A session that is dead for ever after "thinking blocks cannot be modified".
#[test]
fn bug_01_a_thought_goes_back_byte_for_byte_and_a_server_that_refuses_it_is_asked_once_without() {
    let home = Home::new();
    let refusal = refused(400, "messages.1.content.0: `thinking` blocks in the latest message cannot be modified");
    let server = Server::start([thought_and_call(), refusal, answer::messages_text("done")]);
    let ran = ask(&home, &server, "anthropic", "m", &[]);
    assert_eq!((ran.code, ran.out.trim()), (Some(0), "done"), "{}", ran.err);
    let requests = server.requests();
    let expected = json!({"type": "thinking", "thinking": " I  look.\n", "signature": "c2ln"});
    assert_eq!(requests[1].body["messages"][1]["content"][0], expected);
    assert!(!requests[2].text.contains("\"thinking\""), "{}", requests[2].text);
    assert_eq!(server.violations(), Vec::<String>::new(), "each call has its result");
}

/// A prompt cache that each turn breaks: twenty times the price.
#[test]
fn bug_02_a_request_begins_with_the_one_before_it() {
    let home = Home::new();
    let call = answer::chat_call("c1", "list_directory", HERE);
    let server = Server::start([call, answer::chat_text("one"), answer::chat_text("two")]);
    assert_eq!(ask(&home, &server, "openai-chat", "m", &[]).code, Some(0));
    assert_eq!(ask(&home, &server, "openai-chat", "m", &["-c"]).code, Some(0));
    let requests = server.requests();
    for pair in requests.windows(2) {
        let (head, next) = (pair[0].text.split_once("\"messages\":[").unwrap(), pair[1].text.as_str());
        let said = head.1.rsplit_once("}]").unwrap().0;
        assert!(next.starts_with(&format!("{}\"messages\":[{said}}},", head.0)), "{}\n{next}", pair[0].text);
    }
    assert_eq!(requests.len(), 3);
}

/// Cached tokens counted twice: 74,472 shown as 146,024.
#[test]
fn bug_03_a_cached_token_is_counted_once_on_every_wire() {
    let chat =
        json!({"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 60}});
    let chat = Answer::sse([
        json!({"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}], "usage": chat})
            .to_string(),
        "[DONE]".to_owned(),
    ]);
    let usage = json!({"input_tokens": 100, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 60}});
    let content = json!([{"type": "output_text", "text": "x"}]);
    let responses = Answer::named_sse([
        json!({"type": "response.output_item.done", "output_index": 0,
               "item": {"id": "msg_1", "type": "message", "role": "assistant", "content": content}}),
        json!({"type": "response.completed", "response": {"status": "completed", "output": [], "usage": usage}}),
    ]);
    let usage = json!({"input_tokens": 40, "cache_read_input_tokens": 60, "output_tokens": 5});
    let messages = Answer::named_sse([
        json!({"type": "message_start", "message": {"role": "assistant", "content": [], "usage": usage}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "x"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage}),
        json!({"type": "message_stop"}),
    ]);
    let usage = json!({"promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 5});
    let gemini = json!({"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}],
                        "usageMetadata": usage});
    let gemini = Answer::sse([gemini.to_string()]);
    for (protocol, answer) in
        [("openai-chat", chat), ("openai-responses", responses), ("anthropic", messages), ("gemini", gemini)]
    {
        let home = Home::new();
        let server = Server::start([answer]);
        let ran = ask(&home, &server, protocol, "m", &["--output", "json"]);
        assert_eq!(ran.code, Some(0), "{protocol}: {}", ran.err);
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        let usage = &report["usage"];
        let counts = ["input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens"];
        assert_eq!(counts.map(|name| usage[name].as_u64()), [100, 60, 0, 5].map(Some), "{protocol}: {usage}");
    }
}

/// "Item rs_… not found": a bare id of what the provider did not keep.
#[test]
fn bug_04_reasoning_goes_back_encrypted_or_not_at_all_and_never_by_its_id() {
    let home = Home::new();
    let done =
        |place: u64, item: Value| json!({"type": "response.output_item.done", "output_index": place, "item": item});
    let first = answer::responses(vec![
        done(0, json!({"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "RU5D"})),
        done(1, json!({"id": "rs_2", "type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]})),
        done(
            2,
            json!({"id": "fc_1", "type": "function_call", "call_id": "c1", "name": "list_directory",
                       "arguments": HERE}),
        ),
    ]);
    let server = Server::start([first, answer::responses_text("done")]);
    let ran = ask(&home, &server, "openai-responses", "gpt-5.4", &[]);
    assert_eq!((ran.code, ran.out.trim()), (Some(0), "done"), "{}", ran.err);
    let requests = server.requests();
    let input = requests[1].body["input"].as_array().unwrap();
    let thoughts: Vec<&Value> = input.iter().filter(|item| item["type"] == "reasoning").collect();
    assert_eq!(thoughts.len(), 1, "{input:?}");
    assert_eq!(thoughts[0]["encrypted_content"], "RU5D");
    assert!(!requests[1].text.contains("rs_") && !requests[1].text.contains("previous_response_id"));
    assert_eq!(requests[1].body["store"], false);
}

/// A minute of WebSocket reconnects behind a proxy before each turn.
#[test]
fn bug_05_no_wire_asks_for_another_protocol_than_http() {
    for (protocol, answer) in [
        ("openai-chat", answer::chat_text("hi")),
        ("openai-responses", answer::responses_text("hi")),
        ("anthropic", answer::messages_text("hi")),
        ("gemini", answer::gemini_text("hi")),
        ("ollama", answer::ollama_text("hi")),
    ] {
        let home = Home::new();
        let server = Server::start([answer]);
        assert_eq!(ask(&home, &server, protocol, "m", &[]).code, Some(0), "{protocol}");
        let asked = server.requests().into_iter().find(|request| request.method == "POST").unwrap();
        assert_eq!((asked.header("upgrade"), asked.header("sec-websocket-key")), (None, None), "{protocol}");
    }
}

/// Parallel calls of Gemini 3, of which only the first is signed.
#[test]
fn bug_06_a_signature_goes_back_on_its_own_part_and_each_result_with_its_id() {
    let home = Home::new();
    let call = |id: &str| json!({"functionCall": {"id": id, "name": "list_directory", "args": {"path": "."}}});
    let mut signed = call("a");
    signed["thoughtSignature"] = json!("c2ln");
    let server = Server::start([answer::gemini(vec![signed, call("b")]), answer::gemini_text("done")]);
    let ran = ask(&home, &server, "gemini", "gemini-3.7-flash", &[]);
    assert_eq!((ran.code, ran.out.trim()), (Some(0), "done"), "{}", ran.err);
    let contents = &server.requests()[1].body["contents"];
    let signatures = [0, 1].map(|part| contents[1]["parts"][part]["thoughtSignature"].as_str());
    assert_eq!(signatures, [Some("c2ln"), None], "{contents}");
    let ids = [0, 1].map(|part| contents[2]["parts"][part]["functionResponse"]["id"].as_str());
    assert_eq!(ids, [Some("a"), Some("b")], "{contents}");
}

/// A new Claude asked to think in the old shape: HTTP 400, or no thought at all.
#[test]
fn bug_07_a_model_is_asked_to_think_in_its_own_shape_and_an_unknown_newer_one_as_the_newest() {
    for (model, shape) in
        [("claude-opus-9", "adaptive"), ("claude-opus-5", "adaptive"), ("claude-haiku-4-5", "enabled")]
    {
        let home = Home::new();
        home.write("config/axi/config.toml", "effort = \"high\"\n");
        let server = Server::start([answer::messages_text("hi")]);
        let mut command = home.axi();
        command.env("ANTHROPIC_BASE_URL", server.url("")).env("ANTHROPIC_API_KEY", "k");
        let ran = run(command.args(["-p", "hi", "-m", &format!("anthropic/{model}")]));
        assert_eq!(ran.code, Some(0), "{model}: {}", ran.err);
        let body = &server.requests()[0].body;
        assert_eq!(body["thinking"]["type"], shape, "{model}");
        assert_eq!(body["thinking"]["budget_tokens"].is_u64(), shape == "enabled", "{model}: {body}");
    }
}

/// A refusal without a word looks like a hang, and repeats on every later message.
#[test]
fn bug_08_a_refusal_is_said_with_a_way_on_and_the_next_message_is_answered() {
    let home = Home::new();
    let server = Server::start([answer::anthropic(Vec::new(), "refusal"), answer::messages_text("yes")]);
    let ran = ask(&home, &server, "anthropic", "m", &[]);
    assert!(ran.err.contains("the model refused to answer"), "{ran:?}");
    assert_eq!(server.requests().len(), 1, "it is not asked again by itself");
    let ran = ask(&home, &server, "anthropic", "m", &["-c"]);
    assert_eq!((ran.code, ran.out.trim()), (Some(0), "yes"), "{}", ran.err);
}

/// `pause_turn` taken for an end, or sent back for 36 minutes.
#[test]
fn bug_09_a_paused_answer_is_sent_back_as_it_came_and_not_for_ever() {
    let paused = || {
        let text = json!({"type": "text", "text": ""});
        answer::anthropic(
            vec![
                json!({"type": "content_block_start", "index": 0, "content_block": text}),
                json!({"type": "content_block_delta", "index": 0,
                       "delta": {"type": "text_delta", "text": "I look."}}),
                json!({"type": "content_block_stop", "index": 0}),
            ],
            "pause_turn",
        )
    };
    let home = Home::new();
    let server = Server::start([paused(), answer::messages_text("done")]);
    let ran = ask(&home, &server, "anthropic", "m", &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("done"), "{}", ran.out);
    let asked = server.requests()[1].body["messages"].clone();
    let last = asked.as_array().unwrap().last().unwrap();
    assert_eq!((&last["role"], &last["content"][0]["text"]), (&json!("assistant"), &json!("I look.")), "{asked}");
    let home = Home::new();
    let server = Server::start((0..40).map(|_| paused()));
    assert_ne!(ask(&home, &server, "anthropic", "m", &[]).code, Some(0));
    assert!(server.requests().len() < 20, "{}", server.requests().len());
}

/// A call that ran though its arguments had not all come.
#[test]
fn bug_10_a_call_whose_answer_broke_off_does_not_run_however_whole_it_looks() {
    let home = Home::new();
    let chunk = |delta: Value| json!({"choices": [{"index": 0, "delta": delta}]}).to_string();
    let call = json!({"index": 0, "id": "c1", "type": "function",
                      "function": {"name": "shell", "arguments": "{\"command\":\"touch ran\"}"}});
    let cut =
        Answer::sse([chunk(json!({"content": "I do. "})), chunk(json!({"tool_calls": [call]})), String::new()])
            .cut_after(2);
    let server = Server::start([cut]);
    let ran = ask(&home, &server, "openai-chat", "m", &["-y"]);
    assert_eq!(ran.code, Some(4), "{}", ran.err);
    assert!(!home.path().join("work/ran").exists());
}

/// An answer that was cut off, counted as whole.
#[test]
fn bug_11_an_answer_without_its_end_is_an_error_that_keeps_what_came() {
    for (protocol, answer) in [
        ("openai-chat", answer::chat_text("half an answer and more").cut_after(3)),
        ("openai-responses", answer::responses_text("half an answer and more").cut_after(4)),
        ("anthropic", answer::messages_text("half an answer and more").cut_after(4)),
        ("gemini", answer::gemini_text("half an answer and more").cut_after(2)),
    ] {
        let home = Home::new();
        let server = Server::start([answer]);
        let ran = ask(&home, &server, protocol, "m", &[]);
        assert_eq!((ran.code, ran.out.trim()), (Some(4), "half an"), "{protocol}: {}", ran.err);
        assert_eq!(server.requests().len(), 1, "{protocol}: words were shown, which a second answer would repeat");
    }
}

/// The newest OpenAI models refuse tools on chat completions.
#[test]
fn bug_12_the_wire_is_the_models_whoever_passes_its_words_on() {
    for (model, path, answer) in [
        ("gpt-6-astra", "/v1/responses", answer::responses_text("hi")),
        ("gpt-4o", "/v1/chat/completions", answer::chat_text("hi")),
    ] {
        let home = Home::new();
        let server = Server::start([answer]);
        let ran = run(axi(&home, &server).args(["-p", "hi", "-m", &format!("openai/{model}")]));
        assert_eq!(ran.code, Some(0), "{model}: {}", ran.err);
        assert_eq!(server.requests()[0].path, path, "{model}");
    }
}

/// 62 % shown, and the provider says it is full.
#[test]
fn bug_13_a_refusal_for_length_is_believed_and_the_request_sent_again_shorter() {
    let home = Home::new();
    let long = || answer::chat_text(&"It reads a name and falls back. ".repeat(600));
    let full =
        refused(400, "This model's maximum context length is 16384 tokens. However, you requested 19000 tokens.");
    let server = Server::start([long(), long(), long(), full, answer::chat_text("ok"), answer::chat_text("ok")]);
    for turn in 0..4 {
        let flags: &[&str] = if turn == 0 { &[] } else { &["-c"] };
        let ran = ask(&home, &server, "openai-chat", "m", flags);
        assert_eq!(ran.code, Some(0), "{turn}: {}", ran.err);
    }
    let size = |number: usize| server.requests()[number].text.len();
    assert!(size(4) < size(3), "{} then {}", size(3), size(4));
    // It is remembered: nothing is sent again that is too long.
    assert_eq!(ask(&home, &server, "openai-chat", "m", &["-c"]).code, Some(0));
    assert!(size(5) < size(3) && server.requests().len() == 6, "{} then {}", size(3), size(5));
}

/// No room taken for no money, and another model that answers without a word about it.
#[test]
fn bug_14_no_room_is_waited_for_no_money_is_told_and_who_stands_in_is_named() {
    let home = Home::new();
    let server = Server::start([refused(429, "You exceeded your current quota, please check your plan")]);
    let ran = ask(&home, &server, "openai-chat", "m", &[]);
    assert_eq!((ran.code, server.requests().len()), (Some(4), 1), "{}", ran.err);
    let full = |wait: &str| refused(429, "Resource exhausted: no capacity").header("retry-after", wait);
    let server = Server::start([full("0"), answer::chat_text("hi")]);
    let ran = ask(&home, &server, "openai-chat", "m", &[]);
    assert_eq!((ran.code, server.requests().len()), (Some(0), 2), "{}", ran.err);
    let server = Server::start([full("9999"), answer::chat_text("from the other")]);
    let ran = ask(&home, &server, "openai-chat", "m", &["--fallback-model", "lab/other"]);
    assert_eq!((ran.code, ran.out.trim()), (Some(0), "from the other"), "{}", ran.err);
    assert!(ran.err.contains("lab/m is overloaded"), "{}", ran.err);
}

/// A proxy without the content type, a stale beta header, a strict schema: each turn paid twice, or refused.
#[test]
fn bug_15_a_stream_is_known_by_its_bytes_and_nothing_is_asked_for_that_a_route_may_lack() {
    for kind in ["", "text/plain", "application/octet-stream"] {
        let home = Home::new();
        let chunk = json!({"choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": "stop"}]});
        let server = Server::start([Answer::new(200, kind).bytes(format!("data: {chunk}\n\ndata: [DONE]\n\n"))]);
        let ran = ask(&home, &server, "openai-chat", "m", &[]);
        assert_eq!((ran.code, ran.out.trim()), (Some(0), "hi"), "{kind}: {}", ran.err);
        assert_eq!(server.requests().len(), 1, "{kind}");
    }
    let home = Home::new();
    let server = Server::start([answer::messages_text("hi")]);
    assert_eq!(ask(&home, &server, "anthropic", "m", &[]).code, Some(0));
    let asked = &server.requests()[0];
    assert_eq!(asked.header("anthropic-beta"), None);
    assert!(!asked.text.contains("\"strict\":true"), "{}", asked.text);
}
