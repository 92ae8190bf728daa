//! From an HTTP status and a body, or an error object inside a stream, to a [`ProviderError`]. Pure.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use time::{Date, Month, Time};

use super::redact::sanitise;
use crate::conversation::StopReason;
use crate::provider::address::url_origin;
use crate::provider::error::ProviderError;
use crate::provider::settings::{ProviderSettings, Secret};

/// The server and model that errors are about; every decoder carries one.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The provider's name.
    pub provider: String,
    /// The model's name.
    pub model: String,
    /// Scheme, host and port.
    pub url: String,
    /// The key in use, so that no message repeats it.
    pub secret: Option<Secret>,
}

/// What a server said was wrong, before it is classified.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// Its codes and types in lower case, most telling first.
    pub(crate) codes: Vec<String>,
    /// Its own sentence, raw; sanitise before showing.
    pub(crate) message: String,
    /// A wait it asked for in the body (Google's `RetryInfo`).
    pub(crate) retry_after: Option<Duration>,
}

/// Codes and types that mean the context is too small.
const OVERFLOW_CODES: &[&str] = &[
    "context_length_exceeded",
    "exceed_context_size_error",
    "context_window_exceeded",
    "model_max_prompt_tokens_exceeded",
];

/// Sentences that mean it, in lower case: OpenAI, Anthropic, llama.cpp, vLLM, Bedrock, Cohere, Poolside, Ollama,
/// Groq, Mistral, Gemini, xAI, LM Studio, Together (earendil-works/pi#5930, sst/opencode#17746).
const OVERFLOW_TEXTS: &[&str] = &[
    "maximum context length",
    "prompt is too long",
    "exceeds the available context size",
    "exceed context limit",
    "exceeds the maximum allowed input length",
    "input is too long",
    "total tokens exceeds",
    "your prompt contains at least",
    "input length exceeds the context length",
    "exceeds the context window",
    "exceeds context window",
    "context length exceeded",
    "reduce the length of the messages",
    "input token count",
    "maximum prompt length",
    "greater than the context length",
    "exceeds the model's maximum context",
    "too large for model with",
    "longest context",
    "exceeded model token limit",
];

/// Sentences of throttles that look like overflows: "Too many tokens, please wait" is Bedrock's rate limit.
const THROTTLE_TEXTS: &[&str] = &[
    "too many tokens, please wait",
    "rate limit",
    "rate_limit",
    "tokens per minute",
    "tokens per day",
    "quota",
    "throttl",
];

/// Codes and sentences that mean that the model is not there.
const NO_MODEL_CODES: &[&str] = &["model_not_found", "model_not_exist", "invalid_model"];
const NO_MODEL_TEXTS: &[&str] = &[
    "model not exist",
    "model does not exist",
    "no endpoints found",
    "is not a valid model",
    "invalid model",
    "unknown model",
    "model not found",
    "model identifier is invalid",
];

/// Codes and sentences that mean a bad key whatever the status (Gemini answers 400).
const KEY_CODES: &[&str] = &["invalid_api_key", "api_key_invalid", "authentication_error"];
const KEY_TEXTS: &[&str] = &["api key not valid", "invalid api key", "incorrect api key"];

/// Finish words that mean that the server ended the answer, not the model: OpenRouter and vLLM, SGLang, Zhipu,
/// DeepSeek, Gemini, Bedrock.
const GIVEN_UP: &[&str] = &[
    "error",
    "abort",
    "aborted",
    "cancelled",
    "network_error",
    "insufficient_system_resource",
    "malformed_function_call",
    "malformed_model_output",
    "malformed_tool_use",
    "malformed_response",
    "unexpected_tool_call",
    "too_many_tool_calls",
];

impl Complaint {
    /// Reads an error body: the shapes of OpenAI, Anthropic, Google, Ollama, FastAPI and plain text.
    #[must_use]
    pub(crate) fn read(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        match serde_json::from_str::<Value>(text.trim()) {
            Ok(value) => Self::read_json(&value),
            Err(_) => Self::read_text(&text),
        }
    }

    /// Reads an error object, inside its envelope or bare.
    #[must_use]
    pub(crate) fn read_json(value: &Value) -> Self {
        let value = value.get(0).unwrap_or(value);
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let mut complaint = Self::default();
        for holder in [error, value] {
            for field in ["code", "type", "status", "status_code"] {
                match holder.get(field) {
                    Some(Value::String(code)) => complaint.codes.push(code.to_ascii_lowercase()),
                    Some(Value::Number(code)) => complaint.codes.push(code.to_string()),
                    _ => {}
                }
            }
        }
        complaint.message = sentence(error).or_else(|| sentence(value)).unwrap_or_default();
        // llama-server's older words have no numbers, its fields do.
        let number = |field: &str| error.get(field).and_then(Value::as_u64);
        if let (Some(window), Some(read)) = (number("n_ctx"), number("n_prompt_tokens"))
            && !complaint.message.contains(&window.to_string())
        {
            complaint.message = format!("{} ({read} tokens > {window})", complaint.message);
        }
        // OpenRouter says only "Provider returned error" and keeps the provider's words beside it.
        if let Some(raw) = error.pointer("/metadata/raw").and_then(Value::as_str) {
            complaint.message = format!("{}: {raw}", complaint.message);
        }
        for detail in error.get("details").and_then(Value::as_array).into_iter().flatten() {
            if let Some(reason) = detail.get("reason").and_then(Value::as_str) {
                complaint.codes.push(reason.to_ascii_lowercase());
            }
            let delay = detail.get("retryDelay").and_then(Value::as_str).and_then(|delay| delay.strip_suffix('s'));
            complaint.retry_after = complaint.retry_after.or_else(|| delay.and_then(seconds));
        }
        complaint
    }

    fn read_text(text: &str) -> Self {
        let text = text.trim();
        let page = text.get(..1) == Some("<");
        let message = if page { "an HTML page instead of an answer" } else { text.lines().next().unwrap_or("") };
        Self { message: message.to_owned(), ..Self::default() }
    }

    /// Returns the HTTP status an error inside a stream stands for.
    #[must_use]
    pub(crate) fn implied_status(&self) -> u16 {
        for code in &self.codes {
            let status = match code.as_str() {
                "invalid_request_error"
                | "tool_use_failed"
                | "bad_request"
                | "invalid_prompt"
                | "validationexception" => 400,
                "authentication_error" | "invalid_api_key" => 401,
                "billing_error" => 402,
                "permission_error" => 403,
                "not_found_error" | "model_not_found" => 404,
                "request_too_large" => 413,
                "rate_limit_error"
                | "rate_limit_exceeded"
                | "resource_exhausted"
                | "insufficient_quota"
                | "throttlingexception"
                | "modelnotreadyexception" => 429,
                "api_error"
                | "server_error"
                | "internal_server_error"
                | "internalserverexception"
                | "modelstreamerrorexception" => 500,
                "unavailable" | "server_is_overloaded" | "slow_down" | "serviceunavailableexception" => 503,
                "timeout_error" | "modeltimeoutexception" => 504,
                "overloaded_error" => 529,
                other => other.parse().ok().filter(|status| (400..600).contains(status)).unwrap_or(0),
            };
            if status != 0 {
                return status;
            }
        }
        500
    }

    fn has_code(&self, table: &[&str]) -> bool {
        self.codes.iter().any(|code| table.contains(&code.as_str()))
    }

    /// Classifies the complaint: throttles first, then code, then status, then text.
    #[must_use]
    pub(crate) fn into_error(self, origin: &Origin, status: u16, retry_after: Option<Duration>) -> ProviderError {
        let lower = self.message.to_ascii_lowercase();
        let says = |table: &[&str]| table.iter().any(|text| lower.contains(text));
        let provider = origin.provider.clone();
        let mut message = sanitise(&self.message, origin.secret.as_ref());
        if message.is_empty() {
            usual_words(status).clone_into(&mut message);
        }
        let throttled = status == 429
            || self.has_code(&["rate_limit_exceeded", "rate_limit_error", "insufficient_quota"])
            || says(THROTTLE_TEXTS);
        // An Anthropic 413 of this type counts bytes, not tokens: compacting is no sure cure.
        let too_many_bytes = self.has_code(&["request_too_large"]);
        let overflow = self.has_code(OVERFLOW_CODES) || (says(OVERFLOW_TEXTS) && !too_many_bytes);
        if overflow && (!throttled || self.has_code(OVERFLOW_CODES)) {
            return ProviderError::ContextOverflow { message };
        }
        if matches!(status, 401 | 403) || (status < 429 && (self.has_code(KEY_CODES) || says(KEY_TEXTS))) {
            let place = origin.secret.as_ref().map(|key| key.place().clone());
            return ProviderError::Unauthorized { provider, status, message, place };
        }
        let no_model = self.has_code(NO_MODEL_CODES)
            || (status < 429 && says(NO_MODEL_TEXTS))
            || (status == 404 && (lower.contains("model") || lower.contains(&origin.model.to_ascii_lowercase())));
        if no_model && !throttled {
            return ProviderError::NoSuchModel { provider, model: origin.model.clone(), message, own: None };
        }
        ProviderError::Status {
            provider,
            status,
            message,
            retry_after: retry_after.or(self.retry_after).or_else(|| asked_in_words(&lower).filter(|_| throttled)),
        }
    }
}

impl Origin {
    /// Names the server that these settings lead to.
    #[must_use]
    pub(crate) fn of(settings: &ProviderSettings) -> Self {
        Self {
            provider: settings.name.clone(),
            model: settings.model.clone(),
            url: url_origin(&settings.base_url),
            secret: settings.key.clone(),
        }
    }

    /// Makes the error for an error object that came inside a stream.
    #[must_use]
    pub(crate) fn stream_error(&self, value: &Value) -> ProviderError {
        let complaint = Complaint::read_json(value);
        let status = complaint.implied_status();
        complaint.into_error(self, status, None)
    }

    /// Reads the word with which a model stopped.
    ///
    /// # Errors
    /// `Broken` when the word says that the provider gave up: the answer is not whole.
    pub(crate) fn stop(&self, word: &str) -> Result<StopReason, ProviderError> {
        if GIVEN_UP.contains(&word.to_ascii_lowercase().as_str()) {
            return Err(self.broken(&format!("the provider gave its answer up ({word})")));
        }
        let stop = StopReason::parse(word);
        if let StopReason::Other(word) = &stop {
            tracing::warn!(provider = self.provider, word, "stopped with a word nobody knows");
        }
        Ok(stop)
    }

    /// Makes the error for a connection that ended too early.
    #[must_use]
    pub(crate) fn broken(&self, cause: &str) -> ProviderError {
        ProviderError::Broken { url: self.url.clone(), cause: cause.to_owned() }
    }

    /// Makes the error for bytes that are not what the protocol says.
    #[must_use]
    pub(crate) fn protocol(&self, cause: impl Into<String>) -> ProviderError {
        ProviderError::Protocol { provider: self.provider.clone(), cause: cause.into() }
    }
}

fn sentence(holder: &Value) -> Option<String> {
    if let Value::String(text) = holder {
        return Some(text.clone());
    }
    for field in ["message", "detail", "error", "msg", "title"] {
        let found = match holder.get(field) {
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Array(list)) => list.first().and_then(sentence),
            Some(Value::Object(object)) => object.get("message").and_then(Value::as_str).map(str::to_owned),
            _ => None,
        };
        if found.as_ref().is_some_and(|text| !text.is_empty()) {
            return found;
        }
    }
    None
}

/// The words of RFC 9110 for a status whose body says nothing.
const fn usual_words(status: u16) -> &'static str {
    match status {
        400 => "bad request",
        401 => "unauthorized",
        402 => "payment required",
        403 => "forbidden",
        404 => "not found",
        405 => "method not allowed",
        408 => "request timeout",
        413 => "content too large",
        422 => "unprocessable content",
        429 => "too many requests",
        500 => "internal server error",
        502 => "bad gateway",
        503 => "service unavailable",
        504 => "gateway timeout",
        529 => "overloaded",
        _ => "no explanation given",
    }
}

/// Reads "try again in 11.05s" or "in 28ms": an error inside a stream of OpenAI names a wait nowhere else. The text
/// is in lower case.
fn asked_in_words(message: &str) -> Option<Duration> {
    let (_, rest) = message.split_once("try again in ")?;
    let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
    let (number, unit) = rest.split_at(digits);
    let wait = seconds(number.trim_end_matches('.'))?;
    let unit = unit.trim_start();
    if unit.starts_with("ms") || unit.starts_with("milli") {
        return Some(wait / 1000);
    }
    unit.starts_with('s').then_some(wait)
}

fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.trim().parse().ok()?).ok()
}

/// Reads how long a server wants to be left alone: `retry-after-ms`, or `Retry-After` in seconds or as a date.
///
/// `header` looks a header up by its lower-case name. A date is measured against the server's own `date` header
/// when there is one, since clocks differ, else against `now`. A date in the past is no wait at all.
#[must_use]
pub(crate) fn retry_after(header: &dyn Fn(&str) -> Option<String>, now: SystemTime) -> Option<Duration> {
    if let Some(wait) = header("retry-after-ms").and_then(|text| seconds(&text)) {
        return Some(wait / 1000);
    }
    let text = header("retry-after")?;
    if let Some(wait) = seconds(&text) {
        return Some(wait);
    }
    let now = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let now = header("date").and_then(|date| http_date(&date)).unwrap_or(now);
    Some(Duration::from_secs(http_date(&text)?.saturating_sub(now)))
}

/// Reads an IMF-fixdate (RFC 9110, section 5.6.7) as seconds since 1970. The two obsolete forms are not read.
pub(super) fn http_date(text: &str) -> Option<u64> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [_, day, month, year, time, "GMT"] = words[..] else { return None };
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = (1..=12).zip(months).find(|(_, name)| *name == month)?.0;
    let date =
        Date::from_calendar_date(year.parse().ok()?, Month::try_from(month).ok()?, day.parse().ok()?).ok()?;
    let clock: Vec<_> = time.split(':').map(str::parse::<u8>).collect::<Result<_, _>>().ok()?;
    let [hour, minute, second] = clock[..] else { return None };
    // A leap second has no place in the seconds since 1970.
    let time = Time::from_hms(hour, minute, if second == 60 { 59 } else { second }).ok()?;
    date.with_time(time).as_utc().unix_timestamp().try_into().ok()
}

#[cfg(test)]
#[path = "problem_tests.rs"]
mod tests;
