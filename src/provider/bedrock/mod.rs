//! Amazon Bedrock's `converse-stream`, with a bearer key: one form for the models of all makers.

mod decode;
mod encode;

use std::sync::atomic::{AtomicBool, Ordering};

pub(crate) use decode::ConverseMachine;
pub(crate) use encode::encode;

use super::framing::{Decoder, EventStreamDecoder};
use super::http::{Call, Complaint, Origin};
use super::openai_chat::bearer;
use super::request::Request;
use super::settings::ProviderSettings;
use super::wire::Wire;
use encode::Dialect;

/// A connection's wire: settings, and what the server taught us. The flags only ever change once each.
pub(crate) struct ConverseWire {
    pub(crate) settings: ProviderSettings,
    pub(crate) origin: Origin,
    no_reasoning: AtomicBool,
    no_cache_marks: AtomicBool,
    no_long_cache: AtomicBool,
    no_temperature: AtomicBool,
    no_effort: AtomicBool,
    no_status: AtomicBool,
}

impl ConverseWire {
    pub(crate) const fn new(settings: ProviderSettings, origin: Origin) -> Self {
        Self {
            settings,
            origin,
            no_reasoning: AtomicBool::new(false),
            no_cache_marks: AtomicBool::new(false),
            no_long_cache: AtomicBool::new(false),
            no_temperature: AtomicBool::new(false),
            no_effort: AtomicBool::new(false),
            no_status: AtomicBool::new(false),
        }
    }

    fn dialect(&self) -> Dialect {
        let is = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        Dialect {
            reasoning: !is(&self.no_reasoning),
            cache_marks: !is(&self.no_cache_marks),
            long_cache: self.settings.long_cache && !is(&self.no_long_cache),
            temperature: self.settings.abilities.sampling && !is(&self.no_temperature),
            effort: !is(&self.no_effort),
            status: !is(&self.no_status),
        }
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
        let body = encode(&self.settings, self.dialect(), request);
        let mut headers = vec![("accept", "application/vnd.amazon.eventstream".to_owned())];
        headers.extend(bearer(&self.settings));
        Call { url: address(&self.settings), headers, body: Some(body.to_string().into_bytes()), ..Call::default() }
    }

    fn flags(&self) -> Vec<(&'static str, &AtomicBool)> {
        vec![
            ("no_reasoning", &self.no_reasoning),
            ("no_cache_marks", &self.no_cache_marks),
            ("no_long_cache", &self.no_long_cache),
            ("no_temperature", &self.no_temperature),
            ("no_effort", &self.no_effort),
            ("no_status", &self.no_status),
        ]
    }

    fn decoder<'a>(&self, _request: &Request<'a>) -> Box<dyn Decoder + 'a> {
        Box::new(EventStreamDecoder::new(ConverseMachine::new(self.origin.clone())))
    }

    fn adapt(&self, _request: &Request<'_>, status: u16, complaint: &Complaint) -> bool {
        if status != 400 {
            return false;
        }
        let lower = complaint.message.to_ascii_lowercase();
        let says = |words: &str| lower.contains(words);
        let learn = |flag: &AtomicBool| !flag.swap(true, Ordering::Relaxed);
        if says("reasoningcontent") || says("cannot be modified") || (says("thinking") && says("ignature")) {
            return learn(&self.no_reasoning);
        }
        if self.settings.long_cache && says("ttl") && learn(&self.no_long_cache) {
            return true;
        }
        if says("cachepoint") || says("cache point") || says("prompt caching") {
            return learn(&self.no_cache_marks);
        }
        if says("temperature") {
            return learn(&self.no_temperature);
        }
        if says("thinking") || says("effort") || says("reasoningconfig") || says("additionalmodelrequestfields") {
            return learn(&self.no_effort);
        }
        says("status") && says("toolresult") && learn(&self.no_status)
    }
}

#[cfg(test)]
#[path = "bedrock_tests.rs"]
mod tests;
