//! From settings to a [`Provider`]; the one place that knows all protocols.

use std::sync::Arc;

use super::address::{self, is_loopback};
use super::anthropic::{MessagesMachine, MessagesWire};
use super::bedrock::{ConverseMachine, ConverseWire};
use super::framing::{Decoder, EventStreamDecoder, SseDecoder};
use super::gemini::{GeminiMachine, GeminiWire};
use super::http::{Client, Origin};
use super::ollama::{OllamaDecoder, OllamaWire};
use super::openai_chat::{ChatMachine, ChatWire, bearer};
use super::openai_responses::{ResponsesMachine, ResponsesWire};
use super::request::{ModelInfo, Provider, Request};
use super::settings::{Protocol, ProviderSettings};
use super::size::is_small;
use super::wire::{Connection, ServerWindow, Wire};

/// Makes a provider. Nothing is sent and nothing built until it is asked.
#[must_use]
pub fn connect(mut settings: ProviderSettings, client: &Client) -> Arc<dyn Provider> {
    settings.base_url = address::base_url(settings.protocol, &settings.base_url);
    let origin = Origin::of(&settings);
    match settings.protocol {
        Protocol::OpenAiChat => finish(&settings.clone(), client, ChatWire::new(settings, origin)),
        Protocol::OpenAiResponses => finish(&settings.clone(), client, ResponsesWire::new(settings, origin)),
        Protocol::Anthropic => finish(&settings.clone(), client, MessagesWire::new(settings, origin)),
        Protocol::Gemini => finish(&settings.clone(), client, GeminiWire::new(settings, origin)),
        Protocol::Bedrock => finish(&settings.clone(), client, ConverseWire::new(settings, origin)),
        Protocol::Ollama => finish(&settings.clone(), client, OllamaWire::new(settings, origin)),
    }
}

/// Writes the body of a request without sending it, for figures.
#[must_use]
pub fn written(settings: &ProviderSettings, request: &Request<'_>) -> Vec<u8> {
    let settings =
        ProviderSettings { base_url: address::base_url(settings.protocol, &settings.base_url), ..settings.clone() };
    let origin = Origin::of(&settings);
    let call = match settings.protocol {
        Protocol::OpenAiChat => ChatWire::new(settings, origin).call(request),
        Protocol::OpenAiResponses => ResponsesWire::new(settings, origin).call(request),
        Protocol::Anthropic => MessagesWire::new(settings, origin).call(request),
        Protocol::Gemini => GeminiWire::new(settings, origin).call(request),
        Protocol::Bedrock => ConverseWire::new(settings, origin).call(request),
        Protocol::Ollama => OllamaWire::new(settings, origin).call(request),
    };
    call.body.unwrap_or_default()
}

/// Makes the decoder of one answer without any connection, for recorded streams.
#[must_use]
pub fn decoder(protocol: Protocol, origin: Origin) -> Box<dyn Decoder> {
    match protocol {
        Protocol::OpenAiChat => Box::new(SseDecoder::new(ChatMachine::new(origin, &[]))),
        Protocol::OpenAiResponses => Box::new(SseDecoder::new(ResponsesMachine::new(origin, &[]))),
        Protocol::Anthropic => Box::new(SseDecoder::new(MessagesMachine::new(origin))),
        Protocol::Gemini => Box::new(SseDecoder::new(GeminiMachine::new(origin))),
        Protocol::Bedrock => Box::new(EventStreamDecoder::new(ConverseMachine::new(origin))),
        Protocol::Ollama => Box::new(OllamaDecoder::new(origin, &[])),
    }
}

fn finish<W: Wire + 'static>(settings: &ProviderSettings, client: &Client, wire: W) -> Arc<dyn Provider> {
    let local = is_loopback(&settings.base_url);
    let info = ModelInfo {
        provider: settings.name.clone(),
        model: settings.model.clone(),
        context_window: settings.context_window,
        tools: settings.tools,
        vision: settings.vision,
        local,
        small: local && is_small(&settings.model),
        abilities: settings.abilities.clone(),
    };
    Arc::new(Connection {
        info,
        origin: Origin::of(settings),
        client: client.clone(),
        gateway: settings.gateway.clone(),
        window: ServerWindow::of(settings, bearer(settings).into_iter().collect()),
        wire,
    })
}
