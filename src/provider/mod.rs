//! The model behind a wire: one trait, one row a provider, one file a protocol.
//!
//! This room knows no tool, approval, session, terminal or locale: errors carry facts, others choose words.

mod address;
mod anthropic;
mod bedrock;
pub mod catalogue;
mod connect;
mod discover;
pub mod doctor;
#[cfg(test)]
mod effort_tests;
mod error;
mod examples;
mod framing;
mod gateway;
mod gemini;
mod http;
mod inline;
#[cfg(feature = "local")]
pub mod local;
mod model_error;
mod models;
mod no_model;
mod ollama;
mod openai_chat;
mod openai_responses;
#[cfg(test)]
mod prefix_tests;
mod request;
mod settings;
mod size;
#[cfg(test)]
mod switch_tests;
mod table;
mod wire;

pub use address::{base_url, is_loopback, ollama_host};
pub use catalogue::{Abilities, Effort};
pub use connect::{connect, decoder, written};
pub use discover::{DISCOVERY_LIMIT, Discovery, FoundKey, FoundServer, discover, keys_in_environment};
pub use error::ProviderError;
pub use framing::{Decoder, NdjsonParser, Progress};
pub use http::{Client, Origin, Patience, RetryPlan, SILENCE_TOLD_AFTER, cause};
pub use model_error::ModelError;
pub use models::{ModelEntry, check_key, list_models};
pub use no_model::NoModel;
pub use request::{EventStream, ModelInfo, OWN, Provider, Request};
pub use settings::{
    CallIds, Envelope, Gateway, KeyPlace, OutputLimit, Protocol, ProviderSettings, Quirks, ReasoningEcho,
    ResultPictures, Secret,
};
pub use table::{Environment, Row, TABLE, find};
