//! The part of `shell` and `shell_job` that is about commands which go on when axi ends.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::conversation::ToolFacts;
use crate::secret::CUT;
use crate::tool::output::{self, LIMITS};
use crate::tool::{ToolContext, ToolOutput, memory, work};

use super::person_shell::PersonShell;
use super::start::start_detached;
use crate::tool::jobs::DetachedJobs;

/// Looks at one that was just started are this far apart.
const LOOK: Duration = Duration::from_millis(50);

/// Starts a detached command and watches it for a moment.
pub(super) async fn start(
    who: (Option<&Path>, Option<&PersonShell>),
    line: &str,
    directory: &Path,
    first_look: Duration,
    context: &ToolContext<'_>,
) -> ToolOutput {
    let number = match start_detached(who, line, directory, SystemTime::now(), context) {
        Ok(number) => number,
        Err(error) => return ToolOutput::failed(format!("shell: could not be started: {error}")),
    };
    let outputs = context.output_dir;
    let until = tokio::time::Instant::now() + first_look;
    loop {
        tokio::select! {
            biased;
            () = context.cancel.cancelled() => {
                // ESC leaves nothing behind that this turn has just started.
                let outputs = outputs.to_owned();
                drop(work::to_the_end(move || DetachedJobs::in_directory(&outputs).end(number)).await);
                return work::interrupted("[interrupted by the user; the job was killed]", ToolFacts::default());
            }
            () = tokio::time::sleep(LOOK) => {}
        }
        let running =
            DetachedJobs::in_directory(outputs).report(number, SystemTime::now()).is_some_and(|job| job.running);
        if !running || tokio::time::Instant::now() >= until {
            break;
        }
    }
    let Some(mut output) = news(context, number) else { return ToolOutput::failed("shell: the job is gone") };
    match output.facts.exit_code {
        None => output
            .content
            .push_str("\n[it goes on, also when axi ends: shell_job reads and kills it, in later sessions, too]"),
        Some(0) => {}
        Some(_) => output.outcome = crate::conversation::Outcome::Failed,
    }
    output
}

/// Says what a detached command printed since this session last read it, and whether it still runs.
pub(super) fn news(context: &ToolContext<'_>, number: u64) -> Option<ToolOutput> {
    let job = DetachedJobs::in_directory(context.output_dir).report(number, SystemTime::now())?;
    let mut read = memory::lock(&context.memory.detached_read);
    let from = read.entry(number).or_insert(0);
    let mut text = String::new();
    match job.output(*from) {
        Ok((bytes, left_out)) => {
            *from += left_out + bytes.len() as u64;
            if left_out > 0 {
                let left_out = output::size(left_out);
                let (begin, end) = CUT;
                // Writing to a String cannot fail.
                let _ = writeln!(
                    text,
                    "{begin} {left_out} before this, not shown; all is in {} {end}",
                    job.output.display()
                );
            }
            text.push_str(&output::trim(&output::clean(&bytes), LIMITS));
        }
        Err(error) => {
            let _ = write!(text, "[its output cannot be read: {error}]");
        }
    }
    if text.is_empty() {
        text.push_str("(no new output)");
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let _ = write!(text, "[{}]", job.worded());
    let facts = ToolFacts { exit_code: job.code, full_output: Some(job.output), ..ToolFacts::default() };
    Some(ToolOutput::ok(text, facts))
}

/// Ends one.
pub(super) async fn kill(context: &ToolContext<'_>, number: u64) -> Option<ToolOutput> {
    let last = news(context, number)?;
    let outputs = context.output_dir.to_owned();
    let ended = work::to_the_end(move || DetachedJobs::in_directory(&outputs).end(number)).await.unwrap_or(false);
    if ended {
        return Some(ToolOutput::ok(format!("{}\n[job {number} was ended]", last.content), ToolFacts::default()));
    }
    Some(ToolOutput::failed(format!("shell_job: job {number} could not be ended: a process of it does not die")))
}
