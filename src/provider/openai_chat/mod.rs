//! OpenAI's chat completions, as spoken by OpenAI and by everybody who imitates it.

mod decode;
mod dialect;
mod encode;
mod slots;
mod usage;

use std::sync::atomic::{AtomicBool, Ordering};

use dialect::Dialect;

pub(crate) use decode::ChatMachine;
pub(crate) use encode::{encode, tool};
pub(crate) use usage::read_usage;

use super::framing::{Decoder, SseDecoder};
use super::http::{Call, Complaint, Origin};
use super::request::Request;
use super::settings::{OutputLimit, ProviderSettings, ReasoningEcho, ResultPictures};
use super::wire::Wire;

/// A connection's wire: settings, and what the server taught us. The flags only ever change once each.
pub(crate) struct ChatWire {
    pub(crate) settings: ProviderSettings,
    pub(crate) origin: Origin,
    no_usage: AtomicBool,
    no_temperature: AtomicBool,
    no_effort: AtomicBool,
    other_limit: AtomicBool,
    reasoning_required: AtomicBool,
    no_reasoning: AtomicBool,
    no_extras: AtomicBool,
    strict_roles: AtomicBool,
}

impl ChatWire {
    pub(crate) const fn new(settings: ProviderSettings, origin: Origin) -> Self {
        Self {
            settings,
            origin,
            no_usage: AtomicBool::new(false),
            no_temperature: AtomicBool::new(false),
            no_effort: AtomicBool::new(false),
            other_limit: AtomicBool::new(false),
            reasoning_required: AtomicBool::new(false),
            no_reasoning: AtomicBool::new(false),
            no_extras: AtomicBool::new(false),
            strict_roles: AtomicBool::new(false),
        }
    }

    fn dialect(&self) -> Dialect {
        let is = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        let quirks = self.settings.quirks;
        Dialect {
            usage_in_stream: !is(&self.no_usage),
            temperature: self.settings.abilities.sampling && !is(&self.no_temperature),
            effort: !is(&self.no_effort),
            output_limit: match (quirks.output_limit, is(&self.other_limit)) {
                (OutputLimit::MaxTokens, false) | (OutputLimit::MaxCompletionTokens, true) => {
                    OutputLimit::MaxTokens
                }
                (OutputLimit::MaxTokens, true) | (OutputLimit::MaxCompletionTokens, false) => {
                    OutputLimit::MaxCompletionTokens
                }
            },
            reasoning_echo: if is(&self.no_reasoning) { ReasoningEcho::Never } else { quirks.reasoning_echo },
            reasoning_required: is(&self.reasoning_required),
            strict_roles: is(&self.strict_roles) || quirks.result_pictures == ResultPictures::Inside,
            call_extras: !is(&self.no_extras),
        }
    }
}

impl Wire for ChatWire {
    fn call(&self, request: &Request<'_>) -> Call {
        let body = encode(&self.settings, self.dialect(), request);
        let mut headers = vec![("accept", "text/event-stream".to_owned())];
        headers.extend(bearer(&self.settings));
        Call {
            url: format!("{}/chat/completions", self.settings.base_url),
            headers,
            body: Some(body.to_string().into_bytes()),
            ..Call::default()
        }
    }

    fn flags(&self) -> Vec<(&'static str, &AtomicBool)> {
        vec![
            ("no_usage", &self.no_usage),
            ("no_temperature", &self.no_temperature),
            ("no_effort", &self.no_effort),
            ("other_limit", &self.other_limit),
            ("reasoning_required", &self.reasoning_required),
            ("no_reasoning", &self.no_reasoning),
            ("no_extras", &self.no_extras),
            ("strict_roles", &self.strict_roles),
        ]
    }

    fn decoder<'a>(&self, request: &Request<'a>) -> Box<dyn Decoder + 'a> {
        Box::new(
            SseDecoder::new(ChatMachine::new(self.origin.clone(), request.tools))
                .within(self.settings.gateway.answer()),
        )
    }

    fn adapt(&self, _request: &Request<'_>, status: u16, complaint: &Complaint) -> bool {
        let lower = complaint.message.to_ascii_lowercase();
        // Templates of local models complain in words of their own, and llama.cpp does so with HTTP 500.
        if lower.contains("roles must alternate") || lower.contains("after role 'tool'") {
            return !self.strict_roles.swap(true, Ordering::Relaxed);
        }
        if !matches!(status, 400 | 422) {
            return false;
        }
        let says = |words: &str| complaint.message.contains(words);
        let learn = |flag: &AtomicBool| !flag.swap(true, Ordering::Relaxed);
        if says("stream_options") || says("include_usage") {
            return learn(&self.no_usage);
        }
        if says("temperature") {
            return learn(&self.no_temperature);
        }
        if says("reasoning_effort") || says("thinking") {
            return learn(&self.no_effort);
        }
        if says("max_tokens") && says("max_completion_tokens") {
            return learn(&self.other_limit);
        }
        if says("max_completion_tokens") && self.dialect().output_limit == OutputLimit::MaxCompletionTokens {
            return learn(&self.other_limit);
        }
        if says("reasoning_content") {
            let wanted = ["issing", "must be", "required", "passed back"].iter().any(|word| says(word));
            return if wanted { learn(&self.reasoning_required) } else { learn(&self.no_reasoning) };
        }
        if says("reasoning_details") {
            return learn(&self.no_reasoning);
        }
        if says("extra_content") || says("provider_specific_fields") {
            return learn(&self.no_extras);
        }
        false
    }
}

/// The header that carries the key on this wire.
pub(crate) fn bearer(settings: &ProviderSettings) -> Option<(&'static str, String)> {
    let key = settings.key.as_ref().filter(|key| !key.expose().is_empty())?;
    Some(("authorization", format!("Bearer {}", key.expose())))
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod decode_tests;
#[cfg(test)]
#[path = "encode_tests.rs"]
mod encode_tests;
