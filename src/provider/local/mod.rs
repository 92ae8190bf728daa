//! A model inside of axi: no key, no account, no server, no network.
//!
//! An own engine, because none of the libraries fits the two commands of the README: llama.cpp's bindings need CMake
//! and libclang, candle chooses its kernels when it is built (three times slower on an ordinary build) and reads
//! prompts token by token (huggingface/candle#3707). It knows the Qwen 2, Qwen 3 and Llama families in the usual
//! formats (`gguf::Format`), with the templates of ChatML and Llama 3, and has kernels for AVX-512, AVX2 and NEON.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    reason = "numerical code: the sizes were checked when the file was read, and rounding is its business"
)]

mod ahead;
mod answer;
mod arithmetic;
mod arrivals;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod attention;
#[cfg(target_arch = "x86_64")]
mod attention_narrow;
#[cfg(target_arch = "x86_64")]
mod attention_wide;
mod blocks;
mod calls;
mod chat;
mod cores;
mod crew;
mod early;
mod engine;
mod expand;
mod fetch;
mod gguf;
mod guide;
mod job;
mod kept;
#[cfg(test)]
mod kernel_tests;
mod layers;
mod likely;
#[cfg(target_arch = "aarch64")]
mod neon_attention;
#[cfg(target_arch = "aarch64")]
mod neon_panel;
mod network;
#[cfg(target_arch = "x86_64")]
mod panel;
#[cfg(target_arch = "x86_64")]
mod panel_narrow;
mod parts;
mod past;
mod sources;
mod speed;
mod tokenizer;
mod unpack;
#[cfg(target_arch = "x86_64")]
mod unpack_narrow;
#[cfg_attr(target_arch = "aarch64", path = "neon.rs")]
#[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), path = "vector_none.rs")]
mod vector;
#[cfg(target_arch = "x86_64")]
mod vector_loads;
#[cfg(target_arch = "x86_64")]
mod vector_wide;
mod weights;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use tokio::sync::mpsc;

use engine::{Engine, Plan};
use job::{Ask, Event, Job, Trouble};

use super::ModelError;
use super::{Abilities, EventStream, ModelInfo, Provider, ProviderError, Request};
use crate::conversation::Price;
pub use early::Opening;
pub use fetch::{FetchError, arrived, fetch, remove};
pub use sources::{NotThere, Progress, Source, Sources};
pub use speed::{keep_test, speed, test, tested};
pub use weights::{Places, TABLE, Weights, by_name, check, context, find, folder, remember};

/// The provider's name.
pub const NAME: &str = super::OWN;

/// Tokens that a line is finished with, at most: each takes some 40 ms, and somebody is typing.
const LINE: usize = 8;

/// Tokens of an answer when nobody says how many.
const MOST: usize = 2048;

/// The instructions of this processor that answers are computed with, where there are special ones, and how many
/// cores compute.
#[must_use]
pub fn processor() -> (Option<&'static str>, usize) {
    (vector::Vector::chosen().map(vector::Vector::name), cores::cores())
}

/// Tells whether a file is a model that axi can run; reads of the weights only the small ones.
///
/// # Errors
/// [`ModelError`]: why not.
pub fn served(path: &std::path::Path) -> Result<(), ModelError> {
    let file = gguf::Gguf::open(path)?;
    let tokenizer = tokenizer::Tokenizer::new(&file)?;
    chat::Marks::find(&tokenizer)?;
    network::Network::new(&file, 1)?;
    Ok(())
}

/// A model run by axi itself.
pub struct LocalProvider {
    info: ModelInfo,
    engine: Engine,
}

impl LocalProvider {
    /// Makes the provider of a weights file. Nothing is read until it is asked or told to prepare.
    ///
    /// `kept` is the folder where the beginning of prompts is kept from run to run; the memory is given back when
    /// nobody asked for `idle`; a conversation has at most `context` tokens. A file that is said to be `published` gives no answer when its bytes are others.
    #[must_use]
    pub fn new(
        name: &str,
        weights: PathBuf,
        published: Option<(&'static Weights, Places)>,
        kept: Option<PathBuf>,
        (idle, context): (Duration, u64),
    ) -> Self {
        let info = ModelInfo {
            provider: NAME.to_owned(),
            model: name.to_owned(),
            context_window: Some(context),
            tools: true,
            vision: false,
            local: true,
            small: true,
            abilities: Abilities { price: Some(Price::free()), ..Abilities::default() },
        };
        let context = context as usize;
        Self { info, engine: Engine::new(Plan { weights, published, kept, idle, context }) }
    }

    fn job(request: Request<'_>, events: Option<mpsc::Sender<Event>>, stop: &Arc<AtomicBool>) -> Job {
        let most = request.max_output_tokens.and_then(|most| usize::try_from(most).ok()).unwrap_or(MOST);
        let ask = Ask::Message {
            system: request.system.to_owned(),
            messages: request.messages.to_vec(),
            tools: request.tools.to_vec(),
            stable: request.stable,
        };
        Job { ask, most, events, stop: Arc::clone(stop) }
    }

    /// Hands a question over and returns what comes of it.
    fn events(&self, job: impl FnOnce(mpsc::Sender<Event>, &Arc<AtomicBool>) -> Job) -> EventStream<'_> {
        let (sender, receiver) = mpsc::channel(64);
        let stop = Arc::new(AtomicBool::new(false));
        if let Err(error) = self.engine.ask(job(sender.clone(), &stop)) {
            // An empty channel of 64 takes one event.
            drop(sender.try_send(Err(Trouble::Model(error.into()))));
        }
        drop(sender);
        let listener = Listener { receiver, stop };
        let events = futures_util::stream::unfold(listener, |mut listener| async move {
            listener.receiver.recv().await.map(|event| (event, listener))
        });
        events.map(|event| event.map_err(|trouble| self.failed(trouble))).boxed()
    }

    fn failed(&self, trouble: Trouble) -> ProviderError {
        match trouble {
            Trouble::TooLong => {
                let most = self.info.context_window.unwrap_or_default();
                ProviderError::ContextOverflow { message: format!("{most} tokens") }
            }
            Trouble::Model(error) => ProviderError::NoSuchModel {
                provider: NAME.to_owned(),
                model: self.info.model.clone(),
                message: error.to_string(),
                own: Some(error),
            },
        }
    }
}

impl Provider for LocalProvider {
    fn model(&self) -> &ModelInfo {
        &self.info
    }

    fn prepare(&self, request: Request<'_>) {
        let job = Self::job(request, None, &Arc::default());
        if let Err(error) = self.engine.ask(job) {
            tracing::warn!(%error, "no thread for the model");
        }
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> EventStream<'a> {
        self.events(|sender, stop| Self::job(request, Some(sender), stop))
    }

    fn finish_line<'a>(&'a self, before: &'a str, line: &'a str) -> Option<EventStream<'a>> {
        Some(self.events(|sender, stop| Job {
            ask: Ask::Line { before: before.to_owned(), line: line.to_owned() },
            most: LINE,
            events: Some(sender),
            stop: Arc::clone(stop),
        }))
    }
}

/// Stops the engine when nobody listens any more: it looks in every layer of every token.
struct Listener {
    receiver: mpsc::Receiver<Event>,
    stop: Arc<AtomicBool>,
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
