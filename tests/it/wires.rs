//! Providers over real HTTP against the scripted server: what is sent, what is heard, what is made of failures.

use std::time::Duration;

use axi::conversation::{
    ContentBlock, Message, MessageBuilder, Outcome, Role, StopReason, StreamEvent, ToolResult, ToolSpec,
};
use axi::provider::{
    Client, KeyPlace, Protocol, Provider, ProviderError, ProviderSettings, Request, Secret, TABLE, connect,
};
use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::support::server::{Answer, Gate, Server, answer};

const PROTOCOLS: [Protocol; 6] = Protocol::ALL;

fn settings(protocol: Protocol, server: &Server) -> ProviderSettings {
    let mut settings = ProviderSettings::custom("lab", protocol, &server.url("/"), "m");
    settings.key = Some(Secret::new("hunter22"));
    settings
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn read_tool() -> ToolSpec {
    ToolSpec {
        name: "read".into(),
        description: "Reads.".into(),
        input_schema: json!({"type": "object"}),
        ..ToolSpec::default()
    }
}

/// Asks once and collects everything.
fn ask(provider: &dyn Provider, messages: &[Message]) -> (Vec<StreamEvent>, Option<ProviderError>) {
    let tools = [read_tool()];
    let request =
        Request { system: "Be brief.", tools: &tools, max_output_tokens: Some(64), ..Request::of(messages) };
    run(async {
        let mut stream = provider.stream(request);
        let mut events = Vec::new();
        while let Some(next) = stream.next().await {
            match next {
                Ok(event) => events.push(event),
                Err(error) => {
                    assert!(stream.next().await.is_none(), "nothing follows an error");
                    return (events, Some(error));
                }
            }
        }
        (events, None)
    })
}

fn fold(provider: &dyn Provider, messages: &[Message]) -> (Message, StopReason) {
    let (events, error) = ask(provider, messages);
    assert_eq!(error, None);
    assert!(matches!(events.last(), Some(StreamEvent::Done(_))), "{events:?}");
    let mut builder = MessageBuilder::new(provider.model().id());
    for event in &events {
        builder.push(event);
    }
    let finished = builder.finish();
    assert_eq!((finished.usage.input, finished.usage.output), (10, 5));
    (finished.message.unwrap(), finished.stop)
}

fn failure(protocol: Protocol, answers: Vec<Answer>) -> ProviderError {
    let server = Server::start(answers);
    let provider = connect(settings(protocol, &server), &Client::default());
    ask(&*provider, &[Message::user("hi")]).1.expect("an error")
}

fn call_answer(protocol: Protocol) -> Answer {
    match protocol {
        Protocol::OpenAiChat => answer::chat_call("call_1", "read", r#"{"path":"a"}"#),
        Protocol::OpenAiResponses => answer::responses_call("call_1", "read", r#"{"path":"a"}"#),
        Protocol::Anthropic => answer::messages_call("toolu_1", "read", r#"{"path":"a"}"#),
        Protocol::Gemini => answer::gemini_call("read", &json!({"path": "a"})),
        Protocol::Bedrock => answer::bedrock_call("tooluse_1", "read", r#"{"path":"a"}"#),
        Protocol::Ollama => answer::ollama_call("read", &json!({"path": "a"})),
    }
}

fn text_answer(protocol: Protocol, text: &str) -> Answer {
    match protocol {
        Protocol::OpenAiChat => answer::chat_text(text),
        Protocol::OpenAiResponses => answer::responses_text(text),
        Protocol::Anthropic => answer::messages_text(text),
        Protocol::Gemini => answer::gemini_text(text),
        Protocol::Bedrock => answer::bedrock_text(text),
        Protocol::Ollama => answer::ollama_text(text),
    }
}

#[test]
fn a_call_its_result_and_the_answer_on_every_wire() {
    for protocol in PROTOCOLS {
        let server = Server::start([
            call_answer(protocol).in_pieces_of(5),
            text_answer(protocol, "it says é!").in_pieces_of(1),
        ]);
        let provider = connect(settings(protocol, &server), &Client::default());
        let mut messages = vec![Message::user("read a")];
        let (called, _) = fold(&*provider, &messages);
        let call = called.calls().next().expect("a call").clone();
        assert_eq!((call.name.as_str(), &call.input), ("read", &json!({"path": "a"})), "{protocol:?}");
        let mut result = ToolResult::closed(&call, Outcome::Ok);
        result.content = "text of a".into();
        messages.push(called);
        messages.push(Message { role: Role::User, content: vec![ContentBlock::ToolResult(result)] });
        let (said, stop) = fold(&*provider, &messages);
        assert_eq!((said.text().as_str(), stop), ("it says é!", StopReason::EndTurn), "{protocol:?}");
        assert_eq!(server.violations(), Vec::<String>::new(), "{protocol:?}");
        let sent = &server.requests()[0];
        let expected = match protocol {
            Protocol::OpenAiChat => ("/v1/chat/completions", "authorization", "Bearer hunter22"),
            Protocol::OpenAiResponses => ("/v1/responses", "authorization", "Bearer hunter22"),
            Protocol::Anthropic => ("/v1/messages", "x-api-key", "hunter22"),
            Protocol::Gemini => ("/v1beta/models/m:streamGenerateContent?alt=sse", "x-goog-api-key", "hunter22"),
            Protocol::Bedrock => ("/model/m/converse-stream", "authorization", "Bearer hunter22"),
            Protocol::Ollama => ("/api/chat", "authorization", "Bearer hunter22"),
        };
        assert_eq!((sent.path.as_str(), sent.header(expected.1)), (expected.0, Some(expected.2)));
        assert_eq!(sent.header("user-agent"), Some(concat!("axi/", env!("CARGO_PKG_VERSION"))));
    }
}

#[test]
fn every_row_of_the_table_reaches_its_server() {
    for row in TABLE {
        let server = Server::start([text_answer(row.protocol, "hello")]);
        let url = server.url("/");
        let environment = |name: &str| {
            if row.base_url_variables.contains(&name) { Some(url.clone()) } else { None }
        };
        let settings = row.settings("m", Some(Secret::new("k")), &environment);
        let provider = connect(settings, &Client::default());
        assert_eq!(fold(&*provider, &[Message::user("hi")]).0, Message::assistant("hello"), "{}", row.name);
        assert_eq!(provider.model().id(), format!("{}/m", row.name));
    }
}

#[test]
fn dropping_the_stream_closes_the_connection() {
    for protocol in PROTOCOLS {
        let gate = Gate::new();
        let server = Server::start([text_answer(protocol, "one two three").gate_before(3, &gate)]);
        let provider = connect(settings(protocol, &server), &Client::default());
        let messages = [Message::user("hi")];
        run(async {
            let request = Request::of(&messages);
            let mut stream = provider.stream(request);
            while !matches!(stream.next().await, Some(Ok(StreamEvent::TextDelta(_)))) {}
            drop(stream);
            // hyper closes the socket on its own task, which runs on this thread.
            let waiting = tokio::task::spawn_blocking(move || server.wait_closed(1));
            waiting.await.unwrap();
        });
    }
}

#[test]
fn words_arrive_before_the_answer_is_whole() {
    for protocol in PROTOCOLS {
        let gate = Gate::new();
        let server = Server::start([text_answer(protocol, "one two").gate_before(3, &gate)]);
        let provider = connect(settings(protocol, &server), &Client::default());
        let messages = [Message::user("hi")];
        let events = run(async {
            let request = Request::of(&messages);
            let mut stream = provider.stream(request);
            while !matches!(stream.next().await, Some(Ok(StreamEvent::TextDelta(_)))) {}
            gate.open();
            stream.collect::<Vec<_>>().await
        });
        assert!(matches!(events.last(), Some(Ok(StreamEvent::Done(_)))), "{protocol:?}: {events:?}");
    }
}

#[test]
fn a_connection_cut_before_the_end_mark_is_broken() {
    for protocol in PROTOCOLS {
        let error = failure(protocol, vec![text_answer(protocol, "one two three").cut_after(2)]);
        assert!(matches!(error, ProviderError::Broken { .. }), "{protocol:?}: {error:?}");
    }
}

#[test]
fn an_answer_is_whole_once_the_model_has_stopped_even_if_the_end_mark_is_lost() {
    let server = Server::start([answer::chat_text("one two").cut_after(4)]);
    let provider = connect(settings(Protocol::OpenAiChat, &server), &Client::default());
    let (events, error) = ask(&*provider, &[Message::user("hi")]);
    assert_eq!((events.last(), error), (Some(&StreamEvent::Done(StopReason::EndTurn)), None));
}

#[test]
fn failures_become_facts_without_secrets() {
    let body = |message: &str| json!({"error": {"message": message, "code": null}});
    for protocol in PROTOCOLS {
        let error = failure(protocol, vec![Answer::json(401, &body("bad key hunter22"))]);
        let expected = ProviderError::Unauthorized {
            provider: "lab".into(),
            status: 401,
            message: "bad key [redacted]".into(),
            place: Some(KeyPlace::Given),
        };
        assert_eq!(error, expected);
        let limited = Answer::json(429, &body("slow down")).header("retry-after", "7");
        assert_eq!(
            failure(protocol, vec![limited]),
            ProviderError::Status {
                provider: "lab".into(),
                status: 429,
                message: "slow down".into(),
                retry_after: Some(Duration::from_secs(7)),
            }
        );
        let error = failure(protocol, vec![Answer::json(400, &body("prompt is too long: 9 > 8"))]);
        assert_eq!(error, ProviderError::ContextOverflow { message: "prompt is too long: 9 > 8".into() });
        let error = failure(protocol, vec![Answer::json(404, &body("model 'm' not found"))]);
        assert!(matches!(error, ProviderError::NoSuchModel { .. }), "{error:?}");
        let page = || Answer::new(200, "text/html").bytes("<!DOCTYPE html><p>Log in to the guest network</p>\n");
        let error = failure(protocol, vec![page()]);
        assert_eq!(
            error,
            ProviderError::Protocol {
                provider: "lab".into(),
                cause: "an HTML page came instead of an answer".into(),
            }
        );
        let moved = Answer::new(308, "text/plain").header("location", "https://other.example/v1?key=hunter22");
        let error = failure(protocol, vec![moved]).to_string();
        assert!(error.contains("https://other.example") && !error.contains("hunter22"), "{error}");
    }
}

#[test]
fn nobody_listening_is_refused_at_once() {
    let port = Server::start([]).port();
    let settings = ProviderSettings::custom("lab", Protocol::OpenAiChat, &format!("http://127.0.0.1:{port}"), "m");
    // The server's thread may still hold the port for a moment: what counts is the first refusal.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let provider = connect(ProviderSettings { base_url: url.clone(), ..settings }, &Client::default());
    let (_, error) = ask(&*provider, &[Message::user("hi")]);
    assert_eq!(error, Some(ProviderError::Unreachable { url, cause: axi::provider::cause::REFUSED.into() }));
}

#[test]
fn names_that_resolve_to_nothing_and_addresses_that_are_none_are_told_apart() {
    // A label of more than 63 letters is refused by the resolver itself: no network is asked.
    let nameless = format!("http://{}.invalid/v1", "a".repeat(64));
    for (url, cause) in
        [(nameless.as_str(), axi::provider::cause::NO_NAME), ("http://[half", axi::provider::cause::BAD_URL)]
    {
        let settings = ProviderSettings::custom("lab", Protocol::OpenAiChat, url, "m");
        let (_, error) = ask(&*connect(settings, &Client::default()), &[Message::user("hi")]);
        match error {
            Some(ProviderError::Unreachable { cause: found, .. }) => assert_eq!(found, cause),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn what_a_server_refuses_is_left_out_and_remembered() {
    let refuse = |message: &str| Answer::json(400, &json!({"error": {"message": message}}));
    let server = Server::start([
        refuse("Unrecognized request argument supplied: stream_options"),
        refuse(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        ),
        answer::chat_text("one"),
        answer::chat_text("two"),
    ]);
    let provider = connect(settings(Protocol::OpenAiChat, &server), &Client::default());
    fold(&*provider, &[Message::user("hi")]);
    fold(&*provider, &[Message::user("hi")]);
    let fields = |body: &Value| {
        ["stream_options", "max_tokens", "max_completion_tokens"].map(|field| !body[field].is_null())
    };
    let sent: Vec<[bool; 3]> = server.requests().iter().map(|request| fields(&request.body)).collect();
    assert_eq!(sent, vec![[true, true, false], [false, true, false], [false, false, true], [false, false, true]]);
}

#[test]
fn a_refusal_that_repeats_is_told_not_repeated_for_ever() {
    let refuse = || Answer::json(400, &json!({"error": {"message": "stream_options is not allowed"}}));
    let error = failure(Protocol::OpenAiChat, vec![refuse(), refuse(), refuse()]);
    assert!(matches!(error, ProviderError::Status { status: 400, .. }), "{error:?}");
}

#[test]
fn a_signature_the_server_refuses_is_stripped_once() {
    let message = "messages.1.content.0: Invalid `signature` in `thinking` block";
    let refuse = Answer::json(
        400,
        &json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}}),
    );
    let server = Server::start([refuse, answer::messages_text("fine")]);
    let provider = connect(settings(Protocol::Anthropic, &server), &Client::default());
    let thought = axi::conversation::Reasoning {
        text: "hm".into(),
        signature: Some("s".into()),
        redacted: None,
        model: "lab/m".into(),
    };
    let content = vec![ContentBlock::Reasoning(thought), ContentBlock::Text { text: "yes".into() }];
    let messages = [Message::user("a"), Message { role: Role::Assistant, content }, Message::user("b")];
    fold(&*provider, &messages);
    let thoughts: Vec<bool> =
        server.requests().iter().map(|request| request.text.contains("\"thinking\"")).collect();
    assert_eq!(thoughts, vec![true, false]);
}

#[test]
fn a_server_that_does_not_stream_is_understood() {
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 5});
    let chat = json!({"choices": [{"index": 0, "finish_reason": "stop",
                      "message": {"role": "assistant", "content": "hello"}}], "usage": usage});
    let usage = json!({"input_tokens": 10, "output_tokens": 5});
    let content = json!([{"type": "output_text", "text": "hello"}]);
    let responses = json!({"object": "response", "status": "completed", "usage": usage,
                           "output": [{"type": "message", "content": content}]});
    let messages = json!({"type": "message", "role": "assistant", "stop_reason": "end_turn", "usage": usage,
                          "content": [{"type": "text", "text": "hello"}]});
    let ollama = json!({"message": {"role": "assistant", "content": "hello"}, "done": true, "done_reason": "stop",
                        "prompt_eval_count": 10, "eval_count": 5});
    let gemini = json!([{"candidates": [{"content": {"parts": [{"text": "hello"}]}, "finishReason": "STOP"}],
                         "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5}}]);
    let converse = json!({"output": {"message": {"role": "assistant", "content": [{"text": "hello"}]}},
                          "stopReason": "end_turn", "usage": {"inputTokens": 10, "outputTokens": 5}});
    for protocol in PROTOCOLS {
        let body = match protocol {
            Protocol::OpenAiChat => &chat,
            Protocol::OpenAiResponses => &responses,
            Protocol::Anthropic => &messages,
            Protocol::Gemini => &gemini,
            Protocol::Bedrock => &converse,
            Protocol::Ollama => &ollama,
        };
        let server = Server::start([Answer::json(200, body)]);
        let provider = connect(settings(protocol, &server), &Client::default());
        assert_eq!(fold(&*provider, &[Message::user("hi")]).0, Message::assistant("hello"), "{protocol:?}");
    }
}

#[test]
fn silence_is_told_before_and_within_an_answer() {
    for protocol in PROTOCOLS {
        for place in [0, 3] {
            let patience = axi::provider::Patience { told: Duration::from_millis(20), ..Default::default() };
            let gate = Gate::new();
            let server = Server::start([text_answer(protocol, "one two").gate_before(place, &gate)]);
            let provider = connect(settings(protocol, &server), &Client::new(patience));
            let messages = [Message::user("hi")];
            let events = run(async {
                let request = Request::of(&messages);
                let mut stream = provider.stream(request);
                let mut events = Vec::new();
                while let Some(event) = stream.next().await {
                    if matches!(event, Ok(StreamEvent::Silent { .. })) {
                        gate.open();
                    } else {
                        events.push(event.unwrap());
                    }
                }
                events
            });
            let text: String = events
                .iter()
                .filter_map(|event| match event {
                    StreamEvent::TextDelta(text) => Some(text.as_str()),
                    _ => None,
                })
                .collect();
            assert_eq!((text.as_str(), events.last()), ("one two", Some(&StreamEvent::Done(StopReason::EndTurn))));
        }
    }
}

#[test]
fn silence_is_given_up_after_the_patience() {
    let patience = axi::provider::Patience { idle_local: Duration::from_secs(2), ..Default::default() };
    let gate = Gate::new();
    let server = Server::start([answer::chat_text("one two").gate_before(2, &gate)]);
    let provider = connect(settings(Protocol::OpenAiChat, &server), &Client::new(patience));
    let (events, error) = ask(&*provider, &[Message::user("hi")]);
    assert_eq!(events, vec![StreamEvent::TextDelta("one ".into())]);
    assert!(matches!(error, Some(ProviderError::Timeout { .. })), "{error:?}");
    gate.open();
}
