//! Sub-agents: `explore` calls of one message run side by side, each an agent of its own that only reads, with few
//! steps, whose answer alone joins the conversation.
//!
//! Not a [`crate::tool::Tool`]: it asks the model, which that room does not know.

use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::calls::{answer, closed};
use super::guard::{LoopGuard, Verdict};
use super::request::tick_at;
use super::{Activity, Agent, AgentEvent, Approval, ApprovalRequest, Doing, Explorer, Frontend, Notice, TurnEnd};
use crate::approval::{Decision, Mode};
use crate::conversation::{Effect, Message, Outcome, Role, Subject, ToolCall, ToolResult, ToolSpec, Usage};
use crate::session::{EntryKind, Redactor, Session};
use crate::tool::ToolOutput;

/// The name models call it by.
pub(super) const NAME: &str = "explore";

/// What a sub-agent may use.
const TOOLS: [&str; 5] = ["read", "glob", "grep", "list", "shell"];
/// How many requests it may make.
const STEPS: u32 = 12;
/// How many run at once; more wait their turn.
const AT_ONCE: usize = 4;
/// How many changes of what they do may wait for the screen; more are dropped.
const CHANGES: usize = 64;
/// What a sub-agent is told when a call would need a yes.
const NOT_ASKED: &str = "nobody is asked here, so only what needs no approval can run";

type Explored<'a> = Pin<Box<dyn Future<Output = (usize, Report)> + 'a>>;

/// What came of one.
struct Report {
    output: ToolOutput,
    usage: Usage,
    spent: Duration,
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
    }
}

/// The question of a call, if it is one.
fn question(input: &Value) -> Option<&str> {
    let question = ["question", "prompt", "task", "query"].iter().find_map(|name| input.get(name)?.as_str())?;
    Some(question.trim()).filter(|question| !question.is_empty())
}

impl Agent {
    /// Lets the model have sub-agents explore.
    pub const fn allow_exploring(&mut self) {
        self.explores = true;
    }

    /// Tells whether a call is one for a sub-agent here.
    pub(super) fn is_exploring(&self, call: &ToolCall) -> bool {
        self.explores && call.name == NAME && call.invalid_input.is_none()
    }

    /// Runs the calls side by side; a result each, in their order.
    pub(super) async fn explore(
        &mut self,
        calls: &[ToolCall],
        guard: &mut LoopGuard,
        frontend: &mut dyn Frontend,
        cancel: &CancellationToken,
    ) -> (Vec<ToolResult>, bool) {
        let mut results: Vec<Option<ToolResult>> = calls.iter().map(|_| None).collect();
        let mut last_stop = false;
        let mut waiting: Vec<(usize, String)> = Vec::new();
        for (index, call) in calls.iter().enumerate() {
            match self.admit(call, guard, frontend, &mut last_stop) {
                Ok(question) => waiting.push((index, question)),
                Err(output) => results[index] = Some(answer(call, *output, Duration::ZERO, frontend)),
            }
        }
        waiting.reverse();
        let (told, mut changes) = mpsc::channel(CHANGES);
        let mut spent = Usage::default();
        let mut explorers: Vec<Explorer> = Vec::new();
        {
            let this = &*self;
            let mut running: FuturesUnordered<Explored<'_>> = FuturesUnordered::new();
            loop {
                while running.len() < AT_ONCE && !cancel.is_cancelled() {
                    let Some((index, question)) = waiting.pop() else { break };
                    let (call_id, told) = (calls[index].id.clone(), told.clone());
                    explorers.push(Explorer {
                        call_id,
                        number: index + 1,
                        question: question.clone(),
                        doing: None,
                    });
                    running.push(Box::pin(
                        async move { (index, this.sub_agent(index, question, told, cancel).await) },
                    ));
                    tell(&explorers, frontend);
                }
                if running.is_empty() {
                    break;
                }
                let due = frontend.next_tick();
                tokio::select! {
                    biased;
                    // Cancelled, each ends by itself: it has the same token.
                    done = running.next() => if let Some((index, report)) = done {
                        spent.add(report.usage);
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
        }
        if spent != Usage::default() {
            self.usage.add(spent);
            let model = self.provider.model().id();
            self.note(EntryKind::Usage { model, usage: spent }, frontend);
            frontend.show(&AgentEvent::Usage { usage: spent });
        }
        let results = results.into_iter().zip(calls).map(|(result, call)| match result {
            Some(result) => result,
            None => answer(call, closed(call, Outcome::Interrupted), Duration::ZERO, frontend),
        });
        (results.collect(), last_stop)
    }

    /// Decides whether a call may run; an error is its answer.
    fn admit(
        &self,
        call: &ToolCall,
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
            return Err(Box::new(ToolOutput::failed("Not run: you asked exactly this before. Use what you know.")));
        }
        frontend.show(&AgentEvent::ToolRequested {
            call: call.clone(),
            effect: Effect::Read,
            subject: Subject::Whole,
        });
        let verdict = self.policy.decide(NAME, Effect::Read, &Subject::Whole, &self.setup.surroundings);
        if verdict.decision != Decision::Allow {
            let mut output = closed(call, Outcome::Denied);
            "A rule of the user's settings denies this call. Do not repeat it.".clone_into(&mut output.content);
            return Err(Box::new(output));
        }
        Ok(question.to_owned())
    }

    /// Runs one sub-agent to its end.
    ///
    /// # Cancel safety
    /// As [`Agent::run_turn`]: nothing of it is kept.
    async fn sub_agent(
        &self,
        index: usize,
        question: String,
        told: mpsc::Sender<(usize, Doing)>,
        cancel: &CancellationToken,
    ) -> Report {
        let begun = Instant::now();
        let mut setup = self.setup.clone();
        setup.max_steps = STEPS;
        let mut policy = self.policy.clone();
        policy.set_mode(Mode::Explore);
        // Its conversation is kept nowhere; what it read of secrets stays out of the answer's file all the same.
        let session = Session::new(self.session.id().clone(), setup.place.cwd.clone(), None, Redactor::default());
        let tools = self.tools.only(&TOOLS);
        let mut agent = Self::new(self.provider.clone(), tools, policy, session, setup);
        agent.no_sandbox_told = true;
        agent.speaks_at_limit = true;
        let mut scout = Scout { index, told };
        // Boxed: a turn may hold sub-agents, which hold turns.
        let turn: Pin<Box<dyn Future<Output = TurnEnd> + '_>> =
            Box::pin(agent.run_turn(Message::user(question), &mut scout, cancel));
        let end = turn.await;
        let said = agent.conversation.messages().iter().rev().find(|message| message.role == Role::Assistant);
        let said = said.map(Message::text).unwrap_or_default().trim().to_owned();
        let output = match end {
            TurnEnd::Interrupted => {
                ToolOutput { outcome: Outcome::Interrupted, ..ToolOutput::failed("[interrupted by the user]") }
            }
            TurnEnd::Failed { error } => ToolOutput::failed(format!("explore: the model failed: {error:?}")),
            TurnEnd::Done
            | TurnEnd::Length
            | TurnEnd::StepLimit { .. }
            | TurnEnd::Looping
            | TurnEnd::Refused
            | TurnEnd::ApprovalNeeded { .. } => {
                if said.is_empty() {
                    ToolOutput::failed("explore: it found no answer; ask something narrower, or look yourself")
                } else {
                    ToolOutput::ok(said, crate::tool::ToolFacts::default())
                }
            }
        };
        Report { output, usage: agent.usage, spent: begun.elapsed() }
    }
}

fn tell(explorers: &[Explorer], frontend: &mut dyn Frontend) {
    let activity = Activity::Exploring { explorers: explorers.to_vec() };
    frontend.show(&AgentEvent::Waiting { activity });
}

/// The front end of a sub-agent: tells what it does, and has nobody to ask.
struct Scout {
    index: usize,
    told: mpsc::Sender<(usize, Doing)>,
}

impl Frontend for Scout {
    fn show(&mut self, event: &AgentEvent) {
        // While the model thinks what it did last says more than that it thinks.
        let AgentEvent::ToolRequested { call, subject, .. } = event else { return };
        let pattern = call.input.get("pattern").and_then(Value::as_str).map(str::to_owned);
        let doing = Doing { name: call.name.clone(), subject: subject.clone(), pattern };
        // Nobody watches, or too slowly.
        let _ = self.told.try_send((self.index, doing));
    }

    fn approve(&mut self, _: &ApprovalRequest) -> Approval {
        Approval::Deny(NOT_ASKED.to_owned())
    }
}

#[cfg(test)]
#[path = "explore_tests.rs"]
mod tests;
