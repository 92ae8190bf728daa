//! A server that speaks openai-chat by itself, with every quirk that the wire doctor looks for switchable.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// Where a server departs from what is usual.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quirk {
    /// It lists no models.
    NoList,
    /// It answers in one piece, as if it had not been asked to stream.
    NoStream,
    /// It refuses `stream_options`, and counts nothing.
    NoUsage,
    /// It never says why it stopped.
    NoFinish,
    /// It passes no system prompt on.
    DeafToSystem,
    /// It writes on, whatever the limit.
    NoLimit,
    /// It refuses `max_tokens` and wants the newer field.
    OtherLimit,
    /// It refuses a temperature.
    NoTemperature,
    /// It refuses an effort.
    NoEffort,
    /// It has no room for who asks for an effort.
    BusyForEffort,
    /// It takes tools and passes none on.
    DropsTools,
    /// Its model does what comes to its mind, whatever it is told and offered.
    WeakModel,
    /// Its model has little to say.
    Terse,
    /// It refuses tools.
    NoTools,
    /// Its arguments end in their middle.
    HalfArguments,
    /// It ends a message with calls as any other.
    PlainFinish,
    /// All its calls have one id.
    SameIds,
    /// It refuses reasoning that comes back.
    NoEcho,
    /// It refuses a person's words behind a result.
    StrictRoles,
    /// It refuses ids of other forms than its own.
    OwnIds,
    /// All its calls have one place.
    SamePlaces,
    /// Its calls have no places.
    NoPlaces,
    /// It refuses pictures.
    NoPictures,
    /// It refuses pictures behind a result.
    NoResultPictures,
    /// It takes whatever is longer than its window, and reads less of it.
    TakesTooMuch,
    /// It has no cache, or does not say so.
    NoCache,
    /// It thinks, and shows it.
    Thinks,
}

/// So many bytes it takes, if it refuses any.
const WINDOW: usize = 12_000;

/// A server; ends with the process.
pub(crate) struct Emulator {
    port: u16,
    bodies: Arc<Mutex<Vec<Value>>>,
}

impl Emulator {
    pub(crate) fn start(quirks: &[Quirk]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let quirks: Arc<[Quirk]> = quirks.into();
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&bodies);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let quirks = Arc::clone(&quirks);
                let heard = Arc::clone(&heard);
                std::thread::spawn(move || serve(stream.unwrap(), &quirks, &heard));
            }
        });
        Self { port, bodies }
    }

    /// What it was asked, in order.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        self.bodies.lock().unwrap().clone()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }
}

fn serve(stream: TcpStream, quirks: &[Quirk], heard: &Mutex<Vec<Value>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut first, mut length) = (String::new(), 0);
    if reader.read_line(&mut first).unwrap_or(0) == 0 {
        return;
    }
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    heard.lock().unwrap().push(body.clone());
    let (status, kind, text) = answer(&first, &body, quirks);
    let above = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        text.len()
    );
    let mut stream = stream;
    drop(stream.write_all(above.as_bytes()).and_then(|()| stream.write_all(text.as_bytes())));
}

fn refusal(message: &str) -> (u16, &'static str, String) {
    (400, "application/json", json!({"error": {"message": message, "type": "invalid_request_error"}}).to_string())
}

fn answer(first: &str, body: &Value, quirks: &[Quirk]) -> (u16, &'static str, String) {
    let has = |quirk| quirks.contains(&quirk);
    if first.starts_with("GET") {
        if has(Quirk::NoList) {
            return (404, "application/json", "{}".into());
        }
        return (200, "application/json", json!({"data": [{"id": "emu"}]}).to_string());
    }
    let messages = body["messages"].as_array().unwrap();
    let echoes = messages.iter().any(|message| message.get("reasoning_content").is_some());
    let behind = messages.windows(2).any(|pair| pair[0]["role"] == "tool" && pair[1]["role"] == "user");
    let odd_id = messages
        .iter()
        .any(|message| message["tool_calls"][0]["id"].as_str().is_some_and(|id| !id.starts_with("call_")));
    let shows = body.to_string().contains("image_url");
    if !has(Quirk::TakesTooMuch) && body.to_string().len() > WINDOW {
        return refusal("This model's maximum context length is 2000 tokens");
    }
    if has(Quirk::BusyForEffort) && body.get("reasoning_effort").is_some() {
        return (503, "application/json", json!({"error": {"message": "no room"}}).to_string());
    }
    for (quirk, refused, words) in [
        (Quirk::NoUsage, body.get("stream_options").is_some(), "unknown field stream_options"),
        (
            Quirk::OtherLimit,
            body.get("max_tokens").is_some(),
            "'max_tokens' is not supported, use 'max_completion_tokens'",
        ),
        (Quirk::NoTemperature, body.get("temperature").is_some(), "temperature is not supported"),
        (Quirk::NoEffort, body.get("reasoning_effort").is_some(), "unknown field reasoning_effort"),
        (Quirk::NoTools, body.get("tools").is_some(), "this model has no tools"),
        (Quirk::NoEcho, echoes, "reasoning_content is not permitted"),
        (Quirk::StrictRoles, behind, "Unexpected role 'user' after role 'tool'"),
        (Quirk::OwnIds, odd_id, "this id of a call is not known"),
        (Quirk::NoPictures, shows, "this model takes no image_url"),
        (Quirk::NoResultPictures, shows && behind, "image_url may not stand behind a result"),
    ] {
        if has(quirk) && refused {
            return refusal(words);
        }
    }
    let (content, calls, mut end) = said(body, messages, quirks);
    if !calls.is_empty() && has(Quirk::PlainFinish) {
        end = "stop";
    }
    (
        200,
        if has(Quirk::NoStream) { "application/json" } else { "text/event-stream" },
        written(&content, &calls, end, read(body, quirks), quirks),
    )
}

/// How many tokens reach the model.
fn read(body: &Value, quirks: &[Quirk]) -> u64 {
    let has_system = body["messages"][0]["role"] == "system" && !quirks.contains(&Quirk::DeafToSystem);
    let has_tools = body.get("tools").is_some() && !quirks.contains(&Quirk::DropsTools);
    // The model's template has a longer system prompt of its own, for those who say none.
    20 + if has_system { 10 } else { 12 } + 40 * u64::from(has_tools)
}

/// What it says: words, calls with their arguments, and why it stops.
fn said(
    body: &Value,
    messages: &[Value],
    quirks: &[Quirk],
) -> (String, Vec<(String, &'static str, String)>, &'static str) {
    let has = |quirk| quirks.contains(&quirk);
    let last = messages.last().unwrap();
    let asked = last["content"].as_str().unwrap_or_default();
    let system = messages[0]["content"].as_str().filter(|_| messages[0]["role"] == "system").unwrap_or_default();
    let call = |number: usize, name, arguments: &str| {
        let id = if has(Quirk::SameIds) { "call_1".to_owned() } else { format!("call_{number}") };
        let arguments = if has(Quirk::HalfArguments) { arguments.trim_end_matches('}') } else { arguments };
        (id, name, arguments.to_owned())
    };
    let passes_tools = !has(Quirk::DropsTools) && !has(Quirk::WeakModel);
    let tools = passes_tools && body.get("tools").is_some() && last["role"] == "user" && messages.len() < 3;
    if tools && asked.contains("Rome") {
        let calls = vec![call(1, "weather", r#"{"city":"Oslo"}"#), call(2, "weather", r#"{"city":"Rome"}"#)];
        return (String::new(), calls, "tool_calls");
    }
    if tools && asked.contains("Oslo") {
        return (String::new(), vec![call(1, "weather", r#"{"city":"Oslo"}"#)], "tool_calls");
    }
    if tools && asked.contains("time") {
        return (String::new(), vec![call(1, "now", "{}")], "tool_calls");
    }
    let limit = body.get("max_tokens").or_else(|| body.get("max_completion_tokens")).and_then(Value::as_u64);
    if limit.is_some_and(|limit| limit < 20) && !has(Quirk::Terse) {
        return if has(Quirk::NoLimit) {
            ("Rivers run down to the sea. ".repeat(9), Vec::new(), "stop")
        } else {
            ("Rivers run down to".into(), Vec::new(), "length")
        };
    }
    if system.contains("PLOVER") && !has(Quirk::DeafToSystem) && !has(Quirk::WeakModel) {
        return ("PLOVER".into(), Vec::new(), "stop");
    }
    ("one two three".into(), Vec::new(), "stop")
}

fn written(content: &str, calls: &[(String, &str, String)], end: &str, read: u64, quirks: &[Quirk]) -> String {
    let has = |quirk| quirks.contains(&quirk);
    let written = content.split_whitespace().count().max(4);
    let usage = json!({"prompt_tokens": read, "completion_tokens": written,
        "prompt_tokens_details": {"cached_tokens": if has(Quirk::NoCache) { 0 } else { 8 }}});
    let end = if has(Quirk::NoFinish) { Value::Null } else { json!(end) };
    let calls: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(index, (id, name, arguments))| {
            let index = if has(Quirk::SamePlaces) { 0 } else { index };
            let mut call =
                json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
            if !has(Quirk::NoPlaces) {
                call["index"] = json!(index);
            }
            call
        })
        .collect();
    if has(Quirk::NoStream) {
        let mut message = json!({"role": "assistant", "content": content});
        if !calls.is_empty() {
            message["tool_calls"] = Value::Array(calls);
        }
        return json!({"choices": [{"index": 0, "message": message, "finish_reason": end}], "usage": usage})
            .to_string();
    }
    let chunk = |delta: Value, end: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": end}]});
    let mut chunks: Vec<Value> =
        content.split_inclusive(' ').map(|word| chunk(json!({"content": word}), Value::Null)).collect();
    if has(Quirk::Thinks) {
        chunks.insert(0, chunk(json!({"reasoning_content": "hm"}), Value::Null));
    }
    if !calls.is_empty() {
        chunks.push(chunk(json!({"tool_calls": calls}), Value::Null));
    }
    chunks.push(chunk(json!({}), end));
    if !has(Quirk::NoUsage) {
        chunks.push(json!({"choices": [], "usage": usage}));
    }
    let mut events: Vec<String> = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    events.push("data: [DONE]\n\n".to_owned());
    events.concat()
}
