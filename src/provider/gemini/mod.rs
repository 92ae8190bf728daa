//! Google's `streamGenerateContent`. On Vertex calls have no ids, and no placeholder signature is accepted.

mod decode;
mod dialect;
mod encode;
mod partial;

use dialect::Dialect;

pub(crate) use decode::GeminiMachine;
pub(crate) use encode::encode;

use super::framing::{Decoder, SseDecoder};
use super::http::{Call, Complaint, Origin};
use super::request::Request;
use super::settings::ProviderSettings;
use super::wire::{Learnt, Lesson, Wire};

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
        let is = |lesson| self.learnt.has(lesson);
        let vertex = self.settings.base_url.contains("aiplatform");
        let model = name(&self.settings.model);
        let is_before = |generations: &[&str]| generations.iter().any(|old| model.starts_with(old));
        Dialect {
            thoughts: !is(Lesson::NoThoughts) && !is_before(&["gemini-1", "gemini-2.0", "gemma"]),
            effort: !is(Lesson::NoEffort),
            old_schemas: is(Lesson::OldSchemas),
            temperature: self.settings.abilities.sampling && !is(Lesson::NoTemperature),
            // Models before Gemini 3 take Google's tools or ours, not both.
            search: self.settings.search && !is(Lesson::NoSearch) && !is_before(&["gemini-1", "gemini-2", "gemma"]),
            call_ids: !vertex,
            stand_in_signature: !vertex && !is_before(&["gemini-1", "gemini-2", "gemma"]),
        }
    }
}

/// The model's name without the folder some write before it.
fn name(model: &str) -> &str {
    model.strip_prefix("models/").unwrap_or(model)
}

impl Wire for GeminiWire {
    fn call(&self, request: &Request<'_>) -> Call {
        let body = encode(&self.settings, self.dialect(), request);
        let mut headers = vec![("accept", "text/event-stream".to_owned())];
        headers.extend(key_header(&self.settings));
        let model = name(&self.settings.model);
        Call {
            url: format!("{}/models/{model}:streamGenerateContent?alt=sse", self.settings.base_url),
            headers,
            body: Some(body.to_string().into_bytes()),
            ..Call::default()
        }
    }

    fn learnt(&self) -> &Learnt {
        &self.learnt
    }

    fn decoder<'a>(&self, request: &Request<'a>) -> Box<dyn Decoder + 'a> {
        let machine = GeminiMachine::new(self.origin.clone()).searching(request.search && self.dialect().search);
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
            return learn(Lesson::OldSchemas);
        }
        let of_search = says("search") || says("tool use with function calling") || says("serversidetool");
        if request.search && self.settings.search && of_search {
            return learn(Lesson::NoSearch);
        }
        let asked = request.effort.is_some();
        if asked && (says("thinking") || says("budget")) && self.learnt.learn(Lesson::NoEffort) {
            return true;
        }
        if says("thinking") || says("includethoughts") || says("include_thoughts") {
            return learn(Lesson::NoThoughts);
        }
        says("temperature") && learn(Lesson::NoTemperature)
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
