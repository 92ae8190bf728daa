//! The results that axi itself gives to calls, and how the calls of one message end.

use std::time::Duration;

use super::{AgentEvent, Frontend};
use crate::conversation::{Outcome, Subject, ToolCall, ToolResult};
use crate::tool::{ToolFacts, ToolOutput};

/// Replaces the result of a call that repeats earlier ones; a notice tells the person.
pub const REPEATS: &str = "Not run: this repeats calls you already made, with the same results. Use what you know, \
                           try something else, or answer the user.";

/// Replaces the result of a sub-agent that was asked the same before.
pub(super) const ASKED_BEFORE: &str = "Not run: you asked exactly this before. Use what you know.";

/// Replaces the result of a call whose path leads elsewhere than it did when the call was judged.
pub(super) const LED_ELSEWHERE: &str = "Not run: while it was judged, something changed where this path leads (a \
                                        directory or a link in it was replaced). Look again before you repeat the call.";

/// Replaces the result of a line that would affect something else than the person was told.
pub(super) const CHANGED_MEANWHILE: &str = "Not run: while the question stood, what this command would affect changed. \
                                            Look again before you repeat the call.";

/// Replaces the result of a call that would do more than read.
pub(super) const ONLY_READS: &str = "Denied: you can only read now. Do not try again; go on by reading, or answer.";

/// Replaces the result of a call that a rule denies.
pub(super) const RULE_DENIES: &str = "A rule of the user's settings denies this call. Do not repeat it.";

/// Replaces the result of a call that needs an approval when there is nobody to ask.
pub(super) const NOBODY_ASKED: &str = "This call needs the user's approval and nobody can be asked in this mode.";

/// Replaces the result of a sub-agent's call that would need an approval: a sub-agent asks nobody.
pub(super) const NOT_ASKED: &str = "Not run: it needs the user's approval. Nobody is asked here, so only what needs no \
                                    approval can run.";

/// Why the calls after one that ended the batch are not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotReached {
    /// The person stopped the turn.
    Interrupted,
    /// The person denied an earlier one.
    Denied,
    /// An earlier call needs an approval that nobody can give.
    NobodyAsked,
    /// The result of an earlier call is the turn's final answer.
    Concluded,
    /// The guard ends the turn.
    Looping,
}

/// Makes the output of a call that was not reached.
pub(super) fn not_reached(call: &ToolCall, why: NotReached) -> ToolOutput {
    match why {
        NotReached::Interrupted => closed(call, Outcome::Interrupted),
        NotReached::Denied => denied("Not run: the user denied an earlier call of the same message."),
        NotReached::NobodyAsked => ToolOutput::failed(
            "Not run: an earlier call of the same message needs the user's approval and nobody can be asked.",
        ),
        NotReached::Concluded => ToolOutput::failed("Not run: the call before it ended the turn."),
        NotReached::Looping => ToolOutput::failed("Not run: the turn ends, because the calls before it repeat."),
    }
}

/// How the calls of a message ended.
pub(super) enum CallsEnd {
    Continue,
    /// A call succeeded whose result is the turn's final answer.
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

/// How one call ended.
pub(super) enum CallEnd {
    Answered,
    BatchDenied,
    Stop(CallsEnd),
}

/// The answer of a call that does not run, and how the calls after it end.
pub(super) type Refused = Box<(ToolOutput, CallEnd)>;

/// Makes the answer of a call that does not run, after which the other calls of the message go on.
pub(super) fn refused(output: ToolOutput) -> Refused {
    Box::new((output, CallEnd::Answered))
}

/// Makes the answer of a call during which the person stopped the turn.
pub(super) fn interrupted(call: &ToolCall) -> Refused {
    Box::new((closed(call, Outcome::Interrupted), CallEnd::Stop(CallsEnd::Interrupted)))
}

/// Makes the output of a call that did not run.
pub(super) fn closed(call: &ToolCall, outcome: Outcome) -> ToolOutput {
    let ToolResult { content, .. } = ToolResult::closed(call, outcome);
    ToolOutput { content, outcome, facts: ToolFacts::default(), images: Vec::new(), change: None }
}

/// Makes the output of a denied call; `words` tell the model why.
pub(super) fn denied(words: impl Into<String>) -> ToolOutput {
    ToolOutput { outcome: Outcome::Denied, ..ToolOutput::failed(words) }
}

/// Says that the arguments of a call could not be read.
pub(super) fn invalid_arguments(raw: &str) -> ToolOutput {
    if raw.trim().is_empty() {
        return ToolOutput::failed("Not run: the arguments were cut off by the output limit. Use a smaller call.");
    }
    let start: String = raw.chars().take(200).collect();
    ToolOutput::failed(format!(
        "Not run: the arguments are not one complete JSON object (they may have been cut off by the output \
         limit; then make a smaller call). They began: {start}"
    ))
}

/// Says that there is no such tool, and which tools there are.
pub(super) fn no_such_tool(name: &str, known: &[String]) -> ToolOutput {
    ToolOutput::failed(format!("There is no tool named {name:?}. The tools are: {}.", known.join(", ")))
}

/// Shows that a call is finished, and makes the result that the model reads.
pub(super) fn answer(
    call: &ToolCall,
    output: ToolOutput,
    spent: Duration,
    frontend: &mut dyn Frontend,
) -> ToolResult {
    let ToolOutput { content, outcome, facts, images, change } = output;
    let duration_ms = u64::try_from(spent.as_millis()).unwrap_or(u64::MAX);
    frontend.show(&AgentEvent::ToolFinished {
        call_id: call.id.clone(),
        name: call.name.clone(),
        outcome,
        content: content.clone(),
        facts: facts.clone(),
        duration_ms,
        change,
    });
    ToolResult { call_id: call.id.clone(), name: call.name.clone(), content, outcome, images, facts, duration_ms }
}
