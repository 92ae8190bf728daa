//! What it takes to speak to a model: plain values that settings files and the table both produce.

use std::fmt;

use serde_json::{Map, Value};

use super::catalogue::{self, Abilities};

/// Where a key was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPlace {
    /// In this variable of the environment.
    Variable(Box<str>),
    /// A command of the person's prints it.
    Command,
    /// In the keychain.
    Keychain,
    /// In the file only the person can read.
    File,
    /// The person gave it, and it was kept nowhere.
    Given,
}

/// A key. Neither `Debug` nor `Display` shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    text: String,
    place: KeyPlace,
}

impl Secret {
    /// Wraps a key; surrounding white space (a newline from a file or a command) is dropped.
    #[must_use]
    pub fn new(key: impl AsRef<str>) -> Self {
        Self { text: key.as_ref().trim().to_owned(), place: KeyPlace::Given }
    }

    /// The same key, which was found there.
    #[must_use]
    pub fn found_in(self, place: KeyPlace) -> Self {
        Self { place, ..self }
    }

    /// Returns where it was found.
    #[must_use]
    pub const fn place(&self) -> &KeyPlace {
        &self.place
    }

    /// Returns the key itself, for a header and nothing else.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("…")
    }
}

/// The words on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// `POST {base}/chat/completions`, server-sent events.
    OpenAiChat,
    /// `POST {base}/responses`, server-sent events.
    OpenAiResponses,
    /// `POST {base}/v1/messages`, server-sent events.
    Anthropic,
    /// `POST {base}/models/{model}:streamGenerateContent`, server-sent events.
    Gemini,
    /// `POST {base}/model/{model}/converse-stream`, Amazon's event stream.
    Bedrock,
    /// `POST {base}/api/chat`, one JSON object a line.
    Ollama,
}

impl Protocol {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::OpenAiChat, Self::OpenAiResponses, Self::Anthropic, Self::Gemini, Self::Bedrock, Self::Ollama];

    /// Returns the name used in settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Bedrock => "bedrock",
            Self::Ollama => "ollama",
        }
    }

    /// Other names for two of them, for servers that imitate the protocol.
    pub const ALIASES: [(&str, Self); 2] =
        [("openai-compatible", Self::OpenAiChat), ("anthropic-compatible", Self::Anthropic)];

    /// Reads the name used in settings.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let alias = Self::ALIASES.into_iter().find(|(alias, _)| *alias == name);
        Self::ALL.into_iter().find(|protocol| protocol.name() == name).or(alias.map(|(_, protocol)| protocol))
    }
}

/// Which ids of other models' calls a server accepts; its own come back as they were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CallIds {
    /// Letters, digits, `_` and `-`, at most 40 of them (OpenAI's limit, the smallest of those without a rule).
    #[default]
    Usual,
    /// Exactly nine letters or digits (Mistral, else HTTP 400 code 3280: sst/opencode#1680).
    NineAlphanumerics,
}

/// Whether the server's own reasoning is sent back to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReasoningEcho {
    /// Never: the server refuses the field, or has no use for it.
    Never,
    /// On assistant messages that carry calls: required by DeepSeek and Kimi (earendil-works/pi#3636), read by the
    /// chat templates of local servers.
    #[default]
    WithCalls,
}

/// Which field limits the output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OutputLimit {
    /// `max_tokens`.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`: OpenAI's reasoning models refuse the other.
    MaxCompletionTokens,
}

/// Where pictures that a tool gave stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ResultPictures {
    /// In a person's message behind the results.
    #[default]
    Behind,
    /// In the result: the server refuses a person's message there.
    Inside,
}

/// Where a server departs from its protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quirks {
    /// Ids of tool calls.
    pub call_ids: CallIds,
    /// Reasoning sent back.
    pub reasoning_echo: ReasoningEcho,
    /// The field that limits the output, until the server asks for the other.
    pub output_limit: OutputLimit,
    /// Pictures of results.
    pub result_pictures: ResultPictures,
}

/// What a gateway adds to each request and around each answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gateway {
    /// Headers; a value may be a secret.
    pub headers: Vec<(String, Secret)>,
    /// Fields of the address.
    pub query: Vec<(String, String)>,
    /// What the body is put into.
    pub envelope: Option<Envelope>,
}

/// The body's JSON as a string inside of a field, beside others that are always the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Envelope {
    /// The field that holds the body.
    pub field: String,
    /// The others.
    pub fixed: Map<String, Value>,
    /// Where the answer stands in what comes back, as names with dots between: `data.answer`.
    pub answer: String,
}

impl Gateway {
    /// The path of an answer in what comes back; `None` where the answer comes without an envelope.
    pub(crate) fn answer(&self) -> Option<String> {
        self.envelope.as_ref().map(|envelope| envelope.answer.clone()).filter(|answer| !answer.is_empty())
    }
}

/// Everything it takes to connect to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderSettings {
    /// The provider's name: the first half of `PROVIDER/MODEL`.
    pub name: String,
    /// Its wire.
    pub protocol: Protocol,
    /// Its address; `/v1` and a slash at the end are optional on every wire.
    pub base_url: String,
    /// The key, if it needs one.
    pub key: Option<Secret>,
    /// The model's name at the provider.
    pub model: String,
    /// Context window in tokens, when known. Ollama gets it as `num_ctx`.
    pub context_window: Option<u64>,
    /// Whether tools may be sent.
    pub tools: bool,
    /// Whether pictures may be sent.
    pub vision: bool,
    /// Where the server departs from its protocol.
    pub quirks: Quirks,
    /// What else is known of the model.
    pub abilities: Abilities,
    /// What the server wants around each request.
    pub gateway: Gateway,
    /// Whether the provider may search the web itself.
    pub search: bool,
    /// Whether a provider that can keeps its answers, so that a request only names the last one.
    pub stored: bool,
    /// Whether a provider that is told how long keeps what it has read for an hour, and not for five minutes.
    pub long_cache: bool,
    /// What it is known to refuse: see [`super::Provider::learnt`].
    pub profile: Vec<String>,
}

impl ProviderSettings {
    /// Returns `PROVIDER/MODEL`, the name that reasoning and calls of the model carry.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}/{}", self.name, self.model)
    }

    /// Makes the settings of a provider that is in no table: tools yes, pictures no, no quirks, no key. A Claude is
    /// recognised by its name at any server that speaks its wire; only its price is unknown there.
    #[must_use]
    pub fn custom(name: &str, protocol: Protocol, base_url: &str, model: &str) -> Self {
        let abilities = match protocol {
            Protocol::Anthropic | Protocol::Bedrock => catalogue::claude(model),
            Protocol::OpenAiChat | Protocol::OpenAiResponses | Protocol::Gemini | Protocol::Ollama => None,
        };
        Self {
            name: name.to_owned(),
            protocol,
            base_url: base_url.to_owned(),
            key: None,
            model: model.to_owned(),
            context_window: None,
            tools: true,
            vision: false,
            quirks: Quirks::default(),
            abilities: abilities.unwrap_or_default(),
            gateway: Gateway::default(),
            search: false,
            stored: false,
            long_cache: false,
            profile: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_never_shows() {
        let mut settings = ProviderSettings::custom("lab", Protocol::OpenAiChat, "http://x", "m");
        settings.key = Some(Secret::new(" sk-verysecret\n"));
        let shown = format!("{settings:?} {}", Secret::new("sk-verysecret"));
        assert!(!shown.contains("verysecret"), "{shown}");
        assert_eq!(settings.key.map(|key| key.expose().to_owned()), Some("sk-verysecret".to_owned()));
    }

    #[test]
    fn protocols_are_named_both_ways() {
        for protocol in Protocol::ALL {
            assert_eq!(Protocol::parse(protocol.name()), Some(protocol));
        }
        assert_eq!(Protocol::parse("gopher"), None);
    }
}
