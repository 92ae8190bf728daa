//! OpenAI's responses, stateless: nothing is stored there, and encrypted thoughts are carried here.

mod decode;
mod encode;
mod items;

pub(crate) use decode::ResponsesMachine;
pub(crate) use encode::encode;

use super::framing::{Decoder, SseDecoder};
use super::http::{Call, Complaint, Origin};
use super::openai_chat::bearer;
use super::request::Request;
use super::settings::ProviderSettings;
use super::wire::{Dialect, Feature, Learnt, Wire};

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
        let dialect = self.learnt.dialect(&self.settings);
        let thinks = thinks(&self.settings.model) && dialect.says(Feature::Thought);
        dialect
            .without(Feature::Thought, !thinks)
            .without(Feature::Summary, !thinks)
            .without(Feature::Effort, !thinks)
            .without(Feature::Temperature, thinks)
    }
}

/// OpenAI's models that do not think refuse to be asked for thoughts; all later ones do.
fn thinks(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    !["gpt-3", "gpt-4", "chatgpt-4"].iter().any(|old| name.starts_with(old)) && !name.contains("chat-latest")
}

impl Wire for ResponsesWire {
    fn call(&self, request: &Request<'_>) -> Call {
        let (body, note) = encode(&self.settings, self.dialect(), request);
        let url = format!("{}/responses", self.settings.base_url);
        Call { note, ..Call::asking(url, "text/event-stream", bearer(&self.settings), &body) }
    }

    fn learnt(&self) -> &Learnt {
        &self.learnt
    }

    fn decoder<'a>(&self, request: &Request<'a>, note: Option<String>) -> Box<dyn Decoder + 'a> {
        let machine = ResponsesMachine::new(self.origin.clone(), request.tools)
            .searching(request.search && self.dialect().says(Feature::Search))
            .stored_behind(note);
        Box::new(SseDecoder::new(machine).within(self.settings.gateway.answer()))
    }

    fn adapt(&self, request: &Request<'_>, status: u16, complaint: &Complaint) -> bool {
        let lower = complaint.message.to_ascii_lowercase();
        let says = |words: &str| lower.contains(words);
        let learn = |lesson| self.learnt.learn(lesson);
        if says("roles must alternate") || says("after role 'tool'") {
            return learn(Feature::LooseRoles);
        }
        // The provider no longer has the answer, or may keep none.
        if self.settings.stored && (says("previous_response") || says("previous response") || says("'store'")) {
            return learn(Feature::Store);
        }
        if !matches!(status, 400 | 422) {
            return false;
        }
        if request.search
            && self.settings.search
            && (says("web_search") || says("tool type") || says("'type' of tool"))
        {
            return learn(Feature::Search);
        }
        // A summary is for verified organisations only.
        if says("summar") {
            return learn(Feature::Summary);
        }
        if says("effort") {
            return learn(Feature::Effort);
        }
        // "Encrypted content is not supported with this model" is about the request, all else about what came back.
        if says("encrypted content is not supported") || says("'include'") {
            return learn(Feature::Thought);
        }
        if says("encrypted_content") || says("encrypted content") || says("of type 'reasoning'") {
            return learn(Feature::Echo);
        }
        if says("temperature") {
            return learn(Feature::Temperature);
        }
        if says("max_output_tokens") && (says("unsupported") || says("unknown") || says("not permitted")) {
            return learn(Feature::Limit);
        }
        says("reasoning") && learn(Feature::Thought)
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod decode_tests;
#[cfg(test)]
#[path = "encode_tests.rs"]
mod encode_tests;
