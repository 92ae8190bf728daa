//! The calls of one message: guard, judge, ask, run, answer. Every call gets exactly one result.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::call_trials::unanswered;
use super::consent::{Consent, Granted, Proposed};
use super::explore::{self, Explore};
use super::guard::{LoopGuard, StepVerdict, Verdict as GuardVerdict};
use super::hooks::{About as Told, Event, Held, Hooks};
use super::recall;
use super::results::{
    CallEnd, CallsEnd, LED_ELSEWHERE, NotReached, REPEATS, Refused, answer, denied, interrupted, invalid_arguments,
    no_such_tool, not_reached, refused,
};
use super::revealed::revealed;
use super::runner::{Followed, Terms, ToolRunner};
use super::undo::{Keeping, Undo, show_unkept};
use super::{AgentEvent, Frontend, Notice, reach};
use crate::approval::Reason;
use crate::context::Found;
use crate::conversation::{
    About, Bill, ContentBlock, Effect, Message, Outcome, Role, Subject, ToolCall, ToolResult, ToolVerb,
};
use crate::secret::{StandIns, printed};
use crate::session::Session;
use crate::tool::{ReadCall, Request, Settled, Tool, ToolOutput};
use crate::trial::Trial;

/// Replies to the model behind a result when several steps brought nothing new.
const TAKE_STOCK: &str = "\n\n[Several steps brought nothing new. Take stock before the next call: what is known, what is \
                          missing, and which other way there is. If there is none, tell the user what you found.]";

/// What the calls of one message need in order to run.
pub(super) struct Calls<'a> {
    pub(super) runner: &'a ToolRunner,
    pub(super) consent: &'a mut Consent,
    pub(super) undo: &'a mut Undo,
    /// Runs sub-agents.
    pub(super) explore: &'a dyn Explore,
    /// Searches what was said so far in this conversation.
    pub(super) said: &'a (dyn Fn(&str) -> Vec<Found> + Sync),
    /// The session that records this conversation.
    pub(super) session: &'a Session,
    pub(super) guard: &'a mut LoopGuard,
    /// Hooks that are told of each call and may hold it back.
    pub(super) hooks: &'a Hooks,
    /// Knows the secrets that stand-ins stand for.
    pub(super) secrets: &'a StandIns,
    /// Removes from a text what must not be written to the disk.
    pub(super) redact: &'a (dyn Fn(&str) -> String + Sync),
    pub(super) frontend: &'a mut dyn Frontend,
    pub(super) cancel: &'a CancellationToken,
}

/// A call as it enters: read once. All else is asked of what that gave.
pub(super) struct Entered {
    pub(super) call: ToolCall,
    pub(super) read: ReadCall,
}

/// The outcome of the calls of one message.
pub(super) struct Answered {
    /// One result for each call, in the order of the calls.
    pub(super) results: Vec<ToolResult>,
    pub(super) end: CallsEnd,
    /// What the sub-agents cost.
    pub(super) spent: Bill,
}

impl Calls<'_> {
    /// Runs the calls in order.
    ///
    /// # Cancel safety
    /// If it is dropped, the calls have no results yet; the journal has what was changed.
    pub(super) async fn run(mut self, calls: Vec<Entered>) -> Answered {
        let mut results = Vec::with_capacity(calls.len());
        let mut end = CallsEnd::Continue;
        let mut spent = Bill::default();
        // Why the remaining calls are not run; `None` while calls run.
        let mut rest: Option<NotReached> = None;
        let all = calls.len();
        let mut calls = calls.into_iter().peekable();
        while let Some(entered) = calls.next() {
            let call = &entered.call;
            let number = (all - calls.len(), all);
            if self.cancel.is_cancelled() && rest.is_none() {
                rest = Some(NotReached::Interrupted);
                end = CallsEnd::Interrupted;
            }
            if let Some(why) = rest {
                if let Some(request) = entered.read.request() {
                    self.tell_requested(call, request);
                }
                results.push(answer(call, not_reached(call, why), Duration::ZERO, self.frontend));
                continue;
            }
            if explore::is_one(&self.runner.tools, call) {
                let mut together = vec![entered.call];
                let Self { runner, explore, consent, guard, frontend, cancel, .. } = &mut self;
                let is_one = |next: &Entered| explore::is_one(&runner.tools, &next.call);
                together.extend(std::iter::from_fn(|| calls.next_if(is_one)).map(|next| next.call));
                let exploring = explore::side_by_side(&together, *explore, consent, guard, *frontend, cancel);
                let reports = exploring.await;
                results.extend(reports.results);
                self.keep(&results, calls.len()).await;
                spent.add(reports.spent);
                if reports.last_stop {
                    rest = Some(NotReached::Looping);
                    end = CallsEnd::Looping;
                }
                continue;
            }
            let (output, lasted, call_end) = self.run_call(&entered, number).await;
            results.push(answer(call, output, lasted, self.frontend));
            self.keep(&results, calls.len()).await;
            match call_end {
                CallEnd::Answered => {}
                CallEnd::BatchDenied => rest = Some(NotReached::Denied),
                CallEnd::Stop(reason) => {
                    rest = match reason {
                        CallsEnd::Continue => None,
                        CallsEnd::Interrupted => Some(NotReached::Interrupted),
                        CallsEnd::Concluded => Some(NotReached::Concluded),
                        CallsEnd::ApprovalNeeded { .. } => Some(NotReached::NobodyAsked),
                        CallsEnd::Looping => Some(NotReached::Looping),
                    };
                    end = reason;
                }
            }
        }
        match (self.guard.ends_step(), results.last_mut(), &end) {
            (StepVerdict::TakeStock, Some(last), _) => last.content.push_str(TAKE_STOCK),
            (StepVerdict::Stop, _, CallsEnd::Continue) => end = CallsEnd::Looping,
            (StepVerdict::Go | StepVerdict::TakeStock | StepVerdict::Stop, _, _) => {}
        }
        // Notes on background jobs and the plan go behind the last result: the model reads them at its next step.
        for note in self.runner.memory.notes() {
            if let Some(last) = results.last_mut() {
                last.content.extend(["\n\n", &note]);
            }
        }
        if self.cancel.is_cancelled() {
            end = CallsEnd::Interrupted;
        }
        Answered { results, end, spent }
    }

    /// Saves the results so far beside the session's file, in case axi is killed before `left` more are there.
    async fn keep(&self, results: &[ToolResult], left: usize) {
        let Some(keeper) = self.session.partial_keeper().filter(|_| left > 0) else { return };
        let hidden = |result: &ToolResult| {
            let content = self.secrets.hide(&result.content).map(|(text, _)| text);
            let content = content.unwrap_or_else(|| result.content.clone());
            ContentBlock::ToolResult(ToolResult { content, ..result.clone() })
        };
        let message = Message { role: Role::User, content: results.iter().map(hidden).collect() };
        let kept = tokio::task::spawn_blocking(move || keeper.keep(&message)).await;
        if let Ok(Err(error)) = kept {
            tracing::warn!(%error, "the results so far could not be kept");
        }
    }

    /// Answers a call. Whatever the answer is, the guard compares it: a call that is refused again and again is a circle, too.
    async fn run_call(&mut self, entered: &Entered, number: (usize, usize)) -> (ToolOutput, Duration, CallEnd) {
        let unspent = |output, end| (output, Duration::ZERO, end);
        let Entered { call, read } = entered;
        let read = match read {
            ReadCall::NoJson => {
                self.guard.malformed();
                return unspent(
                    invalid_arguments(call.invalid_input.as_deref().unwrap_or_default()),
                    CallEnd::Answered,
                );
            }
            ReadCall::NoTool | ReadCall::Read { .. } if recall::is_one(call) => None,
            ReadCall::Read { tool, request } => Some((tool, request)),
            ReadCall::NoTool => {
                let names: Vec<String> = self.runner.tools.specs().into_iter().map(|spec| spec.name).collect();
                self.guard.malformed();
                return unspent(no_such_tool(&call.name, &names), CallEnd::Answered);
            }
        };
        if let GuardVerdict::Stop { last } = self.guard.check(call) {
            self.frontend.show(&AgentEvent::Notice { notice: Notice::Repeating { name: call.name.clone() } });
            self.guard.record(call, None);
            let end = if last { CallEnd::Stop(CallsEnd::Looping) } else { CallEnd::Answered };
            return unspent(ToolOutput::failed(REPEATS), end);
        }
        let answered = if let Some(read) = read {
            self.run_tool(call, read, number).await.unwrap_or_else(|refused| unspent(refused.0, refused.1))
        } else {
            let (effect, subject, about) = (Effect::Read, Subject::Whole, About::Subject);
            self.frontend.show(&AgentEvent::ToolRequested { call: call.clone(), effect, subject, about });
            let output = recall::answer(call, self.said, self.session, self.cancel).await;
            let (output, end) = output.map_or_else(|| *interrupted(call), |output| (output, CallEnd::Answered));
            unspent(output, end)
        };
        self.guard.record(call, Some((answered.0.outcome, &answered.0.content)));
        answered
    }

    /// Judges and runs a call of a tool; an error is the answer of a call that does not run.
    async fn run_tool(
        &mut self,
        call: &ToolCall,
        (tool, request): (&Arc<dyn Tool>, &Arc<dyn Request>),
        number: (usize, usize),
    ) -> Result<(ToolOutput, Duration, CallEnd), Refused> {
        let runner = self.runner;
        // Nobody knows what a server's tool does with a secret.
        let foreign = runner.tools.is_of_server(&call.name);
        let effect = if foreign { Effect::Network } else { request.effect() };
        let verb = tool.spec().identity.verb;
        let call = revealed(call, self.secrets, effect, verb == ToolVerb::Propose).map_err(|stand_in| {
            let why = format!("{stand_in}: its secret is not known here. Ask the user.");
            refused(ToolOutput::failed(why))
        })?;
        let request = match &call {
            Cow::Borrowed(_) => Arc::clone(request),
            // With its secrets it is another call.
            Cow::Owned(call) => tool.read(&call.input, &runner.roots),
        };
        let call = call.as_ref();
        let Some(looked) = runner.look(&request, self.cancel).await else {
            self.tell_requested(call, &request);
            return Err(interrupted(call));
        };
        let Settlement { call, request, note, output: settled } = settled(call, request, looked.settled);
        let (call, request) = (call.as_ref(), &request);
        let effect = request.effect();
        let Followed { subject, answered } = looked.followed;
        let asked_for = AgentEvent::ToolRequested {
            call: call.clone(),
            effect,
            subject: subject.clone(),
            about: request.about(),
        };
        self.frontend.show(&asked_for);
        if let Some(output) = settled {
            return Err(refused(output));
        }
        let questioned = self.held_by_hooks(&Told { call, verb, subject: &subject }, effect).await?;
        let Some(assessment) = &self.consent.assess(call, effect, &subject, self.cancel).await else {
            return Err(interrupted(call));
        };
        let (memory, output_dir) = (&runner.memory, runner.output_dir.as_path());
        let proposed = Proposed {
            call,
            tool,
            request,
            effect,
            subject: &subject,
            assessment,
            memory,
            output_dir,
            answered,
            number,
            unkept: None,
            questioned: questioned.as_ref(),
        };
        let granted = self.agreed(proposed).await?;
        match runner.follow(request.subject(), self.cancel).await {
            None => return Err(interrupted(call)),
            Some(now) if now.subject != subject => return Err(refused(ToolOutput::failed(LED_ELSEWHERE))),
            Some(_) => {}
        }
        let changed =
            if matches!(effect, Effect::Write | Effect::Delete) { subject.clone() } else { Subject::Whole };
        let made = self.consent.makes(assessment, &granted.reach, self.cancel).await;
        let (mut output, lasted, end) = self.run_granted(call, (tool, request), subject.clone(), &granted).await;
        reach::learn(made).await;
        if assessment.line.as_ref().is_some_and(|line| line.prints_secret()) {
            // Nothing beside it would tell that it is one.
            let found = printed::find(&output.content).into_iter();
            self.secrets.learn(found.map(|range| output.content[range].to_owned()));
        }
        if let Some(note) = note {
            let apart = if output.content.ends_with('\n') { "" } else { "\n" };
            output.content.extend([apart, &note]);
        }
        self.tell_hooks(&Told { call, verb, subject: &subject }, &changed, &mut output).await;
        Ok((output, lasted, end))
    }

    /// Runs a call that everybody agreed to, and looks what it changed.
    async fn run_granted(
        &mut self,
        call: &ToolCall,
        (tool, request): (&Arc<dyn Tool>, &Arc<dyn Request>),
        subject: Subject,
        granted: &Granted,
    ) -> (ToolOutput, Duration, CallEnd) {
        if let Some(trial) = &granted.trial {
            return self.run_tried(call, request, subject, (granted, trial)).await;
        }
        let trash = self.undo.open_trash(&subject, &granted.reach, granted.assumed);
        let started = Instant::now();
        let terms =
            Terms { subject, reach: &granted.reach, trash: trash.clone(), trial: None, redact: self.redact };
        let output = self.runner.run(call, request, terms, self.frontend, self.cancel).await;
        let interrupted = self.cancel.is_cancelled();
        show_unkept(trash.as_ref(), self.frontend);
        self.undo.look_after(self.frontend, self.cancel).await;
        let end = match output.outcome {
            _ if interrupted => CallEnd::Stop(CallsEnd::Interrupted),
            Outcome::Ok if tool.concludes() => CallEnd::Stop(CallsEnd::Concluded),
            Outcome::Ok | Outcome::Failed | Outcome::Denied | Outcome::Interrupted => CallEnd::Answered,
        };
        (output, started.elapsed(), end)
    }

    /// Runs a call in a trial, and applies what of its changes may be.
    async fn run_tried(
        &mut self,
        call: &ToolCall,
        request: &Arc<dyn Request>,
        subject: Subject,
        (granted, trial): (&Granted, &Trial),
    ) -> (ToolOutput, Duration, CallEnd) {
        let started = Instant::now();
        let terms = Terms {
            subject: subject.clone(),
            reach: &granted.reach,
            trash: None,
            trial: Some(trial),
            redact: self.redact,
        };
        let mut output = self.runner.run(call, request, terms, self.frontend, self.cancel).await;
        let lasted = started.elapsed();
        if self.cancel.is_cancelled() {
            // Nobody has seen what it changed.
            dropped(trial, &mut output, self.frontend);
            return (output, lasted, CallEnd::Stop(CallsEnd::Interrupted));
        }
        if let Err(refused) = trial.entered() {
            self.undo.refuse_trials();
            let said = format!(
                "Not run: it is to run in a trial first, and cannot: {refused}. Call it again: the user is asked then."
            );
            return (ToolOutput::failed(said), lasted, CallEnd::Answered);
        }
        let reviewed = self.undo.review_call(trial, self.frontend);
        let mut end = CallEnd::Answered;
        if let Some(reviewed) = reviewed {
            if !reviewed.note.is_empty() {
                output.content.extend(["\n\n", &reviewed.note]);
            }
            if reviewed.is_unanswered {
                end = CallEnd::Stop(unanswered(call, &subject));
            }
        }
        (output, lasted, end)
    }

    /// Lets the user's hooks look at a call before it runs. Returns why the person is to be asked for them; an
    /// error is the answer of a call that one of them holds back.
    async fn held_by_hooks(&mut self, about: &Told<'_>, effect: Effect) -> Result<Option<Reason>, Refused> {
        let kept = self.keep_before_hooks(Event::PreToolUse, about, &Subject::Whole).await;
        let said = self.hooks.before_call((about, effect), self.session, self.frontend, self.cancel).await;
        if kept {
            self.undo.look_after(self.frontend, self.cancel).await;
        }
        said.tell_failed(self.redact, self.frontend);
        match said.held {
            Some(Held::Deny(why)) => {
                Err(refused(denied(format!("Not run: a hook of the user's holds it back and says: {why}"))))
            }
            Some(Held::Ask(words)) => Ok(Some(Reason::Hook { words })),
            Some(Held::Mistake(words)) => Ok(Some(Reason::HookMistake { words })),
            None => Ok(None),
        }
    }

    /// Tells the user's hooks what a call brought, and puts what they say behind its output.
    async fn tell_hooks(&mut self, about: &Told<'_>, changed: &Subject, output: &mut ToolOutput) {
        let kept = self.keep_before_hooks(Event::PostToolUse, about, changed).await;
        let said = self.hooks.after_call(about, output, self.session, self.frontend, self.cancel).await;
        if kept {
            self.undo.look_after(self.frontend, self.cancel).await;
        }
        said.tell_failed(self.redact, self.frontend);
        let why = said.held.into_iter().map(|held| match held {
            Held::Ask(why) | Held::Mistake(why) | Held::Deny(why) => why,
        });
        for words in why.chain(said.told) {
            output.content.extend(["\n\n[A hook of the user's says: ", &words, "]"]);
        }
    }

    /// Keeps a copy of what the hooks of an event are about to change.
    async fn keep_before_hooks(&mut self, event: Event, about: &Told<'_>, changed: &Subject) -> bool {
        let lines = self.hooks.lines(event, Some(about));
        self.undo.keep_before_hooks(&lines, changed, self.redact, self.frontend, self.cancel).await
    }

    /// Has the call judged, and copies what it is about to change into the journal. An error is the call's answer.
    async fn agreed(&mut self, mut proposed: Proposed<'_>) -> Result<Granted, Refused> {
        let (undo, frontend, cancel) = (&mut *self.undo, &mut *self.frontend, self.cancel);
        if let Some(trials) = &mut undo.trials {
            trials.before(proposed.effect, proposed.assessment.line.as_deref(), frontend);
        }
        let mut granted = self.consent.judge(&proposed, undo, frontend, cancel).await?;
        let call = proposed.call;
        if granted.tried {
            match self.runner.begin_trial(undo, &granted.reach) {
                Ok(trial) => {
                    // What of it is applied is kept then.
                    granted.trial = Some(trial);
                    return Ok(granted);
                }
                Err(refused) => {
                    frontend.show(&AgentEvent::Notice { notice: Notice::NoTrial { cause: refused.to_string() } });
                    undo.refuse_trials();
                    granted = self.consent.judge(&proposed, undo, frontend, cancel).await?;
                }
            }
        }
        match undo.keep_before(&proposed.changes(&granted.reach), self.redact, frontend, cancel).await {
            Keeping::Kept => {}
            Keeping::Stopped => return Err(interrupted(call)),
            Keeping::Lacking { files, told } => {
                if granted.assumed {
                    // `-y` must not agree to a change that cannot be taken back.
                    proposed.unkept = Some(files);
                    granted = self.consent.judge(&proposed, undo, frontend, cancel).await?;
                }
                if !granted.warned {
                    frontend.show(&AgentEvent::Notice { notice: told });
                }
            }
        }
        Ok(granted)
    }

    /// Shows a call that will not be run any more, so that the person sees what it was about.
    fn tell_requested(&mut self, call: &ToolCall, request: &Arc<dyn Request>) {
        let (effect, subject, about) = (request.effect(), request.subject(), request.about());
        self.frontend.show(&AgentEvent::ToolRequested { call: call.clone(), effect, subject, about });
    }
}

/// Says what became of the changes of a call that was stopped in its trial.
fn dropped(trial: &Trial, output: &mut ToolOutput, frontend: &mut dyn Frontend) {
    let lost = trial.changes().map_or(0, |set| set.changes.len() as u64);
    if lost == 0 {
        return;
    }
    frontend
        .show(&AgentEvent::Notice { notice: Notice::Reviewed { applied: 0, dropped: lost, refused: Vec::new() } });
    output.content.push_str("\n\n[It ran in a trial and was stopped: nothing of what it changed was applied.]");
}

/// What came of settling a call.
struct Settlement<'a> {
    /// The call that runs.
    call: Cow<'a, ToolCall>,
    request: Arc<dyn Request>,
    /// Goes behind its result.
    note: Option<String>,
    /// The result itself, if nothing has to run.
    output: Option<ToolOutput>,
}

fn settled(call: &ToolCall, request: Arc<dyn Request>, settled: Settled) -> Settlement<'_> {
    match settled {
        Settled::AsIs => Settlement { call: Cow::Borrowed(call), request, note: None, output: None },
        Settled::Instead { request, input, note } => {
            let note = Some(note).filter(|note| !note.is_empty());
            let call = Cow::Owned(ToolCall { input, ..call.clone() });
            Settlement { call, request, note, output: None }
        }
        Settled::Answer(output) => {
            Settlement { call: Cow::Borrowed(call), request, note: None, output: Some(*output) }
        }
    }
}
