//! Why a turn failed, as facts, made of what a provider says.

use serde::{Deserialize, Serialize};

use crate::provider::{KeyPlace, ModelError, ProviderError};

/// A provider's failure in facts; serializable so that JSON output can carry it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Failure {
    /// No connection.
    Unreachable {
        /// Scheme, host and port.
        url: String,
        /// In English.
        cause: String,
    },
    /// The connection broke.
    Broken {
        /// Scheme, host and port.
        url: String,
        /// In English.
        cause: String,
    },
    /// Nothing arrived for so long.
    Timeout {
        /// Scheme, host and port.
        url: String,
        /// Seconds.
        seconds: u64,
    },
    /// The key was refused.
    Unauthorized {
        /// The provider's name.
        provider: String,
        /// HTTP status.
        status: u16,
        /// The provider's sentence.
        message: String,
        /// Where the key was found; `None` where none was sent.
        #[serde(skip)]
        place: Option<KeyPlace>,
    },
    /// No such model.
    NoSuchModel {
        /// The provider's name.
        provider: String,
        /// The model's name.
        model: String,
        /// The provider's sentence.
        message: String,
        /// Why axi's own engine cannot use it, where it is that one's.
        #[serde(skip)]
        own: Option<ModelError>,
    },
    /// Too long for the model.
    ContextOverflow {
        /// The provider's sentence.
        message: String,
    },
    /// Another HTTP status.
    Status {
        /// The provider's name.
        provider: String,
        /// HTTP status.
        status: u16,
        /// The provider's sentence.
        message: String,
        /// After how many seconds it wants to be asked again, where it said so.
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_after_seconds: Option<u64>,
    },
    /// Not the protocol.
    Protocol {
        /// The provider's name.
        provider: String,
        /// In English.
        cause: String,
    },
    /// The model answered with nothing, also when asked again.
    Empty,
    /// The copy in which the turn would work is not what is there.
    NoCopy {
        /// Why.
        cause: String,
    },
}

impl Failure {
    /// Tells whether another key, or one at all, is what is missing.
    #[must_use]
    pub fn blames_the_key(&self) -> bool {
        matches!(self, Self::Unauthorized { .. })
    }
}

impl From<&ProviderError> for Failure {
    fn from(error: &ProviderError) -> Self {
        match error.clone() {
            ProviderError::Unreachable { url, cause } => Self::Unreachable { url, cause },
            ProviderError::Broken { url, cause } => Self::Broken { url, cause },
            ProviderError::Timeout { url, after } => Self::Timeout { url, seconds: after.as_secs() },
            ProviderError::Unauthorized { provider, status, message, place } => {
                Self::Unauthorized { provider, status, message, place }
            }
            ProviderError::NoSuchModel { provider, model, message, own } => {
                Self::NoSuchModel { provider, model, message, own }
            }
            ProviderError::ContextOverflow { message } => Self::ContextOverflow { message },
            ProviderError::Status { provider, status, message, retry_after } => Self::Status {
                provider,
                status,
                message,
                retry_after_seconds: retry_after
                    .map(|wait| wait.as_millis().div_ceil(1000))
                    .and_then(|seconds| seconds.try_into().ok()),
            },
            ProviderError::Protocol { provider, cause } => Self::Protocol { provider, cause },
        }
    }
}
