//! Replays a session without a model: which of its calls run again, running them, and comparing what they bring.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::results::{NOBODY_ASKED, NOT_ASKED, ONLY_READS, RULE_DENIES};
use super::same_text::{moved, same, same_lines};
use crate::approval::command::judge;
use crate::approval::{Class, Surroundings};
use crate::conversation::{Conversation, Outcome, Role, Subject, ToolCall, ToolResult, ToolVerb};
use crate::platform::RealPath as _;
use crate::sandbox::{Reach, Sandbox};
use crate::secret::placeholders;
use crate::session::Redactor;
use crate::tool::{Person, ReadCall, Roots, Settled, ToolContext, ToolMemory, ToolOutput, Toolbox};

pub use super::same_text::Likeness;

/// A call of a session, and whether it runs again.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The call; what it says of the session's directory is said of this one.
    pub call: ToolCall,
    /// How many messages stood before its turn.
    pub turn: u64,
    /// What was recorded of it.
    pub recorded: ToolResult,
    /// What it was about.
    pub subject: Subject,
    /// Why it does not run again.
    pub unrun: Option<Unrun>,
}

/// Why a call does not run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unrun {
    /// It did not run, or did not end, in the session.
    NotThen,
    /// What its turn did was taken back.
    TakenBack,
    /// It was stopped, or went on in the background.
    Unended,
    /// Its tool is not here: a server's, a developer tool's, a sub-agent.
    NoTool,
    /// It reaches the network.
    Network,
    /// It is about files outside of the workspace.
    Outside,
    /// It holds a secret, which was not recorded.
    Secret,
    /// It had to do with a person, or with a terminal.
    Person,
}

/// What a call brought when it ran again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RanAgain {
    /// What the model would read.
    pub content: String,
    /// What became of it.
    pub outcome: Outcome,
    /// The exit code, if it had one.
    pub exit: Option<i32>,
    /// Where its whole output is, if `content` is not all of it.
    pub full: Option<PathBuf>,
}

/// How what a call brought compares with what was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// The outcome then and now, if they differ.
    pub outcome: Option<(Outcome, Outcome)>,
    /// The exit code then and now, if they differ.
    pub exit: Option<(Option<i32>, Option<i32>)>,
    /// How the outputs compare.
    pub output: Likeness,
}

impl Comparison {
    /// Tells whether everything is the same that is compared.
    #[must_use]
    pub const fn is_same(&self) -> bool {
        self.outcome.is_none() && self.exit.is_none() && !matches!(self.output, Likeness::Differs { .. })
    }
}

/// Where a session was held, and where it is replayed.
#[derive(Clone)]
pub struct ReplaySetting<'a> {
    /// The directory that was recorded.
    pub then: &'a Path,
    /// Where its calls run now.
    pub roots: &'a Roots,
    /// The tools.
    pub tools: &'a Toolbox,
    /// How lines are judged.
    pub surroundings: &'a Surroundings,
    /// The turns that were taken back: how many messages stood before each.
    pub taken_back: &'a [u64],
}

/// Lists the calls of a session that have a result, in order.
#[must_use]
pub fn steps(conversation: &Conversation, grounds: &ReplaySetting<'_>) -> Vec<Step> {
    let messages = conversation.messages();
    let (mut steps, mut gone, mut turn) = (Vec::new(), false, 0);
    for (index, message) in messages.iter().enumerate() {
        if message.role == Role::User && !message.has_results() {
            turn = index as u64;
            gone = grounds.taken_back.contains(&turn);
        }
        for call in message.calls() {
            let Some(result) = messages.get(index + 1).and_then(|next| next.result_of(&call.id)) else { continue };
            let mut call = call.clone();
            call.input = moved_input(&call.input, grounds);
            let (subject, unrun) = looked(&call, result, grounds);
            let unrun = if gone { Some(Unrun::TakenBack) } else { unrun };
            steps.push(Step { call, turn, recorded: result.clone(), subject, unrun });
        }
    }
    steps
}

fn moved_input(value: &Value, grounds: &ReplaySetting<'_>) -> Value {
    match value {
        Value::String(text) => Value::String(moved(text, grounds.then, &grounds.roots.cwd)),
        Value::Array(items) => items.iter().map(|item| moved_input(item, grounds)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| (name.clone(), moved_input(field, grounds))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Finds out what a call is about and why it does not run again.
fn looked(call: &ToolCall, result: &ToolResult, grounds: &ReplaySetting<'_>) -> (Subject, Option<Unrun>) {
    let request = match grounds.tools.read(call, grounds.roots) {
        ReadCall::Read { request, .. } => request,
        ReadCall::NoJson => return (Subject::Whole, Some(Unrun::NotThen)),
        ReadCall::NoTool => return (Subject::Whole, Some(Unrun::NoTool)),
    };
    let subject = request.subject();
    let refused = [NOBODY_ASKED, NOT_ASKED, ONLY_READS, RULE_DENIES];
    let ran = matches!(result.outcome, Outcome::Ok | Outcome::Failed)
        && !result.content.starts_with("Not run:")
        && !refused.iter().any(|words| result.content.starts_with(words));
    if !ran {
        return (subject, Some(Unrun::NotThen));
    }
    if !placeholders(&call.input.to_string()).is_empty() {
        return (subject, Some(Unrun::Secret));
    }
    let unrun = match grounds.tools.identity(&call.name).verb {
        ToolVerb::Ask | ToolVerb::Propose | ToolVerb::UseTerminal => Some(Unrun::Person),
        ToolVerb::Explore | ToolVerb::Call | ToolVerb::Plan => Some(Unrun::NoTool),
        ToolVerb::Fetch => Some(Unrun::Network),
        ToolVerb::LookAfterJobs => Some(Unrun::Unended),
        ToolVerb::Run => unrun_line(request.is_beside(), &subject, result, grounds),
        ToolVerb::Delete
        | ToolVerb::Edit
        | ToolVerb::FindFiles
        | ToolVerb::List
        | ToolVerb::MakeDirectory
        | ToolVerb::Move
        | ToolVerb::Patch
        | ToolVerb::Read
        | ToolVerb::Search
        | ToolVerb::Write => match &subject {
            Subject::Paths { paths } => {
                let is_inside = |path: &PathBuf| {
                    let real = path.ancestors().find_map(|ancestor| ancestor.real_path().ok());
                    path.starts_with(&grounds.roots.workspace)
                        && real.is_some_and(|real| real.starts_with(&grounds.roots.workspace))
                };
                (!paths.iter().all(is_inside)).then_some(Unrun::Outside)
            }
            Subject::Command { .. } | Subject::Host { .. } | Subject::Whole => None,
        },
    };
    (subject, unrun)
}

fn unrun_line(
    is_beside: bool,
    subject: &Subject,
    result: &ToolResult,
    grounds: &ReplaySetting<'_>,
) -> Option<Unrun> {
    let Subject::Command { line } = subject else { return None };
    if is_beside || result.facts.timed_out_after.is_some() {
        return Some(Unrun::Unended);
    }
    let judged = judge(line, grounds.surroundings);
    judged.parts.iter().any(|part| part.class == Class::Network).then_some(Unrun::Network)
}

/// Runs calls, one after the other, for real: the caller sees to it that nothing of it stays.
///
/// # Cancel safety
/// As [`crate::tool::Request::run`].
pub async fn run_again(
    calls: Vec<ToolCall>,
    grounds: &ReplaySetting<'_>,
    sandbox: &Sandbox,
    output_dir: &Path,
    redactor: &Redactor,
) -> Vec<RanAgain> {
    let memory = ToolMemory::default();
    let cancel = CancellationToken::new();
    let redact = |text: &str| redactor.text(text);
    let mut all = Vec::new();
    for mut call in calls {
        let ReadCall::Read { mut request, .. } = grounds.tools.read(&call, grounds.roots) else { continue };
        let mut note = String::new();
        let settled = match request.settle(grounds.roots, &memory) {
            Settled::AsIs => None,
            Settled::Instead { request: other, input, note: said } => {
                (request, call.input, note) = (other, input, said);
                None
            }
            Settled::Answer(output) => Some(*output),
        };
        let reach = reach_of(&request.subject(), grounds);
        let (progress, _) = mpsc::channel(1);
        let mut output = if let Some(output) = settled {
            output
        } else {
            let context = ToolContext {
                roots: grounds.roots,
                cancel: &cancel,
                progress,
                output_dir,
                memory: &memory,
                person: Person::nobody(),
                sandbox,
                reach: &reach,
                trash: None,
                trial: None,
                redact: &redact,
            };
            request.run(context).await
        };
        if !note.is_empty() {
            let apart = if output.content.ends_with('\n') { "" } else { "\n" };
            output.content.extend([apart, &note]);
        }
        let ToolOutput { content, outcome, facts, .. } = output;
        let content = redactor.text(&content);
        all.push(RanAgain { content, outcome, exit: facts.exit_code, full: facts.full_output });
    }
    memory.end_all();
    all
}

/// How far a call reaches: never to the network, and what only reads is held to that, as in a conversation.
fn reach_of(subject: &Subject, grounds: &ReplaySetting<'_>) -> Reach {
    let only_reads = match subject {
        Subject::Command { line } => {
            let judged = judge(line, grounds.surroundings);
            judged.unparsed.is_empty() && judged.parts.iter().all(|part| part.class == Class::ReadOnly)
        }
        Subject::Paths { .. } | Subject::Host { .. } | Subject::Whole => false,
    };
    if only_reads { Reach::ReadOnly } else { Reach::Workspace { network: false, also: Vec::new() } }
}

/// Compares what a call brought with what was recorded.
#[must_use]
pub fn compare(step: &Step, now: &RanAgain, grounds: &ReplaySetting<'_>) -> Comparison {
    let Step { recorded, .. } = step;
    let differ = recorded.outcome != now.outcome;
    let exit = (recorded.facts.exit_code != now.exit).then_some((recorded.facts.exit_code, now.exit));
    let then = moved(&recorded.content, grounds.then, &grounds.roots.cwd);
    let output = same((&then, recorded.facts.full_output.as_deref()), (&now.content, now.full.as_deref()));
    // They are listed by when they were changed, which is another time in each clone.
    let by_time = grounds.tools.identity(&step.call.name).verb == ToolVerb::FindFiles;
    let output = if by_time && same_lines(&then, &now.content) && output != Likeness::Same {
        Likeness::ButTimes
    } else {
        output
    };
    Comparison { outcome: differ.then_some((recorded.outcome, now.outcome)), exit, output }
}
