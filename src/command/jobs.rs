//! `/jobs`: what runs in the background, and an end to one of them.

use super::{Context, Outcome, Problem};
use crate::locale::word;
use crate::tool::JobReport;

/// How much of a command line is shown (characters).
const SHOWN: usize = 80;

/// Lists them; `kill N` ends one.
pub(super) fn jobs(context: &mut Context<'_>, argument: &str) -> Outcome {
    let number = argument.strip_prefix("kill").map_or(argument, str::trim);
    if !number.is_empty() {
        let ended = number.parse().is_ok_and(|number| context.agent.end_job(number));
        if ended {
            return Outcome::Say(context.locale.with(word::said::JobEnded { job: number }));
        }
        let what = context.locale.with(word::error::Job { job: number });
        return Outcome::Fail(Problem { what, hint: context.locale.text(word::error::JOB_HINT).to_owned() });
    }
    let jobs = context.agent.jobs();
    if jobs.is_empty() {
        return Outcome::Say(context.locale.text(word::said::JOBS_NONE).to_owned());
    }
    let rows: Vec<String> = jobs.iter().map(|job| row(context, job)).collect();
    Outcome::Say(rows.join("\n"))
}

fn row(context: &Context<'_>, job: &JobReport) -> String {
    let first: String = job.line.lines().next().unwrap_or_default().chars().take(SHOWN).collect();
    let more = if first.len() < job.line.len() { " …" } else { "" };
    let (number, seconds) = (job.number, &job.lasted.as_secs().to_string());
    let state = match (job.running, job.outlives) {
        (true, false) => context.locale.with(word::said::JobRunning { seconds }),
        (true, true) => context.locale.with(word::said::JobKept { seconds }),
        (false, _) => context.locale.with(word::said::JobDone { seconds }),
    };
    format!("{number}  {first}{more}  ({state})")
}
