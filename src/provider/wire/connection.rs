//! The one loop all wires share: send, adapt to what the server refuses, decode until the answer is whole.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::stream;

use crate::conversation::StreamEvent;
use crate::provider::error::ProviderError;
use crate::provider::framing::{Decoder, Progress};
use crate::provider::http::{Answer, Call, Client, Complaint, Origin};
use crate::provider::request::{EventStream, ModelInfo, Provider, Request};

/// How long a server may still take after it said why it stopped: token counts and the end mark come at once or
/// never.
const AFTER_THE_STOP: Duration = Duration::from_secs(5);

/// How long the end of the body is waited for after the end mark, so that the connection can be used again.
const AFTER_THE_END: Duration = Duration::from_millis(20);

/// How often one request is changed to please a server. More than any wire has adaptations.
const MOST_ADAPTATIONS: usize = 5;

/// What differs between protocols.
pub(crate) trait Wire: Send + Sync {
    /// Writes the request.
    fn call(&self, request: &Request<'_>) -> Call;

    /// Makes the decoder of one answer.
    fn decoder(&self) -> Box<dyn Decoder>;

    /// Looks whether the complaint is about something that can be left out or said otherwise. If so remembers it
    /// for the life of the provider and returns true: the request is written and sent again.
    fn adapt(&self, status: u16, complaint: &Complaint) -> bool;
}

/// A model behind a wire.
pub(crate) struct Connection<W> {
    pub(crate) info: ModelInfo,
    pub(crate) origin: Origin,
    pub(crate) client: Client,
    pub(crate) wire: W,
}

impl<W: Wire> Provider for Connection<W> {
    fn model(&self) -> &ModelInfo {
        &self.info
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> EventStream<'a> {
        let flow = Flow { connection: self, stage: Stage::Start(request), ready: VecDeque::new(), failure: None };
        Box::pin(stream::unfold(flow, |mut flow| async move {
            let next = flow.next().await?;
            Some((next, flow))
        }))
    }
}

impl<W: Wire> Connection<W> {
    async fn open(&self, request: &Request<'_>, idle: Duration) -> Result<Answer, ProviderError> {
        let mut adaptations = 0;
        loop {
            let mut answer = self.client.send(&self.wire.call(request), idle).await?;
            if answer.is_success() {
                return Ok(answer);
            }
            let status = answer.status();
            let (complaint, wait) = answer.complaint().await;
            if adaptations < MOST_ADAPTATIONS && self.wire.adapt(status, &complaint) {
                adaptations += 1;
                tracing::debug!(provider = self.info.provider, status, "adapting the request");
                continue;
            }
            return Err(complaint.into_error(&self.origin, status, wait));
        }
    }
}

enum Stage<'a> {
    Start(Request<'a>),
    Reading(Answer, Box<dyn Decoder>),
    Ended,
}

struct Flow<'a, W> {
    connection: &'a Connection<W>,
    stage: Stage<'a>,
    ready: VecDeque<StreamEvent>,
    failure: Option<ProviderError>,
}

impl<W: Wire> Flow<'_, W> {
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
                Stage::Start(request) => {
                    let idle = self.connection.client.idle(&self.connection.origin.url);
                    match self.connection.open(&request, idle).await {
                        Ok(answer) => self.stage = Stage::Reading(answer, self.connection.wire.decoder()),
                        Err(error) => self.failure = Some(error),
                    }
                }
                Stage::Reading(answer, decoder) => self.read(answer, decoder).await,
                Stage::Ended => return None,
            }
        }
    }

    async fn read(&mut self, mut answer: Answer, mut decoder: Box<dyn Decoder>) {
        let stopped = decoder.progress() == Progress::Stopped;
        let idle = if stopped { AFTER_THE_STOP } else { self.connection.client.idle(&self.connection.origin.url) };
        let mut events = Vec::new();
        let outcome = match answer.chunk(idle).await {
            Ok(Some(bytes)) => decoder.push(&bytes, &mut events),
            Ok(None) => decoder.finish(&mut events),
            // The answer is whole; how the connection ended does not matter.
            Err(_) if stopped => decoder.finish(&mut events),
            Err(error) => Err(error),
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
