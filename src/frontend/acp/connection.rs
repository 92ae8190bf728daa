//! The connection: reads the client's lines, answers requests that need no session, and passes the others to the
//! session's thread.

use std::collections::HashMap;
use std::io::Read;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::servers::handed;
use super::session::{Beginning, Job, Opener, Running, Session, Wanted};
use crate::agent::timestamp;
use crate::frontend::json_rpc::{Client, Heard, Lines, read_lines};
use crate::frontend::signals::Signals;
use crate::json_rpc::{self, Fault, Incoming, RpcError, text};
use crate::locale::word;

/// The version of the protocol that is spoken.
const VERSION: u64 = 1;
/// The longest line that is read, in bytes: a picture of 20 MB in base64, several times over.
const LONGEST_LINE: u64 = 128 * 1024 * 1024;
/// Sessions of a page.
const PAGE: usize = 50;

/// How the connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The client closed it.
    Closed,
    /// It sent what no client sends.
    Nonsense,
}

/// A session that is open.
struct Handle {
    jobs: Sender<Job>,
    running: Running,
    /// Ends when the session is let go of.
    life: Receiver<()>,
}

type Sessions = Arc<Mutex<HashMap<String, Handle>>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a signal cancels: every turn of the connection. Signals know one token, which exists while any turn runs.
struct Turns {
    signals: Signals,
    state: Mutex<(usize, CancellationToken)>,
}

impl Turns {
    fn begin(&self) -> CancellationToken {
        let mut state = lock(&self.state);
        if state.0 == 0 {
            state.1 = CancellationToken::new();
            self.signals.watch(Some(state.1.clone()));
        }
        state.0 += 1;
        state.1.child_token()
    }

    fn end(&self) {
        // The lock is held while the signals get the token: otherwise they would miss a turn that begins meanwhile.
        let mut state = lock(&self.state);
        state.0 = state.0.saturating_sub(1);
        if state.0 == 0 {
            self.signals.watch(None);
        }
    }
}

/// Everything a connection knows.
struct Connection {
    opener: Arc<dyn Opener>,
    client: Client,
    sessions: Sessions,
    turns: Arc<Turns>,
    threads: Vec<JoinHandle<()>>,
    initialized: bool,
    /// Whether the client puts forms to its person.
    forms: bool,
}

/// Speaks with a client until it closes the connection; every turn that still runs then is stopped.
pub fn serve(opener: Arc<dyn Opener>, input: impl Read + Send + 'static, output: Lines, signals: Signals) -> Ended {
    let (events, next) = channel();
    let broken = events.clone();
    // Fails if the connection has already ended: then nobody needs to know.
    let client = Client::new(output, Box::new(move || drop(broken.send(Heard::End))));
    let reading = std::thread::Builder::new()
        .name("acp".into())
        .spawn(move || read_lines(input, LONGEST_LINE, |heard| events.send(heard).is_ok()));
    if let Err(error) = reading {
        tracing::error!(%error, "the client cannot be read");
        return Ended::Nonsense;
    }
    let turns = Arc::new(Turns { signals, state: Mutex::new((0, CancellationToken::new())) });
    let mut connection = Connection {
        opener,
        client,
        sessions: Sessions::default(),
        turns,
        threads: Vec::new(),
        initialized: false,
        forms: false,
    };
    let ended = loop {
        match next.recv() {
            Ok(Heard::Line(line)) if line.trim_ascii().is_empty() => {}
            Ok(Heard::Line(line)) => connection.line(&line),
            Ok(Heard::End) | Err(_) => break Ended::Closed,
            Ok(Heard::TooLong) => {
                let error = RpcError::new(Fault::Parse, "a line is too long");
                connection.client.answer(&Value::Null, Err(error));
                break Ended::Nonsense;
            }
        }
    };
    connection.close();
    ended
}

impl Connection {
    fn line(&mut self, line: &[u8]) {
        match json_rpc::read(line) {
            Ok(Incoming::Request { id, method, parameters }) => {
                tracing::debug!(method, "asked");
                if let Some(result) = self.request(&id, &method, parameters).transpose() {
                    self.client.answer(&id, result);
                }
            }
            Ok(Incoming::Notification { method, parameters }) => self.notification(&method, &parameters),
            Ok(Incoming::Answer { id, result }) => self.client.answered(id, result),
            Err((id, error)) => self.client.answer(&id, Err(error)),
        }
    }

    /// Handles a request; `None` if the session's thread answers it.
    fn request(&mut self, id: &Value, method: &str, parameters: Value) -> Result<Option<Value>, RpcError> {
        if !self.initialized && method != "initialize" {
            return Err(RpcError::new(Fault::Invalid, "the connection begins with `initialize`"));
        }
        match method {
            "initialize" => self.initialize(&parameters).map(Some),
            "authenticate" => {
                text(&parameters, "methodId")?;
                self.opener.authenticate().map(|()| Some(json!({})))
            }
            "session/new" => self.open(id, &parameters, None, false),
            "session/load" => self.open(id, &parameters, Some(text(&parameters, "sessionId")?), true),
            "session/resume" => self.open(id, &parameters, Some(text(&parameters, "sessionId")?), false),
            "session/list" => self.list(&parameters).map(Some),
            "session/delete" => self.delete(&parameters).map(Some),
            "session/close" => {
                let session = text(&parameters, "sessionId")?;
                let handle = lock(&self.sessions).remove(session).ok_or_else(|| unknown(session))?;
                self.stop(session, &handle);
                drop(handle.jobs.send(Job::Close { id: Some(id.clone()) }));
                Ok(None)
            }
            "session/prompt" => self.prompt(id, &parameters),
            "session/set_mode" => {
                let mode = text(&parameters, "modeId")?.to_owned();
                self.hand_over(&parameters, Job::Mode { id: id.clone(), mode })
            }
            "session/set_config_option" => {
                self.hand_over(&parameters.clone(), Job::Option { id: id.clone(), parameters })
            }
            other => Err(RpcError::new(Fault::Method, format!("there is no method `{other}`"))),
        }
    }

    fn notification(&self, method: &str, parameters: &Value) {
        match method {
            "session/cancel" => {
                let Ok(session) = text(parameters, "sessionId") else { return };
                if let Some(handle) = lock(&self.sessions).get(session) {
                    self.stop(session, handle);
                }
            }
            "$/cancel_request" => {
                let request = &parameters["requestId"];
                for (session, handle) in &*lock(&self.sessions) {
                    if lock(&handle.running).as_ref().is_some_and(|(id, _)| id == request) {
                        self.stop(session, handle);
                    }
                }
            }
            // The protocol demands that unknown notifications are ignored.
            other => tracing::debug!(method = other, "not known"),
        }
    }

    /// Stops the turn of a session, and a question it waits with.
    fn stop(&self, session: &str, handle: &Handle) {
        if let Some((_, cancel)) = &*lock(&handle.running) {
            cancel.cancel();
        }
        self.client.stop_waiting(session);
    }

    fn initialize(&mut self, parameters: &Value) -> Result<Value, RpcError> {
        if !parameters["protocolVersion"].is_u64() {
            return Err(RpcError::parameter("protocolVersion", "a number"));
        }
        self.initialized = true;
        let can = &parameters["clientCapabilities"];
        self.forms = can["elicitation"]["form"].is_object();
        let locale = self.opener.locale();
        let mut logins = vec![json!({
            "id": "keys", "name": locale.text(word::acp::KEYS), "description": locale.text(word::acp::KEYS_SAYS),
        })];
        // Only a client that can open a terminal may learn about it.
        if can["auth"]["terminal"] == true {
            logins.push(json!({
                "id": "login", "type": "terminal", "args": ["--login"], "name": locale.text(word::acp::LOGIN),
                "description": locale.text(word::acp::LOGIN_SAYS),
            }));
        }
        Ok(json!({
            "protocolVersion": VERSION,
            "agentCapabilities": {
                "loadSession": true,
                "promptCapabilities": {"image": true, "audio": false, "embeddedContext": true},
                "mcpCapabilities": {"http": true, "sse": false},
                "sessionCapabilities": {"list": {}, "delete": {}, "resume": {}, "close": {}},
            },
            "agentInfo": {"name": "axi", "title": "axi", "version": env!("CARGO_PKG_VERSION")},
            "authMethods": logins,
        }))
    }

    fn hand_over(&self, parameters: &Value, job: Job) -> Result<Option<Value>, RpcError> {
        let session = text(parameters, "sessionId")?;
        let sessions = lock(&self.sessions);
        let handle = sessions.get(session).ok_or_else(|| unknown(session))?;
        handle.jobs.send(job).map_err(|_| unknown(session))?;
        Ok(None)
    }

    fn prompt(&self, id: &Value, parameters: &Value) -> Result<Option<Value>, RpcError> {
        let session = text(parameters, "sessionId")?;
        let sessions = lock(&self.sessions);
        let handle = sessions.get(session).ok_or_else(|| unknown(session))?;
        let mut running = lock(&handle.running);
        if running.is_some() {
            let what = "a prompt of this session is being answered; cancel it, or wait for its end";
            return Err(RpcError::new(Fault::Invalid, what));
        }
        let cancel = self.turns.begin();
        *running = Some((id.clone(), cancel.clone()));
        let job = Job::Prompt { id: id.clone(), prompt: parameters["prompt"].clone(), cancel };
        if handle.jobs.send(job).is_err() {
            *running = None;
            self.turns.end();
            return Err(unknown(session));
        }
        Ok(None)
    }

    fn open(
        &mut self,
        id: &Value,
        parameters: &Value,
        resume: Option<&str>,
        replays: bool,
    ) -> Result<Option<Value>, RpcError> {
        let cwd = PathBuf::from(text(parameters, "cwd")?);
        if !cwd.is_absolute() {
            return Err(RpcError::parameter("cwd", "an absolute path"));
        }
        let servers = handed(parameters)?;
        let before = match resume {
            Some(resume) => self.make_way(resume)?,
            None => None,
        };
        let beginning = Beginning { request: id.clone(), replays, names: resume.is_none(), forms: self.forms };
        let wanted = Wanted { cwd, resume: resume.map(str::to_owned), servers };
        let (opener, client) = (Arc::clone(&self.opener), self.client.clone());
        let (sessions, turns) = (Arc::clone(&self.sessions), Arc::clone(&self.turns));
        let run = move || {
            if let Some(before) = before {
                // Nothing is ever sent: it ends when that one has let go of the file.
                let _ = before.recv();
            }
            run_session(&opener, &client, &sessions, &turns, &wanted, &beginning);
        };
        let thread = std::thread::Builder::new().name("session".into()).spawn(run);
        let thread = thread.map_err(|error| RpcError::new(Fault::Internal, error.to_string()))?;
        self.threads.retain(|thread| !thread.is_finished());
        self.threads.push(thread);
        Ok(None)
    }

    /// Closes a session before it is opened once more, and returns what ends when the session is free. A session
    /// that is working stays as it is.
    fn make_way(&self, session: &str) -> Result<Option<Receiver<()>>, RpcError> {
        let mut sessions = lock(&self.sessions);
        let Some(handle) = sessions.get(session) else { return Ok(None) };
        if lock(&handle.running).is_some() {
            return Err(RpcError::new(Fault::Invalid, "a prompt of this session is being answered"));
        }
        drop(handle.jobs.send(Job::Close { id: None }));
        Ok(sessions.remove(session).map(|handle| handle.life))
    }

    fn list(&self, parameters: &Value) -> Result<Value, RpcError> {
        let cwd = parameters.get("cwd").and_then(Value::as_str).map(PathBuf::from);
        let begin = match parameters.get("cursor").filter(|cursor| !cursor.is_null()) {
            Some(cursor) => cursor
                .as_str()
                .and_then(|cursor| cursor.parse::<usize>().ok())
                .ok_or_else(|| RpcError::parameter("cursor", "what an answer named `nextCursor`"))?,
            None => 0,
        };
        let listed = self.opener.sessions().map(|store| store.list()).unwrap_or_default();
        // A session whose directory is not known cannot be opened in it.
        let here = listed.into_iter().filter(|row| row.directory.is_absolute());
        let mut rows = here.filter(|row| cwd.as_ref().is_none_or(|cwd| row.directory == *cwd)).skip(begin);
        let page: Vec<Value> = rows
            .by_ref()
            .take(PAGE)
            .map(|row| {
                json!({"sessionId": row.id, "cwd": row.directory, "title": row.title, "updatedAt": timestamp(row.modified)})
            })
            .collect();
        let mut result = json!({"sessions": page});
        if rows.next().is_some() {
            result["nextCursor"] = json!((begin + PAGE).to_string());
        }
        Ok(result)
    }

    fn delete(&self, parameters: &Value) -> Result<Value, RpcError> {
        let session = text(parameters, "sessionId")?;
        if let Some(before) = self.make_way(session)? {
            let _ = before.recv();
        }
        let store = self.opener.sessions().ok_or_else(|| unknown(session))?;
        // A session is deleted only if it is named in full.
        let (found, _) = store.find(session).map_err(|_| unknown(session))?;
        if found.as_str() != session {
            return Err(unknown(session));
        }
        store.delete(session).map_err(|error| RpcError::new(Fault::Internal, error.to_string()))?;
        Ok(json!({}))
    }

    /// Stops everything that runs and waits for it, so that what a turn did until then is saved.
    fn close(mut self) {
        self.client.gone();
        for (session, handle) in lock(&self.sessions).drain() {
            self.stop(&session, &handle);
            drop(handle.jobs.send(Job::Close { id: None }));
        }
        for thread in std::mem::take(&mut self.threads) {
            // A session that panicked has said so in the log.
            drop(thread.join());
        }
    }
}

/// The life of a session's thread.
fn run_session(
    opener: &Arc<dyn Opener>,
    client: &Client,
    sessions: &Sessions,
    turns: &Arc<Turns>,
    wanted: &Wanted,
    beginning: &Beginning,
) {
    let room = match opener.open(wanted) {
        Ok(room) => room,
        Err(error) => return client.answer(&beginning.request, Err(error)),
    };
    let id = wanted.resume.clone().unwrap_or_else(|| room.agent.session().id().to_string());
    let (jobs, next) = channel();
    let running = Running::default();
    let ends = Arc::clone(turns);
    let on_end = Arc::new(move || ends.end());
    let mut session = Session::new(room, client.clone(), id.clone(), beginning.forms, Arc::clone(&running), on_end);
    let (alive, life) = channel();
    // Before the answer: a prompt may follow it at once.
    lock(sessions).insert(id, Handle { jobs: jobs.clone(), running, life });
    if client.is_gone() {
        return;
    }
    session.begin(beginning);
    // Servers may take a second to list their models, and the first prompt does not wait for them. It ends by itself.
    let (opener, cwd) = (Arc::clone(opener), wanted.cwd.clone());
    let list = move || drop(jobs.send(Job::Models(opener.models(&cwd))));
    if let Err(error) = std::thread::Builder::new().name("models".into()).spawn(list) {
        tracing::info!(%error, "the models are not listed");
    }
    let closed = session.work(&next);
    drop(session);
    drop(alive);
    if let Some(id) = closed {
        client.answer(&id, Ok(json!({})));
    }
}

fn unknown(session: &str) -> RpcError {
    RpcError::new(Fault::NotFound, format!("there is no session `{session}`"))
}
