//! OpenAI's responses, stateless: nothing is stored there, and encrypted thoughts are carried here.

mod decode;
mod dialect;
mod encode;
mod items;

use std::sync::atomic::{AtomicBool, Ordering};

use dialect::Dialect;

pub(crate) use decode::ResponsesMachine;
use encode::digest_of;
pub(crate) use encode::encode;

use super::framing::{Decoder, SseDecoder};
use super::http::{Call, Complaint, Origin};
use super::openai_chat::bearer;
use super::request::Request;
use super::settings::ProviderSettings;
use super::wire::Wire;

/// A connection's wire: settings, and what the server taught us. The flags only ever change once each.
pub(crate) struct ResponsesWire {
    pub(crate) settings: ProviderSettings,
    pub(crate) origin: Origin,
    no_thought: AtomicBool,
    no_summary: AtomicBool,
    no_effort: AtomicBool,
    no_echo: AtomicBool,
    no_temperature: AtomicBool,
    no_limit: AtomicBool,
    no_search: AtomicBool,
    no_store: AtomicBool,
    strict_roles: AtomicBool,
}

impl ResponsesWire {
    pub(crate) const fn new(settings: ProviderSettings, origin: Origin) -> Self {
        Self {
            settings,
            origin,
            no_thought: AtomicBool::new(false),
            no_summary: AtomicBool::new(false),
            no_effort: AtomicBool::new(false),
            no_echo: AtomicBool::new(false),
            no_temperature: AtomicBool::new(false),
            no_limit: AtomicBool::new(false),
            no_search: AtomicBool::new(false),
            no_store: AtomicBool::new(false),
            strict_roles: AtomicBool::new(false),
        }
    }

    fn dialect(&self) -> Dialect {
        let is = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        let thinks = thinks(&self.settings.model) && !is(&self.no_thought);
        Dialect {
            thinks,
            summary: thinks && !is(&self.no_summary),
            effort: thinks && !is(&self.no_effort),
            reasoning_echo: !is(&self.no_echo),
            temperature: self.settings.abilities.sampling && !is(&self.no_temperature),
            output_limit: !is(&self.no_limit),
            strict_roles: is(&self.strict_roles),
            stored: self.settings.stored && !is(&self.no_store),
            search: self.settings.search && !is(&self.no_search),
        }
    }
}

/// OpenAI's models that do not think refuse to be asked for thoughts; all later ones do.
fn thinks(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    !["gpt-3", "gpt-4", "chatgpt-4"].iter().any(|old| name.starts_with(old)) && !name.contains("chat-latest")
}

impl Wire for ResponsesWire {
    fn call(&self, request: &Request<'_>) -> Call {
        let body = encode(&self.settings, self.dialect(), request);
        let mut headers = vec![("accept", "text/event-stream".to_owned())];
        headers.extend(bearer(&self.settings));
        Call {
            url: format!("{}/responses", self.settings.base_url),
            headers,
            body: Some(body.to_string().into_bytes()),
            ..Call::default()
        }
    }

    fn flags(&self) -> Vec<(&'static str, &AtomicBool)> {
        vec![
            ("no_thought", &self.no_thought),
            ("no_summary", &self.no_summary),
            ("no_effort", &self.no_effort),
            ("no_echo", &self.no_echo),
            ("no_temperature", &self.no_temperature),
            ("no_limit", &self.no_limit),
            ("no_search", &self.no_search),
            ("no_store", &self.no_store),
            ("strict_roles", &self.strict_roles),
        ]
    }

    fn decoder<'a>(&self, request: &Request<'a>) -> Box<dyn Decoder + 'a> {
        let machine = ResponsesMachine::new(self.origin.clone(), request.tools)
            .searching(request.search && self.dialect().search)
            .stored_behind(self.dialect().stored.then(|| digest_of(&self.settings, self.dialect(), request)));
        Box::new(SseDecoder::new(machine).within(self.settings.gateway.answer()))
    }

    fn adapt(&self, request: &Request<'_>, status: u16, complaint: &Complaint) -> bool {
        let lower = complaint.message.to_ascii_lowercase();
        let says = |words: &str| lower.contains(words);
        let learn = |flag: &AtomicBool| !flag.swap(true, Ordering::Relaxed);
        if says("roles must alternate") || says("after role 'tool'") {
            return learn(&self.strict_roles);
        }
        // The provider no longer has the answer, or may keep none.
        if self.settings.stored && (says("previous_response") || says("previous response") || says("'store'")) {
            return learn(&self.no_store);
        }
        if !matches!(status, 400 | 422) {
            return false;
        }
        if request.search
            && self.settings.search
            && (says("web_search") || says("tool type") || says("'type' of tool"))
        {
            return learn(&self.no_search);
        }
        // A summary is for verified organisations only.
        if says("summar") {
            return learn(&self.no_summary);
        }
        if says("effort") {
            return learn(&self.no_effort);
        }
        // "Encrypted content is not supported with this model" is about the request, all else about what came back.
        if says("encrypted content is not supported") || says("'include'") {
            return learn(&self.no_thought);
        }
        if says("encrypted_content") || says("encrypted content") || says("of type 'reasoning'") {
            return learn(&self.no_echo);
        }
        if says("temperature") {
            return learn(&self.no_temperature);
        }
        if says("max_output_tokens") && (says("unsupported") || says("unknown") || says("not permitted")) {
            return learn(&self.no_limit);
        }
        says("reasoning") && learn(&self.no_thought)
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod decode_tests;
#[cfg(test)]
#[path = "encode_tests.rs"]
mod encode_tests;
