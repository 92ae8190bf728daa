//! The one loop all wires share: send, adapt to what the server refuses, decode until the answer is whole.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream;
use tokio::time::Instant;

use crate::conversation::StreamEvent;
use crate::provider::error::ProviderError;
use crate::provider::framing::{Decoder, Progress};
use crate::provider::gateway::dress;
use crate::provider::http::{Answer, Call, Client, Complaint, Origin};
use crate::provider::request::{EventStream, ModelInfo, Provider, Request};
use crate::provider::settings::Gateway;

/// How long a server may still take after it said why it stopped: token counts and the end mark come at once or
/// never.
const AFTER_THE_STOP: Duration = Duration::from_secs(5);

/// How long the end of the body is waited for after the end mark, so that the connection can be used again.
const AFTER_THE_END: Duration = Duration::from_millis(20);

/// How often that is told again.
const SILENCE_TOLD_EVERY: Duration = Duration::from_secs(5);

/// How often one request is changed to please a server. More than any wire has adaptations.
const MOST_ADAPTATIONS: usize = 5;

/// What differs between protocols.
pub(crate) trait Wire: Send + Sync {
    /// Writes the request.
    fn call(&self, request: &Request<'_>) -> Call;

    /// Makes the decoder of the answer to this request.
    fn decoder<'a>(&self, request: &Request<'a>) -> Box<dyn Decoder + 'a>;

    /// What the server can refuse, by name, each true once it has.
    fn flags(&self) -> Vec<(&'static str, &AtomicBool)>;

    /// Looks whether the complaint is about something that can be left out or said otherwise. If so remembers it
    /// for the life of the provider and returns true: the request is written and sent again.
    fn adapt(&self, request: &Request<'_>, status: u16, complaint: &Complaint) -> bool;
}

/// A model behind a wire.
pub(crate) struct Connection<W> {
    pub(crate) info: ModelInfo,
    pub(crate) origin: Origin,
    pub(crate) client: Client,
    pub(crate) gateway: Gateway,
    pub(crate) wire: W,
}

impl<W: Wire> Provider for Connection<W> {
    fn model(&self) -> &ModelInfo {
        &self.info
    }

    fn learnt(&self) -> Vec<String> {
        let learnt = self.wire.flags().into_iter().filter(|(_, flag)| flag.load(Ordering::Relaxed));
        learnt.map(|(name, _)| name.to_owned()).collect()
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> EventStream<'a> {
        let opening = Box::pin(self.open(request));
        let flow = Flow {
            connection: self,
            request,
            stage: Stage::Opening(opening),
            silence: Silence::new(self.client.told()),
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
    /// Sends the request, changed as often as the server refuses what can be left out.
    async fn open(&self, request: Request<'_>) -> Result<Answer, ProviderError> {
        let idle = self.client.idle(&self.origin.url);
        let mut adaptations = 0;
        loop {
            let mut answer = self.client.send(&dress(&self.gateway, self.wire.call(&request)), idle).await?;
            if answer.is_success() {
                return Ok(answer);
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
    /// When it is told first.
    first: Duration,
    told: Duration,
}

impl Silence {
    fn new(first: Duration) -> Self {
        Self { since: Instant::now(), first, told: Duration::ZERO }
    }

    /// When it is to be told next.
    fn due(&self) -> Instant {
        let next = if self.told.is_zero() { self.first } else { self.told + SILENCE_TOLD_EVERY };
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
    Opening(BoxFuture<'a, Result<Answer, ProviderError>>),
    Reading(Answer, Box<dyn Decoder + 'a>),
    Ended,
}

struct Flow<'a, W> {
    connection: &'a Connection<W>,
    request: Request<'a>,
    stage: Stage<'a>,
    silence: Silence,
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
                        Err(_) => {
                            self.ready.push_back(self.silence.tell());
                            self.stage = Stage::Opening(opening);
                        }
                        Ok(Ok(answer)) => {
                            self.silence = Silence::new(self.connection.client.told());
                            self.stage = Stage::Reading(answer, self.connection.wire.decoder(&self.request));
                        }
                        Ok(Err(error)) => self.failure = Some(error),
                    }
                }
                Stage::Reading(answer, decoder) => self.read(answer, decoder).await,
                Stage::Ended => return None,
            }
        }
    }

    async fn read(&mut self, mut answer: Answer, mut decoder: Box<dyn Decoder + 'a>) {
        let stopped = decoder.progress() == Progress::Stopped;
        let patience =
            if stopped { AFTER_THE_STOP } else { self.connection.client.idle(&self.connection.origin.url) };
        let reading = answer.chunk(self.silence.left(patience));
        let Ok(read) = tokio::time::timeout_at(self.silence.due(), reading).await else {
            self.ready.push_back(self.silence.tell());
            self.stage = Stage::Reading(answer, decoder);
            return;
        };
        self.silence = Silence::new(self.connection.client.told());
        let read = read.map_err(|error| match error {
            // What was waited in all, not since it was told last.
            ProviderError::Timeout { url, .. } => ProviderError::Timeout { url, after: patience },
            other => other,
        });
        let mut events = Vec::new();
        let outcome = match read {
            Ok(Some(bytes)) => decoder.push(&bytes, &mut events),
            Ok(None) => decoder.finish(&mut events),
            // What was held back is given out; an answer that is whole stands, however the connection ended.
            Err(error) => decoder.finish(&mut events).map_err(|_| error),
        };
        self.ready.extend(events);
        match outcome {
            Err(error) => self.failure = Some(error),
            Ok(()) if decoder.progress() == Progress::Ended => {
                drop(tokio::time::timeout(AFTER_THE_END, answer.chunk(AFTER_THE_END)).await);
            }
            Ok(()) => self.stage = Stage::Reading(answer, decoder),
        }
    }
}
