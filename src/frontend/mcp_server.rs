//! The Model Context Protocol on standard input and output: another program calls axi's tools.
//!
//! It is one more front end: each call is judged by the same policy as a model's. Nobody can be asked here, so a
//! call that needs an approval does not run. Calls run one after the other, in the order in which they came; lines
//! that arrive meanwhile are read.

use std::collections::VecDeque;
use std::io::Read;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::json_rpc::{Client, Heard, Lines, read_lines};
use crate::agent::{Agent, AgentEvent, Approval, ApprovalRequest, Frontend, run_call};
use crate::conversation::{Effect, Outcome, ToolCall, ToolSpec};
use crate::json_rpc::{Fault, Incoming, RpcError, read, text};
use crate::terminal::sanitize;

/// Revisions of the protocol that are spoken, the newest first (modelcontextprotocol.io/specification).
const REVISIONS: &[&str] = &["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The longest line that is read, in bytes: arguments are some words.
const LONGEST_LINE: u64 = 1024 * 1024;
/// Lines that may wait while a call runs.
const WAITING: usize = 64;
/// So long calls go on when the client has closed its end: a script's may still be answered.
const CLOSING: Duration = Duration::from_secs(2);
/// Calls that may wait; more are refused.
const MOST_CALLS: usize = 100;

/// A tool that is offered, or would be.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// What the client is told of it.
    pub spec: ToolSpec,
    /// What it is declared to touch.
    pub effect: Effect,
}

/// What is offered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Offers {
    /// What can be called.
    pub tools: Vec<Offer>,
    /// The names of what can be called only with `--all`.
    pub held_back: Vec<String>,
}

/// A call that waits.
struct Wanted {
    id: Value,
    call: ToolCall,
    /// The client's own name for the progress of it.
    progress: Option<Value>,
}

/// Serves until the client closes the connection and its calls are answered or 2 s has passed, or `cancel` is
/// cancelled.
pub async fn serve(
    agent: &mut Agent,
    offers: Offers,
    (input, output): (impl Read + Send + 'static, Lines),
    cancel: &CancellationToken,
) {
    let (sender, mut lines) = mpsc::channel(WAITING);
    let gone = cancel.clone();
    let client = Client::new(output, Box::new(move || gone.cancel()));
    // The thread ends with the input, or when nobody receives its lines any more.
    let reading = std::thread::Builder::new().name("mcp-in".into());
    let reading =
        reading.spawn(move || read_lines(input, LONGEST_LINE, |heard| sender.blocking_send(heard).is_ok()));
    if let Err(error) = reading {
        tracing::error!(%error, "the client cannot be read");
        return;
    }
    let mut server = Server { client, offers, waiting: VecDeque::new(), open: true, closing: None };
    loop {
        if server.closing.is_some_and(|closing| closing <= Instant::now()) {
            return;
        }
        if let Some(wanted) = server.waiting.pop_front() {
            server.run(agent, wanted, &mut lines, cancel).await;
        } else if !server.open || !server.hear(&mut lines, cancel).await {
            return;
        }
        if cancel.is_cancelled() {
            return;
        }
    }
}

struct Server {
    client: Client,
    offers: Offers,
    waiting: VecDeque<Wanted>,
    /// Whether there may be more to hear.
    open: bool,
    /// When calls are stopped, once there is nothing more to hear.
    closing: Option<Instant>,
}

impl Server {
    /// Hears the next line; false where it is all over.
    async fn hear(&mut self, lines: &mut mpsc::Receiver<Heard>, cancel: &CancellationToken) -> bool {
        let Some(heard) = cancel.run_until_cancelled(lines.recv()).await else { return false };
        // No call runs that it could stop.
        drop(self.take(heard));
        true
    }

    /// Runs one call, and hears what comes meanwhile.
    async fn run(
        &mut self,
        agent: &mut Agent,
        wanted: Wanted,
        lines: &mut mpsc::Receiver<Heard>,
        cancel: &CancellationToken,
    ) {
        let stop = cancel.child_token();
        let mut quiet = Quiet { client: self.client.clone(), progress: wanted.progress, told: 0, refused: None };
        let result = {
            let mut running = std::pin::pin!(run_call(agent, wanted.call, &mut quiet, &stop));
            loop {
                tokio::select! {
                    biased;
                    heard = lines.recv(), if self.open => {
                        if self.take(heard).is_some_and(|cancelled| cancelled == wanted.id) {
                            stop.cancel();
                        }
                    }
                    result = &mut running => break result,
                    // Whoever would read the answer is gone, or has waited for long enough.
                    () = until(self.closing), if !stop.is_cancelled() => stop.cancel(),
                }
            }
        };
        // The protocol demands that a cancelled request gets no answer.
        if stop.is_cancelled() {
            return;
        }
        let said = match quiet.refused {
            Some(refused) => refused,
            None => sanitize(&result.content).into_owned(),
        };
        let failed = result.outcome != Outcome::Ok;
        self.client.answer(&wanted.id, Ok(json!({"content": [{"type": "text", "text": said}], "isError": failed})));
    }

    /// There is nothing more to hear.
    fn close(&mut self) {
        self.open = false;
        self.closing.get_or_insert_with(|| Instant::now() + CLOSING);
    }

    /// Handles a line; returns the id of a request that the client has cancelled.
    fn take(&mut self, heard: Option<Heard>) -> Option<Value> {
        let line = match heard {
            Some(Heard::Line(line)) => line,
            Some(Heard::TooLong) => {
                self.client.answer(&Value::Null, Err(RpcError::new(Fault::Parse, "a line is too long")));
                self.close();
                return None;
            }
            Some(Heard::End) | None => {
                self.close();
                return None;
            }
        };
        if line.trim_ascii().is_empty() {
            return None;
        }
        match read(&line) {
            Ok(Incoming::Request { id, method, parameters }) => {
                match self.request(&id, &method, &parameters) {
                    Ok(Some(result)) => self.client.answer(&id, Ok(result)),
                    Ok(None) => {}
                    Err(error) => self.client.answer(&id, Err(error)),
                }
                None
            }
            Ok(Incoming::Notification { method, parameters }) if method == "notifications/cancelled" => {
                let id = parameters.get("requestId")?;
                self.waiting.retain(|wanted| wanted.id != *id);
                Some(id.clone())
            }
            // We asked the client nothing; its other messages are not for us.
            Ok(Incoming::Notification { .. } | Incoming::Answer { .. }) => None,
            Err((id, error)) => {
                self.client.answer(&id, Err(error));
                None
            }
        }
    }

    /// Does a request; nothing where it has to wait for its turn.
    fn request(&mut self, id: &Value, method: &str, parameters: &Value) -> Result<Option<Value>, RpcError> {
        match method {
            "initialize" => {
                let wanted = text(parameters, "protocolVersion")?;
                let revision = REVISIONS.iter().find(|known| **known == wanted).unwrap_or(&REVISIONS[0]);
                Ok(Some(json!({
                    "protocolVersion": revision,
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "axi", "version": env!("CARGO_PKG_VERSION")},
                })))
            }
            "ping" => Ok(Some(json!({}))),
            "tools/list" => {
                let tools: Vec<Value> = self.offers.tools.iter().map(entry).collect();
                Ok(Some(json!({"tools": tools})))
            }
            "tools/call" => self.call(id, parameters).map(|()| None),
            other => Err(RpcError::new(Fault::Method, format!("there is no method `{other}`"))),
        }
    }

    fn call(&mut self, id: &Value, parameters: &Value) -> Result<(), RpcError> {
        let name = text(parameters, "name")?;
        let input = match parameters.get("arguments") {
            None | Some(Value::Null) => Value::Object(Map::new()),
            Some(object @ Value::Object(_)) => object.clone(),
            Some(_) => return Err(RpcError::new(Fault::Parameters, "`arguments` must be an object")),
        };
        if self.offers.held_back.iter().any(|known| known == name) {
            let what = format!("`{name}` may change things: it is offered by `axi mcp serve --all` only");
            return Err(RpcError::new(Fault::Parameters, what));
        }
        if self.offers.tools.iter().all(|offer| offer.spec.name != name) {
            return Err(RpcError::new(Fault::Parameters, format!("there is no tool `{name}`")));
        }
        if self.waiting.len() >= MOST_CALLS {
            return Err(RpcError::new(Fault::Internal, format!("{MOST_CALLS} calls wait already")));
        }
        let call = ToolCall {
            id: id.to_string(),
            name: name.to_owned(),
            input,
            invalid_input: None,
            extra: Map::new(),
            model: String::new(),
            arguments: String::new(),
        };
        let progress = parameters["_meta"].get("progressToken").cloned();
        self.waiting.push_back(Wanted { id: id.clone(), call, progress });
        Ok(())
    }
}

/// Waits for a moment, if there is one.
async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// What a client is told of a tool.
fn entry(offer: &Offer) -> Value {
    let Offer { spec, effect } = offer;
    let (reads, open) = match effect {
        Effect::Read => (true, false),
        Effect::Write | Effect::Delete => (false, false),
        // A program can do anything.
        Effect::Network | Effect::Execute => (false, true),
    };
    json!({
        "name": spec.name,
        "description": spec.description,
        "inputSchema": spec.input_schema,
        "annotations": {
            "readOnlyHint": reads, "destructiveHint": !reads, "idempotentHint": reads, "openWorldHint": open,
        },
    })
}

/// A front end without a person.
struct Quiet {
    client: Client,
    progress: Option<Value>,
    /// How many lines were told of the running call.
    told: u64,
    /// The answer to a call that would have needed an approval.
    refused: Option<String>,
}

impl Frontend for Quiet {
    fn show(&mut self, event: &AgentEvent) {
        if let (AgentEvent::ToolOutput { line, .. }, Some(token)) = (event, &self.progress) {
            self.told += 1;
            let line = sanitize(line);
            let parameters = json!({"progressToken": token, "progress": self.told, "message": line});
            self.client.notify("notifications/progress", parameters);
        }
    }

    fn approve(&mut self, request: &ApprovalRequest) -> Approval {
        let name = &request.call.name;
        let rule = request.always_rule.as_ref().map(ToString::to_string);
        let hint = rule.or_else(|| request.session_rule.clone()).map_or_else(String::new, |rule| {
            format!(" The user can allow it in axi's settings: [permissions] allow = [{rule:?}].")
        });
        self.refused = Some(format!(
            "Not run: {name} with these arguments needs the user's yes, and nobody can be asked here.{hint}"
        ));
        Approval::Unavailable
    }
}
