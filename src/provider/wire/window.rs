//! The window of llama.cpp's server: no answer contains it, so axi asks for it.
//!
//! A server of this machine is asked before the first request, while nobody has said its window: that it is llama.cpp
//! shows in its answers only. After that, and on other machines, only llama.cpp is asked.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::provider::address::is_loopback;
use crate::provider::gateway::dress;
use crate::provider::http::{Answer, Call, Client, Origin};
use crate::provider::settings::{Gateway, Protocol, ProviderSettings};

/// How its answers name it, in the header `server`.
const NAME: &str = "llama.cpp";
/// Where its properties are, beside `/v1`.
const PLACE: &str = "/props";
/// Where they have the window of one conversation.
const WINDOW: &str = "/default_generation_settings/n_ctx";
/// How long they are waited for: the answer is at hand.
const PATIENCE: Duration = Duration::from_millis(500);

/// Asks llama.cpp's server for its window, once it is known to be one.
pub(crate) struct ServerWindow {
    url: String,
    headers: Vec<(&'static str, String)>,
    origin: Origin,
    may_ask: AtomicBool,
}

impl ServerWindow {
    /// Of the server of these settings; the headers carry the key.
    pub(crate) fn of(settings: &ProviderSettings, headers: Vec<(&'static str, String)>) -> Self {
        let base = settings.base_url.strip_suffix("/v1").unwrap_or(&settings.base_url);
        let (url, origin) = (format!("{base}{PLACE}"), Origin::of(settings));
        let may_be = match settings.protocol {
            Protocol::OpenAiChat | Protocol::OpenAiResponses | Protocol::Anthropic => is_loopback(base),
            Protocol::Gemini | Protocol::Bedrock | Protocol::Ollama => false,
        };
        let may_ask = AtomicBool::new(may_be && settings.context_window.is_none());
        Self { url, headers, origin, may_ask }
    }

    /// Looks at who answered.
    pub(crate) fn look(&self, answer: &Answer) {
        if answer.server().is_some_and(|name| name.starts_with(NAME)) {
            self.may_ask.store(true, Ordering::Relaxed);
        }
    }

    /// Whether to ask now: the server may have loaded another model, so axi asks again after each answer.
    pub(crate) fn is_due(&self) -> bool {
        self.may_ask.swap(false, Ordering::Relaxed)
    }

    /// Asks for it, in tokens; `None` where it is not said.
    pub(crate) async fn ask(&self, client: &Client, gateway: &Gateway) -> Option<u64> {
        let call = Call { url: self.url.clone(), headers: self.headers.clone(), ..Call::default() };
        let asked = async {
            let mut answer = client.send(&dress(gateway, call), PATIENCE).await.ok().filter(Answer::is_success)?;
            answer.json(&self.origin, PATIENCE).await.ok()?.pointer(WINDOW)?.as_u64()
        };
        tokio::time::timeout(PATIENCE, asked).await.ok().flatten().filter(|tokens| *tokens > 0)
    }
}
