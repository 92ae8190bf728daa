//! What a wire costs: writing a request of 200 messages, reading a megabyte of an answer, and the way of a first word from
//! the socket to the agent.
//!
//! ```text
//! cargo bench --bench wires
//! ```
//! All is in this process, on loopback. CPU time is the thread's own, so that other work on the machine counts little; the
//! load is printed with it.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a figure that cannot be taken ends the run, and printing figures is what this program is for"
)]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use axi::conversation::{
    ContentBlock, Message, Outcome, Role, StreamEvent, ToolCall, ToolResult, ToolSpec, WireItem,
};
use axi::provider::{Client, Origin, Protocol, ProviderSettings, Request, connect, decoder, written};
use futures_util::StreamExt as _;
use serde_json::{Map, Value, json};

const MEGABYTE: usize = 1024 * 1024;

fn cpu() -> Duration {
    Duration::try_from(rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// The middle one of some runs.
fn median(runs: usize, mut run: impl FnMut() -> Duration) -> Duration {
    let mut all: Vec<Duration> = (0..runs).map(|_| run()).collect();
    all.sort_unstable();
    all[runs / 2]
}

/// Two hundred messages: a question, a call, its result and an answer, fifty times.
fn conversation() -> Vec<Message> {
    let mut messages = Vec::new();
    for number in 0..50 {
        let call = ToolCall {
            id: format!("call_{number}"),
            name: "read".into(),
            input: json!({"path": format!("src/room/file_{number}.rs"), "limit": 200}),
            invalid_input: None,
            extra: Map::new(),
            model: "lab/m".into(),
            arguments: String::new(),
        };
        let mut result = ToolResult::closed(&call, Outcome::Ok);
        result.content = "    let value = other.get(\"name\").unwrap_or_default();\n".repeat(40);
        messages.push(Message::user(format!("What does file {number} do, and who calls it?")));
        messages.push(Message { role: Role::Assistant, content: vec![ContentBlock::ToolCall(call)] });
        messages.push(Message { role: Role::User, content: vec![ContentBlock::ToolResult(result)] });
        messages.push(Message::assistant("It reads a name and falls back to nothing. ".repeat(10)));
    }
    messages
}

fn tools() -> Vec<ToolSpec> {
    let schema =
        json!({"type": "object", "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}}});
    let tool = |number: usize| ToolSpec {
        name: format!("tool_{number}"),
        description: "Does one thing and says what came of it.".into(),
        input_schema: schema.clone(),
        ..ToolSpec::default()
    };
    (0..17).map(tool).collect()
}

/// One event of an answer with `words` in it; what must come before them, and what ends it.
fn event(protocol: Protocol, words: &str) -> Vec<u8> {
    let sse = |value: &Value| format!("data: {value}\n\n").into_bytes();
    match protocol {
        Protocol::OpenAiChat => sse(&json!({"id": "c", "object": "chat.completion.chunk", "model": "m",
            "choices": [{"index": 0, "delta": {"content": words}, "finish_reason": null}]})),
        Protocol::OpenAiResponses => sse(&json!({"type": "response.output_text.delta", "item_id": "msg_1",
            "output_index": 0, "content_index": 0, "delta": words, "sequence_number": 7})),
        Protocol::Anthropic => sse(&json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": words}})),
        Protocol::Gemini => {
            sse(&json!({"candidates": [{"content": {"role": "model", "parts": [{"text": words}]}}],
            "modelVersion": "m"}))
        }
        Protocol::Bedrock => frame("contentBlockDelta", &json!({"contentBlockIndex": 0, "delta": {"text": words}})),
        Protocol::Ollama => {
            let line = json!({"model": "m", "message": {"role": "assistant", "content": words}, "done": false});
            format!("{line}\n").into_bytes()
        }
    }
}

fn frame(name: &str, payload: &Value) -> Vec<u8> {
    let mut headers = Vec::new();
    // Proof of each `expect` here: names, values and payloads of this file are a few KB at most.
    for (name, value) in [(":event-type", name), (":message-type", "event")] {
        headers.push(u8::try_from(name.len()).expect("short"));
        headers.extend(name.bytes());
        headers.push(7);
        headers.extend(u16::try_from(value.len()).expect("short").to_be_bytes());
        headers.extend(value.bytes());
    }
    let payload = payload.to_string();
    let length = u32::try_from(16 + headers.len() + payload.len()).expect("short");
    let mut bytes = [length.to_be_bytes(), u32::try_from(headers.len()).expect("short").to_be_bytes()].concat();
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    bytes.extend(headers);
    bytes.extend(payload.bytes());
    bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
    bytes
}

/// The same behind answers that the provider keeps.
fn kept(messages: &[Message]) -> Vec<Message> {
    let mark = |number: usize| {
        let item = json!({"type": "stored_response", "id": format!("resp_{number}"), "digest": "0"});
        ContentBlock::WireItem(WireItem { model: "lab/m".into(), item })
    };
    let mut kept = messages.to_vec();
    for (number, message) in kept.iter_mut().enumerate().filter(|(_, message)| message.role == Role::Assistant) {
        message.content.push(mark(number));
    }
    kept
}

fn writing(protocol: Protocol, messages: &[Message], tools: &[ToolSpec], stored: bool) -> (Duration, usize) {
    let mut settings = ProviderSettings::custom("lab", protocol, "http://127.0.0.1:9", "m");
    settings.stored = stored;
    let request = Request { system: "You are brief.", tools, ..Request::of(messages) };
    let mut size = 0;
    let took = median(51, || {
        let begun = cpu();
        size = written(&settings, &request).len();
        cpu().saturating_sub(begun)
    });
    (took, size)
}

/// Reading a megabyte, in pieces as a network brings them.
fn reading(protocol: Protocol) -> Duration {
    let mut body = Vec::new();
    while body.len() < MEGABYTE {
        body.extend(event(protocol, "some words "));
    }
    let origin = || Origin { provider: "lab".into(), model: "m".into(), url: "http://lab".into(), secret: None };
    median(11, || {
        let mut decoder = decoder(protocol, origin());
        let mut events = Vec::new();
        let begun = cpu();
        for piece in body.chunks(1400) {
            decoder.push(piece, &mut events).expect("it is well formed");
        }
        let took = cpu().saturating_sub(begun);
        assert!(events.len() > MEGABYTE / 400, "{protocol:?}: {} events", events.len());
        took
    })
}

/// From a word's being written to the socket to its event: one request after the other.
fn first_word(protocol: Protocol) -> Duration {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback is there");
    let address = listener.local_addr().expect("it is bound");
    let (sender, written_at) = mpsc::channel();
    let server = std::thread::spawn(move || {
        while let Ok((socket, _)) = listener.accept() {
            if !answer(socket, protocol, &sender) {
                break;
            }
        }
    });
    let settings = ProviderSettings::custom("lab", protocol, &format!("http://{address}"), "m");
    let provider = connect(settings, &Client::default());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let messages = [Message::user("hi")];
    let took = median(101, || {
        runtime.block_on(async {
            let mut stream = provider.stream(Request::of(&messages));
            loop {
                let event = stream.next().await.expect("words come").expect("without an error");
                if matches!(event, StreamEvent::TextDelta(_)) {
                    break;
                }
            }
        });
        let heard = Instant::now();
        heard.saturating_duration_since(written_at.recv().expect("the server said when"))
    });
    // The last connection closes with what drives it; whoever asks for nothing ends the server.
    drop((provider, runtime));
    drop(TcpStream::connect(address));
    server.join().expect("the server ends");
    took
}

fn answer(mut socket: TcpStream, protocol: Protocol, sender: &mpsc::Sender<Instant>) -> bool {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    while !request.ends_with(b"}") {
        match socket.read(&mut piece) {
            Ok(count @ 1..) => request.extend_from_slice(&piece[..count]),
            Ok(0) | Err(_) => return false,
        }
    }
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    socket.write_all(head.as_bytes()).expect("the head goes out");
    // The head is read before the word comes, as with a model that thinks.
    std::thread::sleep(Duration::from_millis(3));
    let word = event(protocol, "word");
    let now = Instant::now();
    socket.write_all(&word).expect("the word goes out");
    let told = sender.send(now).is_ok();
    // Until the other side closes.
    while socket.read(&mut piece).is_ok_and(|count| count > 0) {}
    told
}

fn milliseconds(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e6
}

fn main() {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("load {}", load.trim());
    println!(
        "{:18} {:>12} {:>10} {:>14} {:>16}",
        "wire", "request, ms", "of bytes", "CPU s per MB", "first word, ms"
    );
    let (messages, tools) = (conversation(), tools());
    for protocol in Protocol::ALL {
        let (write, size) = writing(protocol, &messages, &tools, false);
        println!(
            "{:18} {:>12.3} {size:>10} {:>14.4} {:>16.3}",
            protocol.name(),
            milliseconds(write),
            reading(protocol).as_secs_f64(),
            milliseconds(first_word(protocol)),
        );
    }
    let (write, size) = writing(Protocol::OpenAiResponses, &kept(&messages), &tools, true);
    println!("{:18} {:>12.3} {size:>10}", "… answers kept", milliseconds(write));
    println!("held to: 2 ms, 0.05 s, 0.5 ms");
}
