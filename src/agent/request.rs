//! One request to the model: stream it, retry it, stop it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use super::beginning::Beginning;
use super::forecast::Purse;
use super::shorten::Shorten;
use super::talk::Talk;
use super::wait::{tick_at, watched};
use super::{Activity, AgentEvent, Failure, Frontend, Notice, TurnEnd, partial};
use crate::context::Need;
use crate::conversation::{Finished, Message, MessageBuilder, StreamEvent, Subject};
use crate::provider::{ProviderError, Request};
use crate::session::PartialKeeper;

/// How often the countdown before a retry is updated.
const COUNTDOWN_STEP: Duration = Duration::from_secs(1);

/// How much of an answer is lost at most if axi is killed.
const NEWEST: Duration = Duration::from_secs(1);
/// And, where that is more: so many times what saving it takes.
const RESTING: u32 = 20;

/// The outcome of a request. The partial text of an interrupted or failed answer is already in the conversation and
/// the session.
pub(super) enum Asked {
    Finished(Finished),
    Interrupted,
    Failed(Failure),
    /// The provider is overloaded, and will stay so for a while.
    Overloaded(Failure),
    /// The request was not sent: it would have cost more than the budget allows.
    TooDear(TurnEnd),
}

/// Why a request is made anew from its beginning on.
pub(super) enum Again {
    /// The conversation was cut for the first time: from now on there is `recall`.
    FirstCut,
    /// The server refused the request for its length.
    TooLong { failure: Failure, message: String },
}

/// How much of an answer the person has seen.
#[derive(Debug, Clone, Copy, Default)]
struct Shown {
    anything: bool,
    /// Words of the answer itself, which a second attempt must not repeat.
    words: bool,
}

/// The outcome of one attempt.
enum Attempt {
    Whole(Finished),
    Interrupted(MessageBuilder),
    Failed { error: ProviderError, builder: MessageBuilder, spoken: bool },
}

/// Finds the subject of a call, given the name of its tool and the path it names.
pub(super) type SubjectOfPath<'a> = &'a dyn Fn(&str, &str) -> Option<Subject>;

impl Talk {
    /// Tells the model what the next request will begin with, so that it can read that early.
    pub(super) fn prepare(&self, beginning: &Beginning) {
        self.provider.prepare(self.request(beginning, &self.sent()));
    }

    /// Asks the model for its next message. Retries what can be retried, but only until the first word was shown.
    ///
    /// # Cancel safety
    /// If it is dropped, the conversation has nothing of the answer.
    pub(super) async fn ask(
        &mut self,
        beginning: &Beginning,
        (subject, todos): (SubjectOfPath<'_>, Option<&str>),
        frontend: &mut dyn Frontend,
        cancel: &CancellationToken,
    ) -> Result<Asked, Again> {
        let mut failures = 0;
        loop {
            self.heal();
            let was_whole = self.conversation().cut().is_none();
            Shorten { talk: self, beginning, todos }.make_room(Need::Hard, frontend, cancel).await;
            if cancel.is_cancelled() {
                return Ok(Asked::Interrupted);
            }
            if was_whole && self.conversation().cut().is_some() {
                return Err(Again::FirstCut);
            }
            if let Err(end) = (Purse { talk: self, beginning }).afford(failures == 0, frontend) {
                return Ok(Asked::TooDear(end));
            }
            match self.attempt(beginning, subject, frontend, cancel).await {
                Attempt::Whole(finished) => {
                    Shorten { talk: self, beginning, todos }.learn(finished.usage, &finished.stop);
                    self.spend(finished.usage, frontend);
                    return Ok(Asked::Finished(finished));
                }
                Attempt::Interrupted(builder) => {
                    self.spend(builder.usage(), frontend);
                    self.keep_partial(builder, frontend);
                    return Ok(Asked::Interrupted);
                }
                Attempt::Failed { error, builder, spoken: true } => {
                    self.spend(builder.usage(), frontend);
                    let failure = Failure::from(&error);
                    tracing::warn!(%error, "the answer broke off");
                    self.keep_partial(builder, frontend);
                    let notice = Notice::BrokenMidway { error: failure.clone() };
                    frontend.show(&AgentEvent::Notice { notice });
                    return Ok(Asked::Failed(failure));
                }
                // Reasoning that breaks off is no answer: none of it could be kept or sent back.
                Attempt::Failed { error, builder, spoken: false } => {
                    self.spend(builder.usage(), frontend);
                    tracing::warn!(%error, failures, "the request failed");
                    let failure = Failure::from(&error);
                    if let ProviderError::ContextOverflow { message } = error {
                        return Err(Again::TooLong { failure, message });
                    }
                    failures += 1;
                    let retry = if error.is_overload() {
                        self.fallbacks.plan(self.manner.retry)
                    } else {
                        self.manner.retry
                    };
                    let Some(wait) = retry.decide(failures, &error, (self.manner.random)()) else {
                        return Ok(if error.is_overload() {
                            Asked::Overloaded(failure)
                        } else {
                            Asked::Failed(failure)
                        });
                    };
                    if !count_down(wait, (failures, retry.most(&error)), &failure, frontend, cancel).await {
                        return Ok(Asked::Interrupted);
                    }
                }
            }
        }
    }

    fn request<'a>(&'a self, beginning: &'a Beginning, messages: &'a [Message]) -> Request<'a> {
        Request {
            system: &beginning.system,
            tools: &beginning.tools,
            max_output_tokens: self.manner.max_output_tokens,
            effort: self.wishes.effort,
            search: beginning.search,
            ..Request::of(messages)
        }
    }

    async fn attempt(
        &self,
        beginning: &Beginning,
        subject: SubjectOfPath<'_>,
        frontend: &mut dyn Frontend,
        cancel: &CancellationToken,
    ) -> Attempt {
        let mut builder = MessageBuilder::new(self.model().id());
        let mut shown = Shown::default();
        let mut activity = Activity::Connecting;
        frontend.show(&AgentEvent::Waiting { activity: activity.clone() });
        let sent = self.sent();
        let mut stream = self.provider.stream(self.request(beginning, &sent));
        // When the part of the answer that is not on the disk yet must be saved.
        let mut due = None;
        let saver = Saver::new(self.session().partial_keeper());
        loop {
            // Looked at here, too: a stream that always has something ready would delay the timer for ever.
            if due.is_some_and(|due| due <= Instant::now()) {
                due = saver.save(&builder);
            }
            let next = async {
                tokio::select! {
                    biased;
                    event = stream.next() => Some(event),
                    () = tick_at(due) => None,
                }
            };
            let next = match watched(next, frontend, cancel).await {
                Some(None) => continue,
                Some(Some(event)) => Some(event),
                None => None,
            };
            let event = match next {
                None => {
                    if shown.anything {
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
                    if shown.anything {
                        frontend.show(&AgentEvent::MessageEnded);
                    }
                    return Attempt::Failed { error, builder, spoken: shown.words };
                }
            };
            builder.push(&event);
            due = due.or_else(|| Some(Instant::now() + saver.rest()));
            let writes = matches!(event, StreamEvent::ToolCallDelta { .. });
            let mut now = show_event(event, frontend, &mut shown);
            if writes && let Activity::WritingCall { name, subject: Subject::Whole } = &activity {
                let path = partial::path(builder.open_arguments());
                now = path
                    .and_then(|path| subject(name, &path))
                    .map(|subject| Activity::WritingCall { name: name.clone(), subject });
            }
            if let Some(now) = now.filter(|now| *now != activity) {
                activity = now;
                frontend.show(&AgentEvent::Waiting { activity: activity.clone() });
            }
        }
    }

    fn keep_partial(&mut self, builder: MessageBuilder, frontend: &mut dyn Frontend) {
        if let Some(message) = builder.finish_early().message {
            self.model_says(message, frontend);
        }
    }
}

/// Saves the part of an answer that has arrived, in case axi is killed before the answer ends; on a thread of its own, so
/// that the turn goes on and can be stopped.
struct Saver {
    keeper: Option<Arc<PartialKeeper>>,
    /// How long the last time took, in microseconds; more than any time takes while it goes on.
    took: Arc<AtomicU64>,
}

impl Saver {
    fn new(keeper: Option<PartialKeeper>) -> Self {
        Self { keeper: keeper.map(Arc::new), took: Arc::default() }
    }

    /// How long the next time waits: a long answer takes long to save, and is saved less often for it.
    fn rest(&self) -> Duration {
        match self.took.load(Ordering::Relaxed) {
            u64::MAX => NEWEST,
            took => NEWEST.max(Duration::from_micros(took) * RESTING),
        }
    }

    /// Begins to save. Returns when it is to be tried again, where the last time still goes on.
    fn save(&self, builder: &MessageBuilder) -> Option<Instant> {
        let keeper = self.keeper.clone()?;
        if self.took.load(Ordering::Relaxed) == u64::MAX {
            return Some(Instant::now() + NEWEST);
        }
        self.took.store(u64::MAX, Ordering::Relaxed);
        let (builder, took) = (builder.clone(), Arc::clone(&self.took));
        tokio::task::spawn_blocking(move || {
            let begun = Instant::now();
            if let Some(message) = builder.finish_early().message
                && let Err(error) = keeper.keep(&message)
            {
                tracing::warn!(%error, "the answer so far could not be kept");
            }
            took.store(u64::try_from(begun.elapsed().as_micros()).unwrap_or(0), Ordering::Relaxed);
        });
        None
    }
}

/// Shows a stream event to the person; returns what the agent does from here on, if that changes.
fn show_event(event: StreamEvent, frontend: &mut dyn Frontend, shown: &mut Shown) -> Option<Activity> {
    match event {
        StreamEvent::TextDelta(text) if !text.is_empty() => {
            *shown = Shown { anything: true, words: true };
            frontend.show(&AgentEvent::TextDelta { text });
            Some(Activity::Answering)
        }
        StreamEvent::ReasoningDelta(text) if !text.is_empty() => {
            shown.anything = true;
            frontend.show(&AgentEvent::ReasoningDelta { text });
            Some(Activity::Thinking)
        }
        StreamEvent::Searched(query) => {
            frontend.show(&AgentEvent::Notice { notice: Notice::Searched { query } });
            Some(Activity::Answering)
        }
        StreamEvent::Loading => Some(Activity::Loading),
        StreamEvent::Reading { read, all } => Some(Activity::Reading { read, all }),
        StreamEvent::ToolCallStart { name, .. } => Some(Activity::WritingCall { name, subject: Subject::Whole }),
        StreamEvent::Silent { seconds } => Some(Activity::Silent { seconds }),
        StreamEvent::TextDelta(_)
        | StreamEvent::ReasoningDelta(_)
        | StreamEvent::ReasoningSignature(_)
        | StreamEvent::RedactedReasoning(_)
        | StreamEvent::ToolCallExtra { .. }
        | StreamEvent::ToolCallDelta { .. }
        | StreamEvent::WireItem(_)
        | StreamEvent::Usage(_)
        | StreamEvent::Done(_) => None,
    }
}

/// Waits before a retry, and shows a countdown in seconds; false if it was interrupted.
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
