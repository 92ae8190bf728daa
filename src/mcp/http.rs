//! A server behind an address: each message is a POST, its answer JSON or a stream of events (streamable HTTP, revisions
//! 2025-03-26 to 2026-07-28).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Response, StatusCode};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use super::connection::{Connection, STATELESS};
use super::failure::Failure;
use super::line::{Line, Lines, MOST_MEGABYTES};
use super::message::{self, Incoming};
use super::sign_in::{Challenge, Pass};

/// The most bytes of an answer that is no stream.
const MOST: usize = 16 * 1024 * 1024;
/// How often a stream that broke off is taken up again.
const RESUMES: usize = 5;
/// How long a server is waited for before that, if it says nothing else, and at most.
const RESUME_AFTER: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// How long the server may take to receive what is only told to it: calls wait behind that.
const TELL: Duration = Duration::from_secs(10);
/// How long saying good-bye may take.
const GOODBYE: Duration = Duration::from_millis(500);

/// How often another token is tried for one message.
const MOST_RENEWALS: usize = 2;

const SESSION_ID: &str = "mcp-session-id";

/// Where a server is, and what it is shown.
pub(super) struct Far {
    pub(super) url: String,
    pub(super) headers: HeaderMap,
    pub(super) client: reqwest::Client,
    /// What proves who asks; nothing where the headers do.
    pub(super) pass: Option<Pass>,
}

/// The far end of a line.
struct Address {
    far: Far,
    connection: Arc<Connection>,
    session: Mutex<Option<HeaderValue>>,
}

/// Makes the headers that a definition says.
pub(super) fn headers(said: &BTreeMap<String, String>) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::new();
    for (name, value) in said {
        let wrong = || Failure::NotStarted { cause: format!("the header {name} cannot be sent") };
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(headers)
}

/// Carries messages both ways until the line is hung up or axi ends.
pub(super) async fn drive(
    far: Far,
    connection: Arc<Connection>,
    mut sent: mpsc::Receiver<Value>,
    stop: CancellationToken,
) {
    let address = Arc::new(Address { far, connection, session: Mutex::default() });
    let connection = &address.connection;
    let mut posts: HashMap<u64, AbortHandle> = HashMap::new();
    let mut listening = None;
    loop {
        let message = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            () = connection.hang_up.cancelled() => break,
            message = sent.recv() => match message {
                Some(message) => message,
                None => break,
            },
        };
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
        let id = message.get("id").and_then(Value::as_u64).filter(|_| !method.is_empty());
        if let Some(id) = id {
            posts.retain(|_, post| !post.is_finished());
            let address = Arc::clone(&address);
            // Ends with its answer, or is aborted below.
            posts.insert(id, tokio::spawn(async move { address.ask(id, &message).await }).abort_handle());
            continue;
        }
        if method == "notifications/cancelled" {
            let id = message["params"].get("requestId").and_then(Value::as_u64);
            // A server without sessions learns of it because the request ends.
            if let Some(post) = id.and_then(|id| posts.remove(&id)) {
                post.abort();
            }
            if address.session().is_none() {
                continue;
            }
        }
        // Notices are sent in their order; only their arrival is waited for.
        let told = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            () = connection.hang_up.cancelled() => break,
            told = tokio::time::timeout(TELL, address.post(&message)) => told,
        };
        if !matches!(told, Ok(Ok(_))) {
            tracing::debug!(method, "a server could not be told");
        }
        if method == "notifications/initialized" && listening.is_none() {
            let address = Arc::clone(&address);
            listening = Some(tokio::spawn(async move { address.listen().await }).abort_handle());
        }
    }
    for post in posts.into_values().chain(listening) {
        post.abort();
    }
    connection.end(&Failure::Off);
    if address.session().is_some() {
        let request = address.request(Method::DELETE, None).send();
        // A server need not allow it.
        let _ = tokio::time::timeout(GOODBYE, request).await;
    }
}

impl Address {
    fn session(&self) -> Option<HeaderValue> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn request(&self, method: Method, message: Option<&Value>) -> reqwest::RequestBuilder {
        let Far { url, headers, client, pass } = &self.far;
        let mut request = client.request(method, url).headers(headers.clone());
        if let Some(token) = pass.as_ref().and_then(Pass::header) {
            request = request.header(AUTHORIZATION, token);
        }
        if let Some(session) = self.session() {
            request = request.header(SESSION_ID, session);
        }
        let stateless = message.is_some_and(|message| {
            message["params"]["_meta"].get("io.modelcontextprotocol/protocolVersion").is_some()
        });
        if stateless {
            request = request.header("MCP-Protocol-Version", STATELESS);
        } else if let Some(revision) = self.connection.revision.get() {
            request = request.header("MCP-Protocol-Version", revision);
        }
        let Some(message) = message else { return request };
        if stateless {
            if let Some(method) = message["method"].as_str() {
                request = request.header("Mcp-Method", method);
            }
            let named = message["params"].get("name").or_else(|| message["params"].get("uri"));
            if let Some(name) = named.and_then(Value::as_str) {
                request = request.header("Mcp-Name", header_text(name));
            }
        }
        request
            .header(ACCEPT, "application/json, text/event-stream")
            .header(CONTENT_TYPE, "application/json")
            .body(message.to_string())
    }

    /// Sends a message; again, with a better token, where the one before was refused: first the one that is kept, then a new
    /// one.
    async fn post(&self, message: &Value) -> Result<Response, reqwest::Error> {
        let mut renewals = 0;
        loop {
            let shown = self.far.pass.as_ref().and_then(Pass::header);
            let response = self.request(Method::POST, Some(message)).send().await?;
            let Some(pass) = self.far.pass.as_ref().filter(|_| response.status() == StatusCode::UNAUTHORIZED)
            else {
                return Ok(response);
            };
            renewals += 1;
            if renewals > MOST_RENEWALS || !pass.renew(shown.as_ref()).await {
                return Ok(response);
            }
        }
    }

    /// Why the server refused axi: with 401, or with 403 and `insufficient_scope`.
    async fn shut(&self, response: &Response) -> Option<Failure> {
        let challenge = Challenge::read(response.headers());
        let wants_more = response.status() == StatusCode::FORBIDDEN && challenge.wants_more();
        if !wants_more && response.status() != StatusCode::UNAUTHORIZED {
            return None;
        }
        let Some(pass) = &self.far.pass else { return Some(Failure::KeyRefused) };
        if let Some(scope) = challenge.scope.filter(|_| wants_more) {
            pass.wants(&scope).await;
        }
        Some(Failure::SignIn)
    }

    /// Sends a request and hands on all that comes back.
    async fn ask(&self, id: u64, message: &Value) {
        if let Err(failure) = self.answered(id, message).await {
            self.connection.fail_one(id, &failure);
        }
    }

    async fn answered(&self, id: u64, message: &Value) -> Result<(), Failure> {
        let response = self.post(message).await.map_err(|error| unreached(&error))?;
        let status = response.status();
        if let Some(session) = response.headers().get(SESSION_ID) {
            *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(session.clone());
        }
        if status == StatusCode::NOT_FOUND && self.session().is_some() {
            // The session is over: the next call begins another.
            let ended = Failure::Ended { code: None, said: String::new() };
            self.connection.end(&ended);
            return Err(ended);
        }
        if let Some(failure) = self.shut(&response).await {
            return Err(failure);
        }
        if is_stream(&response) && status.is_success() {
            return self.follow(id, response).await;
        }
        let body = whole(response).await?;
        for incoming in message::read(&body) {
            // An error that names no request is the answer to this one.
            self.connection.receive(incoming);
        }
        if self.connection.is_pending(id) {
            return Err(message::error_in(&body).unwrap_or(if status.is_success() {
                Failure::NotMcp
            } else {
                Failure::Status { status: status.as_u16() }
            }));
        }
        Ok(())
    }

    /// Reads a stream of events until the request is answered; one that breaks off is taken up again where it was.
    async fn follow(&self, id: u64, response: Response) -> Result<(), Failure> {
        let mut events = Events::default();
        let mut response = response;
        for _ in 0..=RESUMES {
            self.read(&mut events, response).await?;
            events = events.broken_off();
            if !self.connection.is_pending(id) {
                return Ok(());
            }
            let Some(last) = events.last.as_ref().and_then(|last| HeaderValue::from_str(last).ok()) else { break };
            tokio::time::sleep(events.retry.unwrap_or(RESUME_AFTER).min(LONGEST_WAIT)).await;
            let again = self.request(Method::GET, None).header(ACCEPT, "text/event-stream");
            let again = again.header("Last-Event-ID", last).send().await;
            match again {
                Ok(again) if again.status().is_success() && is_stream(&again) => response = again,
                Ok(_) => break,
                Err(error) => return Err(unreached(&error)),
            }
        }
        Err(Failure::Ended { code: None, said: String::new() })
    }

    /// Hands on the events of a stream until it ends.
    async fn read(&self, events: &mut Events, mut response: Response) -> Result<(), Failure> {
        loop {
            let mut found: Vec<Incoming> = Vec::new();
            let mut too_long = false;
            match response.chunk().await {
                Ok(Some(bytes)) => events.push(&bytes, |data| match data {
                    Some(data) => found.extend(message::read(data.as_bytes())),
                    None => too_long = true,
                }),
                // Broken off or at its end: whoever waits decides.
                Ok(None) | Err(_) => return Ok(()),
            }
            for incoming in found {
                self.connection.receive(incoming);
            }
            if too_long {
                return Err(Failure::TooLarge { megabytes: MOST_MEGABYTES });
            }
        }
    }

    /// Hears the messages that a server with sessions sends unasked; many send none.
    async fn listen(&self) {
        let request = self.request(Method::GET, None).header(ACCEPT, "text/event-stream");
        let Ok(response) = request.send().await else { return };
        if response.status().is_success() && is_stream(&response) {
            let _ = self.read(&mut Events::default(), response).await;
        }
    }
}

fn unreached(error: &reqwest::Error) -> Failure {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    Failure::Unreached { cause: innermost.to_string() }
}

fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.to_ascii_lowercase().starts_with("text/event-stream")
}

async fn whole(mut response: Response) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.map_err(|error| unreached(&error))? {
        if body.len() + bytes.len() > MOST {
            return Err(Failure::TooLarge { megabytes: MOST_MEGABYTES });
        }
        body.extend_from_slice(&bytes);
    }
    Ok(body)
}

/// A text as a header takes it: as it is where it is plain, else in base64 (revision 2026-07-28, Value Encoding).
fn header_text(text: &str) -> String {
    let plain = text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) && text.trim() == text && !text.is_empty();
    if plain && !text.starts_with("=?base64?") {
        text.to_owned()
    } else {
        format!("=?base64?{}?=", STANDARD.encode(text))
    }
}

/// Cuts a stream into events (HTML standard, 9.2.6).
#[derive(Default)]
struct Events {
    lines: Lines,
    data: Vec<String>,
    size: usize,
    /// The name of the event that is being read, or of the last one.
    id: Option<String>,
    /// The name of the last event that was complete: where a new stream begins.
    last: Option<String>,
    /// How long the server wants to be waited for before the stream is taken up again.
    retry: Option<Duration>,
}

impl Events {
    /// What stays when a stream breaks off: what was half said of an event comes again with the next stream.
    fn broken_off(self) -> Self {
        let Self { last, retry, .. } = self;
        Self { id: last.clone(), last, retry, ..Self::default() }
    }

    /// Takes bytes, cut anywhere; gives the data of each event that is complete, nothing for one that is too long.
    fn push(&mut self, bytes: &[u8], mut emit: impl FnMut(Option<String>)) {
        let Self { lines, data, size, id, last, retry } = self;
        lines.push(bytes, |line| {
            let Line::Whole(line) = line else { return emit(None) };
            let line = String::from_utf8_lossy(&line);
            let line = line.strip_suffix('\r').unwrap_or(&line);
            if line.is_empty() {
                last.clone_from(id);
                if !data.is_empty() {
                    emit(Some(data.join("\n")));
                }
                data.clear();
                *size = 0;
                return;
            }
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "data" => {
                    *size += value.len();
                    if *size > MOST {
                        data.clear();
                        emit(None);
                    } else {
                        data.push(value.to_owned());
                    }
                }
                "id" if !value.contains('\0') => *id = Some(value.to_owned()).filter(|id| !id.is_empty()),
                "retry" => *retry = value.parse().ok().map(Duration::from_millis),
                _ => {}
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_cutting_of_a_stream_gives_the_same_events() {
        let text = ": hello\r\nid: 7\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\nretry: 20\nevent: x\ndata:b\n\ndata: open";
        let cut = |pieces: &[&[u8]]| {
            let (mut events, mut found) = (Events::default(), Vec::new());
            for piece in pieces {
                events.push(piece, |data| found.push(data));
            }
            (found, events.last, events.retry)
        };
        let whole = cut(&[text.as_bytes()]);
        let events = vec![Some("{\"a\":\n1}".to_owned()), Some("b".to_owned())];
        assert_eq!(whole, (events, Some("7".to_owned()), Some(Duration::from_millis(20))));
        for at in 0..text.len() {
            assert_eq!(cut(&[&text.as_bytes()[..at], &text.as_bytes()[at..]]), whole, "{at}");
        }
    }

    #[test]
    fn a_stream_that_breaks_off_anywhere_is_taken_up_after_its_last_whole_event() {
        let event = |number: usize| format!("id: {number}\r\ndata: {{\"n\":\ndata: {number}}}\r\n\r\n");
        let whole: String = (0..4).map(event).collect();
        for at in 0..=whole.len() {
            let mut found = Vec::new();
            let mut events = Events::default();
            events.push(&whole.as_bytes()[..at], |data| found.extend(data));
            events = events.broken_off();
            // The server begins after the event that it is told.
            let next = events.last.as_ref().map_or(0, |last| last.parse::<usize>().unwrap() + 1);
            let rest: String = (next..4).map(event).collect();
            events.push(rest.as_bytes(), |data| found.extend(data));
            let all: Vec<String> = (0..4).map(|number| format!("{{\"n\":\n{number}}}")).collect();
            assert_eq!(found, all, "{at}");
        }
    }

    #[test]
    fn a_name_goes_into_a_header_whatever_it_is() {
        assert_eq!(header_text("get_weather"), "get_weather");
        assert_eq!(header_text("é\r\nX: y"), "=?base64?w6kNClg6IHk=?=");
        assert_eq!(header_text(" a"), "=?base64?IGE=?=");
        assert!(headers(&[("a b".to_owned(), "x".to_owned())].into()).is_err());
        assert!(headers(&[("a".to_owned(), "x\ny".to_owned())].into()).is_err());
    }
}
