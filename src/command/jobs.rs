//! `/jobs`: what runs in the background, and an end to one of them.

use super::{Context, Outcome, Problem};
use crate::tool::JobReport;

/// How much of a command line is shown (characters).
const SHOWN: usize = 80;

/// Lists them; `kill N` ends one.
pub(super) fn jobs(context: &mut Context<'_>, argument: &str) -> Outcome {
    let number = argument.strip_prefix("kill").map_or(argument, str::trim);
    if !number.is_empty() {
        let text = |key: &str| context.locale.with(key, &[("job", number)]);
        let ended = number.parse().is_ok_and(|number| context.agent.end_job(number));
        if ended {
            return Outcome::Say(text("said.job_ended"));
        }
        return Outcome::Fail(Problem { what: text("error.job"), hint: text("error.job_hint") });
    }
    let jobs = context.agent.jobs();
    if jobs.is_empty() {
        return Outcome::Say(context.locale.text("said.jobs_none").to_owned());
    }
    let rows: Vec<String> = jobs.iter().map(|job| row(context, job)).collect();
    Outcome::Say(rows.join("\n"))
}

fn row(context: &Context<'_>, job: &JobReport) -> String {
    let first: String = job.line.lines().next().unwrap_or_default().chars().take(SHOWN).collect();
    let more = if first.len() < job.line.len() { " …" } else { "" };
    let key = match (job.running, job.outlives) {
        (true, false) => "said.job_running",
        (true, true) => "said.job_kept",
        (false, _) => "said.job_done",
    };
    let (number, seconds) = (job.number.to_string(), job.lasted.as_secs().to_string());
    let state = context.locale.with(key, &[("seconds", &seconds)]);
    format!("{number}  {first}{more}  ({state})")
}
