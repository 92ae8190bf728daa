//! Whether to send a failed request again, and when. Pure: the agent does the waiting.

use std::time::Duration;

use super::transport::cause;
use crate::provider::error::ProviderError;

/// Limits of repetition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPlan {
    /// Requests in all, the first included.
    pub requests: u32,
    /// The wait before the first repetition, before jitter; doubles each time.
    pub base: Duration,
    /// The longest wait we choose ourselves.
    pub cap: Duration,
    /// A server that asks for a longer wait than this is not waited for: the person is told instead.
    pub longest: Duration,
}

impl Default for RetryPlan {
    /// Five requests, waits of 1, 2, 4 and 8 s before jitter, capped at 30 s; at most 120 s if the server asks.
    fn default() -> Self {
        Self {
            requests: 5,
            base: Duration::from_secs(1),
            cap: Duration::from_secs(30),
            longest: Duration::from_mins(2),
        }
    }
}

/// Repetitions when the other side cannot be reached at all: enough for a server that is just starting or a cable
/// just plugged in; more would only make people wait for the news.
const UNREACHABLE_REPETITIONS: u32 = 2;

/// The wait before each of those, before jitter.
const UNREACHABLE_WAIT: Duration = Duration::from_millis(300);

/// Repetitions after minutes of silence or after bytes that made no sense.
const HOPELESS_REPETITIONS: u32 = 1;

impl RetryPlan {
    /// Returns how often a request that failed like this is repeated at most.
    #[must_use]
    pub fn most(&self, error: &ProviderError) -> u32 {
        match error {
            ProviderError::Unreachable { cause, .. } => reaching_may_help(cause),
            ProviderError::Broken { .. } => self.requests.saturating_sub(1),
            ProviderError::Timeout { .. } | ProviderError::Protocol { .. } => HOPELESS_REPETITIONS,
            ProviderError::Status { status, message, retry_after, .. } => {
                if !status_may_pass(*status) || (retry_after.is_none() && is_out_of_money(message)) {
                    return 0;
                }
                self.requests.saturating_sub(1)
            }
            ProviderError::Unauthorized { .. }
            | ProviderError::NoSuchModel { .. }
            | ProviderError::ContextOverflow { .. } => 0,
        }
    }

    /// Decides about repeating a request that failed before anything of its answer was shown.
    ///
    /// `repetition` is 1 for the first repetition. `random` is in 0..1 and spreads the waits of many clients over
    /// the upper half of each. `None` means: tell the person.
    #[must_use]
    pub fn decide(&self, repetition: u32, error: &ProviderError, random: f64) -> Option<Duration> {
        let most = self.most(error);
        if repetition == 0 || repetition > most {
            return None;
        }
        let wait = match error {
            ProviderError::Unreachable { .. } => UNREACHABLE_WAIT,
            _ => self.base.saturating_mul(1 << (repetition - 1).min(20)).min(self.cap),
        };
        let random = if random.is_finite() { random.clamp(0.0, 1.0) } else { 1.0 };
        let wait = wait.mul_f64(0.5 + random / 2.0);
        let ProviderError::Status { retry_after: Some(asked), .. } = error else { return Some(wait) };
        // A floor only: servers under load have been seen to ask for 0 or 1 s for ever.
        (*asked <= self.longest).then(|| wait.max(*asked))
    }
}

/// Tells whether a status is worth another try: those that forge, codex and opencode repeat as well. 501 and 505
/// say that the server will never do it.
const fn status_may_pass(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..=599) && !matches!(status, 501 | 505)
}

impl ProviderError {
    /// Tells whether the provider is overloaded: another provider or model may answer the question.
    #[must_use]
    pub fn is_overload(&self) -> bool {
        let Self::Status { status, message, .. } = self else { return false };
        matches!(status, 429 | 500..=599) && status_may_pass(*status) && !is_out_of_money(message)
    }
}

/// OpenAI answers 429 also when the account is empty (code `insufficient_quota`).
fn is_out_of_money(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    message.contains("exceeded your current quota") || message.contains("insufficient balance")
}

fn reaching_may_help(cause: &str) -> u32 {
    let never = [
        cause::UNTRUSTED,
        cause::CERTIFICATE_DATE,
        cause::CERTIFICATE_EARLY,
        cause::CLOCK_BEHIND,
        cause::CLOCK_AHEAD,
        cause::PORTAL,
        cause::CERTIFICATE_NAME,
        cause::CERTIFICATE_FILE,
        cause::TLS,
        cause::BAD_URL,
        cause::BAD_PROXY,
        cause::BAD_HEADER,
    ];
    if never.contains(&cause) { 0 } else { UNREACHABLE_REPETITIONS }
}

#[cfg(test)]
#[path = "retry_tests.rs"]
mod tests;
