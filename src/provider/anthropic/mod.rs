//! Anthropic's messages, as spoken by Anthropic and by servers that imitate it.

mod decode;
mod encode;
mod thinking;

use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) use decode::MessagesMachine;
pub(crate) use encode::{Limits, encode};
pub(crate) use thinking::{effort_word, thinking};

use super::framing::{Decoder, SseDecoder};
use super::http::{Call, Complaint, Origin};
use super::request::Request;
use super::settings::ProviderSettings;
use super::wire::{Feature, Learnt, Wire};

/// The version of the wire: <https://docs.anthropic.com/en/api/versioning>.
pub(crate) const VERSION: &str = "2023-06-01";

/// A connection's wire: settings, and what the server taught us.
pub(crate) struct MessagesWire {
    pub(crate) settings: ProviderSettings,
    pub(crate) origin: Origin,
    learnt: Learnt,
    highest_limit: AtomicU64,
}

impl MessagesWire {
    pub(crate) fn new(settings: ProviderSettings, origin: Origin) -> Self {
        let learnt = Learnt::of(&settings.profile);
        Self { settings, origin, learnt, highest_limit: AtomicU64::new(u64::MAX) }
    }

    fn limits(&self) -> Limits {
        Limits { default: default_limit(&self.settings), highest: self.highest_limit.load(Ordering::Relaxed) }
    }
}

/// The wire demands a limit. Claude 3 writes at most 4,096 tokens, 3.5 at most 8,192, later ones at least 32,000
/// (<https://docs.anthropic.com/en/docs/about-claude/models>); other models behind this wire get a modest one.
fn default_limit(settings: &ProviderSettings) -> u64 {
    if let Some(most) = settings.abilities.most_written {
        return most.min(32_000);
    }
    let model = &settings.model;
    let is = |part: &str| model.contains(part);
    if is("claude-3-opus") || is("claude-3-sonnet") || is("claude-3-haiku") {
        4_096
    } else if is("claude-3-5") || !is("claude") {
        8_192
    } else {
        32_000
    }
}

impl Wire for MessagesWire {
    fn call(&self, request: &Request<'_>) -> Call {
        let body = encode(&self.settings, self.learnt.dialect(&self.settings), self.limits(), request);
        let url = format!("{}/v1/messages", self.settings.base_url);
        Call::asking(url, "text/event-stream", headers_of(&self.settings), &body)
    }

    fn learnt(&self) -> &Learnt {
        &self.learnt
    }

    fn decoder<'a>(&self, request: &Request<'a>, _note: Option<String>) -> Box<dyn Decoder + 'a> {
        let searches = request.search && self.learnt.dialect(&self.settings).says(Feature::Search);
        let machine = MessagesMachine::new(self.origin.clone()).searching(searches);
        Box::new(SseDecoder::new(machine).within(self.settings.gateway.answer()))
    }

    fn adapt(&self, request: &Request<'_>, status: u16, complaint: &Complaint) -> bool {
        if !matches!(status, 400 | 422) {
            return false;
        }
        let message = &complaint.message;
        if request.search && self.settings.search && message.contains("web_search") {
            return self.learnt.learn(Feature::Search);
        }
        // "Invalid `signature` in `thinking` block": stripping is accepted, a bad signature never is.
        if message.contains("thinking") && (message.contains("ignature") || message.contains("cannot be modified"))
        {
            return self.learnt.learn(Feature::Reasoning);
        }
        let of_effort =
            ["effort", "output_config", "thinking", "budget_tokens"].iter().any(|word| message.contains(word));
        if request.effort.is_some() && of_effort && self.learnt.learn(Feature::Effort) {
            return true;
        }
        // A server that imitates Anthropic, or a model older than its name suggests.
        if message.contains("thinking") || message.contains("adaptive") {
            return self.learnt.learn(Feature::Thinking);
        }
        if self.settings.long_cache && message.contains("ttl") && self.learnt.learn(Feature::LongCache) {
            return true;
        }
        if message.contains("cache_control") {
            return self.learnt.learn(Feature::CacheMarks);
        }
        if message.contains("temperature") {
            return self.learnt.learn(Feature::Temperature);
        }
        highest_allowed(message).is_some_and(|limit| self.highest_limit.fetch_min(limit, Ordering::Relaxed) > limit)
    }
}

/// Reads "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for MODEL".
fn highest_allowed(message: &str) -> Option<u64> {
    let (_, rest) = message.split_once("max_tokens: ")?;
    let (_, rest) = rest.split_once(" > ")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok().filter(|limit| *limit > 0 && message.contains("maximum allowed"))
}

/// The headers every request of this wire carries.
pub(crate) fn headers_of(settings: &ProviderSettings) -> Vec<(&'static str, String)> {
    let mut headers = vec![("anthropic-version", VERSION.to_owned())];
    if let Some(key) = settings.key.as_ref().filter(|key| !key.expose().is_empty()) {
        headers.push(("x-api-key", key.expose().to_owned()));
    }
    headers
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod decode_tests;
#[cfg(test)]
#[path = "encode_tests.rs"]
mod encode_tests;
