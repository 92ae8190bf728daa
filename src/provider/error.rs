//! Why an answer did not come: facts that callers act on. Never carries a key, a header or a raw body.

use std::time::Duration;

use super::model_error::ModelError;
use super::settings::KeyPlace;

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
        /// Where the key was found; `None` where none was sent.
        place: Option<KeyPlace>,
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
        /// Why axi's own engine cannot use it, where it is that one's.
        own: Option<ModelError>,
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
