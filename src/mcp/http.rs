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

use super::connection::Connection;
use super::failure::Failure;
use super::message::{self, MOST, MOST_MEGABYTES};
use super::sign_in::{Challenge, Pass};
use super::spoken::STATELESS;
use crate::cause::innermost;
use crate::json_rpc::error_in;
use crate::sse::SseParser;

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
            let nothing =
                if status.is_success() { Failure::NotMcp } else { Failure::Status { status: status.as_u16() } };
            return Err(error_in(&body).map_or(nothing, |error| message::refused(&error)));
        }
        Ok(())
    }

    /// Reads a stream of events until the request is answered; one that breaks off is taken up again where it was.
    async fn follow(&self, id: u64, response: Response) -> Result<(), Failure> {
        let mut events = SseParser::new();
        let mut response = response;
        for _ in 0..=RESUMES {
            self.read(&mut events, response).await?;
            if !self.connection.is_pending(id) {
                return Ok(());
            }
            let Some(last) = events.last_id().and_then(|last| HeaderValue::from_str(last).ok()) else { break };
            tokio::time::sleep(events.retry().unwrap_or(RESUME_AFTER).min(LONGEST_WAIT)).await;
            let again = self.request(Method::GET, None).header(ACCEPT, "text/event-stream");
            let again = again.header("Last-Event-ID", last).send().await;
            match again {
                Ok(again) if again.status().is_success() && is_stream(&again) => {
                    events.begin_again();
                    response = again;
                }
                Ok(_) => break,
                Err(error) => return Err(unreached(&error)),
            }
        }
        Err(Failure::Ended { code: None, said: String::new() })
    }

    /// Hands on the events of a stream until it ends.
    async fn read(&self, events: &mut SseParser, mut response: Response) -> Result<(), Failure> {
        // Where it breaks off or ends, whoever waits decides.
        while let Ok(Some(bytes)) = response.chunk().await {
            let found = events.push(&bytes).map_err(|_| Failure::TooLarge { megabytes: MOST_MEGABYTES })?;
            for incoming in found.iter().flat_map(|event| message::read(event.data.as_bytes())) {
                self.connection.receive(incoming);
            }
        }
        Ok(())
    }

    /// Hears the messages that a server with sessions sends unasked; many send none.
    async fn listen(&self) {
        let request = self.request(Method::GET, None).header(ACCEPT, "text/event-stream");
        let Ok(response) = request.send().await else { return };
        if response.status().is_success() && is_stream(&response) {
            let _ = self.read(&mut SseParser::new(), response).await;
        }
    }
}

fn unreached(error: &reqwest::Error) -> Failure {
    Failure::Unreached { cause: innermost(error) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_goes_into_a_header_whatever_it_is() {
        assert_eq!(header_text("get_weather"), "get_weather");
        assert_eq!(header_text("é\r\nX: y"), "=?base64?w6kNClg6IHk=?=");
        assert_eq!(header_text(" a"), "=?base64?IGE=?=");
        assert!(headers(&[("a b".to_owned(), "x".to_owned())].into()).is_err());
        assert!(headers(&[("a".to_owned(), "x\ny".to_owned())].into()).is_err());
    }
}
