//! One turn, from the person's message to its end.

use tokio_util::sync::CancellationToken;

use super::calls::CallsEnd;
use super::guard::LoopGuard;
use super::request::Asked;
use super::{Agent, AgentEvent, Failure, Frontend, Notice, TurnEnd};
use crate::conversation::{ContentBlock, Finished, Message, Outcome, StopReason, ToolCall};
use crate::session::EntryKind;

/// What one round of asking and running came to.
enum Step {
    Again,
    End(TurnEnd),
}

impl Agent {
    /// Runs one turn: sends `message`, runs the tools the model calls, asks again until it calls none.
    ///
    /// Whatever happens the conversation's invariant holds afterwards, and everything finished is in the
    /// session's file. The last event shown is [`AgentEvent::TurnEnded`].
    ///
    /// # Cancel safety
    /// `cancel` ends the turn at every await: partial text is kept, half-made calls are dropped, the rest is
    /// answered [`Outcome::Interrupted`]. Dropping the future instead leaves at most open calls, which the next
    /// turn closes.
    pub async fn run_turn(
        &mut self,
        message: Message,
        frontend: &mut dyn Frontend,
        cancel: &CancellationToken,
    ) -> TurnEnd {
        frontend.show(&AgentEvent::TurnStarted {
            session: self.session.id().to_string(),
            model: self.provider.model().id(),
        });
        let closed = self.conversation.close_open_calls(Outcome::Interrupted).cloned();
        if let Some(closed) = closed {
            self.save(&closed, frontend);
        }
        let mut message = message;
        // On lines of its own: the first line is what the conversation is known by.
        message.content.extend(self.notes.drain(..).map(|text| ContentBlock::Text { text: format!("\n\n{text}") }));
        // What ended while nobody asked.
        let notes = self.memory.notes().into_iter().map(|note| ContentBlock::Text { text: format!("\n\n{note}") });
        message.content.extend(notes);
        let message = self.conversation.push_user(message).clone();
        self.save(&message, frontend);
        self.begin_journal_turn();
        let end = self.steps(frontend, cancel).await;
        self.end_turn(end, frontend)
    }

    async fn steps(&mut self, frontend: &mut dyn Frontend, cancel: &CancellationToken) -> TurnEnd {
        let mut guard = LoopGuard::default();
        let mut empty_answers = 0;
        for _ in 0..self.setup.max_steps.max(1) {
            let finished = match self.ask(frontend, cancel).await {
                Asked::Finished(finished) => finished,
                Asked::Interrupted => return TurnEnd::Interrupted,
                Asked::Failed(error) => return TurnEnd::Failed { error },
            };
            match self.take_answer(finished, &mut empty_answers, &mut guard, frontend, cancel).await {
                Step::Again => {}
                Step::End(end) => return end,
            }
        }
        if self.speaks_at_limit {
            self.last_words(frontend, cancel).await;
        }
        TurnEnd::StepLimit { limit: self.setup.max_steps.max(1) }
    }

    async fn take_answer(
        &mut self,
        finished: Finished,
        empty_answers: &mut u32,
        guard: &mut LoopGuard,
        frontend: &mut dyn Frontend,
        cancel: &CancellationToken,
    ) -> Step {
        let Finished { message, stop, .. } = finished;
        let calls: Vec<ToolCall> = message.iter().flat_map(Message::calls).cloned().collect();
        let spoken = message.as_ref().is_some_and(|message| !message.text().trim().is_empty());
        if let Some(message) = message.filter(|_| spoken || !calls.is_empty()) {
            let message = self.conversation.push_assistant(message).clone();
            self.save(&message, frontend);
        }
        if stop == StopReason::Length {
            let notice = if calls.is_empty() { Notice::CutByLength } else { Notice::CallsCut };
            frontend.show(&AgentEvent::Notice { notice });
        }
        if !calls.is_empty() {
            return match self.run_calls(calls, guard, frontend, cancel).await {
                CallsEnd::Continue => Step::Again,
                CallsEnd::Concluded => Step::End(TurnEnd::Done),
                CallsEnd::Interrupted => Step::End(TurnEnd::Interrupted),
                CallsEnd::ApprovalNeeded { name, subject, never_auto, unkept } => {
                    Step::End(TurnEnd::ApprovalNeeded { name, subject, never_auto, unkept })
                }
                CallsEnd::Looping => {
                    self.last_words(frontend, cancel).await;
                    let stopped = cancel.is_cancelled();
                    Step::End(if stopped { TurnEnd::Interrupted } else { TurnEnd::Looping })
                }
            };
        }
        match stop {
            StopReason::Length => Step::End(TurnEnd::Length),
            StopReason::ContentFilter | StopReason::Refusal => {
                if stop == StopReason::ContentFilter {
                    frontend.show(&AgentEvent::Notice { notice: Notice::FilteredByProvider });
                }
                Step::End(TurnEnd::Refused)
            }
            StopReason::EndTurn | StopReason::ToolUse | StopReason::Missing | StopReason::Other(_) if spoken => {
                Step::End(TurnEnd::Done)
            }
            StopReason::EndTurn | StopReason::ToolUse | StopReason::Missing | StopReason::Other(_) => {
                // Nothing at all, or thinking alone: asked once more, as others found to help (CL2.1.183).
                *empty_answers += 1;
                if *empty_answers > 1 {
                    return Step::End(TurnEnd::Failed { error: Failure::Empty });
                }
                frontend.show(&AgentEvent::Notice { notice: Notice::EmptyAnswer });
                Step::Again
            }
        }
    }

    /// Has the model say what it learnt, without tools, at the end of a turn that went round in circles.
    async fn last_words(&mut self, frontend: &mut dyn Frontend, cancel: &CancellationToken) {
        self.last_words = true;
        let asked = self.ask(frontend, cancel).await;
        self.last_words = false;
        match asked {
            Asked::Finished(Finished { message: Some(mut message), .. }) => {
                // Some models call all the same.
                message.content.retain(|block| !matches!(block, ContentBlock::ToolCall(_)));
                if !message.text().trim().is_empty() {
                    let message = self.conversation.push_assistant(message).clone();
                    self.save(&message, frontend);
                }
            }
            // The turn has failed as it is; that this request failed too helps nobody.
            Asked::Finished(_) | Asked::Failed(_) | Asked::Interrupted => {}
        }
    }

    fn end_turn(&mut self, end: TurnEnd, frontend: &mut dyn Frontend) -> TurnEnd {
        let reason = if end == TurnEnd::Interrupted { Outcome::Interrupted } else { Outcome::Failed };
        let closed = self.conversation.close_open_calls(reason).cloned();
        if let Some(closed) = closed {
            self.save(&closed, frontend);
        }
        self.note(EntryKind::TurnEnded { end: end.word().to_owned() }, frontend);
        let synced = self.session.sync();
        self.tell_unsaved(synced, frontend);
        frontend.show(&AgentEvent::TurnEnded { end: end.clone() });
        end
    }
}

impl TurnEnd {
    /// Returns the one word the session's file and JSON output use.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Interrupted => "interrupted",
            Self::ApprovalNeeded { .. } => "approval_needed",
            Self::StepLimit { .. } => "step_limit",
            Self::Looping => "looping",
            Self::Length => "length",
            Self::Refused => "refused",
            Self::Failed { .. } => "failed",
        }
    }
}

#[cfg(test)]
#[path = "turn_tests.rs"]
mod tests;
