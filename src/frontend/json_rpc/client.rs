//! The line to the client: notifications, answers, and requests of our own with who waits for them.

use std::collections::HashMap;
use std::io::Write;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::plain::clean;
use crate::json_rpc::{self, RpcError};
use crate::terminal::escape_json;

/// What came of a request of ours.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::frontend) enum Reply {
    /// An answer.
    Result(Value),
    /// An error: the client does not do it.
    Refused,
    /// The turn was stopped, or the client is gone: nobody answers any more.
    Stopped,
}

/// Where lines go.
pub(in crate::frontend) type Lines = Box<dyn Write + Send>;

/// Is told that nobody reads any more.
pub(in crate::frontend) type OnBreak = Box<dyn Fn() + Send>;

/// The line to the client; clones are the same line.
#[derive(Clone)]
pub(in crate::frontend) struct Client(Arc<Shared>);

struct Shared {
    out: Mutex<Out>,
    waiting: Mutex<Waiting>,
}

struct Out {
    lines: Lines,
    broken: bool,
    on_break: OnBreak,
}

#[derive(Default)]
struct Waiting {
    /// By id: whose session it is, and who waits.
    requests: HashMap<u64, (String, Sender<Reply>)>,
    last: u64,
    /// Whether the client is gone: a new request then gets no answer.
    gone: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Client {
    pub(in crate::frontend) fn new(lines: Lines, on_break: OnBreak) -> Self {
        let out = Mutex::new(Out { lines, broken: false, on_break });
        Self(Arc::new(Shared { out, waiting: Mutex::default() }))
    }

    /// Writes one message: one line, in one write.
    fn send(&self, message: Value) {
        let mut line = escape_json(clean(message).to_string());
        line.push('\n');
        let mut out = lock(&self.0.out);
        if out.broken {
            return;
        }
        if let Err(error) = out.lines.write_all(line.as_bytes()).and_then(|()| out.lines.flush()) {
            tracing::info!(%error, "the client reads no more");
            out.broken = true;
            (out.on_break)();
        }
    }

    /// Tells something that needs no answer.
    pub(in crate::frontend) fn notify(&self, method: &str, parameters: Value) {
        self.send(json_rpc::notification(method, parameters));
    }

    /// Answers a request.
    pub(in crate::frontend) fn answer(&self, id: &Value, result: Result<Value, RpcError>) {
        self.send(json_rpc::answer(id, result));
    }

    /// Makes a request of our own for a session; the answer arrives at the receiver.
    pub(in crate::frontend) fn request(&self, session: &str, method: &str, parameters: &Value) -> Receiver<Reply> {
        let (sender, receiver) = channel();
        let id = {
            let mut waiting = lock(&self.0.waiting);
            if waiting.gone {
                // Dropping the sender answers, too.
                return receiver;
            }
            waiting.last += 1;
            let id = waiting.last;
            waiting.requests.insert(id, (session.to_owned(), sender));
            id
        };
        self.send(json_rpc::request(id, method, parameters));
        receiver
    }

    /// The client answered a request of ours.
    pub(in crate::frontend) fn answered(&self, id: u64, result: Result<Value, RpcError>) {
        if let Some((_, sender)) = lock(&self.0.waiting).requests.remove(&id) {
            // Fails if the turn was stopped and nobody waits any more.
            drop(sender.send(result.map_or_else(|_| Reply::Refused, Reply::Result)));
        }
    }

    /// Nobody waits for the answers of this session any more.
    pub(in crate::frontend) fn stop_waiting(&self, session: &str) {
        lock(&self.0.waiting).requests.retain(|_, (whose, sender)| {
            let stops = whose == session;
            if stops {
                drop(sender.send(Reply::Stopped));
            }
            !stops
        });
    }

    /// Tells whether the client is gone.
    pub(in crate::frontend) fn is_gone(&self) -> bool {
        lock(&self.0.waiting).gone
    }

    /// The client is gone.
    pub(in crate::frontend) fn gone(&self) {
        let mut waiting = lock(&self.0.waiting);
        waiting.gone = true;
        waiting.requests.clear();
    }
}

/// Waits for the answer of a request.
pub(in crate::frontend) fn wait(receiver: &Receiver<Reply>) -> Reply {
    receiver.recv().unwrap_or(Reply::Stopped)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::json_rpc::Fault;

    #[test]
    fn a_title_with_an_escape_is_sent_without_it() {
        struct Kept(Arc<Mutex<Vec<u8>>>);
        impl Write for Kept {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                lock(&self.0).extend(bytes);
                Ok(bytes.len())
            }

            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let sent = Arc::new(Mutex::default());
        let client = Client::new(Box::new(Kept(Arc::clone(&sent))), Box::new(|| {}));
        client.notify("session/update", json!({"update": {"title": "a\u{1b}]0;b\u{7}"}}));
        let sent: Value = serde_json::from_slice(&lock(&sent)).unwrap();
        assert_eq!(sent["params"]["update"]["title"], "a␛]0;b␇");
    }

    #[test]
    fn a_request_is_answered_refused_or_stopped_and_never_left_waiting() {
        let client = Client::new(Box::new(std::io::sink()), Box::new(|| {}));
        let ask = |session| client.request(session, "x", &json!({}));
        let (first, second, third, fourth) = (ask("a"), ask("a"), ask("a"), ask("b"));
        client.answered(2, Err(RpcError::new(Fault::Method, "no")));
        client.answered(1, Ok(json!(5)));
        client.answered(99, Ok(json!(5)));
        client.stop_waiting("a");
        assert_eq!(wait(&first), Reply::Result(json!(5)));
        assert_eq!(wait(&second), Reply::Refused);
        assert_eq!(wait(&third), Reply::Stopped);
        client.gone();
        assert_eq!(wait(&fourth), Reply::Stopped);
        assert_eq!(wait(&ask("b")), Reply::Stopped);
    }
}
