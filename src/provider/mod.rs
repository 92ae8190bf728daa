//! The model behind a wire: one trait, one row a provider, one file a protocol.
//!
//! This room knows no tool, approval, session, terminal or locale: errors carry facts, others choose words.

mod address;
mod anthropic;
mod connect;
mod discover;
mod framing;
mod http;
mod ids;
#[cfg(feature = "local")]
pub mod local;
mod models;
mod ndjson;
mod ollama;
mod openai_chat;
mod problem;
mod redact;
mod retry;
mod settings;
mod sse;
mod table;
mod transport;
mod wire;

use std::time::Duration;

use futures_util::stream::BoxStream;

pub use address::{base_url, ollama_host};
pub use connect::{connect, decoder};
pub use discover::{DISCOVERY_LIMIT, Discovery, FoundKey, FoundServer, discover, keys_in_environment};
pub use http::{Client, Patience, is_loopback};
pub use models::{ModelEntry, list_models};
pub use ndjson::NdjsonParser;
pub use problem::Origin;
pub use retry::RetryPlan;
pub use settings::{CallExtras, CallIds, OutputLimit, Protocol, ProviderSettings, Quirks, ReasoningEcho, Secret};
pub use sse::{MAX_EVENT_BYTES, SseEvent, SseParser, TooLong};
pub use table::{Environment, KnownModels, Row, TABLE, find};
pub use transport::cause;
pub use wire::{Decoder, Progress};

use crate::conversation::{Message, StreamEvent, ToolSpec};

/// A model that can be asked.
///
/// Called by the agent once a step. Implementers own one HTTP client and the wire's quirks.
pub trait Provider: Send + Sync {
    /// Returns what is known about the model.
    fn model(&self) -> &ModelInfo;

    /// Sends the request and streams the answer. The stream ends after [`StreamEvent::Done`], or with the
    /// first error; a connection that closes before the wire's end mark is [`ProviderError::Broken`].
    ///
    /// # Cancel safety
    /// Dropping the stream closes the connection and cancels the request.
    fn stream<'a>(&'a self, request: Request<'a>) -> EventStream<'a>;

    /// Writes how a line goes on behind `before`, as text and no conversation, while it is sure of it. `before` should
    /// stay the same for a while: what was read of it is kept. `None` where the model is not in this process.
    fn finish_line<'a>(&'a self, _before: &'a str, _line: &'a str) -> Option<EventStream<'a>> {
        None
    }

    /// Is told, once the first prompt is painted, what the next request will begin with. Does not wait.
    fn prepare(&self, _request: Request<'_>) {}
}

/// The events of one answer.
pub type EventStream<'a> = BoxStream<'a, Result<StreamEvent, ProviderError>>;

/// The provider of the models that axi runs itself.
pub const OWN: &str = "local";

/// What is known about a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelInfo {
    /// The provider's name: a row of the table or a section of the settings.
    pub provider: String,
    /// The model's name at the provider.
    pub model: String,
    /// Context window in tokens, when known.
    pub context_window: Option<u64>,
    /// Whether tools may be sent.
    pub tools: bool,
    /// Whether pictures may be sent.
    pub vision: bool,
    /// Whether it runs on this machine (a loopback address).
    pub local: bool,
    /// Whether it is so small that it needs a short prompt and few tools.
    pub small: bool,
}

impl ModelInfo {
    /// Returns `PROVIDER/MODEL`.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}/{}", self.provider, self.model)
    }

    /// Tells whether axi runs it itself, in its own process.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.provider == OWN
    }
}

/// One question to a model. Stable parts come first on every wire: prompt caches live on their bytes.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The system prompt; the same bytes for a whole session.
    pub system: &'a str,
    /// The conversation, oldest first; its invariant holds.
    pub messages: &'a [Message],
    /// The tools, in a stable order; empty when the model has none.
    pub tools: &'a [ToolSpec],
    /// The most tokens to write; `None` leaves it to the provider (or its documented default where the wire
    /// demands a number).
    pub max_output_tokens: Option<u64>,
    /// How freely it writes: 0 always the likeliest word, 1 as it was trained to; `None` leaves it to the provider.
    pub temperature: Option<f64>,
}

/// Why an answer did not come, in facts. Never carries a key, a header or a raw body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// No connection: refused, no route, DNS, TLS, proxy.
    #[error("cannot reach {url}: {cause}")]
    Unreachable {
        /// Scheme, host and port only.
        url: String,
        /// The innermost cause in English.
        cause: String,
    },
    /// The connection broke, or ended before the wire's end mark.
    #[error("the connection to {url} broke: {cause}")]
    Broken {
        /// Scheme, host and port only.
        url: String,
        /// The innermost cause in English.
        cause: String,
    },
    /// Nothing arrived for this long.
    #[error("{url} sent nothing for {} s", after.as_secs())]
    Timeout {
        /// Scheme, host and port only.
        url: String,
        /// How long was waited.
        after: Duration,
    },
    /// The key is missing or was refused (HTTP 401, 403).
    #[error("{provider} refused the key (HTTP {status})")]
    Unauthorized {
        /// The provider's name.
        provider: String,
        /// HTTP status.
        status: u16,
        /// The provider's own sentence, sanitised, at most 300 characters, secrets removed.
        message: String,
    },
    /// The model is not there (HTTP 404, or the provider's own code).
    #[error("{provider} has no model {model}")]
    NoSuchModel {
        /// The provider's name.
        provider: String,
        /// The model's name.
        model: String,
        /// The provider's own sentence, as above.
        message: String,
    },
    /// The request is larger than the model's context.
    #[error("the conversation is longer than the model's context: {message}")]
    ContextOverflow {
        /// The provider's own sentence, as above.
        message: String,
    },
    /// Any other HTTP status, or an error event inside a stream (then with the status it stands for).
    #[error("{provider} answered HTTP {status}: {message}")]
    Status {
        /// The provider's name.
        provider: String,
        /// HTTP status.
        status: u16,
        /// The provider's own sentence, as above.
        message: String,
        /// The server's Retry-After.
        retry_after: Option<Duration>,
    },
    /// The bytes were not what the protocol says.
    #[error("{provider} broke its protocol: {cause}")]
    Protocol {
        /// The provider's name.
        provider: String,
        /// What was wrong, in English, without the bytes.
        cause: String,
    },
}
