//! What is asked of a model, and who can be asked.

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use super::catalogue::{Abilities, Effort};
use super::error::ProviderError;
use crate::conversation::{Message, StreamEvent, ToolSpec};

/// A model that can be asked.
///
/// Called by the agent once a step. Implementers own one HTTP client and the wire's quirks.
pub trait Provider: Send + Sync {
    /// Returns what is known about the model.
    fn model(&self) -> &ModelInfo;

    /// Sends the request and streams the answer. The stream ends after [`StreamEvent::Done`], or with the
    /// first error; a connection that closes before the wire's end mark is [`ProviderError::Broken`].
    ///
    /// # Cancel safety
    /// Dropping the stream closes the connection and cancels the request.
    fn stream<'a>(&'a self, request: Request<'a>) -> EventStream<'a>;

    /// Completes a line that follows `before`, as plain text outside any conversation, while the model is sure of it.
    /// Keep `before` the same between calls: the model keeps what it has read of it. `None` where the model is not in
    /// this process.
    fn finish_line<'a>(&'a self, _before: &'a str, _line: &'a str) -> Option<EventStream<'a>> {
        None
    }

    /// Names what the server has refused so far and axi leaves out since. The next connection can begin with it.
    fn learnt(&self) -> Vec<String> {
        Vec::new()
    }

    /// Asks the server for its window, in tokens, where no answer contains it; `None` while there is nothing to ask.
    /// Called between requests.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection.
    fn ask_window(&self) -> Option<BoxFuture<'_, Option<u64>>> {
        None
    }

    /// Takes the window, in tokens, that the server named when it refused a request as too long.
    fn window_is(&self, _tokens: u64) {}

    /// Takes the beginning of the next request once the first prompt is painted, to prepare for it. Does not wait.
    fn prepare(&self, _request: Request<'_>) {}
}

/// The events of one answer.
pub type EventStream<'a> = BoxStream<'a, Result<StreamEvent, ProviderError>>;

/// Tokens that stay free for the answer, beside those that the model reads.
const ANSWER: u64 = 16_000;

/// The provider of the models that axi runs itself.
pub const OWN: &str = "local";

/// What is known about a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelInfo {
    /// The provider's name: a row of the table or a section of the settings.
    pub provider: String,
    /// The model's name at the provider.
    pub model: String,
    /// Context window in tokens, when known.
    pub context_window: Option<u64>,
    /// Whether tools may be sent.
    pub tools: bool,
    /// Whether pictures may be sent.
    pub vision: bool,
    /// Whether it runs on this machine (a loopback address).
    pub local: bool,
    /// Whether it is so small that it needs a short prompt and few tools.
    pub small: bool,
    /// What else is known of it.
    pub abilities: Abilities,
}

impl ModelInfo {
    /// Returns `PROVIDER/MODEL`.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}/{}", self.provider, self.model)
    }

    /// Returns how many tokens a request and its answer may have, where that is known. Some models read less than
    /// their window.
    #[must_use]
    pub fn room(&self) -> Option<u64> {
        let Some(most_read) = self.abilities.most_read else { return self.context_window };
        let both = most_read.saturating_add(ANSWER);
        Some(self.context_window.map_or(both, |window| window.min(both)))
    }

    /// Tells whether axi runs it itself, in its own process.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.provider == OWN
    }
}

/// One question to a model. Stable parts come first on every wire: prompt caches live on their bytes.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The system prompt; the same bytes for a whole session.
    pub system: &'a str,
    /// The conversation, oldest first; its invariant holds.
    pub messages: &'a [Message],
    /// The tools, in a stable order; empty when the model has none.
    pub tools: &'a [ToolSpec],
    /// The most tokens to write; `None` leaves it to the provider (or its documented default where the wire
    /// demands a number).
    pub max_output_tokens: Option<u64>,
    /// How freely it writes: 0 always the likeliest word, 1 as it was trained to; `None` leaves it to the provider.
    pub temperature: Option<f64>,
    /// How much it thinks; `None` leaves it to the provider.
    pub effort: Option<Effort>,
    /// Whether the provider may search the web itself for it, where the settings have it do so.
    pub search: bool,
    /// How many of the first messages are the same in each request with this system prompt: what has read them once may
    /// keep that.
    pub stable: usize,
}

impl<'a> Request<'a> {
    /// Asks with these messages and nothing else.
    #[must_use]
    pub const fn of(messages: &'a [Message]) -> Self {
        Self {
            system: "",
            messages,
            tools: &[],
            max_output_tokens: None,
            temperature: None,
            effort: None,
            search: false,
            stable: 0,
        }
    }
}
