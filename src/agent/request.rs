//! One request to the model: stream it, retry it, stop it.

use std::future::Future;
use std::pin::pin;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use super::{Activity, Agent, AgentEvent, Failure, Frontend, Notice, partial};
use crate::conversation::{Finished, MessageBuilder, StreamEvent, Subject};
use crate::provider::{ProviderError, Request};
use crate::session::EntryKind;

/// How often a retry's countdown is shown.
const COUNTDOWN_STEP: Duration = Duration::from_secs(1);

/// What asking came to. Partial text of the last two is already in the conversation and the session.
pub(super) enum Asked {
    Finished(Finished),
    Interrupted,
    Failed(Failure),
}

/// What one attempt came to.
enum Attempt {
    Whole(Finished),
    Interrupted(MessageBuilder),
    Failed { error: ProviderError, builder: MessageBuilder, shown: bool },
}

impl Agent {
    /// Asks the model for its next message, retrying what can be retried before anything was shown.
    pub(super) async fn ask(&mut self, frontend: &mut dyn Frontend, cancel: &CancellationToken) -> Asked {
        let mut failures = 0;
        loop {
            match self.attempt(frontend, cancel).await {
                Attempt::Whole(finished) => {
                    self.count(&finished, frontend);
                    return Asked::Finished(finished);
                }
                Attempt::Interrupted(builder) => {
                    self.keep_partial(builder, frontend);
                    return Asked::Interrupted;
                }
                Attempt::Failed { error, builder, shown: true } => {
                    let failure = Failure::from(&error);
                    tracing::warn!(%error, "the answer broke off");
                    self.keep_partial(builder, frontend);
                    let notice = Notice::BrokenMidway { error: failure.clone() };
                    frontend.show(&AgentEvent::Notice { notice });
                    return Asked::Failed(failure);
                }
                Attempt::Failed { error, shown: false, .. } => {
                    tracing::warn!(%error, failures, "the request failed");
                    let failure = Failure::from(&error);
                    failures += 1;
                    let Some(wait) = self.setup.retry.decide(failures, &error, (self.setup.random)()) else {
                        return Asked::Failed(failure);
                    };
                    if !count_down(wait, (failures, self.setup.retry.most(&error)), &failure, frontend, cancel)
                        .await
                    {
                        return Asked::Interrupted;
                    }
                }
            }
        }
    }

    async fn attempt(&self, frontend: &mut dyn Frontend, cancel: &CancellationToken) -> Attempt {
        debug_assert_eq!(self.conversation.check(), Ok(()));
        let (system, specs) = self.beginning();
        let request = Request {
            system: &system,
            messages: self.conversation.messages(),
            tools: &specs,
            max_output_tokens: self.setup.max_output_tokens,
            temperature: None,
        };
        let mut builder = MessageBuilder::new(self.provider.model().id());
        let mut shown = false;
        let mut activity = Activity::Connecting;
        frontend.show(&AgentEvent::Waiting { activity: activity.clone() });
        let mut stream = self.provider.stream(request);
        loop {
            let event = match watched(stream.next(), frontend, cancel).await {
                None => {
                    if shown {
                        frontend.show(&AgentEvent::MessageEnded);
                    }
                    return Attempt::Interrupted(builder);
                }
                Some(None) => {
                    frontend.show(&AgentEvent::MessageEnded);
                    return Attempt::Whole(builder.finish());
                }
                Some(Some(Ok(event))) => event,
                Some(Some(Err(error))) => {
                    if shown {
                        frontend.show(&AgentEvent::MessageEnded);
                    }
                    return Attempt::Failed { error, builder, shown };
                }
            };
            builder.push(&event);
            let writes = matches!(event, StreamEvent::ToolCallDelta { .. });
            let mut now = show_event(event, frontend, &mut shown);
            if writes && let Activity::WritingCall { name, subject: Subject::Whole } = &activity {
                now = self
                    .subject_so_far(name, builder.open_arguments())
                    .map(|subject| Activity::WritingCall { name: name.clone(), subject });
            }
            if let Some(now) = now.filter(|now| *now != activity) {
                activity = now;
                frontend.show(&AgentEvent::Waiting { activity: activity.clone() });
            }
        }
    }

    /// What a call that is being written is about, once its path is known.
    fn subject_so_far(&self, name: &str, arguments: &str) -> Option<Subject> {
        let path = partial::path(arguments)?;
        let tool = self.tools.find(name)?;
        Some(tool.subject(&serde_json::json!({ "path": path }), &self.setup.place))
    }

    fn count(&mut self, finished: &Finished, frontend: &mut dyn Frontend) {
        if finished.usage == crate::conversation::Usage::default() {
            return;
        }
        let usage = finished.usage;
        self.usage.add(usage);
        let model = self.provider.model().id();
        self.note(EntryKind::Usage { model, usage }, frontend);
        frontend.show(&AgentEvent::Usage { usage });
    }

    fn keep_partial(&mut self, builder: MessageBuilder, frontend: &mut dyn Frontend) {
        if let Some(message) = builder.finish_early().message {
            let message = self.conversation.push_assistant(message).clone();
            self.save(&message, frontend);
        }
    }
}

/// Shows what a person sees of a stream event; returns what the agent is busy with from here on.
fn show_event(event: StreamEvent, frontend: &mut dyn Frontend, shown: &mut bool) -> Option<Activity> {
    match event {
        StreamEvent::TextDelta(text) if !text.is_empty() => {
            *shown = true;
            frontend.show(&AgentEvent::TextDelta { text });
            Some(Activity::Answering)
        }
        StreamEvent::ReasoningDelta(text) if !text.is_empty() => {
            *shown = true;
            frontend.show(&AgentEvent::ReasoningDelta { text });
            Some(Activity::Thinking)
        }
        StreamEvent::Loading => Some(Activity::Loading),
        StreamEvent::Reading { read, all } => Some(Activity::Reading { read, all }),
        StreamEvent::ToolCallStart { name, .. } => Some(Activity::WritingCall { name, subject: Subject::Whole }),
        StreamEvent::TextDelta(_)
        | StreamEvent::ReasoningDelta(_)
        | StreamEvent::ReasoningSignature(_)
        | StreamEvent::RedactedReasoning(_)
        | StreamEvent::ToolCallDelta { .. }
        | StreamEvent::Usage(_)
        | StreamEvent::Done(_) => None,
    }
}

/// Waits before a retry, second by second, so that the countdown can be seen; false when it was interrupted.
async fn count_down(
    wait: Duration,
    (attempt, of): (u32, u32),
    failure: &Failure,
    frontend: &mut dyn Frontend,
    cancel: &CancellationToken,
) -> bool {
    let end = tokio::time::Instant::now() + wait;
    loop {
        let left = end.saturating_duration_since(tokio::time::Instant::now());
        if left.is_zero() {
            return !cancel.is_cancelled();
        }
        frontend.show(&AgentEvent::Retrying {
            attempt,
            of,
            wait_ms: u64::try_from(left.as_millis()).unwrap_or(u64::MAX),
            error: failure.clone(),
        });
        if watched(tokio::time::sleep(left.min(COUNTDOWN_STEP)), frontend, cancel).await.is_none() {
            return false;
        }
    }
}

/// Awaits `future` while the front end ticks; `None` when it was cancelled.
///
/// # Cancel safety
/// As safe as `future` is to be dropped.
pub(super) async fn watched<F: Future>(
    future: F,
    frontend: &mut dyn Frontend,
    cancel: &CancellationToken,
) -> Option<F::Output> {
    let mut future = pin!(future);
    loop {
        let due = frontend.next_tick();
        tokio::select! {
            biased;
            () = cancel.cancelled() => return None,
            output = &mut future => return Some(output),
            () = tick_at(due) => frontend.tick(),
        }
    }
}

/// Sleeps until the front end wants to be ticked; for ever when it does not.
pub(super) async fn tick_at(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}
