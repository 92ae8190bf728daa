//! Amazon Bedrock's `converse-stream`, with a bearer key: one form for the models of all makers.

mod decode;
mod encode;

pub(crate) use decode::ConverseMachine;
pub(crate) use encode::encode;

use super::framing::{Decoder, EventStreamDecoder};
use super::http::{Call, Complaint, Origin};
use super::openai_chat::bearer;
use super::request::Request;
use super::settings::ProviderSettings;
use super::wire::{Feature, Learnt, Wire};

/// A connection's wire: settings, and what the server taught us.
pub(crate) struct ConverseWire {
    pub(crate) settings: ProviderSettings,
    pub(crate) origin: Origin,
    learnt: Learnt,
}

impl ConverseWire {
    pub(crate) fn new(settings: ProviderSettings, origin: Origin) -> Self {
        let learnt = Learnt::of(&settings.profile);
        Self { settings, origin, learnt }
    }
}

fn digit(half: u8) -> char {
    char::from_digit(u32::from(half), 16).unwrap_or('0').to_ascii_uppercase()
}

/// Where a model is asked. Its name may be an ARN, whose colons and slashes are no part of the path.
fn address(settings: &ProviderSettings) -> String {
    let mut name = String::new();
    for byte in settings.model.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            name.push(char::from(byte));
        } else {
            name.extend(['%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
    format!("{}/model/{name}/converse-stream", settings.base_url)
}

/// The address of the list of models: another service than the one that answers.
pub(crate) fn lists(base_url: &str) -> [String; 2] {
    let base = base_url.replacen("://bedrock-runtime.", "://bedrock.", 1);
    [
        format!("{base}/foundation-models?byOutputModality=TEXT"),
        format!("{base}/inference-profiles?maxResults=1000"),
    ]
}

impl Wire for ConverseWire {
    fn call(&self, request: &Request<'_>) -> Call {
        let body = encode(&self.settings, self.learnt.dialect(&self.settings), request);
        let url = address(&self.settings);
        Call::asking(url, "application/vnd.amazon.eventstream", bearer(&self.settings), &body)
    }

    fn learnt(&self) -> &Learnt {
        &self.learnt
    }

    fn decoder<'a>(&self, _request: &Request<'a>, _note: Option<String>) -> Box<dyn Decoder + 'a> {
        Box::new(EventStreamDecoder::new(ConverseMachine::new(self.origin.clone())))
    }

    fn adapt(&self, _request: &Request<'_>, status: u16, complaint: &Complaint) -> bool {
        if status != 400 {
            return false;
        }
        let lower = complaint.message.to_ascii_lowercase();
        let says = |words: &str| lower.contains(words);
        let learn = |lesson| self.learnt.learn(lesson);
        if says("reasoningcontent") || says("cannot be modified") || (says("thinking") && says("ignature")) {
            return learn(Feature::Reasoning);
        }
        if self.settings.long_cache && says("ttl") && learn(Feature::LongCache) {
            return true;
        }
        if says("cachepoint") || says("cache point") || says("prompt caching") {
            return learn(Feature::CacheMarks);
        }
        if says("temperature") {
            return learn(Feature::Temperature);
        }
        if says("thinking") || says("effort") || says("reasoningconfig") || says("additionalmodelrequestfields") {
            return learn(Feature::Effort);
        }
        says("status") && says("toolresult") && learn(Feature::Status)
    }
}

#[cfg(test)]
#[path = "bedrock_tests.rs"]
mod tests;
