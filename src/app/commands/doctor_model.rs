//! `axi doctor model`: what a model's server does with what it is asked, as a page and as JSON.

use serde_json::{Value, json};

use super::super::console::Console;
use super::super::context::App;
use super::super::models;
use crate::command::Problem;
use crate::frontend::exit::Exit;
use crate::locale::{Word, word};
use crate::provider::doctor::{Examination, Finding, Probe, Verdict, examine};
use crate::provider::{self, ProviderSettings};
use crate::terminal::sanitize_line;

/// How much of what was seen a line of the page has.
const SEEN: usize = 60;

pub(in crate::app) fn doctor_model(app: &App, wanted: Option<&str>, json: bool) -> Exit {
    let console = Console::new(&app.locale);
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return Exit::Failed;
    };
    let client = models::client(&app.config(), &app.process.variables);
    let name = match models::name(app, wanted, &client, &runtime) {
        Ok(Some(name)) => name,
        Ok(None) => {
            console.fail(&models::no_model(&app.locale));
            return Exit::NotConfigured;
        }
        Err(failed) => {
            console.fail(&failed.problem);
            return failed.exit;
        }
    };
    let settings = match models::resolve(&name, &app.config(), &app.process.variables, &app.locale, &app.asked) {
        Ok(settings) => settings,
        Err(problem) => {
            console.fail(&problem);
            return Exit::NotConfigured;
        }
    };
    app.keys.remember(&settings);
    if !json {
        let (model, address, protocol) = (&settings.id(), &settings.base_url, settings.protocol.name());
        console.page(&app.locale.with(word::probe::Head { model, address, protocol }));
    }
    let mut told = |finding: &Finding| {
        if let Some(line) = line(app, finding).filter(|_| !json) {
            Console::new(&app.locale).page(&line);
        }
    };
    let found = runtime.block_on(examine(&settings, &client, &mut told));
    let kept = keep(app, &settings, &found);
    if json {
        console.json(&report(&settings, &found));
    } else {
        console.page(&summary(app, &found));
    }
    if let Err(problem) = kept {
        console.warn(&problem.what);
    }
    let answers =
        found.findings.iter().any(|finding| finding.probe == Probe::Answer && finding.verdict != Verdict::Bad);
    if answers { Exit::Done } else { Exit::Provider }
}

fn keep(app: &App, settings: &ProviderSettings, found: &Examination) -> Result<(), Problem> {
    let Some(path) = models::profile_file(&app.process.variables) else { return Ok(()) };
    let kept = models::keep_profile(&path, settings, &found.profile);
    kept.map_err(|error| error.into_problem(&app.paths.shown(&path), &app.locale))
}

/// `✓ the server answers`, `✗ the server counts tokens: 0 + 0`. What was not tested has no line: one row at the end
/// tells it.
fn line(app: &App, finding: &Finding) -> Option<String> {
    let what = app.locale.text(words(finding.probe));
    let seen = sanitize_line(&finding.detail);
    let seen = seen.trim();
    Some(match finding.verdict {
        Verdict::Good => format!("✓ {what}"),
        Verdict::Adapted => format!("~ {what}: {}", app.locale.with(word::probe::Adapted { what: seen })),
        Verdict::Bad if seen.is_empty() => format!("✗ {what}"),
        Verdict::Bad => format!("✗ {what}: {}", beginning(seen)),
        Verdict::Weak if seen.is_empty() => format!("○ {what}"),
        Verdict::Weak => {
            format!("○ {what}: {}", app.locale.with(word::probe::Weak { what: &beginning(seen) }))
        }
        Verdict::Unclear => {
            format!("? {what}: {}", app.locale.with(word::probe::Unclear { what: &beginning(seen) }))
        }
        Verdict::Skipped => return None,
    })
}

fn beginning(seen: &str) -> String {
    let mut beginning: String = seen.chars().take(SEEN).collect();
    if beginning.len() < seen.len() {
        beginning.push('…');
    }
    beginning
}

fn summary(app: &App, found: &Examination) -> String {
    let count = |verdict| found.findings.iter().filter(|finding| finding.verdict == verdict).count().to_string();
    let (good, adapted, bad) = (&count(Verdict::Good), &count(Verdict::Adapted), &count(Verdict::Bad));
    let (weak, unclear) = (&count(Verdict::Weak), &count(Verdict::Unclear));
    let skipped = found.findings.iter().filter(|finding| finding.verdict == Verdict::Skipped);
    let skipped: Vec<&str> = skipped.map(|finding| app.locale.text(words(finding.probe))).collect();
    let mut rows = Vec::new();
    if !skipped.is_empty() {
        rows.push(app.locale.with(word::probe::Skipped { what: &skipped.join("; ") }));
    }
    rows.push(app.locale.with(word::probe::Summary { good, adapted, bad, weak, unclear }));
    if weak != "0" {
        rows.push(app.locale.text(word::probe::WEAK_MODEL).to_owned());
    }
    if !found.profile.is_empty() {
        rows.push(app.locale.text(word::probe::KEPT).to_owned());
    }
    rows.join("\n")
}

fn report(settings: &ProviderSettings, found: &Examination) -> Value {
    let findings = found.findings.iter().map(|finding| {
        json!({"probe": finding.probe.name(), "verdict": finding.verdict.word(), "detail": finding.detail})
    });
    json!({
        "model": settings.id(), "base_url": provider::base_url(settings.protocol, &settings.base_url),
        "protocol": settings.protocol.name(), "findings": findings.collect::<Vec<_>>(), "profile": found.profile,
    })
}

/// What a probe looks for, in words.
const fn words(probe: Probe) -> Word {
    match probe {
        Probe::List => word::probe::LIST,
        Probe::Listed => word::probe::LISTED,
        Probe::Answer => word::probe::ANSWER,
        Probe::Stream => word::probe::STREAM,
        Probe::Finish => word::probe::FINISH,
        Probe::Usage => word::probe::USAGE,
        Probe::Cache => word::probe::CACHE,
        Probe::System => word::probe::SYSTEM,
        Probe::Limit => word::probe::LIMIT,
        Probe::Temperature => word::probe::TEMPERATURE,
        Probe::Effort => word::probe::EFFORT,
        Probe::Reasoning => word::probe::REASONING,
        Probe::Call => word::probe::CALL,
        Probe::Arguments => word::probe::ARGUMENTS,
        Probe::CallFinish => word::probe::CALL_FINISH,
        Probe::EmptyCall => word::probe::EMPTY_CALL,
        Probe::Parallel => word::probe::PARALLEL,
        Probe::Ids => word::probe::IDS,
        Probe::Result => word::probe::RESULT,
        Probe::Foreign => word::probe::FOREIGN,
        Probe::Echo => word::probe::ECHO,
        Probe::Behind => word::probe::BEHIND,
        Probe::Picture => word::probe::PICTURE,
        Probe::ResultPicture => word::probe::RESULT_PICTURE,
        Probe::Window => word::probe::WINDOW,
    }
}
