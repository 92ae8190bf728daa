//! Turns in trials (`--try`, `approvals = "try"`): axi is started again in namespaces where a keeper may lay layers over the
//! workspace, and every turn's writing calls run in one trial.

#[cfg(target_os = "linux")]
mod turn;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::super::commands::layer_probe;
use super::super::console::Console;
use super::super::context::App;
use crate::agent::{Agent, Bounds, try_calls};
use crate::cli::RunOptions;
use crate::command::Problem;
use crate::config::{Approvals, TryApply};
use crate::frontend::exit::Exit;
use crate::locale::word;

/// What a turn in print mode would change, as it is printed.
pub(super) type Printed = Arc<Mutex<Option<String>>>;

/// Tells whether turns are to run in trials.
fn wanted(app: &App, options: &RunOptions) -> bool {
    options.tries || app.config().approvals == Approvals::Try
}

/// Says why there are no trials. Where they were asked for by a flag axi ends: what writes must not run for real.
fn none(app: &App, options: &RunOptions, cause: &str) -> Option<Exit> {
    let console = Console::new(&app.locale);
    if options.tries {
        let what = app.locale.with(word::trial::Cannot { cause });
        console.fail(&Problem { what, hint: String::new() });
        return Some(Exit::Failed);
    }
    console.warn(&app.locale.with(word::trial::NoTurn { cause }));
    None
}

/// Starts axi again behind a keeper, if turns are to run in trials and it is not there yet; returns how it ended.
#[cfg(target_os = "linux")]
pub(super) fn enter(app: &App, options: &RunOptions) -> Option<Exit> {
    use std::os::unix::process::CommandExt as _;
    if !wanted(app, options) {
        return None;
    }
    match app.process.variable(crate::trial::KEEPER) {
        // A socket is there, or this is an axi that one of its commands started.
        Some(told) if told.parse::<i32>().is_ok_and(|number| crate::sandbox::inherited(number).is_ok()) => {
            return None;
        }
        Some(told) if told.parse::<i32>().is_err() => {
            let cause = app.locale.with(word::trial::Denied { cause: &told });
            return none(app, options, &cause);
        }
        Some(_) | None => {}
    }
    let Some(program) = &app.process.program else {
        return none(app, options, app.locale.text(word::trial::UNSUPPORTED));
    };
    let mut again = std::process::Command::new(program);
    again.arg(crate::child::TRIES).args(&app.process.words);
    if let Some(directory) = &app.process.begun_in {
        again.current_dir(directory);
    }
    let error = again.exec();
    none(app, options, &error.to_string())
}

/// There are no layers on this system.
#[cfg(not(target_os = "linux"))]
pub(super) fn enter(app: &App, options: &RunOptions) -> Option<Exit> {
    if wanted(app, options) { none(app, options, app.locale.text(word::trial::UNSUPPORTED)) } else { None }
}

/// Has the agent's turns run in trials, if they are to; returns where print mode finds what one would change. `is_person`: a
/// person reviews them.
#[cfg(target_os = "linux")]
pub(super) fn begin(app: &App, options: &RunOptions, agent: &mut Agent, is_person: bool) -> Option<Printed> {
    use crate::agent::Review;
    use crate::command;
    use crate::trial::{self, KEEPER, Turns};
    use turn::TurnTrials;
    let told = app.process.variable(KEEPER).filter(|_| wanted(app, options))?;
    let keeper = crate::sandbox::inherited(told.parse().ok()?).ok()?;
    // Without its keeper nobody lifts the layers, and what is written would be lost in one.
    crate::platform::end_with_parent(rustix::process::Signal::TERM);
    // No program that axi starts may have layers laid.
    close_fds::set_fds_cloexec(3, &[]);
    let places = trial::places(app.paths.state.as_deref());
    trial::sweep(&places);
    let also = app.sandbox().git_outside(&app.project.root);
    let turns = Turns::new(keeper, (app.project.root.clone(), also), app.project.cwd.clone(), places);
    let turns = TurnTrials::new(turns, app, is_person);
    let printed = Printed::default();
    let (kept, locale) = (Arc::clone(&printed), app.locale.clone());
    let (apply, json) = (options.apply, options.json);
    let reviewer = move |set: &trial::ChangeSet| {
        if apply {
            return Review::All;
        }
        let text = if json { format!("{:#}\n", command::trial_json(set, 0)) } else { command::trial_patch(set) };
        tracing::info!(changes = set.changes.len(), language = locale.tag(), "a turn's trial is printed");
        *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
        Review::Nothing
    };
    agent.try_turns(Box::new(turns), Box::new(reviewer));
    Some(printed)
}

/// There are no layers on this system.
#[cfg(not(target_os = "linux"))]
pub(super) fn begin(_: &App, _: &RunOptions, _: &mut Agent, _: bool) -> Option<Printed> {
    None
}

/// Removes what killed trials left, on a thread: it may be much.
fn sweep(places: &[PathBuf]) {
    if !places.iter().any(|place| place.is_dir()) {
        return;
    }
    let places = places.to_owned();
    let swept = std::thread::Builder::new().name("trials".to_owned()).spawn(move || crate::trial::sweep(&places));
    if let Err(error) = swept {
        tracing::warn!(%error, "no thread to remove what killed trials left");
    }
}

/// Has programs that nobody knows run in trials first, where the settings say so.
pub(super) fn calls(app: &App, agent: &mut Agent) {
    let config = app.config();
    let places = crate::trial::places(app.paths.state.as_deref());
    sweep(&places);
    let deletions = match config.tried.apply {
        TryApply::Off => return,
        TryApply::NoDeletions => false,
        TryApply::All => true,
    };
    let paths = config.tried.paths.iter().map(|path| app.project.root.join(path)).collect();
    try_calls(agent, places, Bounds { deletions, paths }, layer_probe(app));
}

/// Takes what a turn would change, as it is printed; the empty set as JSON where it would change nothing.
pub(super) fn printed(printed: &Printed, json: bool) -> String {
    let found = printed.lock().unwrap_or_else(PoisonError::into_inner).take();
    let nothing = || {
        if json { "{\n  \"exit\": 0,\n  \"changes\": [],\n  \"also\": []\n}\n".to_owned() } else { String::new() }
    };
    found.unwrap_or_else(nothing)
}
