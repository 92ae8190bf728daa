//! Converts a provider's error into the facts that an event carries.

use super::Failure;
use crate::provider::ProviderError;

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
