//! Where rules are stored, and what their questions show: the user's settings, and the commands of earlier
//! sessions.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use super::super::context::App;
use super::super::settings::{begin, settings_problem};
use super::trials;
use crate::approval::{Decision, Rule, newly_allowed};
use crate::command::Problem;
use crate::config;
use crate::conversation::{Subject, ToolVerb};
use crate::frontend::explain::{Installed, explain};
use crate::frontend::human::{Explains, Matches, Rules};
use crate::locale::{Locale, word};
use crate::session::SessionStore;
use crate::tool::{Roots, Tool, table};

/// On how many earlier commands a rule is tried before it is saved.
const TRIED: usize = 200;

/// Returns what the question needs in order to offer "always".
pub(super) fn offer(app: &Rc<App>) -> Rules {
    let (for_matches, for_keeping) = (Rc::clone(app), Rc::clone(app));
    Rules {
        matches: Box::new(move |rule| matches(&for_matches, rule)),
        keep: Box::new(move |rule| {
            keep(&for_keeping, Decision::Allow, rule, &for_keeping.locale).map_err(|problem| problem.what)
        }),
        can_try: trials::can_try(app),
        tries: trials::tries(app),
        explains: explains(app),
    }
}

/// Explains lines; no page is looked up before it is asked for, and none twice.
fn explains(app: &Rc<App>) -> Explains {
    let app = Rc::clone(app);
    let pages = OnceCell::new();
    Box::new(move |line| {
        let pages = pages.get_or_init(|| Installed::new(app.sandbox(), app.process.program.clone()));
        let place = app.project.surroundings(app.sandbox().secret_files(), app.shell.definitions());
        explain(&app.locale, line, &place, pages)
    })
}

fn matches(app: &App, rule: &Rule) -> Matches {
    let lines = app.sessions().map(|sessions| lines(app, &sessions)).unwrap_or_default();
    let about = newly_allowed(
        rule,
        &lines,
        &app.project.surroundings(app.sandbox().secret_files(), app.shell.definitions()),
    );
    Matches { of: lines.len(), lines: about.into_iter().map(str::to_owned).collect() }
}

/// The last lines that models have run, the newest first.
fn lines(app: &App, sessions: &SessionStore) -> Vec<String> {
    let roots =
        Roots { cwd: app.project.cwd.clone(), workspace: app.project.root.clone(), home: app.paths.home.clone() };
    let runs = |tool: &Arc<dyn Tool>| tool.spec().identity.verb == ToolVerb::Run;
    let Some(tool) = table::standard(None, None).into_iter().find(runs) else { return Vec::new() };
    sessions.last_calls(&tool.spec().name, TRIED, |input| match tool.read(input, &roots).subject() {
        Subject::Command { line } => Some(line),
        Subject::Paths { .. } | Subject::Host { .. } | Subject::Whole => None,
    })
}

const fn list(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "permissions.allow",
        Decision::Ask => "permissions.ask",
        Decision::Deny => "permissions.deny",
    }
}

/// Saves a rule in the user's settings; returns the file's path for display.
pub(super) fn keep(app: &App, decision: Decision, rule: &Rule, locale: &Locale) -> Result<String, Problem> {
    let Some(path) = app.paths.settings() else {
        return Err(Problem { what: locale.text(word::error::NO_CONFIG_DIR).to_owned(), hint: String::new() });
    };
    let text = rule.to_string();
    if app.redactor().text(&text) != text {
        return Err(Problem { what: locale.text(word::permissions::SECRET).to_owned(), hint: String::new() });
    }
    begin(locale, &path);
    app.wrote(list(decision));
    match config::add_to_list(&path, list(decision), &text) {
        Ok(()) => Ok(app.paths.shown(&path)),
        Err(error) => Err(settings_problem(locale, &app.paths, &error)),
    }
}

/// Removes a rule from the user's settings, however it is written there.
pub(super) fn forget(app: &App, decision: Decision, rule: &Rule, locale: &Locale) -> Result<(), Problem> {
    let Some(path) = app.paths.settings() else { return Ok(()) };
    let same = |text: &str| Rule::parse_for(text, table::kind_of).is_ok_and(|known| known == *rule);
    config::remove_from_list(&path, list(decision), &same).map(drop).map_err(|error| {
        let Problem { what, hint } = settings_problem(locale, &app.paths, &error);
        Problem { what: locale.with(word::permissions::NotRemoved { cause: &what }), hint }
    })
}
