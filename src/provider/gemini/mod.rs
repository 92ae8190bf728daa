//! Google's `streamGenerateContent`. On Vertex calls have no ids, and no placeholder signature is accepted.

mod decode;
mod encode;
mod partial;

pub(crate) use decode::GeminiMachine;
pub(crate) use encode::encode;

use super::framing::{Decoder, SseDecoder};
use super::http::{Call, Complaint, Origin};
use super::request::Request;
use super::settings::ProviderSettings;
use super::wire::{Dialect, Feature, Learnt, Wire};

/// A connection's wire: settings, and what the server taught us.
pub(crate) struct GeminiWire {
    pub(crate) settings: ProviderSettings,
    pub(crate) origin: Origin,
    learnt: Learnt,
}

impl GeminiWire {
    pub(crate) fn new(settings: ProviderSettings, origin: Origin) -> Self {
        let learnt = Learnt::of(&settings.profile);
        Self { settings, origin, learnt }
    }

    fn dialect(&self) -> Dialect {
        let vertex = self.settings.base_url.contains("aiplatform");
        let model = name(&self.settings.model);
        let is_before = |generations: &[&str]| generations.iter().any(|old| model.starts_with(old));
        let before_3 = is_before(&["gemini-1", "gemini-2", "gemma"]);
        self.learnt
            .dialect(&self.settings)
            .without(Feature::Thoughts, is_before(&["gemini-1", "gemini-2.0", "gemma"]))
            // Models before Gemini 3 take Google's tools or ours, not both.
            .without(Feature::Search, before_3)
            .without(Feature::CallIds, vertex)
            .without(Feature::StandInSignature, vertex || before_3)
    }
}

/// The model's name without the folder some write before it.
fn name(model: &str) -> &str {
    model.strip_prefix("models/").unwrap_or(model)
}

impl Wire for GeminiWire {
    fn call(&self, request: &Request<'_>) -> Call {
        let body = encode(&self.settings, self.dialect(), request);
        let model = name(&self.settings.model);
        let url = format!("{}/models/{model}:streamGenerateContent?alt=sse", self.settings.base_url);
        Call::asking(url, "text/event-stream", key_header(&self.settings), &body)
    }

    fn learnt(&self) -> &Learnt {
        &self.learnt
    }

    fn decoder<'a>(&self, request: &Request<'a>, _note: Option<String>) -> Box<dyn Decoder + 'a> {
        let machine = GeminiMachine::new(self.origin.clone())
            .searching(request.search && self.dialect().says(Feature::Search));
        Box::new(SseDecoder::new(machine).within(self.settings.gateway.answer()))
    }

    fn adapt(&self, request: &Request<'_>, status: u16, complaint: &Complaint) -> bool {
        if status != 400 {
            return false;
        }
        let lower = complaint.message.to_ascii_lowercase();
        let says = |words: &str| lower.contains(words);
        let learn = |lesson| self.learnt.learn(lesson);
        if says("parametersjsonschema") || says("parameters_json_schema") {
            return learn(Feature::NewSchemas);
        }
        let of_search = says("search") || says("tool use with function calling") || says("serversidetool");
        if request.search && self.settings.search && of_search {
            return learn(Feature::Search);
        }
        let asked = request.effort.is_some();
        if asked && (says("thinking") || says("budget")) && self.learnt.learn(Feature::Effort) {
            return true;
        }
        if says("thinking") || says("includethoughts") || says("include_thoughts") {
            return learn(Feature::Thoughts);
        }
        says("temperature") && learn(Feature::Temperature)
    }
}

/// The header that carries the key on this wire. A key in the address would end up in logs.
pub(crate) fn key_header(settings: &ProviderSettings) -> Option<(&'static str, String)> {
    let key = settings.key.as_ref().filter(|key| !key.expose().is_empty())?;
    Some(("x-goog-api-key", key.expose().to_owned()))
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod decode_tests;
#[cfg(test)]
#[path = "encode_tests.rs"]
mod encode_tests;
