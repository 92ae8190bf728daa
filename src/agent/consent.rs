//! Decides whether a call may run and how far it reaches: by the policy, by what is on the disk, and by asking the
//! person where those do not decide.

use std::path::Path;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::call_trials::{First, after_trial, tryable};
use super::careful::is_careful;
use super::derived::Made;
use super::results::{
    CHANGED_MEANWHILE, CallEnd, CallsEnd, NOBODY_ASKED, NOT_ASKED, ONLY_READS, RULE_DENIES, Refused, closed,
    denied, interrupted, refused,
};
use super::undo::{Changes, Undo};
use super::{AgentEvent, Approval, ApprovalRequest, Frontend, Notice, Widened, extent, reach};
use crate::approval::command::{Judged, LineJudgement};
use crate::approval::{
    Assessment, Decision, Mode, NeverAuto, Policy, Reason, Source, Surroundings, Verdict, always_rule, line_rule,
};
use crate::conversation::{COMMANDS, Effect, Outcome, Preview, Subject, ToolCall};
use crate::sandbox::{Missing, Reach, Sandbox, SandboxState};
use crate::tool::{Access, Before, Request, Roots, Tool, ToolMemory, ToolOutput};
use crate::trial::Trial;

/// Decides about calls.
pub(super) struct Consent {
    pub(super) policy: Policy,
    /// Where a shell line would run.
    surroundings: Arc<Surroundings>,
    roots: Roots,
    sandbox: Sandbox,
    /// Whether the person was told that nothing is confined here.
    told_no_sandbox: bool,
    /// Whether there is somebody to ask.
    asks: bool,
}

/// A call that is to be judged.
pub(super) struct Proposed<'a> {
    pub(super) call: &'a ToolCall,
    pub(super) tool: &'a Arc<dyn Tool>,
    pub(super) request: &'a Arc<dyn Request>,
    pub(super) effect: Effect,
    pub(super) subject: &'a Subject,
    /// The call, judged.
    pub(super) assessment: &'a Assessment,
    pub(super) memory: &'a Arc<ToolMemory>,
    /// The directory in which complete outputs are saved.
    pub(super) output_dir: &'a Path,
    /// Whether the disk answered when the call's paths were followed.
    pub(super) answered: bool,
    /// The call's number within its message, from 1, and how many calls the message has.
    pub(super) number: (usize, usize),
    /// How many of the files it changes are known to have no copy; 0 where the number is not known.
    pub(super) unkept: Option<u64>,
    /// Why the person is to be asked for the hooks.
    pub(super) questioned: Option<&'a Reason>,
}

impl<'a> Proposed<'a> {
    /// Returns what the call would change if it reached as far as `reach`.
    pub(super) fn changes(&self, reach: &'a Reach) -> Changes<'a> {
        Changes {
            effect: self.effect,
            subject: self.subject,
            line: self.assessment.line.as_ref(),
            reach,
            beside: &Subject::Whole,
        }
    }
}

/// The permission a call got.
pub(super) struct Granted {
    pub(super) reach: Reach,
    /// Whether only `-y` agreed: neither a person nor a rule did.
    pub(super) assumed: bool,
    /// Whether the person was told that the change cannot be taken back in full.
    pub(super) warned: bool,
    /// Whether it runs in a trial first.
    pub(super) tried: bool,
    /// That trial, once it is made.
    pub(super) trial: Option<Trial>,
}

/// How far a call wants to reach.
struct Wants {
    reach: Reach,
    /// Whether the person must be asked because of this reach, whatever the rules say.
    ask: bool,
    widened: Option<Widened>,
}

/// What the person is asked about a call.
struct Asked {
    request: ApprovalRequest,
    /// Whether no rule and no `-y` may answer for the person.
    never_auto: bool,
    /// Whether the person is told that the change cannot be taken back in full.
    cannot_undo: bool,
}

impl Consent {
    pub(super) const fn new(
        policy: Policy,
        surroundings: Arc<Surroundings>,
        roots: Roots,
        sandbox: Sandbox,
    ) -> Self {
        Self { policy, surroundings, roots, sandbox, told_no_sandbox: false, asks: true }
    }

    /// Makes the policy of a sub-agent: it only reads, and neither tells nor asks the person anything.
    pub(super) fn exploring(&self) -> Self {
        let mut policy = self.policy.clone();
        policy.set_mode(Mode::Explore);
        let (roots, sandbox) = (self.roots.clone(), self.sandbox.clone());
        let surroundings = Arc::clone(&self.surroundings);
        Self { policy, surroundings, roots, sandbox, told_no_sandbox: true, asks: false }
    }

    /// Tells whether the policy lets a tool that only reads run without a question.
    pub(super) fn allows_reading(&self, tool: &str) -> bool {
        let assessment = self.policy.decide(tool, Effect::Read, &Subject::Whole, &self.surroundings);
        assessment.verdict.decision == Decision::Allow
    }

    /// Tells whether the policy forbids a tool whatever it is asked for.
    pub(super) fn forbids(&self, tool: &str, effect: Effect) -> bool {
        let assessment = self.policy.decide(tool, effect, &Subject::Whole, &self.surroundings);
        assessment.verdict.decision == Decision::Deny
    }

    /// Counts what a shell line would affect; `None` if it names nothing to change.
    pub(super) async fn survey(
        &self,
        line: &Arc<LineJudgement>,
        cancel: &CancellationToken,
    ) -> Option<crate::approval::BlastRadius> {
        reach::survey(line, &self.surroundings, cancel).await
    }

    pub(super) fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    /// Tells whether the policy lets a line run without a question.
    pub(super) fn runs_unasked(&self, line: &Arc<LineJudgement>) -> bool {
        let assessment = self.policy.decide_line(COMMANDS, Arc::clone(line), &self.surroundings);
        assessment.verdict.decision == Decision::Allow
    }

    /// Judges a call once; everyone who needs to know what it would do uses this judgement. `None` if the turn is stopped.
    ///
    /// # Cancel safety
    /// As [`reach::assess`].
    pub(super) async fn assess(
        &self,
        call: &ToolCall,
        effect: Effect,
        subject: &Subject,
        cancel: &CancellationToken,
    ) -> Option<Assessment> {
        reach::assess(&self.policy, (&call.name, effect, subject), &self.surroundings, cancel).await
    }

    /// Looks at what an agreed line may make of a secret file; `None` where it names none, or can write nothing.
    pub(super) async fn makes(
        &self,
        agreed: &Assessment,
        reach: &Reach,
        cancel: &CancellationToken,
    ) -> Option<Made> {
        let line = agreed.line.as_ref().filter(|_| *reach != Reach::ReadOnly)?;
        reach::makes(line, &self.surroundings, cancel).await
    }

    /// Decides whether the call may run and how far it reaches, asking if need be; an error is its answer.
    ///
    /// # Cancel safety
    /// Dropping it leaves at most a thread that ends by itself and changes nothing.
    pub(super) async fn judge(
        &mut self,
        proposed: &Proposed<'_>,
        undo: &Undo,
        frontend: &mut dyn Frontend,
        cancel: &CancellationToken,
    ) -> Result<Granted, Refused> {
        let Proposed { request, effect, subject, assessment, .. } = *proposed;
        let mut verdict = self.verdict(proposed, cancel).await;
        let outlives = request.outlives();
        let wants = self.wants(request.access(), effect, assessment.line.as_deref(), &verdict);
        let is_unasked =
            verdict.decision == Decision::Allow && !wants.ask && (!outlives || self.policy.assumes_yes());
        let is_tryable = || tryable(request.as_ref(), subject, &wants.reach, undo.session()).is_some();
        let first = if is_unasked { undo.first(assessment.line.as_deref(), &is_tryable) } else { First::No };
        if first == First::Ask {
            verdict.reasons.push(Reason::Untried);
        }
        match verdict.decision {
            Decision::Allow if is_unasked && first != First::Ask => {
                self.tell_no_sandbox(&wants.reach, subject, frontend);
                let assumed = verdict.reasons.contains(&Reason::AssumedYes);
                Ok(Granted {
                    reach: wants.reach,
                    assumed,
                    warned: false,
                    tried: first == First::Trial,
                    trial: None,
                })
            }
            Decision::Deny => {
                let by_mode = verdict.reasons.iter().any(|reason| matches!(reason, Reason::ModeOnlyReads { .. }));
                let words = if by_mode { ONLY_READS } else { RULE_DENIES };
                Err(refused(denied(words)))
            }
            Decision::Allow | Decision::Ask
                if !outlives
                    && wants.widened.is_none()
                    && let Some(reach) = self.held(proposed, undo, &verdict, &wants) =>
            {
                Ok(Granted { reach, assumed: false, warned: false, tried: false, trial: None })
            }
            Decision::Allow | Decision::Ask if !self.asks => Err(refused(denied(NOT_ASKED))),
            Decision::Allow | Decision::Ask => {
                let asked = self.prepare(proposed, verdict, &wants, undo, frontend.can_lend(), cancel).await?;
                let approval = frontend.approve(&asked.request);
                self.settle(approval, proposed, &asked, cancel)?;
                let told = proposed.assessment.line.as_ref().zip(asked.request.reach.as_ref());
                if !reach::is_as_told(told, &self.surroundings, cancel).await {
                    return Err(refused(ToolOutput::failed(CHANGED_MEANWHILE)));
                }
                Ok(Granted {
                    reach: wants.reach,
                    assumed: false,
                    warned: asked.cannot_undo,
                    tried: false,
                    trial: None,
                })
            }
        }
    }

    /// Returns how far a call reaches that the turn's trial holds.
    fn held(&self, proposed: &Proposed<'_>, undo: &Undo, verdict: &Verdict, wants: &Wants) -> Option<Reach> {
        let Proposed { effect, subject, assessment, .. } = *proposed;
        let confined = matches!(self.sandbox.state(), SandboxState::On(support) if support.holds_workspace());
        let line = assessment.line.as_deref();
        undo.trials.as_ref()?.held((effect, subject), line, verdict, &wants.reach, confined)
    }

    /// Returns the policy's verdict on a call, made stricter where the disk, a hook or the journal gives a reason.
    async fn verdict(&self, proposed: &Proposed<'_>, cancel: &CancellationToken) -> Verdict {
        let Proposed { subject, assessment, answered, unkept, questioned, .. } = *proposed;
        let surroundings = &self.surroundings;
        let mut verdict = assessment.verdict.clone();
        if let (Decision::Allow, Some(line)) = (verdict.decision, &assessment.line)
            && let Some(why) = reach::forbidden(line, surroundings, cancel).await
        {
            forbid(&mut verdict, why);
        }
        if let (Decision::Allow, Some(line)) = (verdict.decision, &assessment.line)
            && verdict.by_narrow_rule()
            && !self.policy.assumes_yes()
            && let Some(path) = reach::strays(line, surroundings, cancel).await
        {
            verdict.decision = Decision::Ask;
            verdict.reasons.push(Reason::OutsideWorkspace { path });
        }
        if let (Decision::Allow | Decision::Ask, Subject::Paths { paths }) = (verdict.decision, subject)
            && !verdict.by_narrow_rule()
            && !self.policy.assumes_yes()
            && let Some(path) = reach::second_name(paths, surroundings, cancel).await
        {
            verdict.decision = Decision::Ask;
            verdict.reasons.push(Reason::Credential { what: path.to_string_lossy().into_owned() });
        }
        if !answered {
            verdict.decision = verdict.decision.max(Decision::Ask);
            verdict.never_auto = true;
            verdict.reasons.push(Reason::Unanswered);
        }
        if let Some(reason) = questioned {
            verdict.decision = verdict.decision.max(Decision::Ask);
            verdict.never_auto = true;
            verdict.reasons.push(reason.clone());
        }
        if unkept.is_some() {
            verdict.decision = verdict.decision.max(Decision::Ask);
        }
        verdict
    }

    /// Tells whether the model may learn unasked what is in the files that a call is about.
    fn may_read(&self, proposed: &Proposed<'_>, verdict: &Verdict) -> bool {
        let Proposed { call, subject, assessment, .. } = *proposed;
        let reading = match assessment.line {
            // What a line does counts, whatever its tool declares: that is known.
            Some(_) => assessment.verdict.decision,
            None => self.policy.decide(&call.name, Effect::Read, subject, &self.surroundings).verdict.decision,
        };
        let secret = verdict.reasons.iter().any(|reason| matches!(reason, Reason::Credential { .. }));
        reading == Decision::Allow && !secret
    }

    /// Collects what the person is shown before they answer: the tool's check, what would be affected, what could
    /// not be taken back. An error is the call's answer: nobody is asked about a call that cannot run, unless that
    /// answer may tell what is in a file that is not read unasked.
    async fn prepare(
        &self,
        proposed: &Proposed<'_>,
        mut verdict: Verdict,
        wants: &Wants,
        undo: &Undo,
        can_lend: bool,
        cancel: &CancellationToken,
    ) -> Result<Asked, Refused> {
        let Proposed { call, tool, request, effect, subject, assessment, number, unkept, .. } = *proposed;
        let surroundings = &self.surroundings;
        let changes = proposed.changes(&wants.reach);
        let (preview, reach, unkept) = tokio::join!(
            self.check(proposed, can_lend, cancel),
            async {
                match &assessment.line {
                    Some(line) => reach::survey(line, surroundings, cancel).await,
                    None => None,
                }
            },
            async {
                match unkept {
                    Some(files) => Some(files),
                    None => undo.foresee(&changes, cancel).await,
                }
            },
        );
        let preview = match preview {
            Ok(preview) => preview,
            Err(text) if self.may_read(proposed, &verdict) => return Err(refused(ToolOutput::failed(text))),
            Err(_) => Preview::named(subject),
        };
        if let Some(why) = reach.as_ref().and_then(|reach| reach.never_auto.clone()) {
            forbid(&mut verdict, why);
        }
        verdict.reasons.extend(unkept.map(|files| Reason::CannotUndo { files }));
        if cancel.is_cancelled() {
            return Err(interrupted(call));
        }
        // A reach beyond the usual is agreed to for this call only: no rule is offered.
        let never_auto = verdict.never_auto || wants.ask && wants.reach == Reach::Full;
        let outlives = request.outlives();
        let offers = !never_auto && wants.widened.is_none() && !outlives;
        let careful = wants.reach == Reach::Full
            || tool.is_said_to_harm()
            || is_careful(effect, &verdict, assessment.line.as_deref(), reach.as_ref());
        let request = ApprovalRequest {
            always_rule: if offers {
                always_rule(&call.name, effect, subject, assessment, surroundings)
            } else {
                None
            },
            call: call.clone(),
            effect,
            subject: subject.clone(),
            preview,
            reasons: verdict.reasons,
            reach,
            session_rule: line_rule(assessment, surroundings).map(|rule| rule.to_string()),
            widened: wants.widened,
            outlives,
            careful,
            number,
            trial: tryable(request.as_ref(), subject, &wants.reach, undo.session()),
        };
        Ok(Asked { request, never_auto, cannot_undo: unkept.is_some() })
    }

    /// Does what the person's answer says; an error is the answer of a call that may not run.
    fn settle(
        &mut self,
        approval: Approval,
        proposed: &Proposed<'_>,
        asked: &Asked,
        cancel: &CancellationToken,
    ) -> Result<(), Refused> {
        let Proposed { call, effect, subject, assessment, .. } = *proposed;
        match approval {
            Approval::Once => Ok(()),
            Approval::ForSession => {
                self.policy.grant_for_session(&call.name, effect, subject, assessment, &self.surroundings);
                Ok(())
            }
            Approval::Always(rule) => {
                // The policy refuses only a project's rules, and this one is the user's.
                drop(self.policy.add_rule(Decision::Allow, rule, Source::User));
                Ok(())
            }
            Approval::Deny(feedback) => {
                let output = match feedback.trim() {
                    "" => closed(call, Outcome::Denied),
                    feedback => denied(format!("The user denied this call and said: {feedback}")),
                };
                Err(Box::new((output, CallEnd::BatchDenied)))
            }
            Approval::Tried(tried) => Err(Box::new((after_trial(&tried), CallEnd::Answered))),
            Approval::Abort => {
                cancel.cancel();
                Err(interrupted(call))
            }
            // A front end without trials offers none.
            Approval::Unavailable | Approval::Try | Approval::Explain => {
                let (name, subject) = (call.name.clone(), subject.clone());
                let unkept = asked.cannot_undo && self.policy.assumes_yes();
                let end = CallsEnd::ApprovalNeeded { name, subject, never_auto: asked.never_auto, unkept };
                Err(Box::new((denied(NOBODY_ASKED), CallEnd::Stop(end))))
            }
        }
    }

    /// Has the tool check a call on a thread of its own: a file system that does not answer must not hold up the
    /// turn. Then the preview shows only what the call names.
    async fn check(
        &self,
        proposed: &Proposed<'_>,
        can_lend: bool,
        cancel: &CancellationToken,
    ) -> Result<Preview, String> {
        let (request, roots) = (Arc::clone(proposed.request), self.roots.clone());
        let (memory, output_dir) = (Arc::clone(proposed.memory), proposed.output_dir.to_owned());
        let checked = reach::aside(cancel, move || {
            let before = Before { roots: &roots, memory: &memory, output_dir: &output_dir, can_lend };
            request.check(&before)
        });
        checked.await.unwrap_or_else(|| Ok(Preview::named(proposed.subject)))
    }

    /// Determines how far a call wants to reach, and whether the person must be asked because of that.
    fn wants(&self, access: Access, effect: Effect, line: Option<&LineJudgement>, verdict: &Verdict) -> Wants {
        let yes = self.policy.assumes_yes();
        let (usual, runs_program) = match line {
            Some(line) => {
                let runs_program = line.parts.iter().any(|part| part.runs_program);
                (extent::of_line(line, extent::consent(verdict)), runs_program)
            }
            None => (extent::of_effect(effect), false),
        };
        if !matches!(self.sandbox.state(), SandboxState::On(_)) {
            // Nothing is confined here, so nothing can be widened. But a program that seems to only read runs
            // without a sandbox here, and could load a module of the workspace that has the name of one it expects:
            // ask for it.
            // Where no sandbox is known, paths have more names than a judgement of the line knows: ask for each.
            let ruled = verdict.reasons.iter().any(|reason| matches!(reason, Reason::MatchedRule { .. }));
            let unknown = matches!(self.sandbox.state(), SandboxState::Unsupported(Missing::System));
            let asks = runs_program || unknown && line.is_some();
            return Wants { reach: usual, ask: asks && !ruled && !yes, widened: None };
        }
        let widened = match access {
            _ if usual == Reach::Full => {
                let becomes_user = line.is_some_and(|line| line.parts.iter().any(Judged::becomes_user));
                Some(if becomes_user { Widened::ChangesUser } else { Widened::ChangesMachine })
            }
            Access::Full => Some(Widened::Full),
            Access::Workspace if extent::is_more(&usual, access) => Some(Widened::Workspace),
            Access::Workspace | Access::Usual => None,
        };
        let ask = match widened {
            // The judgement of the line has already asked about changes of the machine.
            None | Some(Widened::ChangesMachine) => false,
            Some(Widened::ChangesUser) => !crate::platform::process::geteuid().is_root(),
            Some(Widened::Workspace) => !yes,
            Some(Widened::Full) => true,
        };
        Wants { reach: extent::extended(usual, access), ask, widened }
    }

    /// Tells the person once that commands that run without a question are not confined on this system.
    fn tell_no_sandbox(&mut self, reach: &Reach, subject: &Subject, frontend: &mut dyn Frontend) {
        let SandboxState::Unsupported(missing) = self.sandbox.state() else { return };
        let starts_child = matches!(subject, Subject::Command { .. });
        if starts_child && *reach == Reach::ReadOnly && !self.told_no_sandbox {
            self.told_no_sandbox = true;
            frontend.show(&AgentEvent::Notice { notice: Notice::NoSandbox { missing } });
        }
    }
}

/// Turns a yes into a question: only a person who has just read the line may agree to it.
fn forbid(verdict: &mut Verdict, why: NeverAuto) {
    verdict.decision = verdict.decision.max(Decision::Ask);
    if !verdict.never_auto {
        verdict.never_auto = true;
        verdict.reasons.push(Reason::NeverAuto { why });
    }
}

#[cfg(test)]
#[path = "consent_tests.rs"]
mod tests;
