//! Ollama's native chat: unlike its imitation of OpenAI it lets us set the context's size.

mod decode;
mod encode;

use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) use decode::OllamaDecoder;
pub(crate) use encode::encode;

use super::framing::Decoder;
use super::http::{Call, Complaint, Origin};
use super::request::Request;
use super::settings::ProviderSettings;
use super::wire::{Feature, Learnt, Wire};

/// A connection's wire: settings, and the context's size so far.
pub(crate) struct OllamaWire {
    pub(crate) settings: ProviderSettings,
    pub(crate) origin: Origin,
    /// Another size makes the server load the model anew, so that it only ever grows.
    largest: AtomicU64,
    learnt: Learnt,
}

impl OllamaWire {
    pub(crate) fn new(settings: ProviderSettings, origin: Origin) -> Self {
        let learnt = Learnt::of(&settings.profile);
        Self { settings, origin, largest: AtomicU64::new(0), learnt }
    }

    fn context(&self, request: &Request<'_>) -> u64 {
        let wanted = self.settings.context_window.unwrap_or_else(|| encode::context_for(request));
        self.largest.fetch_max(wanted, Ordering::Relaxed).max(wanted)
    }
}

impl Wire for OllamaWire {
    fn call(&self, request: &Request<'_>) -> Call {
        let mut request = *request;
        if self.learnt.refuses(Feature::Tools) {
            request.tools = &[];
        }
        if self.learnt.refuses(Feature::Thinking) {
            request.effort = None;
        }
        let body = encode(&self.settings, self.context(&request), &request);
        let url = format!("{}/api/chat", self.settings.base_url);
        Call::asking(url, "application/x-ndjson", super::openai_chat::bearer(&self.settings), &body)
    }

    fn learnt(&self) -> &Learnt {
        &self.learnt
    }

    fn decoder<'a>(&self, request: &Request<'a>, _note: Option<String>) -> Box<dyn Decoder + 'a> {
        Box::new(OllamaDecoder::new(self.origin.clone(), request.tools))
    }

    /// A model without tools refuses the whole request: `"MODEL does not support tools"`.
    /// So does one that does not think, where it is told how much to: `"MODEL" does not support thinking`.
    fn adapt(&self, _request: &Request<'_>, status: u16, complaint: &Complaint) -> bool {
        let no_thinking = complaint.message.contains("does not support thinking");
        if status == 400 && no_thinking && self.learnt.learn(Feature::Thinking) {
            return true;
        }
        status == 400 && complaint.message.contains("does not support tools") && self.learnt.learn(Feature::Tools)
    }
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod decode_tests;
#[cfg(test)]
#[path = "encode_tests.rs"]
mod encode_tests;
