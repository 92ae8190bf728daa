//! The scripted server itself: what others rely on.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::support::server::{Answer, Gate, Server, answer};

fn post(server: &Server, path: &str, body: &Value) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    let body = body.to_string();
    write!(stream, "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
    stream
}

fn read_all(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn answers_come_in_order_and_requests_are_recorded() {
    let server =
        Server::start([answer::chat_text("one"), Answer::json(429, &json!({})).header("retry-after", "7")]);
    assert!(read_all(post(&server, "/v1/chat/completions", &json!({"a": 1}))).contains("one"));
    let second = read_all(post(&server, "/v1/chat/completions", &json!({"a": 2})));
    assert!(second.starts_with("HTTP/1.1 429") && second.contains("retry-after: 7"), "{second}");
    let bodies: Vec<Value> = server.requests().into_iter().map(|request| request.body).collect();
    assert_eq!(bodies, vec![json!({"a": 1}), json!({"a": 2})]);
}

#[test]
fn unanswered_calls_are_refused_on_every_wire() {
    let server = Server::start([]);
    let function = json!({"name": "read", "arguments": "{}"});
    let chat = json!({"messages": [{"role": "assistant", "tool_calls": [{"id": "a", "function": function}]}]});
    let anthropic = json!({"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]}]});
    let function = json!({"name": "read", "arguments": {}});
    let ollama = json!({"messages": [{"role": "assistant", "tool_calls": [{"function": function}]}]});
    for (path, body) in [("/v1/chat/completions", chat), ("/v1/messages", anthropic), ("/api/chat", ollama)] {
        assert!(read_all(post(&server, path, &body)).starts_with("HTTP/1.1 400"), "{path}");
    }
    assert_eq!(server.violations().len(), 3);
}

#[test]
fn a_gate_holds_the_answer_and_a_client_that_hangs_up_is_noticed() {
    let gate = Gate::new();
    let server = Server::start([answer::ollama_text("one two").gate_before(1, &gate)]);
    let mut stream = post(&server, "/api/chat", &json!({}));
    gate.wait_reached();
    let mut buffer = [0; 512];
    let got = stream.read(&mut buffer).unwrap();
    assert!(got > 0);
    drop(stream);
    server.wait_closed(1);
}

#[test]
fn a_cut_answer_lacks_its_end() {
    let server = Server::start([answer::messages_text("one two").cut_after(2)]);
    let text = read_all(post(&server, "/v1/messages", &json!({})));
    assert!(text.contains("message_start") && !text.contains("0\r\n\r\n"), "{text}");
}
