//! OpenAI's chat completions, as spoken by OpenAI and by everybody who imitates it.

mod decode;
mod encode;
mod plain;
mod slots;
mod usage;

pub(crate) use decode::ChatMachine;
use encode::output_limit;
pub(crate) use encode::{encode, tool};
pub(crate) use usage::read_usage;

use super::framing::{Decoder, SseDecoder};
use super::http::{Call, Complaint, Origin};
use super::request::Request;
use super::settings::{OutputLimit, ProviderSettings, ResultPictures};
use super::wire::{Dialect, Feature, Learnt, Wire};

/// A connection's wire: settings, and what the server taught us.
pub(crate) struct ChatWire {
    pub(crate) settings: ProviderSettings,
    pub(crate) origin: Origin,
    learnt: Learnt,
}

impl ChatWire {
    pub(crate) fn new(settings: ProviderSettings, origin: Origin) -> Self {
        let learnt = Learnt::of(&settings.profile);
        Self { settings, origin, learnt }
    }

    fn dialect(&self) -> Dialect {
        let inside = self.settings.quirks.result_pictures == ResultPictures::Inside;
        self.learnt.dialect(&self.settings).without(Feature::LooseRoles, inside)
    }
}

impl Wire for ChatWire {
    fn call(&self, request: &Request<'_>) -> Call {
        let body = encode(&self.settings, self.dialect(), request);
        let url = format!("{}/chat/completions", self.settings.base_url);
        Call::asking(url, "text/event-stream", bearer(&self.settings), &body)
    }

    fn learnt(&self) -> &Learnt {
        &self.learnt
    }

    fn decoder<'a>(&self, request: &Request<'a>, _note: Option<String>) -> Box<dyn Decoder + 'a> {
        Box::new(
            SseDecoder::new(ChatMachine::new(self.origin.clone(), request.tools))
                .within(self.settings.gateway.answer()),
        )
    }

    fn adapt(&self, _request: &Request<'_>, status: u16, complaint: &Complaint) -> bool {
        let lower = complaint.message.to_ascii_lowercase();
        // Templates of local models complain in words of their own, and llama.cpp does so with HTTP 500.
        if lower.contains("roles must alternate") || lower.contains("after role 'tool'") {
            return self.learnt.learn(Feature::LooseRoles);
        }
        if !matches!(status, 400 | 422) {
            return false;
        }
        let says = |words: &str| complaint.message.contains(words);
        let learn = |lesson| self.learnt.learn(lesson);
        if says("stream_options") || says("include_usage") {
            return learn(Feature::Usage);
        }
        if says("temperature") {
            return learn(Feature::Temperature);
        }
        if says("reasoning_effort") || says("thinking") {
            return learn(Feature::Effort);
        }
        if says("max_tokens") && says("max_completion_tokens") {
            return learn(Feature::LimitField);
        }
        if says("max_completion_tokens")
            && output_limit(&self.settings, self.dialect()) == OutputLimit::MaxCompletionTokens
        {
            return learn(Feature::LimitField);
        }
        if says("reasoning_content") {
            let wanted = ["issing", "must be", "required", "passed back"].iter().any(|word| says(word));
            return if wanted { learn(Feature::BareCalls) } else { learn(Feature::Reasoning) };
        }
        if says("reasoning_details") {
            return learn(Feature::Reasoning);
        }
        if says("extra_content") || says("provider_specific_fields") {
            return learn(Feature::CallExtras);
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
