//! One turn, from the person's message to its end.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::beginning::{Beginning, is_crowded};
use super::calls::{Answered, Calls, Entered};
use super::consent::Consent;
use super::explore::{Explore, Exploring, Report, STEPS, Scout, found};
use super::guard::LoopGuard;
use super::hooks::{Event, Held, MOST_STOPS};
use super::instructions::nested;
use super::modes::{Purpose, under_the_prompt};
use super::recall;
use super::request::{Again, Asked};
use super::results::CallsEnd;
use super::runner::ToolRunner;
use super::said::{quoted, recalled};
use super::shorten::{Shorten, ask_window};
use super::substitute::Substitute;
use super::talk::{Talk, first_text};
use super::undo::Undo;
use super::unmade::{self, Unmade};
use super::{Agent, AgentEvent, Failure, Frontend, Notice, Shortened, TurnEnd};
use crate::context::{Need, PASSAGES};
use crate::conversation::{
    ContentBlock, Effect, Finished, Message, Outcome, Role, StopReason, Subject, ToolCall, ToolResult,
};
use crate::tool::{Tool as _, ToolFacts, WebSearchTool, brief};

/// What one round of asking and running came to.
enum Step {
    Again,
    End(TurnEnd),
}

/// What the steps of a turn remember of the ones before.
#[derive(Default)]
struct Course {
    guard: LoopGuard,
    empty_answers: u32,
    /// Answers that the provider paused, one after the other.
    pauses: u32,
    unmade: Unmade,
}

/// The most pauses of one answer: a provider that paused for ever kept a client busy for 36 minutes
/// (anthropics/anthropic-sdk-python#1224).
const MOST_PAUSES: u32 = 8;

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
        Substitute { talk: &mut self.talk }.go_back();
        frontend
            .show(&AgentEvent::TurnStarted { session: self.session().id().to_string(), model: self.model().id() });
        // The first request may be too long already: its tools are told briefly in a small window.
        ask_window(&mut self.talk, frontend, cancel).await;
        let window = self.talk.window.size(self.model().context_window);
        for trouble in self.runner.tools.begin_turn(window, &self.runner.roots, &message.text()) {
            let notice = Notice::Server { name: trouble.server, failure: trouble.failure };
            frontend.show(&AgentEvent::Notice { notice });
        }
        let (hooks, resumed) =
            (Arc::clone(&self.talk.manner.hooks), !self.talk.conversation().messages().is_empty());
        if !hooks.have_started() {
            tell_unkept(self, &hooks.lines(Event::SessionStart, None), frontend, cancel).await;
        }
        let said = hooks.at_start(resumed, self.talk.session(), frontend, cancel).await;
        said.tell_failed(&|text| self.talk.session().redacted(text), frontend);
        // What ended while nobody asked is told with it.
        let notes = self.runner.memory.notes().into_iter().chain(said.told);
        let beside = notes.chain(quoted(&self.talk, &first_text(&message))).collect();
        self.talk.person_says(message, beside, frontend);
        if let Some(said) = self.talk.said().next_back() {
            self.undo.begin_turn(&said, self.talk.now());
        }
        let mut end = match self.undo.begin_trials() {
            Ok(()) => self.steps(frontend, cancel).await,
            Err(refused) => TurnEnd::Failed { error: Failure::NoCopy { cause: refused.to_string() } },
        };
        let mut held_back = 0;
        while end == TurnEnd::Done {
            let redact = |text: &str| self.talk.session().redacted(text);
            let lines = if held_back < MOST_STOPS { hooks.lines(Event::Stop, None) } else { Vec::new() };
            let kept = self.undo.keep_before_hooks(&lines, &Subject::Whole, &redact, frontend, cancel).await;
            let said = hooks.at_stop(held_back, self.talk.session(), frontend, cancel).await;
            if kept {
                self.undo.look_after(frontend, cancel).await;
            }
            said.tell_failed(&|text| self.talk.session().redacted(text), frontend);
            let Some(Held::Deny(why) | Held::Ask(why) | Held::Mistake(why)) = said.held else { break };
            held_back += 1;
            let message = Message::user(format!("[From a hook of the user's: do not stop yet. It says:]\n{why}"));
            self.talk.person_says(message, Vec::new(), frontend);
            end = self.steps(frontend, cancel).await;
        }
        if self.undo.is_trying() {
            // What runs on would write where nobody looks any more.
            self.runner.memory.end_all();
            if let Some(note) = self.undo.review(&end, frontend) {
                self.runner.memory.forget_files();
                self.talk.note(note);
            }
        }
        // Before what is sent is shortened: the window is the chosen model's again.
        Substitute { talk: &mut self.talk }.go_back();
        if end == TurnEnd::Done {
            // A good moment, where it soon will not fit.
            let (beginning, todos) = (self.beginning(Purpose::Step), self.runner.memory.open_plan());
            let mut shorten = Shorten { talk: &mut self.talk, beginning: &beginning, todos: todos.as_deref() };
            shorten.make_room(Need::Soft, frontend, cancel).await;
        }
        self.talk.end_turn(&end, self.undo.left(), frontend);
        frontend.show(&AgentEvent::TurnEnded { end: end.clone() });
        end
    }

    /// What a request to the present model begins with.
    pub(super) fn beginning(&self, purpose: Purpose) -> Beginning {
        let mode = self.consent.policy.mode();
        let system = format!("{}{}", self.talk.system().text, under_the_prompt(purpose, mode));
        let model = self.model();
        if purpose == Purpose::LastWords || !model.tools {
            return Beginning { system, tools: Vec::new(), search: false };
        }
        let tools = self.runner.offered(mode);
        let mut tools = if model.small || is_crowded(self.talk.window.size(model.room()), &system, &tools) {
            brief(&tools)
        } else {
            tools
        };
        if self.talk.conversation().cut().is_some() {
            tools.push(recall::spec());
        }
        // The provider searches before axi hears of it: no single search can be asked about.
        let search = !self.consent.forbids(&WebSearchTool::default().spec().name, Effect::Network);
        Beginning { system, tools, search }
    }

    /// Shortens what is sent, because a person says so; `focus` is what they care for. `None` where nothing is to be
    /// gained, or it was stopped.
    ///
    /// # Cancel safety
    /// As [`Agent::run_turn`].
    pub async fn shorten(
        &mut self,
        focus: &str,
        frontend: &mut dyn Frontend,
        cancel: &CancellationToken,
    ) -> Option<Shortened> {
        let (beginning, todos) = (self.beginning(Purpose::Step), self.runner.memory.open_plan());
        let mut shorten = Shorten { talk: &mut self.talk, beginning: &beginning, todos: todos.as_deref() };
        shorten.shorten_now(focus, frontend, cancel).await
    }

    /// Asks the model for its next message, or one that stands by where its provider has no room.
    async fn ask(&mut self, purpose: Purpose, frontend: &mut dyn Frontend, cancel: &CancellationToken) -> Asked {
        let mut is_cut_for_length = false;
        loop {
            let beginning = self.beginning(purpose);
            let runner = &self.runner;
            let todos = runner.memory.open_plan();
            let subject = |tool: &str, path: &str| runner.subject_of_path(tool, path);
            match self.talk.ask(&beginning, (&subject, todos.as_deref()), frontend, cancel).await {
                Err(Again::FirstCut) => {}
                Err(Again::TooLong { failure, message }) => {
                    let todos = todos.as_deref();
                    let window = Shorten { talk: &mut self.talk, beginning: &beginning, todos }.refused(&message);
                    let next = self.beginning(purpose);
                    next.tell_fewer_tools(&beginning, frontend);
                    let counted = self.talk.window.counted(self.said().sent_tokens() + next.tokens());
                    // In a smaller window the tools are told briefly: that may be enough.
                    let fits = next.tokens() < beginning.tokens() && window.is_some_and(|window| counted < window);
                    if !fits
                        && (std::mem::replace(&mut is_cut_for_length, true)
                            || !Shorten { talk: &mut self.talk, beginning: &next, todos }.overflowed(frontend))
                    {
                        return Asked::Failed(failure);
                    }
                }
                Ok(Asked::Overloaded(error))
                    if (Substitute { talk: &mut self.talk }).fall_back(&error, frontend) => {}
                Ok(Asked::Overloaded(error)) => return Asked::Failed(error),
                Ok(other) => return other,
            }
        }
    }

    async fn steps(&mut self, frontend: &mut dyn Frontend, cancel: &CancellationToken) -> TurnEnd {
        let mut course = Course::default();
        let max_steps = self.talk.wishes.max_steps.unwrap_or(self.max_steps).max(1);
        for _ in 0..max_steps {
            let finished = match self.ask(Purpose::Step, frontend, cancel).await {
                Asked::Finished(finished) => finished,
                Asked::Interrupted => return TurnEnd::Interrupted,
                Asked::Failed(error) | Asked::Overloaded(error) => return TurnEnd::Failed { error },
                Asked::TooDear(end) => return end,
            };
            match self.take_answer(finished, &mut course, frontend, cancel).await {
                Step::Again => {}
                Step::End(end) => return end,
            }
        }
        if self.speaks_at_limit {
            self.last_words(frontend, cancel).await;
        }
        TurnEnd::StepLimit { limit: max_steps }
    }

    async fn take_answer(
        &mut self,
        finished: Finished,
        course: &mut Course,
        frontend: &mut dyn Frontend,
        cancel: &CancellationToken,
    ) -> Step {
        let Finished { message, stop, .. } = finished;
        let calls: Vec<ToolCall> = message.iter().flat_map(Message::calls).cloned().collect();
        let spoken = message.as_ref().is_some_and(|message| !message.text().trim().is_empty());
        if let Some(message) = message.filter(|_| spoken || !calls.is_empty() || stop == StopReason::Pause) {
            self.talk.model_says(message, frontend);
        }
        if stop != StopReason::Pause {
            course.pauses = 0;
        }
        if stop == StopReason::Length {
            let notice = if calls.is_empty() { Notice::CutByLength } else { Notice::CallsCut };
            frontend.show(&AgentEvent::Notice { notice });
        } else if stop == StopReason::Repeating {
            frontend.show(&AgentEvent::Notice { notice: Notice::CutByRepeating });
        }
        if !calls.is_empty() {
            return match self.run_calls(calls, course, frontend, cancel).await {
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
            StopReason::Length | StopReason::Repeating => Step::End(TurnEnd::Length),
            StopReason::ContextFull => {
                let message = "the answer filled the model's context window".to_owned();
                Step::End(TurnEnd::Failed { error: Failure::ContextOverflow { message } })
            }
            StopReason::Pause => {
                course.pauses += 1;
                if course.pauses > MOST_PAUSES {
                    return Step::End(TurnEnd::StepLimit { limit: MOST_PAUSES });
                }
                Step::Again
            }
            StopReason::ContentFilter | StopReason::Refusal => {
                if stop == StopReason::ContentFilter {
                    frontend.show(&AgentEvent::Notice { notice: Notice::FilteredByProvider });
                }
                Step::End(TurnEnd::Refused)
            }
            StopReason::EndTurn | StopReason::ToolUse | StopReason::Missing | StopReason::Other(_) if spoken => {
                let again = unmade::conclude(&mut course.unmade, (&mut self.talk, &self.runner), frontend, cancel);
                if again.await { Step::Again } else { Step::End(TurnEnd::Done) }
            }
            StopReason::EndTurn | StopReason::ToolUse | StopReason::Missing | StopReason::Other(_) => {
                // Nothing at all, or thinking alone: asked once more, as others found to help (CL2.1.183).
                course.empty_answers += 1;
                if course.empty_answers > 1 {
                    return Step::End(TurnEnd::Failed { error: Failure::Empty });
                }
                frontend.show(&AgentEvent::Notice { notice: Notice::EmptyAnswer });
                Step::Again
            }
        }
    }

    /// Runs the calls of one message and puts their results into the talk.
    async fn run_calls(
        &mut self,
        calls: Vec<ToolCall>,
        course: &mut Course,
        frontend: &mut dyn Frontend,
        cancel: &CancellationToken,
    ) -> CallsEnd {
        let calls = entered(&self.runner, calls);
        let touched = touched(&calls);
        let edits = unmade::edits(&calls);
        let Answered { mut results, end, spent } = answer(self, calls, &mut course.guard, frontend, cancel).await;
        course.unmade.record(edits, &results, cancel).await;
        let small = self.talk.model().small;
        let (trusted, told) = (self.talk.manner.trusted, &mut self.talk.told_folders);
        let found = if small { Vec::new() } else { nested(&self.runner.roots, trusted, &touched, told) };
        if let Some(last) = results.last_mut() {
            for file in found {
                // Writing to a String cannot fail.
                let _ = write!(last.content, "\n\n[{}]", file.told(", for what is below it"));
            }
        }
        self.talk.take_over(spent, frontend);
        self.talk.tools_say(results, frontend);
        end
    }

    /// Has the model say what it learnt, without tools, at the end of a turn that went round in circles.
    async fn last_words(&mut self, frontend: &mut dyn Frontend, cancel: &CancellationToken) {
        match self.ask(Purpose::LastWords, frontend, cancel).await {
            Asked::Finished(Finished { message: Some(mut message), .. }) => {
                // Some models call all the same.
                message.content.retain(|block| !matches!(block, ContentBlock::ToolCall(_)));
                if !message.text().trim().is_empty() {
                    self.talk.model_says(message, frontend);
                }
            }
            // The turn has failed as it is; that this request failed too helps nobody.
            Asked::Finished(_)
            | Asked::Failed(_)
            | Asked::Overloaded(_)
            | Asked::TooDear(_)
            | Asked::Interrupted => {}
        }
    }
}

/// Runs one call that no model made, but another program: judged and kept as a model's. Its result is in no
/// conversation.
///
/// # Cancel safety
/// As [`Agent::run_turn`].
pub async fn run_call(
    agent: &mut Agent,
    call: ToolCall,
    frontend: &mut dyn Frontend,
    cancel: &CancellationToken,
) -> ToolResult {
    let (call_id, name) = (call.id.clone(), call.name.clone());
    let calls = entered(&agent.runner, vec![call]);
    let answered = answer(agent, calls, &mut LoopGuard::default(), frontend, cancel).await;
    // Every call gets exactly one result.
    let mut result = answered.results.into_iter().next().unwrap_or(ToolResult {
        call_id,
        name,
        content: String::new(),
        outcome: Outcome::Interrupted,
        images: Vec::new(),
        facts: ToolFacts::default(),
        duration_ms: 0,
    });
    if let Some((hidden, _)) = agent.talk.manner.secrets.hide(&result.content) {
        result.content = hidden;
    }
    result
}

/// Tells of hooks that run before there is a turn to take back, where they may change something.
async fn tell_unkept(agent: &Agent, lines: &[&str], frontend: &mut dyn Frontend, cancel: &CancellationToken) {
    for line in lines.iter().filter(|_| agent.undo.keeps()) {
        if agent.undo.may_change(line, cancel).await {
            let command = agent.session().redacted(line);
            frontend.show(&AgentEvent::Notice { notice: Notice::HookUnkept { command } });
        }
    }
}

/// Runs the calls of one message.
async fn answer(
    agent: &mut Agent,
    calls: Vec<Entered>,
    guard: &mut LoopGuard,
    frontend: &mut dyn Frontend,
    cancel: &CancellationToken,
) -> Answered {
    let Agent { talk, consent, undo, runner, .. } = agent;
    let (talk, runner) = (&*talk, &*runner);
    let explorers = Explorers { talk, runner, undo: undo.without_journal() };
    let explore = &explorers as &dyn Explore;
    let redact = |text: &str| talk.session().redacted(text);
    let secrets = &*talk.manner.secrets;
    let said = |query: &str| recalled(talk, query, PASSAGES);
    let calling = Calls {
        runner,
        consent,
        undo,
        explore,
        said: &said,
        session: talk.session(),
        hooks: &talk.manner.hooks,
        guard,
        secrets,
        redact: &redact,
        frontend,
        cancel,
    };
    calling.run(calls).await
}

/// Has each call read, once.
fn entered(runner: &ToolRunner, calls: Vec<ToolCall>) -> Vec<Entered> {
    let read = |call: ToolCall| Entered { read: runner.tools.read(&call, &runner.roots), call };
    calls.into_iter().map(read).collect()
}

/// The paths that calls are about.
fn touched(calls: &[Entered]) -> Vec<PathBuf> {
    let subjects = calls.iter().filter_map(|call| Some(call.read.request()?.subject()));
    let paths = subjects.filter_map(|subject| match subject {
        Subject::Paths { paths } => Some(paths),
        Subject::Command { .. } | Subject::Host { .. } | Subject::Whole => None,
    });
    paths.flatten().collect()
}

/// Makes sub-agents: each an agent of its own that only reads, with few steps.
struct Explorers<'a> {
    talk: &'a Talk,
    runner: &'a ToolRunner,
    undo: Undo,
}

impl Explore for Explorers<'_> {
    fn explore<'a>(
        &'a self,
        question: String,
        consent: Consent,
        mut scout: Scout,
        cancel: &'a CancellationToken,
    ) -> Exploring<'a> {
        let mut agent = Agent {
            // Kept nowhere; what it read of secrets stays out of the answer's file all the same.
            talk: self.talk.apart(),
            consent,
            undo: self.undo.without_journal(),
            runner: self.runner.for_sub_agents(),
            max_steps: STEPS,
            speaks_at_limit: true,
        };
        // Boxed: a turn may hold sub-agents, which hold turns.
        Box::pin(async move {
            let begun = Instant::now();
            let turn: Pin<Box<dyn Future<Output = TurnEnd> + '_>> =
                Box::pin(agent.run_turn(Message::user(question), &mut scout, cancel));
            let end = turn.await;
            let mut messages = agent.conversation().messages().iter().rev();
            let said =
                messages.find(|message| message.role == Role::Assistant).map(Message::text).unwrap_or_default();
            let output = found(end, said.trim());
            Report { output, bill: agent.ledger().total(), spent: begun.elapsed() }
        })
    }
}

#[cfg(test)]
#[path = "turn_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "dropped_tests.rs"]
mod dropped_tests;

#[cfg(test)]
#[path = "random_tests.rs"]
mod random_tests;
