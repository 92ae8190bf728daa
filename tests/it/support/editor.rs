//! An editor that drives `axi acp` in raw JSON-RPC, a line a message.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use super::pty::{PATIENCE, ended};

/// The client's side of a connection.
pub(crate) struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    next: u64,
    /// Everything that came and was not asked for yet.
    seen: Vec<Value>,
}

#[expect(clippy::needless_pass_by_value, reason = "what is told is made where it is told")]
impl Editor {
    /// Starts axi; nothing is said yet.
    pub(crate) fn start(command: &mut Command) -> Self {
        let command = command.arg("acp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = child.stdout.take().unwrap();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                if sender.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Self { child, input, lines, next: 100, seen: Vec::new() }
    }

    /// Starts axi and says who is there.
    pub(crate) fn meets(command: &mut Command) -> Self {
        let mut editor = Self::start(command);
        editor.ok("initialize", json!({"protocolVersion": 1, "clientCapabilities": {"elicitation": {"form": {}}}}));
        editor
    }

    /// Writes a line as it is.
    pub(crate) fn writes(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).and_then(|()| input.write_all(b"\n")).unwrap();
    }

    /// Tells something.
    pub(crate) fn tells(&mut self, method: &str, parameters: Value) {
        self.writes(&json!({"jsonrpc": "2.0", "method": method, "params": parameters}).to_string());
    }

    /// Asks for something; returns the request's id.
    pub(crate) fn asks(&mut self, method: &str, parameters: Value) -> u64 {
        self.next += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": parameters});
        self.writes(&message.to_string());
        self.next
    }

    /// Answers a request of axi's.
    pub(crate) fn answers(&mut self, request: &Value, result: Value) {
        self.writes(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string());
    }

    /// Waits for a message of which this is true, and takes it out of what has come.
    #[track_caller]
    pub(crate) fn waits(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(index) = self.seen.iter().position(&is_it) {
            return self.seen.remove(index);
        }
        loop {
            let Ok(line) = self.lines.recv_timeout(PATIENCE) else {
                panic!("never saw {what} in {:#?}", self.seen);
            };
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}"));
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
            if is_it(&message) {
                return message;
            }
            self.seen.push(message);
        }
    }

    /// Waits for the answer to a request.
    #[track_caller]
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        self.waits("the answer", |message| message["id"] == id && message.get("method").is_none())
    }

    /// Asks and waits for the result.
    #[track_caller]
    pub(crate) fn ok(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.asks(method, parameters);
        let answer = self.answer(id);
        assert_eq!(answer.get("error"), None, "{method}: {answer}");
        answer["result"].clone()
    }

    /// Asks and waits for the error: its number and what it says.
    #[track_caller]
    pub(crate) fn error(&mut self, method: &str, parameters: Value) -> (i64, String) {
        let id = self.asks(method, parameters);
        let answer = self.answer(id);
        let error = &answer["error"];
        (error["code"].as_i64().unwrap_or_default(), error["message"].as_str().unwrap_or_default().to_owned())
    }

    /// Opens a session there; returns its id.
    #[track_caller]
    pub(crate) fn opens(&mut self, cwd: &Path) -> String {
        let opened = self.ok("session/new", json!({"cwd": cwd, "mcpServers": []}));
        opened["sessionId"].as_str().unwrap().to_owned()
    }

    /// Sends a prompt of one text; returns the request's id.
    pub(crate) fn prompts(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{"type": "text", "text": text}]);
        self.asks("session/prompt", json!({"sessionId": session, "prompt": prompt}))
    }

    /// Sends a prompt and waits for its end; returns why it stopped.
    #[track_caller]
    pub(crate) fn prompted(&mut self, session: &str, text: &str) -> String {
        let id = self.prompts(session, text);
        let answer = self.answer(id);
        answer["result"]["stopReason"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Waits for an update of this kind, and takes it.
    #[track_caller]
    pub(crate) fn update(&mut self, kind: &str) -> Value {
        let message = self.waits(kind, |message| message["params"]["update"]["sessionUpdate"] == kind);
        message["params"]["update"].clone()
    }

    /// Waits for the question whether a call may run.
    #[track_caller]
    pub(crate) fn question(&mut self) -> Value {
        self.waits("a question", |message| message["method"] == "session/request_permission")
    }

    /// Answers it with one of its options.
    pub(crate) fn chooses(&mut self, question: &Value, option: &str) {
        self.answers(question, json!({"outcome": {"outcome": "selected", "optionId": option}}));
    }

    /// The updates that have come of this kind, in order; they are taken.
    pub(crate) fn updates(&mut self, kind: &str) -> Vec<Value> {
        let is_it = |message: &Value| message["params"]["update"]["sessionUpdate"] == kind;
        let (of_kind, rest) = std::mem::take(&mut self.seen).into_iter().partition(is_it);
        self.seen = rest;
        let found: Vec<Value> = of_kind;
        found.into_iter().map(|message| message["params"]["update"].clone()).collect()
    }

    /// What was said in chunks of this kind so far.
    pub(crate) fn said(&mut self, kind: &str) -> String {
        let chunks = self.updates(kind);
        chunks.iter().filter_map(|chunk| chunk["content"]["text"].as_str()).collect()
    }

    /// Closes the connection; waits for axi to end by itself.
    #[track_caller]
    pub(crate) fn leaves(&mut self) -> ExitStatus {
        drop(self.input.take());
        self.ends()
    }

    /// Reads no more of what axi writes.
    pub(crate) fn stops_reading(&mut self) {
        self.lines = channel().1;
    }

    /// Waits for axi to end by itself.
    #[track_caller]
    pub(crate) fn ends(&mut self) -> ExitStatus {
        ended(&mut self.child).expect("axi did not end")
    }

    /// The process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
