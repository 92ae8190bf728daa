//! Replays a session without a model: which of its calls run again, running them, and comparing what they bring.

mod same_text;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::results::{NOBODY_ASKED, NOT_ASKED, ONLY_READS, RULE_DENIES};
use crate::approval::command::{LineJudgement, judge};
use crate::approval::{Class, Surroundings};
use crate::conversation::{Conversation, Outcome, Role, Subject, ToolCall, ToolResult, ToolVerb};
use crate::platform::RealPath as _;
use crate::sandbox::{Reach, Sandbox};
use crate::secret::placeholders;
use crate::session::Redactor;
use crate::tool::{Person, ReadCall, Request, Roots, Settled, ToolContext, ToolMemory, ToolOutput, Toolbox};
use same_text::{moved, same, same_lines};

pub use same_text::Likeness;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
        ToolVerb::Run => (request.is_beside() || result.facts.timed_out_after.is_some()).then_some(Unrun::Unended),
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

/// Runs calls, one after the other, for real: the caller sees to it that nothing of it stays. A line is judged when its
/// turn comes, once; what reaches the network does not run.
///
/// # Cancel safety
/// As [`crate::tool::Request::run`].
pub async fn run_again(
    calls: Vec<ToolCall>,
    grounds: &ReplaySetting<'_>,
    (surroundings, sandbox): (&Surroundings, &Sandbox),
    output_dir: &Path,
    redactor: &Redactor,
) -> Vec<Result<RanAgain, Unrun>> {
    let judged = |request: &dyn Request| match request.subject() {
        Subject::Command { line } => Some(judge(&line, surroundings)),
        Subject::Paths { .. } | Subject::Host { .. } | Subject::Whole => None,
    };
    let memory = ToolMemory::default();
    let cancel = CancellationToken::new();
    let redact = |text: &str| redactor.text(text);
    let mut all = Vec::new();
    for mut call in calls {
        let ReadCall::Read { mut request, .. } = grounds.tools.read(&call, grounds.roots) else { continue };
        let mut line = judged(&*request);
        if line.iter().flat_map(|line| &line.parts).any(|part| part.class == Class::Network) {
            all.push(Err(Unrun::Network));
            continue;
        }
        let mut note = String::new();
        let settled = match request.settle(grounds.roots, &memory) {
            Settled::AsIs => None,
            Settled::Instead { request: other, input, note: said } => {
                (request, call.input, note) = (other, input, said);
                line = judged(&*request);
                None
            }
            Settled::Answer(output) => Some(*output),
        };
        let reach = reach_of(line.as_ref());
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
        all.push(Ok(RanAgain { content, outcome, exit: facts.exit_code, full: facts.full_output }));
    }
    memory.end_all();
    all
}

/// How far a call reaches: never to the network, and what only reads is held to that, as in a conversation.
fn reach_of(line: Option<&LineJudgement>) -> Reach {
    let only_reads = line.is_some_and(|line| {
        line.unparsed.is_empty() && line.parts.iter().all(|part| part.class == Class::ReadOnly)
    });
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::future::{BoxFuture, ready};
    use serde_json::json;

    use super::*;
    use crate::approval::command::watched;
    use crate::conversation::{ContentBlock, Effect, Message, Preview, ToolFacts, ToolIdentity, ToolSpec};
    use crate::tool::{Before, Tool};

    /// Takes a line as the shell's tool does, and runs nothing.
    struct Lines;

    struct Line(String);

    impl Tool for Lines {
        fn spec(&self) -> ToolSpec {
            let identity = ToolIdentity { verb: ToolVerb::Run, ..ToolIdentity::default() };
            ToolSpec { name: "lines".into(), identity, ..ToolSpec::default() }
        }
        fn read(&self, input: &Value, _: &Roots) -> Arc<dyn Request> {
            Arc::new(Line(input["command"].as_str().unwrap().to_owned()))
        }
    }

    impl Request for Line {
        fn effect(&self) -> Effect {
            Effect::Execute
        }
        fn subject(&self) -> Subject {
            Subject::Command { line: self.0.clone() }
        }
        fn check(&self, _: &Before<'_>) -> Result<Preview, String> {
            Err(String::new())
        }
        fn run(self: Arc<Self>, context: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
            let reach = format!("{:?}", context.reach);
            Box::pin(ready(ToolOutput::ok(reach, ToolFacts::default())))
        }
    }

    fn call(id: &str, line: &str) -> ToolCall {
        ToolCall {
            id: id.into(),
            name: "lines".into(),
            input: json!({ "command": line }),
            invalid_input: None,
            extra: serde_json::Map::default(),
            model: String::new(),
            arguments: String::new(),
        }
    }

    #[test]
    fn a_replayed_line_is_judged_once() {
        let lines = ["ls", "touch a", "curl https://example.org"];
        // Tests beside this one judge lines of their own.
        let lines = lines.map(|line| format!("{line} # {:?}", std::thread::current().id()));
        let counts: Vec<_> = lines.iter().map(|line| watched::watch(line)).collect();
        let mut conversation = Conversation::new();
        conversation.push_user(Message::user("go"));
        let calls: Vec<ToolCall> = lines.iter().map(|line| call(line, line)).collect();
        let content = calls.iter().cloned().map(ContentBlock::ToolCall).collect();
        conversation.push_assistant(Message { role: Role::Assistant, content });
        let result = |call: &ToolCall| ToolResult {
            call_id: call.id.clone(),
            name: call.name.clone(),
            content: String::new(),
            outcome: Outcome::Ok,
            images: Vec::new(),
            facts: ToolFacts::default(),
            duration_ms: 0,
        };
        conversation.push_results(calls.iter().map(result).collect());
        let roots = Roots { cwd: "/w".into(), workspace: "/w".into(), home: None };
        let surroundings = Surroundings { cwd: "/w".into(), workspace: "/w".into(), ..Surroundings::default() };
        let tools = Toolbox::new(vec![Arc::new(Lines)]);
        let setting = ReplaySetting { then: Path::new("/w"), roots: &roots, tools: &tools, taken_back: &[] };
        let steps = steps(&conversation, &setting);
        assert_eq!(steps.iter().find_map(|step| step.unrun), None);
        let calls = steps.into_iter().map(|step| step.call).collect();
        let (sandbox, redactor) = (Sandbox::default(), Redactor::default());
        let ran = run_again(calls, &setting, (&surroundings, &sandbox), Path::new("/w"), &redactor);
        let ran = futures_util::future::FutureExt::now_or_never(ran).unwrap();
        let ran: Vec<_> = ran.into_iter().map(|ran| ran.map(|ran| ran.content)).collect();
        let writes = Reach::Workspace { network: false, also: Vec::new() };
        let expected = [Ok(format!("{:?}", Reach::ReadOnly)), Ok(format!("{writes:?}")), Err(Unrun::Network)];
        assert_eq!(ran, expected);
        assert_eq!(counts.iter().map(|count| *count.lock().unwrap()).collect::<Vec<_>>(), [1, 1, 1]);
    }
}
