//! A scripted HTTP server on a loopback port, standing in for any provider.
//!
//! It knows nothing of axi. Each request gets the next [`Answer`] of the script (or the fixed answer of its
//! route), is recorded, and is first checked for the one rule all three wires share: every tool call is answered
//! exactly once in what follows it. A request that breaks the rule is answered HTTP 400, as the real ones do.
//!
//! ```text
//! let server = Server::start([answer::chat_call("call_1", "read", r#"{"path":"a"}"#), answer::chat_text("hi")]);
//! let base_url = server.url("/v1");        // http://127.0.0.1:PORT/v1
//! …
//! let sent = server.requests();            // what was asked, in order
//! assert_eq!(server.violations(), Vec::<String>::new());
//! ```
//! Timing is by [`Gate`], never by sleeping: an answer waits at a gate until the test opens it, and
//! [`Server::wait_closed`] waits until the client has hung up.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

pub(crate) use super::answer;
use super::invariant;

/// How long a test waits before it is called hung. Never part of a passing run.
const HUNG: Duration = Duration::from_secs(20);

/// What the server says to one request.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    steps: Vec<Step>,
    cut: bool,
}

#[derive(Debug, Clone)]
enum Step {
    Bytes(Vec<u8>),
    Wait(Gate),
}

/// A point where an answer waits until the test opens it. Clones are the same gate.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gate(Arc<(Mutex<GateState>, Condvar)>);

#[derive(Debug, Default)]
struct GateState {
    open: bool,
    reached: bool,
}

impl Gate {
    /// Makes a closed gate.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Lets the answer go on, now or when it gets here.
    pub(crate) fn open(&self) {
        self.0.0.lock().unwrap().open = true;
        self.0.1.notify_all();
    }

    /// Blocks until the server has sent everything before this gate.
    pub(crate) fn wait_reached(&self) {
        let limit = Instant::now() + HUNG;
        let mut state = self.0.0.lock().unwrap();
        while !state.reached {
            assert!(Instant::now() < limit, "the answer never came to its gate");
            state = self.0.1.wait_timeout(state, Duration::from_millis(50)).unwrap().0;
        }
    }

    /// Waits for `open`; false when the client hung up or the server ends first.
    fn pass(&self, gone: impl Fn() -> bool) -> bool {
        let mut state = self.0.0.lock().unwrap();
        state.reached = true;
        self.0.1.notify_all();
        while !state.open {
            if gone() {
                return false;
            }
            state = self.0.1.wait_timeout(state, Duration::from_millis(5)).unwrap().0;
        }
        true
    }
}

impl Answer {
    /// Makes an answer with this status and no body yet.
    pub(crate) fn new(status: u16, content_type: &str) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self { status, headers, steps: Vec::new(), cut: false }
    }

    /// A whole JSON body.
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json").bytes(body.to_string())
    }

    /// An event stream: each payload becomes one `data: …` event in a chunk of its own.
    pub(crate) fn sse<T: AsRef<str>>(payloads: impl IntoIterator<Item = T>) -> Self {
        let mut made = Self::new(200, "text/event-stream");
        for payload in payloads {
            made = made.bytes(format!("data: {}\n\n", payload.as_ref()));
        }
        made
    }

    /// An event stream whose events carry their `type` as the event's name, as Anthropic's do.
    pub(crate) fn named_sse(events: impl IntoIterator<Item = Value>) -> Self {
        let mut made = Self::new(200, "text/event-stream");
        for event in events {
            made = made.bytes(format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("message")));
        }
        made
    }

    /// One JSON object a line, each in a chunk of its own.
    pub(crate) fn ndjson(lines: impl IntoIterator<Item = Value>) -> Self {
        let mut made = Self::new(200, "application/x-ndjson");
        for line in lines {
            made = made.bytes(format!("{line}\n"));
        }
        made
    }

    /// Adds a header.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds bytes, sent at once as one transfer chunk.
    pub(crate) fn bytes(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.steps.push(Step::Bytes(bytes.into()));
        self
    }

    /// Waits here until the gate is opened.
    pub(crate) fn gate(mut self, gate: &Gate) -> Self {
        self.steps.push(Step::Wait(gate.clone()));
        self
    }

    /// Inserts a gate before the chunk with this number (0 is the first).
    pub(crate) fn gate_before(mut self, chunk: usize, gate: &Gate) -> Self {
        self.steps.insert(chunk, Step::Wait(gate.clone()));
        self
    }

    /// Keeps only the first chunks, then breaks the connection without the end of the body.
    pub(crate) fn cut_after(mut self, chunks: usize) -> Self {
        self.steps.truncate(chunks);
        self.cut = true;
        self
    }

    /// Sends the same body in pieces of `size` bytes.
    pub(crate) fn in_pieces_of(mut self, size: usize) -> Self {
        let whole: Vec<u8> = self
            .steps
            .iter()
            .flat_map(|step| match step {
                Step::Bytes(bytes) => bytes.clone(),
                Step::Wait(_) => Vec::new(),
            })
            .collect();
        self.steps = whole.chunks(size).map(|piece| Step::Bytes(piece.to_vec())).collect();
        self
    }
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    /// `GET` or `POST`.
    pub(crate) method: String,
    /// Path and query.
    pub(crate) path: String,
    /// Header names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// The body as text.
    pub(crate) text: String,
    /// The body as JSON; `Null` when it is none.
    pub(crate) body: Value,
}

impl Recorded {
    /// Returns a header's value, by its lower-case name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Says what a request gets, or leaves it to the rest.
type Decide = Box<dyn FnMut(&Recorded) -> Option<Answer> + Send>;

#[derive(Default)]
struct State {
    decide: Option<Decide>,
    script: VecDeque<Answer>,
    routes: Vec<(String, Answer)>,
    ignored: Vec<String>,
    requests: Vec<Recorded>,
    violations: Vec<String>,
    hung_up: usize,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    ended: AtomicBool,
}

/// The server. Ends when dropped.
pub(crate) struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Server {
    /// Starts a server that gives these answers, one a request, in order. Past the end it answers 500.
    pub(crate) fn start(script: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = State { script: script.into_iter().collect(), ..State::default() };
        let shared =
            Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new(), ended: AtomicBool::new(false) });
        let handed = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if handed.ended.load(Ordering::SeqCst) {
                    return;
                }
                let handed = Arc::clone(&handed);
                thread::spawn(move || serve(&stream, &handed));
            }
        });
        Self { address, shared }
    }

    /// Returns `http://127.0.0.1:PORT` followed by `path`.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the port.
    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Adds one more answer to the end of the script.
    pub(crate) fn push(&self, answer: Answer) {
        self.shared.state.lock().unwrap().script.push_back(answer);
    }

    /// Always answers requests like `GET /api/tags` (query ignored) so, beside the script.
    pub(crate) fn route(&self, method_and_path: &str, answer: Answer) {
        self.shared.state.lock().unwrap().routes.push((method_and_path.to_owned(), answer));
    }

    /// Asks this first for the answer to each request, beside the script.
    pub(crate) fn decide(&self, decide: impl FnMut(&Recorded) -> Option<Answer> + Send + 'static) {
        self.shared.state.lock().unwrap().decide = Some(Box::new(decide));
    }

    /// Answers requests like `GET /v1/models` 404, beside the script and without recording them, unless they are routed.
    pub(crate) fn ignore(&self, method_and_path: &str) {
        self.shared.state.lock().unwrap().ignored.push(method_and_path.to_owned());
    }

    /// Returns all requests so far, in order.
    pub(crate) fn requests(&self) -> Vec<Recorded> {
        self.shared.state.lock().unwrap().requests.clone()
    }

    /// Returns what requests broke the call/result rule, in words; empty when none did.
    pub(crate) fn violations(&self) -> Vec<String> {
        self.shared.state.lock().unwrap().violations.clone()
    }

    /// Blocks until this many requests have arrived.
    pub(crate) fn wait_requests(&self, count: usize) {
        self.wait("requests", |state| state.requests.len() >= count);
    }

    /// Blocks until this many clients have hung up before their answer was complete: how a cancel looks from here.
    pub(crate) fn wait_closed(&self, count: usize) {
        self.wait("closed connections", |state| state.hung_up >= count);
    }

    fn wait(&self, what: &str, ready: impl Fn(&State) -> bool) {
        let limit = Instant::now() + HUNG;
        let mut state = self.shared.state.lock().unwrap();
        while !ready(&state) {
            assert!(Instant::now() < limit, "waited in vain for {what}");
            state = self.shared.changed.wait_timeout(state, Duration::from_millis(50)).unwrap().0;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts.
        drop(TcpStream::connect(self.address));
    }
}

/// One connection carries one request: `connection: close` keeps the bookkeeping simple.
fn serve(stream: &TcpStream, shared: &Arc<Shared>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let Some(request) = read_request(&mut reader) else { return };
    let line = format!("{} {}", request.method, request.path.split('?').next().unwrap_or_default());
    let answer = {
        let mut state = shared.state.lock().unwrap();
        // A local server is asked for its window first, as llama.cpp's would be.
        let is_for_window = line.starts_with("GET ") && line.ends_with("/props");
        if (is_for_window || state.ignored.contains(&line)) && !state.routes.iter().any(|(route, _)| *route == line)
        {
            drop(state);
            let body = serde_json::json!({"error": {"message": "no list here"}});
            drop(write_answer(stream, &Answer::json(404, &body), || false));
            drop(stream.shutdown(Shutdown::Both));
            return;
        }
        let broken = invariant::check(&request.path, &request.body);
        let decided = state.decide.as_mut().and_then(|decide| decide(&request));
        state.requests.push(request);
        let fixed = state.routes.iter().find(|(route, _)| *route == line).map(|(_, answer)| answer.clone());
        if let Err(cause) = broken {
            state.violations.push(cause.clone());
            Answer::json(400, &serde_json::json!({"error": {"message": cause, "type": "invalid_request_error"}}))
        } else if let Some(answer) = decided.or(fixed) {
            answer
        } else {
            state.script.pop_front().unwrap_or_else(|| {
                Answer::json(500, &serde_json::json!({"error": {"message": "the script has no more answers"}}))
            })
        }
    };
    shared.changed.notify_all();
    let finished = Arc::new(AtomicBool::new(false));
    let gone = Arc::new(AtomicBool::new(false));
    let watcher = {
        let (shared, finished, gone) = (Arc::clone(shared), Arc::clone(&finished), Arc::clone(&gone));
        thread::spawn(move || {
            // Nothing more is expected from the client, so that a read returns only when it hangs up.
            let mut byte = [0];
            while matches!(reader.read(&mut byte), Ok(1)) {}
            gone.store(true, Ordering::SeqCst);
            if !finished.load(Ordering::SeqCst) {
                shared.state.lock().unwrap().hung_up += 1;
                shared.changed.notify_all();
            }
        })
    };
    let written =
        write_answer(stream, &answer, || gone.load(Ordering::SeqCst) || shared.ended.load(Ordering::SeqCst));
    // A client that hung up in the middle is counted by the watcher; only a whole answer is "finished".
    finished.store(written.is_ok(), Ordering::SeqCst);
    drop(stream.shutdown(if answer.cut || written.is_err() { Shutdown::Both } else { Shutdown::Write }));
    drop(watcher.join());
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<Recorded> {
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let mut words = first.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':')?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let text = String::from_utf8_lossy(&body).into_owned();
    let body = serde_json::from_str(&text).unwrap_or(Value::Null);
    Some(Recorded { method, path, headers, text, body })
}

fn write_answer(mut stream: &TcpStream, answer: &Answer, gone: impl Fn() -> bool) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let chunked = !answer.headers.iter().any(|(name, _)| name == "content-length");
    let mut head = format!("HTTP/1.1 {} Scripted\r\nconnection: close\r\n", answer.status);
    if chunked {
        head.push_str("transfer-encoding: chunked\r\n");
    }
    for (name, value) in &answer.headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    stream.write_all(format!("{head}\r\n").as_bytes())?;
    for step in &answer.steps {
        match step {
            Step::Bytes(bytes) if bytes.is_empty() => {}
            Step::Bytes(bytes) if !chunked => stream.write_all(bytes)?,
            Step::Bytes(bytes) => {
                let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
                chunk.extend_from_slice(bytes);
                chunk.extend_from_slice(b"\r\n");
                stream.write_all(&chunk)?;
            }
            Step::Wait(gate) if gate.pass(&gone) => {}
            Step::Wait(_) => return Err(std::io::ErrorKind::BrokenPipe.into()),
        }
    }
    if answer.cut || !chunked {
        return Ok(());
    }
    stream.write_all(b"0\r\n\r\n")
}
