//! The calls of one message: guard, judge, ask, run, answer. Every call gets exactly one result.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::guard::{LoopGuard, Verdict as GuardVerdict};
use super::modes::ONLY_READS;
use super::undo::{Keeping, show_unkept};
use super::{Agent, AgentEvent, Approval, ApprovalRequest, Frontend, Notice, Widened, extent, reach};
use crate::approval::command::judge;
use crate::approval::{Decision, NeverAuto, Reason, Source, Verdict, always_rule, session_rule};
use crate::conversation::{Effect, Outcome, Subject, ToolCall, ToolResult};
use crate::sandbox::{Reach, Standing};
use crate::tool::{Access, Settled, Tool, ToolFacts, ToolOutput};

/// Said to the model behind a result when several steps brought nothing new.
const TAKE_STOCK: &str = "\n\n[Several steps brought nothing new. Take stock before the next call: what is known, what is \
                          missing, and which other way there is. If there is none, tell the user what you found.]";

/// Said to the model in place of a result when it goes round in circles; the person is told by a notice.
pub const REPEATS: &str = "Not run: this repeats calls you already made, with the same results. Use what you know, \
                           try something else, or answer the user.";

/// Said to the model when what was judged is not what would be touched any more.
const LED_ELSEWHERE: &str = "Not run: while it was judged, something changed where this path leads (a directory or a \
                             link in it was replaced). Look again before you repeat the call.";

/// How a batch of calls ended.
pub(super) enum CallsEnd {
    Continue,
    /// A tool whose result is the last word went well.
    Concluded,
    Interrupted,
    ApprovalNeeded {
        name: String,
        subject: Subject,
        never_auto: bool,
        unkept: bool,
    },
    Looping,
}

/// What became of one call.
pub(super) enum CallEnd {
    Answered,
    BatchDenied,
    Stop(CallsEnd),
}

/// What was agreed to.
struct Granted {
    reach: Reach,
    /// Whether nobody and no rule said so, only `-y`.
    assumed: bool,
    /// Whether the person was told that it cannot be taken back in full.
    warned: bool,
}

/// How far a call wants to reach.
struct Wants {
    reach: Reach,
    /// Whether a person is to be asked for that, whatever the rules say.
    ask: bool,
    widened: Option<Widened>,
}

impl Agent {
    /// Runs the calls in order and puts their results into the conversation and the session.
    pub(super) async fn run_calls(
        &mut self,
        calls: Vec<ToolCall>,
        guard: &mut LoopGuard,
        frontend: &mut dyn Frontend,
        cancel: &CancellationToken,
    ) -> CallsEnd {
        let mut results = Vec::with_capacity(calls.len());
        let mut end = CallsEnd::Continue;
        // What the calls that are not reached any more are answered with.
        let mut rest: Option<Outcome> = None;
        let all = calls.len();
        let mut calls = calls.into_iter().peekable();
        while let Some(call) = calls.next() {
            self.number = (all - calls.len(), all);
            if cancel.is_cancelled() && rest.is_none() {
                rest = Some(Outcome::Interrupted);
                end = CallsEnd::Interrupted;
            }
            if let Some(outcome) = rest {
                self.tell_requested(&call, frontend);
                results.push(answer(&call, closed(&call, outcome), Duration::ZERO, frontend));
                continue;
            }
            if self.is_exploring(&call) {
                let mut together = vec![call];
                together.extend(std::iter::from_fn(|| calls.next_if(|call| self.is_exploring(call))));
                let (answered, last_stop) = self.explore(&together, guard, frontend, cancel).await;
                results.extend(answered);
                if last_stop {
                    rest = Some(Outcome::Denied);
                    end = CallsEnd::Looping;
                }
                continue;
            }
            let (output, spent, call_end) = self.run_call(&call, guard, frontend, cancel).await;
            results.push(answer(&call, output, spent, frontend));
            match call_end {
                CallEnd::Answered => {}
                CallEnd::BatchDenied => rest = Some(Outcome::Denied),
                CallEnd::Stop(reason) => {
                    rest = Some(match reason {
                        CallsEnd::Interrupted => Outcome::Interrupted,
                        CallsEnd::Concluded => Outcome::Failed,
                        CallsEnd::Continue | CallsEnd::ApprovalNeeded { .. } | CallsEnd::Looping => Outcome::Denied,
                    });
                    end = reason;
                }
            }
        }
        if guard.ends_step()
            && let Some(last) = results.last_mut()
        {
            last.content.push_str(TAKE_STOCK);
        }
        // What happened beside the calls is told with the last result: the model reads it at its next step.
        for note in self.memory.notes() {
            if let Some(last) = results.last_mut() {
                last.content.extend(["\n\n", &note]);
            }
        }
        let message = self.conversation.push_results(results).cloned();
        if let Some(message) = message {
            self.save(&message, frontend);
        }
        if cancel.is_cancelled() {
            return CallsEnd::Interrupted;
        }
        end
    }

    async fn run_call(
        &mut self,
        call: &ToolCall,
        guard: &mut LoopGuard,
        frontend: &mut dyn Frontend,
        cancel: &CancellationToken,
    ) -> (ToolOutput, Duration, CallEnd) {
        let unspent = |output, end| (output, Duration::ZERO, end);
        if let Some(raw) = &call.invalid_input {
            let end = if guard.malformed() { CallEnd::Stop(CallsEnd::Looping) } else { CallEnd::Answered };
            return unspent(ToolOutput::failed(invalid_arguments(raw)), end);
        }
        let Some(tool) = self.tools.find(&call.name).cloned() else {
            let names: Vec<String> = self.tools.specs().into_iter().map(|spec| spec.name).collect();
            let text = format!("There is no tool named {:?}. The tools are: {}.", call.name, names.join(", "));
            let end = if guard.malformed() { CallEnd::Stop(CallsEnd::Looping) } else { CallEnd::Answered };
            return unspent(ToolOutput::failed(text), end);
        };
        match guard.check(call) {
            GuardVerdict::Go => {}
            GuardVerdict::Stop { last } => {
                frontend.show(&AgentEvent::Notice { notice: Notice::Repeating { name: call.name.clone() } });
                guard.record(call, None);
                let end = if last { CallEnd::Stop(CallsEnd::Looping) } else { CallEnd::Answered };
                return unspent(ToolOutput::failed(REPEATS), end);
            }
        }
        let place = self.setup.place.clone();
        // The guard compares what the model wrote, the person judges what will run.
        let written = call;
        let (call, note, settled) = settled(call, tool.settle(&call.input, &place, &self.memory));
        let call = call.as_ref();
        let effect = tool.effect(&call.input, &place);
        let subject = tool.subject(&call.input, &place);
        frontend.show(&AgentEvent::ToolRequested { call: call.clone(), effect, subject: subject.clone() });
        if let Some(output) = settled {
            guard.record(written, Some((output.outcome, &output.content)));
            return unspent(output, CallEnd::Answered);
        }
        let mut granted = match self.judge(call, tool.as_ref(), effect, (&subject, None), frontend, cancel).await {
            Ok(granted) => granted,
            Err(answered) => return unspent(answered.0, answered.1),
        };
        match self.keep_before(&call.name, effect, (&subject, &granted.reach), frontend, cancel).await {
            Keeping::Kept => {}
            Keeping::Stopped => {
                return unspent(closed(call, Outcome::Interrupted), CallEnd::Stop(CallsEnd::Interrupted));
            }
            Keeping::Lacking { files, told } => {
                if granted.assumed {
                    // What cannot be taken back is nobody's to assume.
                    let judged = self.judge(call, tool.as_ref(), effect, (&subject, Some(files)), frontend, cancel);
                    granted = match judged.await {
                        Ok(granted) => granted,
                        Err(answered) => return unspent(answered.0, answered.1),
                    };
                }
                if !granted.warned {
                    frontend.show(&AgentEvent::Notice { notice: told });
                }
            }
        }
        if tool.subject(&call.input, &place) != subject {
            return unspent(ToolOutput::failed(LED_ELSEWHERE), CallEnd::Answered);
        }
        let trash = self.open_trash(&subject, &granted.reach, granted.assumed);
        let started = Instant::now();
        let running = (subject, &granted.reach, trash.clone());
        let (mut output, mut end) = self.run_tool(call, tool.as_ref(), running, frontend, cancel).await;
        show_unkept(trash.as_ref(), frontend);
        if let Some(note) = note {
            let apart = if output.content.ends_with('\n') { "" } else { "\n" };
            output.content.extend([apart, &note]);
        }
        self.look_after(frontend, cancel).await;
        if matches!(end, CallEnd::Answered) && output.outcome == Outcome::Ok && tool.concludes() {
            end = CallEnd::Stop(CallsEnd::Concluded);
        }
        guard.record(written, Some((output.outcome, &output.content)));
        (output, started.elapsed(), end)
    }

    /// Shows what a call that is not reached any more was about.
    fn tell_requested(&self, call: &ToolCall, frontend: &mut dyn Frontend) {
        let Some(tool) = self.tools.find(&call.name).filter(|_| call.invalid_input.is_none()) else { return };
        let place = &self.setup.place;
        let (effect, subject) = (tool.effect(&call.input, place), tool.subject(&call.input, place));
        frontend.show(&AgentEvent::ToolRequested { call: call.clone(), effect, subject });
    }

    /// Decides whether the call may run and how far it reaches, asking if need be; an error is its answer.
    async fn judge(
        &mut self,
        call: &ToolCall,
        tool: &dyn Tool,
        effect: Effect,
        (subject, unkept): (&Subject, Option<u64>),
        frontend: &mut dyn Frontend,
        cancel: &CancellationToken,
    ) -> Result<Granted, Box<(ToolOutput, CallEnd)>> {
        let place = &self.setup.surroundings;
        let mut verdict = self.policy.decide(&call.name, effect, subject, place);
        if let (Decision::Allow, Subject::Command { line }) = (verdict.decision, subject)
            && let Some(why) = reach::forbidden(line, place, cancel).await
        {
            forbid(&mut verdict, why);
        }
        if let (Decision::Allow, Subject::Command { line }) = (verdict.decision, subject)
            && verdict.by_narrow_rule()
            && !self.policy.assumes_yes()
            && let Some(path) = reach::strays(line, place, cancel).await
        {
            verdict.decision = Decision::Ask;
            verdict.reasons.push(Reason::OutsideWorkspace { path });
        }
        if unkept.is_some() {
            verdict.decision = verdict.decision.max(Decision::Ask);
        }
        let outlives = tool.outlives(&call.input);
        let wants = self.wants(tool.access(&call.input), effect, subject, &verdict, self.policy.assumes_yes());
        match verdict.decision {
            Decision::Allow if !wants.ask && (!outlives || self.policy.assumes_yes()) => {
                self.tell_no_sandbox(&wants.reach, subject, frontend);
                let assumed = verdict.reasons.contains(&Reason::AssumedYes);
                return Ok(Granted { reach: wants.reach, assumed, warned: false });
            }
            Decision::Deny => {
                let mut output = closed(call, Outcome::Denied);
                let by_mode = verdict.reasons.iter().any(|reason| matches!(reason, Reason::ModeOnlyReads { .. }));
                let by_rule = "A rule of the user's settings denies this call. Do not repeat it.";
                (if by_mode { ONLY_READS } else { by_rule }).clone_into(&mut output.content);
                return Err(Box::new((output, CallEnd::Answered)));
            }
            Decision::Allow | Decision::Ask => {}
        }
        let preview = match tool.preview(&call.input, &self.setup.place) {
            Ok(preview) => preview,
            Err(text) => return Err(Box::new((ToolOutput::failed(text), CallEnd::Answered))),
        };
        let reach = match subject {
            Subject::Command { line } => reach::survey(line, place, cancel).await,
            Subject::Paths { .. } | Subject::Host { .. } | Subject::Whole => None,
        };
        if let Some(why) = reach.as_ref().and_then(|reach| reach.never_auto.clone()) {
            forbid(&mut verdict, why);
        }
        let unkept = match unkept {
            Some(files) => Some(files),
            None => self.foresee(&call.name, effect, (subject, &wants.reach), cancel).await,
        };
        verdict.reasons.extend(unkept.map(|files| Reason::CannotUndo { files }));
        if cancel.is_cancelled() {
            let stopped = (closed(call, Outcome::Interrupted), CallEnd::Stop(CallsEnd::Interrupted));
            return Err(Box::new(stopped));
        }
        // More than its kind gets is agreed to once, each time.
        let never_auto = verdict.never_auto;
        let always_rule = if never_auto || wants.widened.is_some() || outlives {
            None
        } else {
            always_rule(&call.name, effect, subject, place)
        };
        let request = ApprovalRequest {
            always_rule,
            call: call.clone(),
            effect,
            subject: subject.clone(),
            preview,
            reasons: verdict.reasons,
            reach,
            session_rule: match subject {
                Subject::Command { line } => session_rule(line, place).map(|rule| rule.to_string()),
                Subject::Paths { .. } | Subject::Host { .. } | Subject::Whole => None,
            },
            widened: wants.widened,
            outlives,
            number: self.number,
        };
        let granted = Granted { reach: wants.reach, assumed: false, warned: unkept.is_some() };
        match frontend.approve(&request) {
            Approval::Once => Ok(granted),
            Approval::ForSession => {
                self.policy.grant_for_session(&call.name, subject, &self.setup.surroundings);
                Ok(granted)
            }
            Approval::Always(rule) => {
                // Only a project's rules are refused.
                drop(self.policy.add_rule(Decision::Allow, rule, Source::User));
                Ok(granted)
            }
            Approval::Deny(feedback) => {
                let mut output = closed(call, Outcome::Denied);
                if !feedback.trim().is_empty() {
                    output.content = format!("The user denied this call and said: {}", feedback.trim());
                }
                Err(Box::new((output, CallEnd::BatchDenied)))
            }
            Approval::Abort => {
                cancel.cancel();
                Err(Box::new((closed(call, Outcome::Interrupted), CallEnd::Stop(CallsEnd::Interrupted))))
            }
            Approval::Unavailable => {
                let mut output = closed(call, Outcome::Denied);
                "This call needs the user's approval and nobody can be asked in this mode."
                    .clone_into(&mut output.content);
                let (name, subject) = (call.name.clone(), subject.clone());
                let unkept = unkept.is_some() && self.policy.assumes_yes();
                let end = CallsEnd::ApprovalNeeded { name, subject, never_auto, unkept };
                Err(Box::new((output, CallEnd::Stop(end))))
            }
        }
    }

    /// How far a call wants to reach, and whether that alone is to be asked.
    fn wants(&self, access: Access, effect: Effect, subject: &Subject, verdict: &Verdict, yes: bool) -> Wants {
        let (usual, runs_program) = match subject {
            Subject::Command { line } => {
                let judgement = judge(line, &self.setup.surroundings);
                let runs_program = judgement.parts.iter().any(|part| part.runs_program);
                (extent::of_line(&judgement, extent::consent(verdict)), runs_program)
            }
            Subject::Paths { .. } | Subject::Host { .. } | Subject::Whole => (extent::of_effect(effect), false),
        };
        if !matches!(self.setup.sandbox.standing(), Standing::On(_)) {
            // Nothing is confined that could be widened. What only looks as far as can be read off a program has
            // nothing under it here: a module of the workspace may have the name of one it loads.
            let ruled = verdict.reasons.iter().any(|reason| matches!(reason, Reason::MatchedRule { .. }));
            return Wants { reach: usual, ask: runs_program && !ruled && !yes, widened: None };
        }
        let widened = match access {
            _ if usual == Reach::Full => Some(Widened::ChangesUser),
            Access::Full => Some(Widened::Full),
            Access::Workspace if extent::is_more(&usual, access) => Some(Widened::Workspace),
            Access::Workspace | Access::Usual => None,
        };
        let ask = match widened {
            // What becomes another user was asked for by its own words.
            None | Some(Widened::ChangesUser) => false,
            Some(Widened::Workspace) => !yes,
            Some(Widened::Full) => true,
        };
        Wants { reach: extent::extended(usual, access), ask, widened }
    }

    /// Says once that what runs unasked is not confined here.
    fn tell_no_sandbox(&mut self, reach: &Reach, subject: &Subject, frontend: &mut dyn Frontend) {
        let Standing::Unsupported(missing) = self.setup.sandbox.standing() else { return };
        let starts_child = matches!(subject, Subject::Command { .. });
        if starts_child && *reach == Reach::ReadOnly && !self.no_sandbox_told {
            self.no_sandbox_told = true;
            frontend.show(&AgentEvent::Notice { notice: Notice::NoSandbox { missing } });
        }
    }
}

/// What runs in a call's place, the note behind its result, or the result itself.
fn settled(call: &ToolCall, settled: Settled) -> (Cow<'_, ToolCall>, Option<String>, Option<ToolOutput>) {
    match settled {
        Settled::AsIs => (Cow::Borrowed(call), None, None),
        Settled::Input { input, note } => (Cow::Owned(ToolCall { input, ..call.clone() }), Some(note), None),
        Settled::Answer(output) => (Cow::Borrowed(call), None, Some(*output)),
    }
}

/// Takes a yes back that nobody but a person who has just read the line can give.
fn forbid(verdict: &mut Verdict, why: NeverAuto) {
    verdict.decision = verdict.decision.max(Decision::Ask);
    if !verdict.never_auto {
        verdict.never_auto = true;
        verdict.reasons.push(Reason::NeverAuto { why });
    }
}

pub(super) fn closed(call: &ToolCall, outcome: Outcome) -> ToolOutput {
    let ToolResult { content, .. } = ToolResult::closed(call, outcome);
    ToolOutput { content, outcome, facts: ToolFacts::default(), images: Vec::new() }
}

fn invalid_arguments(raw: &str) -> String {
    if raw.trim().is_empty() {
        return "Not run: the arguments were cut off by the output limit. Use a smaller call.".to_owned();
    }
    let start: String = raw.chars().take(200).collect();
    format!(
        "Not run: the arguments are not one complete JSON object (they may have been cut off by the output \
         limit; then make a smaller call). They began: {start}"
    )
}

/// Shows that a call is finished and makes the result the model reads.
pub(super) fn answer(
    call: &ToolCall,
    output: ToolOutput,
    spent: Duration,
    frontend: &mut dyn Frontend,
) -> ToolResult {
    let ToolOutput { content, outcome, facts, images } = output;
    let duration_ms = u64::try_from(spent.as_millis()).unwrap_or(u64::MAX);
    frontend.show(&AgentEvent::ToolFinished {
        call_id: call.id.clone(),
        name: call.name.clone(),
        outcome,
        content: content.clone(),
        facts: facts.clone(),
        duration_ms,
    });
    ToolResult { call_id: call.id.clone(), name: call.name.clone(), content, outcome, images, facts, duration_ms }
}
