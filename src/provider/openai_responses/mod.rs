//! OpenAI's responses, stateless: nothing is stored there, and encrypted thoughts are carried here.

mod decode;
mod dialect;
mod encode;
mod items;

use dialect::Dialect;

pub(crate) use decode::ResponsesMachine;
use encode::digest_of;
pub(crate) use encode::encode;

use super::framing::{Decoder, SseDecoder};
use super::http::{Call, Complaint, Origin};
use super::openai_chat::bearer;
use super::request::Request;
use super::settings::ProviderSettings;
use super::wire::{Learnt, Lesson, Wire};

/// A connection's wire: settings, and what the server taught us.
pub(crate) struct ResponsesWire {
    pub(crate) settings: ProviderSettings,
    pub(crate) origin: Origin,
    learnt: Learnt,
}

impl ResponsesWire {
    pub(crate) fn new(settings: ProviderSettings, origin: Origin) -> Self {
        let learnt = Learnt::of(&settings.profile);
        Self { settings, origin, learnt }
    }

    fn dialect(&self) -> Dialect {
        let is = |lesson| self.learnt.has(lesson);
        let thinks = thinks(&self.settings.model) && !is(Lesson::NoThought);
        Dialect {
            thinks,
            summary: thinks && !is(Lesson::NoSummary),
            effort: thinks && !is(Lesson::NoEffort),
            reasoning_echo: !is(Lesson::NoEcho),
            temperature: self.settings.abilities.sampling && !is(Lesson::NoTemperature),
            output_limit: !is(Lesson::NoLimit),
            strict_roles: is(Lesson::StrictRoles),
            stored: self.settings.stored && !is(Lesson::NoStore),
            search: self.settings.search && !is(Lesson::NoSearch),
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

    fn learnt(&self) -> &Learnt {
        &self.learnt
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
        let learn = |lesson| self.learnt.learn(lesson);
        if says("roles must alternate") || says("after role 'tool'") {
            return learn(Lesson::StrictRoles);
        }
        // The provider no longer has the answer, or may keep none.
        if self.settings.stored && (says("previous_response") || says("previous response") || says("'store'")) {
            return learn(Lesson::NoStore);
        }
        if !matches!(status, 400 | 422) {
            return false;
        }
        if request.search
            && self.settings.search
            && (says("web_search") || says("tool type") || says("'type' of tool"))
        {
            return learn(Lesson::NoSearch);
        }
        // A summary is for verified organisations only.
        if says("summar") {
            return learn(Lesson::NoSummary);
        }
        if says("effort") {
            return learn(Lesson::NoEffort);
        }
        // "Encrypted content is not supported with this model" is about the request, all else about what came back.
        if says("encrypted content is not supported") || says("'include'") {
            return learn(Lesson::NoThought);
        }
        if says("encrypted_content") || says("encrypted content") || says("of type 'reasoning'") {
            return learn(Lesson::NoEcho);
        }
        if says("temperature") {
            return learn(Lesson::NoTemperature);
        }
        if says("max_output_tokens") && (says("unsupported") || says("unknown") || says("not permitted")) {
            return learn(Lesson::NoLimit);
        }
        says("reasoning") && learn(Lesson::NoThought)
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod decode_tests;
#[cfg(test)]
#[path = "encode_tests.rs"]
mod encode_tests;
