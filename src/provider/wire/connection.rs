//! The one loop all wires share: send, adapt to what the server refuses, decode until the answer is whole.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream;
use tokio::time::Instant;

use crate::conversation::{Message, StreamEvent};
use crate::provider::address::is_loopback;
use crate::provider::error::ProviderError;
use crate::provider::examples;
use crate::provider::framing::{Decoder, Progress};
use crate::provider::gateway::dress;
use crate::provider::http::{Answer, Call, Client, Complaint, Origin, Sleep, cause};
use crate::provider::request::{EventStream, ModelInfo, Provider, Request};
use crate::provider::settings::Gateway;

use super::learnt::Learnt;
use super::window::ServerWindow;

/// How long axi waits after the server said why the answer ended: token counts and the end mark come at once or
/// never.
const AFTER_THE_STOP: Duration = Duration::from_secs(5);

/// How long the end of the body is waited for after the end mark, so that the connection can be used again.
const AFTER_THE_END: Duration = Duration::from_millis(20);

/// How often one request is changed to please a server. More than any wire has adaptations.
const MOST_ADAPTATIONS: usize = 5;

/// Tokens of a window below which no examples are shown: they take some 1,500.
const ROOM_TO_SHOW: u64 = 6_000;

/// What differs between protocols.
pub(crate) trait Wire: Send + Sync {
    /// Writes the request.
    fn call(&self, request: &Request<'_>) -> Call;

    /// Makes the decoder of the answer to this request; `note` is the one of its [`Call`].
    fn decoder<'a>(&self, request: &Request<'a>, note: Option<String>) -> Box<dyn Decoder + 'a>;

    /// What the server has refused so far.
    fn learnt(&self) -> &Learnt;

    /// Tells whether the server complains about something that the wire can leave out or say otherwise. If so, the
    /// wire remembers it for the life of the provider, and the caller writes and sends the request again.
    fn adapt(&self, request: &Request<'_>, status: u16, complaint: &Complaint) -> bool;
}

/// A model behind a wire.
pub(crate) struct Connection<W> {
    pub(crate) info: ModelInfo,
    pub(crate) origin: Origin,
    pub(crate) client: Client,
    pub(crate) gateway: Gateway,
    pub(crate) window: ServerWindow,
    pub(crate) wire: W,
}

impl<W: Wire> Provider for Connection<W> {
    fn model(&self) -> &ModelInfo {
        &self.info
    }

    fn learnt(&self) -> Vec<String> {
        self.wire.learnt().names()
    }

    fn ask_window(&self) -> Option<BoxFuture<'_, Option<u64>>> {
        self.window.is_due().then(|| self.window.ask(&self.client, &self.gateway).boxed())
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> EventStream<'a> {
        let opening = Box::pin(self.open(request));
        let flow = Flow {
            connection: self,
            request,
            stage: Stage::Opening(opening),
            silence: Silence::new(&self.client),
            slept: self.client.sleep(),
            ready: VecDeque::new(),
            failure: None,
        };
        Box::pin(stream::unfold(flow, |mut flow| async move {
            let next = flow.next().await?;
            Some((next, flow))
        }))
    }
}

impl<W: Wire> Connection<W> {
    /// The messages behind examples, which a small model follows better than words, where its window has room for them.
    fn shown(&self, request: &Request<'_>) -> Option<Vec<Message>> {
        let has_room = self.info.context_window.is_none_or(|window| window >= ROOM_TO_SHOW);
        if !self.info.small || !has_room || request.tools.is_empty() {
            return None;
        }
        let mut messages = examples::messages(request.tools);
        messages.extend_from_slice(request.messages);
        Some(messages)
    }

    /// Sends the request; where the server refuses something that can be left out, sends it again without.
    async fn open(&self, request: Request<'_>) -> Result<(Answer, Option<String>), ProviderError> {
        let idle = self.client.idle(&self.origin.url);
        let shown = self.shown(&request);
        let request = Request { messages: shown.as_deref().unwrap_or(request.messages), ..request };
        let mut adaptations = 0;
        loop {
            let mut call = self.wire.call(&request);
            let note = call.note.take();
            let mut answer = self.client.send(&dress(&self.gateway, call), idle).await?;
            answer.check_portal()?;
            self.window.look(&answer);
            if answer.is_success() {
                return Ok((answer, note));
            }
            let status = answer.status();
            let (complaint, wait) = answer.complaint().await;
            if adaptations < MOST_ADAPTATIONS && self.wire.adapt(&request, status, &complaint) {
                adaptations += 1;
                tracing::debug!(provider = self.info.provider, status, "adapting the request");
                continue;
            }
            return Err(complaint.into_error(&self.origin, status, wait));
        }
    }
}

/// For how long nothing has arrived.
struct Silence {
    since: Instant,
    /// When axi reports it first; after that it reports it three times as often.
    first: Duration,
    told: Duration,
    slept: Sleep,
    /// Whether it was seen before that this machine slept.
    seen: bool,
}

impl Silence {
    fn new(client: &Client) -> Self {
        let (first, slept) = (client.told(), client.sleep());
        Self { since: Instant::now(), first, told: Duration::ZERO, slept, seen: false }
    }

    /// Tells whether the server is silent because this machine slept. A connection may have survived the sleep: it
    /// gets until the next report to bring what was on its way.
    fn is_of_sleep(&mut self) -> bool {
        std::mem::replace(&mut self.seen, self.slept.was_long())
    }

    /// When the next report is due.
    fn due(&self) -> Instant {
        let next = if self.told.is_zero() { self.first } else { self.told + self.first / 3 };
        self.since + next
    }

    fn tell(&mut self) -> StreamEvent {
        self.told = self.since.elapsed();
        StreamEvent::Silent { seconds: self.told.as_secs() }
    }

    /// How much of `patience` is left.
    fn left(&self, patience: Duration) -> Duration {
        patience.saturating_sub(self.since.elapsed())
    }
}

enum Stage<'a> {
    Opening(BoxFuture<'a, Result<(Answer, Option<String>), ProviderError>>),
    Reading(Answer, Box<dyn Decoder + 'a>),
    Ended,
}

struct Flow<'a, W> {
    connection: &'a Connection<W>,
    request: Request<'a>,
    stage: Stage<'a>,
    silence: Silence,
    /// Since the request was sent.
    slept: Sleep,
    ready: VecDeque<StreamEvent>,
    failure: Option<ProviderError>,
}

impl<'a, W: Wire> Flow<'a, W> {
    async fn next(&mut self) -> Option<Result<StreamEvent, ProviderError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            if let Some(failure) = self.failure.take() {
                self.stage = Stage::Ended;
                return Some(Err(failure));
            }
            match std::mem::replace(&mut self.stage, Stage::Ended) {
                Stage::Opening(mut opening) => {
                    match tokio::time::timeout_at(self.silence.due(), &mut opening).await {
                        Err(_) if self.is_cut_by_sleep() => self.failure = Some(self.cut_by_sleep()),
                        Err(_) => {
                            self.ready.push_back(self.silence.tell());
                            self.stage = Stage::Opening(opening);
                        }
                        Ok(Ok((answer, note))) => {
                            self.silence = Silence::new(&self.connection.client);
                            self.stage = Stage::Reading(answer, self.connection.wire.decoder(&self.request, note));
                        }
                        Ok(Err(error)) => self.failure = Some(self.blamed(error)),
                    }
                }
                Stage::Reading(answer, decoder) => self.read(answer, decoder).await,
                Stage::Ended => return None,
            }
        }
    }

    /// Tells whether sleep has broken the connection: this machine slept, and the server is another machine.
    fn is_cut_by_sleep(&mut self) -> bool {
        !is_loopback(&self.connection.origin.url) && self.silence.is_of_sleep()
    }

    fn cut_by_sleep(&self) -> ProviderError {
        self.connection.origin.broken(cause::SLEPT)
    }

    /// Blames sleep for a connection that broke or was silent over it.
    fn blamed(&self, error: ProviderError) -> ProviderError {
        match error {
            ProviderError::Broken { .. } | ProviderError::Timeout { .. } if self.slept.was_long() => {
                self.cut_by_sleep()
            }
            other => other,
        }
    }

    async fn read(&mut self, mut answer: Answer, mut decoder: Box<dyn Decoder + 'a>) {
        let stopped = decoder.progress() == Progress::Stopped;
        let patience =
            if stopped { AFTER_THE_STOP } else { self.connection.client.idle(&self.connection.origin.url) };
        let reading = answer.chunk(self.silence.left(patience));
        let Ok(read) = tokio::time::timeout_at(self.silence.due(), reading).await else {
            if self.is_cut_by_sleep() {
                self.failure = Some(self.cut_by_sleep());
                return;
            }
            self.ready.push_back(self.silence.tell());
            self.stage = Stage::Reading(answer, decoder);
            return;
        };
        self.silence = Silence::new(&self.connection.client);
        let read = read.map_err(|error| match error {
            // The whole wait, not the wait since the last report.
            ProviderError::Timeout { url, .. } => ProviderError::Timeout { url, after: patience },
            other => other,
        });
        let mut events = Vec::new();
        let outcome = match read {
            Ok(Some(bytes)) => decoder.push(&bytes, &mut events),
            Ok(None) => decoder.finish(&mut events),
            // The decoder gives out what it held back. A whole answer stands, however the connection ended.
            Err(error) => decoder.finish(&mut events).map_err(|_| error),
        };
        self.ready.extend(events);
        match outcome {
            Err(error) => self.failure = Some(self.blamed(error)),
            Ok(()) if decoder.progress() == Progress::Ended => {
                drop(tokio::time::timeout(AFTER_THE_END, answer.chunk(AFTER_THE_END)).await);
            }
            Ok(()) => self.stage = Stage::Reading(answer, decoder),
        }
    }
}
