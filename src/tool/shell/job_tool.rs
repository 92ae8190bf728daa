//! The `shell_job` tool: looks after commands in the background.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::conversation::{Effect, Preview, ToolFacts, ToolIdentity, ToolSpec, ToolVerb};
use crate::platform::process::Signal;
use crate::secret::CUT;
use crate::tool::arguments::{Arguments, Field, plain};
use crate::tool::output::{self, LIMITS};
use crate::tool::{Before, Request, Roots, Tool, ToolContext, ToolOutput, Unread, work};

use super::detached_words;
use crate::tool::jobs::{DetachedJob, DetachedJobs};
use crate::tool::jobs::{Jobs, Report};

/// Seconds that can be waited at most.
const WAIT_LIMIT: u64 = 600;
/// From TERM to KILL.
const TERM_GRACE: Duration = Duration::from_secs(2);
/// How long KILL may take.
const KILL_GRACE: Duration = Duration::from_secs(1);

const FIELDS: &[Field] = &[
    Field { name: "action", aliases: &["operation"] },
    Field { name: "job", aliases: &["id", "job_id", "bash_id", "shell_id", "task_id"] },
    plain("wait"),
];

/// Lists, reads and ends background commands.
#[derive(Debug, Default)]
pub struct ShellJobTool;

enum Input {
    List,
    Read { job: u64, wait: Option<Duration> },
    Kill { job: u64 },
}

fn parse(input: &Value) -> Result<Input, String> {
    let arguments = Arguments::parse("shell_job", input, FIELDS)?;
    let job = || {
        arguments
            .number("job")?
            .ok_or_else(|| arguments.missing("job", "the number of a job; action list shows them"))
    };
    match arguments.filled_text("action")? {
        "list" => Ok(Input::List),
        "read" | "output" => {
            let wait = arguments.number("wait")?.filter(|wait| *wait > 0);
            Ok(Input::Read { job: job()?, wait: wait.map(|wait| Duration::from_secs(wait.min(WAIT_LIMIT))) })
        }
        "kill" | "stop" => Ok(Input::Kill { job: job()? }),
        other => Err(format!("shell_job: argument `action` must be list, read or kill, got {other:?}")),
    }
}

/// Says what a job printed since the last look, and whether it still runs.
pub(crate) fn news(jobs: &Jobs, number: u64) -> Option<ToolOutput> {
    let (bytes, left_out) = jobs.read(number)?;
    let report = jobs.report(number)?;
    let mut content = String::new();
    let file = report.file.clone();
    if left_out > 0 {
        let place = file.as_ref().map(|file| format!(" of it; all is in {}", file.display())).unwrap_or_default();
        let (begin, end) = CUT;
        // Writing to a String cannot fail.
        let _ = writeln!(content, "{begin} {} before this, not shown{place} {end}", output::size(left_out));
    }
    let text = output::clean(&bytes);
    content.push_str(&output::trim(&text, LIMITS));
    let cut = left_out > 0 || !output::fits(&text, LIMITS);
    if !content.is_empty() && !content.ends_with('\n') {
        content.push('\n');
    }
    if text.is_empty() {
        content.push_str("(no new output)\n");
    }
    let _ = write!(content, "[{}]", report.worded());
    let facts = ToolFacts {
        exit_code: report.code,
        lines: Some(output::count_lines(&text) as u64).filter(|lines| *lines > 0),
        full_output: file.filter(|_| cut),
        ..ToolFacts::default()
    };
    Some(ToolOutput::ok(content, facts))
}

fn missing(job: u64) -> String {
    format!("shell_job: there is no job {job}; action list shows them")
}

fn none(job: u64) -> ToolOutput {
    ToolOutput::failed(missing(job))
}

async fn kill(jobs: &Jobs, job: u64) -> ToolOutput {
    if jobs.report(job).is_none() {
        return none(job);
    }
    if jobs.signal(job, Signal::TERM) {
        jobs.wait(job, false, TERM_GRACE).await;
        if jobs.signal(job, Signal::KILL) {
            jobs.wait(job, false, KILL_GRACE).await;
        }
    }
    match news(jobs, job) {
        // It has ended, as was wanted.
        Some(output) => ToolOutput { facts: ToolFacts { exit_code: None, ..output.facts }, ..output },
        None => none(job),
    }
}

impl Tool for ShellJobTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "shell_job".to_owned(),
            description:
                "Background commands of `shell`: list them, read what one printed since the last read, or \
                          kill it."
                    .to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "action": {"type": "string", "enum": ["list", "read", "kill"]},
                    "job": {"type": "integer", "description": "Its number"},
                    "wait": {"type": "integer", "description": "read: seconds at most for it to end"}
                },
                "required": ["action"]
            }),
            identity: ToolIdentity { verb: ToolVerb::LookAfterJobs, ..ToolIdentity::default() },
        }
    }

    /// Its jobs were approved when they began; looking at them and ending them reaches nothing else.
    fn read(&self, input: &Value, _place: &Roots) -> Arc<dyn Request> {
        Unread::or(Effect::Read, parse(input))
    }
}

impl Request for Input {
    fn effect(&self) -> Effect {
        Effect::Read
    }

    fn check(&self, before: &Before<'_>) -> Result<Preview, String> {
        let (text, job) = match *self {
            Self::List => ("list".to_owned(), None),
            Self::Read { job, .. } => (format!("read job {job}"), Some(job)),
            Self::Kill { job } => (format!("kill job {job}"), Some(job)),
        };
        let detached = DetachedJobs::in_directory(before.output_dir);
        let is_there = |job: u64| {
            if job >= DetachedJobs::FIRST {
                detached.report(job, SystemTime::now()).is_some()
            } else {
                before.memory.jobs.report(job).is_some()
            }
        };
        match job.filter(|job| !is_there(*job)) {
            Some(job) => Err(missing(job)),
            None => Ok(Preview::Text { text }),
        }
    }

    fn run(self: Arc<Self>, context: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            let jobs = &context.memory.jobs;
            match *self {
                Input::List => {
                    let list = jobs.list();
                    let detached = DetachedJobs::in_directory(context.output_dir).list(SystemTime::now());
                    let lines: Vec<String> =
                        list.iter().map(Report::worded).chain(detached.iter().map(DetachedJob::worded)).collect();
                    let text = if lines.is_empty() { "No jobs.".to_owned() } else { lines.join("\n") };
                    ToolOutput::ok(text, ToolFacts { lines: Some(lines.len() as u64), ..ToolFacts::default() })
                }
                Input::Read { job, .. } if job >= DetachedJobs::FIRST => {
                    detached_words::news(&context, job).unwrap_or_else(|| none(job))
                }
                Input::Kill { job } if job >= DetachedJobs::FIRST => {
                    detached_words::kill(&context, job).await.unwrap_or_else(|| none(job))
                }
                Input::Read { job, wait } => {
                    if let Some(wait) = wait {
                        tokio::select! {
                            biased;
                            () = context.cancel.cancelled() => {
                                return work::interrupted("Interrupted by the user; the job goes on.", ToolFacts::default());
                            }
                            () = jobs.wait(job, false, wait) => {}
                        }
                    }
                    news(jobs, job).unwrap_or_else(|| none(job))
                }
                // Not cancelled: a kill that is broken off leaves processes behind.
                Input::Kill { job } => kill(jobs, job).await,
            }
        })
    }
}
