//! `axi local`: the models inside of axi.

use std::io::IsTerminal;
use std::path::Path;

use super::super::console::Console;
use super::super::context::App;
use super::super::failed::runtime;
use super::super::models::{self, agreed, fetch, megabytes, missing, places};
use crate::agent::Beginning;
use crate::cli::LocalAction;
use crate::command::Problem;
use crate::frontend::exit::Exit;
use crate::locale::word;
use crate::provider::local::{self, NAME, TABLE, Weights, by_name, find};

/// Runs `axi local`; `first` makes the first request of a conversation.
pub(in crate::app) fn local(app: &App, action: &LocalAction, first: &dyn Fn(&App) -> Beginning) -> Exit {
    let console = Console::new(&app.locale);
    let done = match action {
        LocalAction::List => Ok(list(app)),
        LocalAction::Pull { model, yes } => pull(app, model.as_deref(), *yes, first),
        LocalAction::Remove(model) => remove(app, model),
        LocalAction::Path(model) => path(app, model.as_deref()),
    };
    match done {
        Ok(text) => console.print(&text),
        Err((problem, exit)) => {
            console.fail(&problem);
            exit
        }
    }
}

fn list(app: &App) -> String {
    let places = places(app);
    let row = |weights: &Weights| {
        let here = match find(weights, &places) {
            Some(path) => app.paths.shown(&path),
            None => app.locale.text(word::local::NOT_HERE).to_owned(),
        };
        let Weights { name, licence, template, .. } = weights;
        let context = app.locale.with(word::local::Context { tokens: &models::room(Some(weights)).to_string() });
        format!("{NAME}/{name:<20} {:>7}  {licence:<11} {template}, {context}  {here}", megabytes(weights.size))
    };
    TABLE.iter().map(row).collect::<Vec<_>>().join("\n")
}

fn named(app: &App, model: Option<&str>) -> Result<&'static Weights, (Problem, Exit)> {
    let model = model.map(|model| model.trim_start_matches("local/"));
    match model {
        None => TABLE.first().ok_or_else(|| (missing(&app.locale, ""), Exit::Usage)),
        Some(model) => by_name(model).ok_or_else(|| (missing(&app.locale, model), Exit::Usage)),
    }
}

fn no_folder(app: &App) -> (Problem, Exit) {
    (Problem { what: app.locale.text(word::local::NO_FOLDER).to_owned(), hint: String::new() }, Exit::Failed)
}

fn pull(
    app: &App,
    model: Option<&str>,
    yes: bool,
    first: &dyn Fn(&App) -> Beginning,
) -> Result<String, (Problem, Exit)> {
    let weights = named(app, model)?;
    let places = places(app);
    let folder = local::folder(&places).ok_or_else(|| no_folder(app))?;
    if let Some(path) = find(weights, &places) {
        // The size is right. The bytes are checked here, and not at every start.
        let good = local::check(&path, weights, |_| true).unwrap_or(false);
        if good || path.parent() != Some(folder.as_path()) {
            return Ok(path.display().to_string());
        }
        Console::new(&app.locale).warn(app.locale.text(word::local::SPOILT));
        std::fs::remove_file(&path).map_err(|error| (unwritable(app, &path, &error), Exit::Failed))?;
    }
    let asked = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let agreed = || agreed(app, weights, &folder).map_err(|failed| (failed.problem, failed.exit));
    if !yes && (!asked || !agreed()?) {
        let what = app.locale.text(word::local::NOT_AGREED).to_owned();
        let exit = if asked { Exit::Interrupted } else { Exit::Usage };
        return Err((Problem { what, hint: app.locale.text(word::local::NOT_AGREED_HINT).to_owned() }, exit));
    }
    let runtime = runtime(&app.locale).map_err(|failed| (failed.problem, failed.exit))?;
    let client = models::client(&app.config(), &app.process.variables);
    // Most likely a conversation follows.
    let first = || Some(first(app));
    let fetched = fetch(app, weights, &folder, (&client, &runtime), &first);
    fetched.map(|path| path.display().to_string())
}

fn unwritable(app: &App, path: &Path, error: &std::io::Error) -> Problem {
    Problem {
        what: app.locale.with(word::error::Io { path: &app.paths.shown(path), cause: &error.to_string() }),
        hint: String::new(),
    }
}

/// Removes weights that axi fetched; weights of other programs are left alone.
fn remove(app: &App, model: &str) -> Result<String, (Problem, Exit)> {
    let weights = named(app, Some(model))?;
    let folder = local::folder(&places(app)).ok_or_else(|| no_folder(app))?;
    let removed = local::remove(&folder, weights).map_err(|(path, error)| {
        let problem = if error.kind() == std::io::ErrorKind::ResourceBusy {
            Problem { what: app.locale.text(word::local::FETCHED_NOW).to_owned(), hint: String::new() }
        } else {
            unwritable(app, &path, &error)
        };
        (problem, Exit::Failed)
    })?;
    let model = weights.name;
    Ok(if removed {
        app.locale.with(word::local::Removed { model })
    } else {
        app.locale.with(word::local::NotOurs { model })
    })
}

fn path(app: &App, model: Option<&str>) -> Result<String, (Problem, Exit)> {
    let places = places(app);
    let Some(model) = model else {
        let folder = local::folder(&places).ok_or_else(|| no_folder(app))?;
        return Ok(folder.display().to_string());
    };
    let weights = named(app, Some(model))?;
    let path = find(weights, &places).ok_or_else(|| (missing(&app.locale, weights.name), Exit::Failed))?;
    Ok(path.display().to_string())
}
