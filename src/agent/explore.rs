//! Sub-agents: the `explore` calls of one message run side by side, and only their answers join the conversation.
//!
//! `explore` is no [`crate::tool::Tool`]: it asks the model, which the room `tool` does not know. This file does
//! not know the agent either: [`Explore`] runs one sub-agent, and comes in from outside.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::consent::Consent;
use super::guard::{LoopGuard, Verdict};
use super::results::{ASKED_BEFORE, RULE_DENIES, answer, closed, denied};
use super::wait::tick_at;
use super::{Activity, AgentEvent, Approval, ApprovalRequest, Doing, Explorer, Frontend, Notice, TurnEnd};
use crate::conversation::{
    About, Bill, Effect, Outcome, Subject, ToolCall, ToolIdentity, ToolResult, ToolSpec, ToolVerb,
};
use crate::tool::{ToolFacts, ToolOutput, Toolbox};

/// The name by which models call it.
const NAME: &str = "explore";

/// How many requests a sub-agent may make.
pub(super) const STEPS: u32 = 12;
/// How many run at once; the others wait.
const AT_ONCE: usize = 4;
/// How many reports of progress may wait for the screen; more are dropped.
const CHANGES: usize = 64;

/// Runs one sub-agent to its end.
pub(super) trait Explore {
    /// Answers `question`; `consent` decides about the sub-agent's calls, `scout` shows them.
    ///
    /// # Cancel safety
    /// If it is dropped, nothing of the sub-agent's work is kept.
    fn explore<'a>(
        &'a self,
        question: String,
        consent: Consent,
        scout: Scout,
        cancel: &'a CancellationToken,
    ) -> Exploring<'a>;
}

/// A sub-agent at work.
pub(super) type Exploring<'a> = Pin<Box<dyn Future<Output = Report> + 'a>>;

type Explored<'a> = Pin<Box<dyn Future<Output = (usize, Report)> + 'a>>;

/// The outcome of one sub-agent.
pub(super) struct Report {
    pub(super) output: ToolOutput,
    pub(super) bill: Bill,
    pub(super) spent: Duration,
}

/// The outcome of all sub-agents of one message.
pub(super) struct Reports {
    /// One result for each call, in the order of the calls.
    pub(super) results: Vec<ToolResult>,
    /// Whether the guard ends the turn after this.
    pub(super) last_stop: bool,
    pub(super) spent: Bill,
}

/// Describes it to the model.
pub(super) fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME.to_owned(),
        description: "Has a sub-agent find something out here by reading only; its answer alone comes back. \
                      For wide searches; several run side by side."
            .to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {"question": {"type": "string", "description": "All it needs to know: it sees nothing else"}},
            "required": ["question"]
        }),
        identity: ToolIdentity { verb: ToolVerb::Explore, ..ToolIdentity::default() },
    }
}

/// Returns the question of a call; `None` if it has none.
fn question(input: &Value) -> Option<&str> {
    let question = ["question", "prompt", "task", "query"].iter().find_map(|name| input.get(name)?.as_str())?;
    Some(question.trim()).filter(|question| !question.is_empty())
}

/// Tells whether a sub-agent answers this call.
pub(super) fn is_one(tools: &Toolbox, call: &ToolCall) -> bool {
    tools.identity(&call.name).verb == ToolVerb::Explore && call.invalid_input.is_none()
}

/// Runs the calls side by side.
///
/// # Cancel safety
/// Dropping it drops the sub-agents.
pub(super) async fn side_by_side(
    calls: &[ToolCall],
    explore: &dyn Explore,
    consent: &Consent,
    guard: &mut LoopGuard,
    frontend: &mut dyn Frontend,
    cancel: &CancellationToken,
) -> Reports {
    let mut results: Vec<Option<ToolResult>> = calls.iter().map(|_| None).collect();
    let mut last_stop = false;
    let mut waiting: Vec<(usize, String)> = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        match admit(call, consent, guard, frontend, &mut last_stop) {
            Ok(question) => waiting.push((index, question)),
            Err(output) => results[index] = Some(answer(call, *output, Duration::ZERO, frontend)),
        }
    }
    waiting.reverse();
    let (told, mut changes) = mpsc::channel(CHANGES);
    let mut spent = Bill::default();
    let mut explorers: Vec<Explorer> = Vec::new();
    let mut running: FuturesUnordered<Explored<'_>> = FuturesUnordered::new();
    loop {
        while running.len() < AT_ONCE && !cancel.is_cancelled() {
            let Some((index, question)) = waiting.pop() else { break };
            let call_id = calls[index].id.clone();
            explorers.push(Explorer { call_id, number: index + 1, question: question.clone(), doing: None });
            let scout = Scout { index, told: told.clone() };
            let exploring = explore.explore(question, consent.exploring(), scout, cancel);
            running.push(Box::pin(async move { (index, exploring.await) }));
            tell(&explorers, frontend);
        }
        if running.is_empty() {
            break;
        }
        let due = frontend.next_tick();
        tokio::select! {
            biased;
            // Cancelled, each sub-agent ends by itself: it has the same token.
            done = running.next() => if let Some((index, report)) = done {
                spent.add(report.bill);
                guard.record(&calls[index], Some((report.output.outcome, &report.output.content)));
                results[index] = Some(answer(&calls[index], report.output, report.spent, frontend));
                explorers.retain(|explorer| explorer.number != index + 1);
                if !explorers.is_empty() {
                    tell(&explorers, frontend);
                }
            },
            change = changes.recv() => if let Some((index, doing)) = change
                && let Some(known) = explorers.iter_mut().find(|explorer| explorer.number == index + 1)
                && known.doing.as_ref() != Some(&doing)
            {
                known.doing = Some(doing);
                tell(&explorers, frontend);
            },
            () = tick_at(due) => frontend.tick(),
        }
    }
    let results = results.into_iter().zip(calls).map(|(result, call)| match result {
        Some(result) => result,
        None => answer(call, closed(call, Outcome::Interrupted), Duration::ZERO, frontend),
    });
    Reports { results: results.collect(), last_stop, spent }
}

/// Decides whether a call may run; an error is its answer.
fn admit(
    call: &ToolCall,
    consent: &Consent,
    guard: &mut LoopGuard,
    frontend: &mut dyn Frontend,
    last_stop: &mut bool,
) -> Result<String, Box<ToolOutput>> {
    let Some(question) = question(&call.input) else {
        let text = "explore: missing argument `question`, which must be a non-empty string";
        return Err(Box::new(ToolOutput::failed(text)));
    };
    if let Verdict::Stop { last } = guard.check(call) {
        frontend.show(&AgentEvent::Notice { notice: Notice::Repeating { name: call.name.clone() } });
        guard.record(call, None);
        *last_stop |= last;
        return Err(Box::new(ToolOutput::failed(ASKED_BEFORE)));
    }
    let (effect, subject, about) = (Effect::Read, Subject::Whole, About::Text { text: question.to_owned() });
    frontend.show(&AgentEvent::ToolRequested { call: call.clone(), effect, subject, about });
    if !consent.allows_reading(NAME) {
        return Err(Box::new(denied(RULE_DENIES)));
    }
    Ok(question.to_owned())
}

fn tell(explorers: &[Explorer], frontend: &mut dyn Frontend) {
    let activity = Activity::Exploring { explorers: explorers.to_vec() };
    frontend.show(&AgentEvent::Waiting { activity });
}

/// The front end of a sub-agent: it reports progress, and cannot ask anyone.
pub(super) struct Scout {
    index: usize,
    told: mpsc::Sender<(usize, Doing)>,
}

impl Frontend for Scout {
    fn show(&mut self, event: &AgentEvent) {
        // While the model thinks, its last call tells a person more than the word "thinking".
        let AgentEvent::ToolRequested { call, subject, .. } = event else { return };
        let pattern = call.input.get("pattern").and_then(Value::as_str).map(str::to_owned);
        let doing = Doing { name: call.name.clone(), subject: subject.clone(), pattern };
        // Fails if nobody watches, or if the watcher is too slow: the report is then dropped.
        let _ = self.told.try_send((self.index, doing));
    }

    fn approve(&mut self, _: &ApprovalRequest) -> Approval {
        Approval::Unavailable
    }
}

/// What a sub-agent answers, whose last words were `said`.
pub(super) fn found(end: TurnEnd, said: &str) -> ToolOutput {
    match end {
        TurnEnd::Interrupted => {
            ToolOutput { outcome: Outcome::Interrupted, ..ToolOutput::failed("[interrupted by the user]") }
        }
        TurnEnd::Failed { error } => ToolOutput::failed(format!("explore: the model failed: {error:?}")),
        TurnEnd::Done
        | TurnEnd::Length
        | TurnEnd::StepLimit { .. }
        | TurnEnd::BudgetLimit { .. }
        | TurnEnd::Looping
        | TurnEnd::Refused
        | TurnEnd::ApprovalNeeded { .. } => {
            if said.is_empty() {
                ToolOutput::failed("explore: it found no answer; ask something narrower, or look yourself")
            } else {
                ToolOutput::ok(said, ToolFacts::default())
            }
        }
    }
}

#[cfg(test)]
#[path = "explore_tests.rs"]
mod tests;
