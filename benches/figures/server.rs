//! A model server in this process: OpenAI chat over server-sent events, as fast as the client reads or paced.
//!
//! The answer is set before it is asked for; the moments that figures rest on are kept as [`Instant`]s, comparable
//! with those of the terminal's reader.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::text::{FIRST, pieces};

/// How many bytes of events go into one write when nothing is paced.
const BATCH: usize = 16 * 1024;

/// What is answered next.
#[derive(Clone)]
pub(crate) struct Plan {
    /// The answer, cut into events of 4 characters.
    pub(crate) text: Arc<str>,
    /// The wait before the first content event.
    pub(crate) before_first: Duration,
    /// The wait after the first content event, so that nothing that follows helps it to be seen.
    pub(crate) after_first: Duration,
    /// The wait after each other event; zero is as fast as the client reads.
    pub(crate) between: Duration,
    /// The wait before the stream is ended.
    pub(crate) before_end: Duration,
}

impl Plan {
    /// An answer as fast as the client reads it.
    pub(crate) fn fast(text: &str) -> Self {
        let none = Duration::ZERO;
        Self { text: text.into(), before_first: none, after_first: none, between: none, before_end: none }
    }
}

/// What happened in the answer last given.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Moments {
    /// Answers begun so far.
    pub(crate) answers: usize,
    /// The first content event was handed to the socket.
    pub(crate) first: Option<Instant>,
    /// The stream was ended by the server.
    pub(crate) ended: Option<Instant>,
    /// The client closed the connection.
    pub(crate) closed: Option<Instant>,
}

struct Shared {
    state: Mutex<(Plan, Moments)>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, (Plan, Moments)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, change: impl FnOnce(&mut Moments)) {
        change(&mut self.lock().1);
        self.changed.notify_all();
    }
}

/// The server; its threads end with the process.
pub(crate) struct Server {
    port: u16,
    shared: Arc<Shared>,
}

impl Server {
    /// Listens on a free port of loopback.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback is there");
        let port = listener.local_addr().expect("it is bound").port();
        let state = Mutex::new((Plan::fast("hi"), Moments::default()));
        let shared = Arc::new(Shared { state, changed: Condvar::new() });
        let for_threads = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&for_threads);
                std::thread::spawn(move || serve(&stream, &shared));
            }
        });
        Self { port, shared }
    }

    /// `http://127.0.0.1:PORT/v1`.
    pub(crate) fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Sets what is answered from now on and forgets the moments, but for the count.
    pub(crate) fn plan(&self, plan: Plan) {
        let mut state = self.shared.lock();
        let answers = state.1.answers;
        *state = (plan, Moments { answers, ..Moments::default() });
    }

    /// Waits until a moment has come and returns it; `None` after ten seconds.
    pub(crate) fn wait(&self, moment: impl Fn(&Moments) -> Option<Instant>) -> Option<Instant> {
        let patience = Duration::from_secs(10);
        let waited = self
            .shared
            .changed
            .wait_timeout_while(self.shared.lock(), patience, |state| moment(&state.1).is_none());
        moment(&waited.unwrap_or_else(PoisonError::into_inner).0.1)
    }

    /// Answers begun since the server started.
    pub(crate) fn answers(&self) -> usize {
        self.shared.lock().1.answers
    }
}

fn serve(stream: &TcpStream, shared: &Shared) {
    let _ = stream.set_nodelay(true);
    let mut reader = BufReader::new(stream);
    while let Some((path, body)) = request(&mut reader) {
        let served = if path.ends_with("/models") {
            whole(stream, r#"{"object":"list","data":[{"id":"any","object":"model"}]}"#)
        } else if body.contains(r#""stream":true"#) {
            answer(stream, shared)
        } else {
            whole(
                stream,
                r#"{"id":"c","object":"chat.completion","created":1,"model":"any","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}"#,
            )
        };
        if served.is_err() {
            return;
        }
    }
}

/// Reads one request: its path and body.
fn request(reader: &mut BufReader<&TcpStream>) -> Option<(String, String)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|&count| count > 0)?;
    let path = line.split_whitespace().nth(1)?.to_owned();
    let mut length = 0;
    loop {
        line.clear();
        reader.read_line(&mut line).ok().filter(|&count| count > 0)?;
        match line.trim().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().ok()?;
            }
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((path, String::from_utf8_lossy(&body).replace("\": ", "\":")))
}

fn whole(mut stream: &TcpStream, json: &str) -> std::io::Result<()> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length:";
    stream.write_all(format!("{head} {}\r\n\r\n{json}", json.len()).as_bytes())
}

/// One event around a delta, without the JSON of the text.
fn event(choices: &str) -> String {
    let begin = r#"data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"any","choices":"#;
    format!("{begin}{choices}}}\n\n")
}

fn delta(text: &str) -> String {
    let quoted = serde_json::Value::from(text);
    event(&format!(r#"[{{"index":0,"delta":{{"content":{quoted}}},"finish_reason":null}}]"#))
}

/// Sends one chunk of HTTP's chunked coding.
fn send(mut stream: &TcpStream, events: &str) -> std::io::Result<()> {
    stream.write_all(format!("{:x}\r\n{events}\r\n", events.len()).as_bytes())
}

fn answer(stream: &TcpStream, shared: &Shared) -> std::io::Result<()> {
    let plan = shared.lock().0.clone();
    shared.note(|moments| moments.answers += 1);
    // The client's closing is seen at once, not at the next write that fails.
    let watched = stream.try_clone()?;
    let finished = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| watch(&watched, shared, &finished));
        let sent = send_answer(stream, shared, &plan);
        finished.store(true, Ordering::Relaxed);
        sent
    })
}

/// Waits for the client to close; a request that follows on the same connection ends the watch.
fn watch(stream: &TcpStream, shared: &Shared, finished: &AtomicBool) {
    let _ = stream.set_read_timeout(Some(Duration::from_millis(20)));
    let mut byte = [0];
    while !finished.load(Ordering::Relaxed) {
        match stream.peek(&mut byte) {
            Ok(1..) => break,
            Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
            }
            Ok(0) | Err(_) => {
                let now = Instant::now();
                shared.note(|moments| moments.closed = Some(now));
                break;
            }
        }
    }
    let _ = stream.set_read_timeout(None);
}

fn send_answer(mut stream: &TcpStream, shared: &Shared, plan: &Plan) -> std::io::Result<()> {
    stream
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")?;
    send(stream, &event(r#"[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]"#))?;
    std::thread::sleep(plan.before_first);

    let rest = plan.text.strip_prefix(FIRST).unwrap_or(&plan.text);
    if rest.len() < plan.text.len() {
        let first = delta(FIRST);
        let now = Instant::now();
        send(stream, &first)?;
        shared.note(|moments| moments.first = Some(now));
        std::thread::sleep(plan.after_first);
    }
    let mut waiting = String::new();
    for piece in pieces(rest, 4) {
        waiting += &delta(&piece);
        if !plan.between.is_zero() || waiting.len() > BATCH {
            send(stream, &waiting)?;
            waiting.clear();
            std::thread::sleep(plan.between);
        }
    }
    std::thread::sleep(plan.before_end);
    waiting += &event(r#"[{"index":0,"delta":{},"finish_reason":"stop"}]"#);
    waiting += r#"data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"any","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":10,"total_tokens":20}}"#;
    waiting += "\n\ndata: [DONE]\n\n";
    send(stream, &waiting)?;
    stream.write_all(b"0\r\n\r\n")?;
    let now = Instant::now();
    shared.note(|moments| moments.ended = Some(now));
    Ok(())
}
