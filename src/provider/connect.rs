//! From settings to a [`Provider`]; the one place that knows all protocols.

use std::sync::Arc;

use super::anthropic::{MessagesMachine, MessagesWire};
use super::framing::SseDecoder;
use super::http::{Client, is_loopback, url_origin};
use super::ollama::{OllamaDecoder, OllamaWire};
use super::openai_chat::{ChatMachine, ChatWire};
use super::problem::Origin;
use super::settings::{Protocol, ProviderSettings};
use super::wire::{Connection, Decoder, Wire};
use super::{ModelInfo, Provider, address};

/// Makes a provider. Nothing is sent and nothing built until it is asked.
#[must_use]
pub fn connect(mut settings: ProviderSettings, client: &Client) -> Arc<dyn Provider> {
    settings.base_url = address::base_url(settings.protocol, &settings.base_url);
    let origin = origin(&settings);
    match settings.protocol {
        Protocol::OpenAiChat => finish(&settings.clone(), client, ChatWire::new(settings, origin)),
        Protocol::Anthropic => finish(&settings.clone(), client, MessagesWire::new(settings, origin)),
        Protocol::Ollama => finish(&settings.clone(), client, OllamaWire::new(settings, origin)),
    }
}

/// Makes the decoder of one answer without any connection, for recorded streams.
#[must_use]
pub fn decoder(protocol: Protocol, origin: Origin) -> Box<dyn Decoder> {
    match protocol {
        Protocol::OpenAiChat => Box::new(SseDecoder::new(ChatMachine::new(origin))),
        Protocol::Anthropic => Box::new(SseDecoder::new(MessagesMachine::new(origin))),
        Protocol::Ollama => Box::new(OllamaDecoder::new(origin)),
    }
}

pub(crate) fn origin(settings: &ProviderSettings) -> Origin {
    Origin {
        provider: settings.name.clone(),
        model: settings.model.clone(),
        url: url_origin(&settings.base_url),
        secret: settings.key.clone(),
    }
}

fn finish<W: Wire + 'static>(settings: &ProviderSettings, client: &Client, wire: W) -> Arc<dyn Provider> {
    let info = ModelInfo {
        provider: settings.name.clone(),
        model: settings.model.clone(),
        context_window: settings.context_window,
        tools: settings.tools,
        vision: settings.vision,
        local: is_loopback(&settings.base_url),
        small: false,
    };
    Arc::new(Connection { info, origin: origin(settings), client: client.clone(), wire })
}
