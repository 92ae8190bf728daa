//! One line to a server, whatever carries it: requests and their answers, progress, cancelling, and what the server
//! asks in turn.
//!
//! The protocol is ours and not the crate rmcp's: what is wanted here are the limits (a line without end, noise, an
//! answer that never comes), which stand in the transport that would have to be written anyway; what is left of the
//! protocol is smaller than the glue to another's types.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::failure::Failure;
use super::manifest::Era;
use super::message::refused;
use super::spoken::{STATELESS, client};
use crate::json_rpc::{self, Fault, Incoming, RpcError};

/// Messages that may wait for a server that does not read.
const WAITING: usize = 64;

/// What a server is told whose answer is not waited for any longer.
const TOO_SLOW: &str = "no sign of life within the time limit";

/// A call of a server's tool.
#[derive(Debug)]
pub struct Call {
    /// The tool's name at the server.
    pub tool: String,
    /// Its input.
    pub arguments: Value,
    /// Takes what the server says of its progress; a full channel drops it.
    pub progress: mpsc::Sender<String>,
    /// Takes what the server asks the person meanwhile.
    pub asks: mpsc::Sender<Asking>,
}

/// What a server asks the person while it works (`elicitation/create`).
#[derive(Debug)]
pub struct Asking {
    /// The request's parameters, as the server wrote them.
    pub params: Value,
    /// Takes the result; dropped, the server is told that the person cancelled.
    pub reply: oneshot::Sender<Value>,
}

/// Of what kinds a server has lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Offers {
    pub(super) tools: bool,
    pub(super) prompts: bool,
    pub(super) resources: bool,
}

/// The near end of a line.
pub(super) struct Connection {
    outgoing: mpsc::Sender<Value>,
    pending: Mutex<HashMap<u64, PendingRequest>>,
    next: AtomicU64,
    pub(super) era: OnceLock<Era>,
    /// The revision that both agreed on where there is a session.
    pub(super) revision: OnceLock<String>,
    ended: Mutex<Option<Failure>>,
    /// What the server has to offer, once it said so.
    pub(super) offers: OnceLock<Offers>,
    /// Told when a list of the server has changed.
    pub(super) changed: Notify,
    /// Ends the line.
    pub(super) hang_up: CancellationToken,
    /// Who can ask the person just now.
    asks: Mutex<Option<mpsc::Sender<Asking>>>,
    /// How many questions the person has before them: a server does not hurry who thinks.
    asked: AtomicUsize,
    /// When the last of them was answered.
    answered: Mutex<Option<Instant>>,
}

struct PendingRequest {
    reply: oneshot::Sender<Result<Value, Failure>>,
    progress: Option<mpsc::Sender<String>>,
    alive: Arc<Notify>,
}

/// Takes a request back that nobody waits for any more, and tells the server.
struct Waiting<'a> {
    connection: &'a Connection,
    id: u64,
    /// Why nobody waits.
    reason: &'static str,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if locked(&self.connection.pending).remove(&self.id).is_some() {
            let params = json!({"requestId": self.id, "reason": self.reason});
            // A server that does not read is not told.
            let _ = self.connection.outgoing.try_send(json_rpc::notification("notifications/cancelled", params));
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connection {
    /// Makes a line; what is to be sent comes out of the other end.
    pub(super) fn new() -> (Arc<Self>, mpsc::Receiver<Value>) {
        let (outgoing, sent) = mpsc::channel(WAITING);
        let connection = Self {
            outgoing,
            pending: Mutex::default(),
            next: AtomicU64::new(1),
            era: OnceLock::new(),
            revision: OnceLock::new(),
            offers: OnceLock::new(),
            ended: Mutex::default(),
            changed: Notify::new(),
            hang_up: CancellationToken::new(),
            asks: Mutex::default(),
            asked: AtomicUsize::default(),
            answered: Mutex::default(),
        };
        (Arc::new(connection), sent)
    }

    /// Tells why the line is dead, if it is.
    pub(super) fn ended(&self) -> Option<Failure> {
        locked(&self.ended).clone()
    }

    /// The line is dead: whoever waits is told. The first reason holds.
    pub(super) fn end(&self, failure: &Failure) {
        locked(&self.ended).get_or_insert_with(|| failure.clone());
        self.fail(failure);
        self.hang_up.cancel();
    }

    /// Answers whoever waits with a failure.
    pub(super) fn fail(&self, failure: &Failure) {
        let pending: Vec<PendingRequest> = locked(&self.pending).drain().map(|(_, pending)| pending).collect();
        for waits in pending {
            let _ = waits.reply.send(Err(failure.clone()));
        }
    }

    /// Answers one who waits with a failure.
    pub(super) fn fail_one(&self, id: u64, failure: &Failure) {
        if let Some(waits) = locked(&self.pending).remove(&id) {
            let _ = waits.reply.send(Err(failure.clone()));
        }
    }

    /// Tells whether somebody waits for this answer.
    pub(super) fn is_pending(&self, id: u64) -> bool {
        locked(&self.pending).contains_key(&id)
    }

    /// Sends a notification; a server that does not read misses it.
    pub(super) fn notify(&self, method: &str, params: Value) {
        let _ = self.outgoing.try_send(json_rpc::notification(method, params));
    }

    /// Sends a request and waits for its answer as long as the server gives signs of life within `limit`.
    ///
    /// # Cancel safety
    /// Dropped, the server is told that nobody waits.
    pub(super) async fn request(
        &self,
        method: &str,
        mut params: Map<String, Value>,
        limit: Duration,
        progress: Option<mpsc::Sender<String>>,
    ) -> Result<Value, Failure> {
        if let Some(failure) = self.ended() {
            return Err(failure);
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let mut meta = Map::new();
        if progress.is_some() {
            meta.insert("progressToken".to_owned(), id.into());
        }
        if self.era.get() == Some(&Era::Stateless) {
            meta.insert("io.modelcontextprotocol/protocolVersion".to_owned(), STATELESS.into());
            meta.insert("io.modelcontextprotocol/clientInfo".to_owned(), client());
            meta.insert("io.modelcontextprotocol/clientCapabilities".to_owned(), capabilities());
        }
        if !meta.is_empty() {
            params.insert("_meta".to_owned(), Value::Object(meta));
        }
        let (reply, mut answer) = oneshot::channel();
        let alive = Arc::new(Notify::new());
        locked(&self.pending).insert(id, PendingRequest { reply, progress, alive: Arc::clone(&alive) });
        let mut waiting = Waiting { connection: self, id, reason: "the user stopped it" };
        let slow = || Failure::Slow { seconds: limit.as_secs() };
        let sent =
            tokio::time::timeout(limit, self.outgoing.send(json_rpc::request(id, method, &params.into()))).await;
        match sent {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Err(self.ended().unwrap_or(Failure::Ended { code: None, said: String::new() })),
            Err(_) => {
                waiting.reason = TOO_SLOW;
                return Err(slow());
            }
        }
        let mut deadline = Instant::now() + limit;
        loop {
            tokio::select! {
                biased;
                answered = &mut answer => {
                    drop(waiting);
                    return answered.unwrap_or_else(|_| Err(self.ended().unwrap_or(Failure::Off)));
                }
                () = alive.notified() => deadline = Instant::now() + limit,
                () = tokio::time::sleep_until(deadline) => {
                    let now = Instant::now();
                    // Whoever asks the person may come back to this line only with the answer.
                    let since = if self.asked.load(Ordering::Acquire) > 0 { Some(now) } else { *locked(&self.answered) };
                    deadline = since.map_or(now, |since| since + limit);
                    if deadline <= now {
                        waiting.reason = TOO_SLOW;
                        return Err(slow());
                    }
                }
            }
        }
    }

    /// Asks for something and waits for no answer. A server that does not read is not asked.
    pub(super) fn tell(&self, method: &str, params: Map<String, Value>) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let _ = self.outgoing.try_send(json_rpc::request(id, method, &params.into()));
    }

    /// Lets the server ask the person until what is returned is dropped.
    pub(super) fn let_ask(&self, asks: mpsc::Sender<Asking>) -> impl Drop + '_ {
        struct Until<'a>(&'a Connection);
        impl Drop for Until<'_> {
            fn drop(&mut self) {
                *locked(&self.0.asks) = None;
            }
        }
        *locked(&self.asks) = Some(asks);
        Until(self)
    }

    /// Takes what the server sent. Called on the thread of the servers.
    pub(super) fn receive(self: &Arc<Self>, incoming: Incoming) {
        match incoming {
            Incoming::Answer { id, result } => {
                // One that nobody waits for came too late.
                if let Some(waits) = locked(&self.pending).remove(&id) {
                    let _ = waits.reply.send(result.map_err(|error| refused(&error)));
                }
            }
            Incoming::Notification { method, parameters } => match method.as_str() {
                "notifications/progress" => self.progressed(&parameters),
                "notifications/tools/list_changed"
                | "notifications/prompts/list_changed"
                | "notifications/resources/list_changed" => self.changed.notify_one(),
                // Its log and what belongs to no request of ours.
                _ => {}
            },
            Incoming::Request { id, method, parameters } => match method.as_str() {
                "ping" => self.reply(json_rpc::answer(&id, Ok(json!({})))),
                "elicitation/create" => self.asked(id, parameters),
                _ => {
                    let no_method = RpcError::new(Fault::Method, format!("no method {method} here"));
                    self.reply(json_rpc::answer(&id, Err(no_method)));
                }
            },
        }
    }

    fn reply(&self, answer: Value) {
        let _ = self.outgoing.try_send(answer);
    }

    fn progressed(&self, params: &Value) {
        let id = params.get("progressToken").and_then(Value::as_u64);
        let pending = locked(&self.pending);
        let Some(waits) = id.and_then(|id| pending.get(&id)) else { return };
        waits.alive.notify_one();
        let number = |name: &str| params.get(name).and_then(Value::as_f64);
        let share = match (number("progress"), number("total")) {
            (Some(done), Some(all)) => format!("{done}/{all}"),
            (Some(done), None) => done.to_string(),
            (None, _) => String::new(),
        };
        let words = params.get("message").and_then(Value::as_str).unwrap_or_default();
        let said = format!("{share} {words}");
        if let Some(progress) = &waits.progress {
            let _ = progress.try_send(said.trim().to_owned());
        }
    }

    /// Asks the person while other messages go on.
    fn asked(self: &Arc<Self>, id: Value, params: Value) {
        let connection = Arc::clone(self);
        // Ends with the answer, or when whoever asks the person has gone.
        tokio::spawn(async move {
            let result = connection.ask(params).await;
            connection.reply(json_rpc::answer(&id, Ok(result)));
        });
    }

    /// Asks the person; answers `cancel` if nobody can be asked.
    pub(super) async fn ask(&self, params: Value) -> Value {
        struct Counted<'a>(&'a Connection);
        impl Drop for Counted<'_> {
            fn drop(&mut self) {
                *locked(&self.0.answered) = Some(Instant::now());
                self.0.asked.fetch_sub(1, Ordering::Release);
            }
        }
        let cancelled = || json!({"action": "cancel"});
        let Some(asks) = locked(&self.asks).clone() else { return cancelled() };
        self.asked.fetch_add(1, Ordering::Relaxed);
        let _counted = Counted(self);
        let (reply, answer) = oneshot::channel();
        if asks.send(Asking { params, reply }).await.is_err() {
            return cancelled();
        }
        answer.await.unwrap_or_else(|_| cancelled())
    }

    /// Asks the person for what a call still needs.
    pub(super) async fn inputs(&self, result: &Value) -> Value {
        let mut answers = Map::new();
        for (key, request) in result.get("inputRequests").and_then(Value::as_object).into_iter().flatten() {
            // What else could be asked for was not offered.
            if request.get("method").and_then(Value::as_str) == Some("elicitation/create") {
                let params = request.get("params").cloned().unwrap_or_default();
                answers.insert(key.clone(), self.ask(params).await);
            }
        }
        Value::Object(answers)
    }
}

/// What we can be asked for: the person's answers, nothing else.
pub(super) fn capabilities() -> Value {
    json!({"elicitation": {"form": {}, "url": {}}})
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;

    use super::*;

    const LONG: Duration = Duration::from_hours(1);

    #[tokio::test]
    async fn answers_find_their_requests_in_any_order() {
        let (connection, mut sent) = Connection::new();
        let answers = async {
            let first = sent.recv().await.unwrap();
            let second = sent.recv().await.unwrap();
            assert_eq!((&first["method"], &second["method"]), (&json!("a"), &json!("b")));
            for request in [second, first] {
                let id = request["id"].as_u64().unwrap();
                connection.receive(Incoming::Answer { id, result: Ok(request["method"].clone()) });
            }
        };
        let (first, second, ()) = tokio::join!(
            connection.request("a", Map::new(), LONG, None),
            connection.request("b", Map::new(), LONG, None),
            answers
        );
        assert_eq!((first, second), (Ok(json!("a")), Ok(json!("b"))));
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_server_is_given_up_and_told_so() {
        let (connection, mut sent) = Connection::new();
        let result = connection.request("a", Map::new(), Duration::from_secs(10), None).await;
        assert_eq!(result, Err(Failure::Slow { seconds: 10 }));
        assert_eq!(sent.recv().await.unwrap()["method"], "a");
        let cancelled = sent.recv().await.unwrap();
        assert_eq!(cancelled["method"], "notifications/cancelled");
        assert_eq!(cancelled["params"], json!({"requestId": 1, "reason": TOO_SLOW}));
    }

    #[tokio::test]
    async fn a_server_is_told_that_the_user_stopped_it() {
        let (connection, mut sent) = Connection::new();
        let mut request = Box::pin(connection.request("a", Map::new(), LONG, None));
        assert!(is_waiting(&mut request).await);
        drop(request);
        assert_eq!(sent.recv().await.unwrap()["method"], "a");
        assert_eq!(sent.recv().await.unwrap()["params"]["reason"], "the user stopped it");
    }

    async fn is_waiting(request: &mut (impl Future + Unpin)) -> bool {
        std::future::poll_fn(|context| std::task::Poll::Ready(Pin::new(&mut *request).poll(context).is_pending()))
            .await
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_comes_after_the_deadline_begins_it_anew() {
        let (connection, mut sent) = Connection::new();
        let (asks, mut asked) = mpsc::channel(1);
        let _until = connection.let_ask(asks);
        let mut request = Box::pin(connection.request("a", Map::new(), Duration::from_secs(10), None));
        assert!(is_waiting(&mut request).await);
        assert_eq!(sent.recv().await.unwrap()["method"], "a");
        let (id, parameters) = (json!("q"), json!({"message": "name?"}));
        connection.receive(Incoming::Request { id, method: "elicitation/create".into(), parameters });
        let asking = asked.recv().await.unwrap();
        // While the person is asked, nobody looks at the request.
        tokio::time::advance(Duration::from_secs(100)).await;
        asking.reply.send(json!({"action": "accept"})).unwrap();
        assert_eq!(sent.recv().await.unwrap()["id"], "q");
        assert!(is_waiting(&mut request).await);
        tokio::time::advance(Duration::from_secs(9)).await;
        assert!(is_waiting(&mut request).await);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(request.await, Err(Failure::Slow { seconds: 10 }));
    }

    #[tokio::test(start_paused = true)]
    async fn signs_of_life_and_a_person_who_thinks_give_time() {
        let (connection, mut sent) = Connection::new();
        let (progress, mut lines) = mpsc::channel(8);
        let (asks, mut asked) = mpsc::channel(1);
        let _until = connection.let_ask(asks);
        let server = async {
            assert_eq!(sent.recv().await.unwrap()["params"]["_meta"]["progressToken"], 1);
            for _ in 0..3 {
                tokio::time::sleep(Duration::from_secs(9)).await;
                let parameters = json!({"progressToken": 1, "progress": 1, "total": 4, "message": "half"});
                connection.receive(Incoming::Notification { method: "notifications/progress".into(), parameters });
            }
            let (id, parameters) = (json!("q"), json!({"message": "name?"}));
            connection.receive(Incoming::Request { id, method: "elicitation/create".into(), parameters });
            let asking = asked.recv().await.unwrap();
            tokio::time::sleep(Duration::from_secs(100)).await;
            asking.reply.send(json!({"action": "accept", "content": {"name": "me"}})).unwrap();
            let answer = sent.recv().await.unwrap();
            assert_eq!((&answer["id"], &answer["result"]["content"]["name"]), (&json!("q"), &json!("me")));
            connection.receive(Incoming::Answer { id: 1, result: Ok(json!("done")) });
        };
        let request = connection.request("a", Map::new(), Duration::from_secs(10), Some(progress));
        let (result, ()) = tokio::join!(request, server);
        assert_eq!(result, Ok(json!("done")));
        assert_eq!(lines.recv().await.unwrap(), "1/4 half");
    }

    #[tokio::test]
    async fn nothing_but_the_person_s_answers_can_be_asked_for() {
        let (connection, mut sent) = Connection::new();
        for method in ["sampling/createMessage", "roots/list", "ping", "elicitation/create"] {
            let request = Incoming::Request { id: json!(method), method: method.into(), parameters: json!({}) };
            connection.receive(request);
            let answer = sent.recv().await.unwrap();
            match method {
                "ping" => assert_eq!(answer["result"], json!({})),
                "elicitation/create" => assert_eq!(answer["result"]["action"], "cancel"),
                _ => assert_eq!(answer["error"]["code"], -32601),
            }
        }
    }

    #[tokio::test]
    async fn a_line_that_dies_answers_everybody() {
        let (connection, _sent) = Connection::new();
        let failure = Failure::Ended { code: Some(1), said: "oops".into() };
        let dies = async { connection.end(&failure) };
        let (result, ()) = tokio::join!(connection.request("a", Map::new(), LONG, None), dies);
        assert_eq!(result, Err(failure.clone()));
        assert_eq!(connection.request("b", Map::new(), LONG, None).await, Err(failure));
    }
}
