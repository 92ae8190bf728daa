//! `axi doctor`: what works here and what does not, on one page that can be pasted into a bug report.

mod guard;
mod installed;
mod machine;
mod models;
#[cfg(feature = "local")]
mod own;
mod page;
mod terminal;

use super::super::console::Console;
use super::super::context::App;
use super::super::logs;
use super::check::Check;
use super::hook;
use crate::frontend::exit::Exit;
use crate::locale::{Locale, word};
pub(in crate::app) use installed::self_check;
use page::{Group, Means};

/// How many errors of the log are shown.
const ERRORS: usize = 5;

pub(in crate::app) fn doctor(app: &App, json: bool, network: bool) -> Exit {
    let console = Console::new(&app.locale);
    let means = if network { Means::Call } else { Means::AskTerminal };
    if json {
        // Programs look for names.
        return console.json(&page::json(&groups(app, None, &Locale::new("en"), means)));
    }
    console.page(&page::text(&groups(app, None, &app.locale, means), &app.locale))
}

/// The page as markdown, for a prompt; `model` is the one in use.
pub(in crate::app) fn doctor_text(app: &App, model: &str, locale: &Locale) -> String {
    page::text(&groups(app, Some(model), locale, Means::Look), locale)
}

/// Looks at everything. The shell's group comes last: on a small screen that is what stays in sight, and what people
/// look for.
fn groups(app: &App, model: Option<&str>, locale: &Locale, means: Means) -> Vec<Group> {
    let group = |id, says, checks| Group { id, says, checks };
    let shell = hook::doctor_rows(locale, app.process.variables, app.paths.home.as_deref());
    vec![
        group("system", word::doctor::SYSTEM, machine::system(app, locale)),
        group("files", word::doctor::FILES, machine::files(app, locale)),
        group("models", word::doctor::MODELS, models::checks(app, model, locale, means)),
        group("guard", word::doctor::GUARD, guard::checks(app, locale)),
        group("errors", word::doctor::ERRORS, errors(app, locale)),
        group("display", word::doctor::TERMINAL_GROUP, terminal::checks(app, locale, means)),
        group("hooks", word::doctor::SHELL, shell),
    ]
}

/// The last warnings and errors of the log; secrets were taken out when they were written.
fn errors(app: &App, locale: &Locale) -> Vec<Check> {
    let newest = app.paths.logs().and_then(|folder| logs::last_lines(&folder));
    let Some((path, lines)) = newest else { return Vec::new() };
    let is_wrong = |line: &&str| line.contains(" WARN ") || line.contains(" ERROR ");
    let wrong: Vec<&str> = lines.lines().filter(is_wrong).collect();
    let shown = app.paths.shown(&path);
    let last = wrong[wrong.len().saturating_sub(ERRORS)..].join("\n");
    let found = if last.is_empty() { locale.text(word::doctor::NO_ERRORS).to_owned() } else { last };
    vec![Check::good(&shown, found)]
}
