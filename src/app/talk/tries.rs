//! Turns in trials (`--try`, `approvals = "try"`): axi is started again in namespaces where a keeper may lay layers over the
//! workspace, and every turn's writing calls run in one trial.

mod turn;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

#[cfg(target_os = "linux")]
use super::super::commands::Offered;
use super::super::commands::{agrees_to_copy, layer_probe};
use super::super::console::Console;
use super::super::context::App;
use super::super::project::InCopy;
use crate::agent::{Agent, Bounds, Review, Trials, TurnEnd, try_calls};
use crate::cli::{Output, RunOptions};
use crate::command::{self, Problem, trial_cause};
use crate::config::{Approvals, TryApply};
use crate::frontend::exit::Exit;
use crate::locale::word;
use crate::platform::RealPath as _;
use crate::trial::{ChangeSet, Most, Refused, TurnCopies};
use turn::TurnTrials;

/// What a turn in print mode would change.
pub(super) enum TrialReport {
    Json(Value),
    Patch(String),
}

/// As above, once the turn is over.
pub(super) type Printed = Arc<Mutex<Option<TrialReport>>>;

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

/// Starts axi again behind a keeper, if turns are to run in layers and it is not there yet; returns how it ended.
#[cfg(target_os = "linux")]
pub(super) fn enter(app: &App, options: &RunOptions) -> Option<Exit> {
    use crate::platform::os::process::CommandExt as _;
    if !wanted(app, options) || is_behind_keeper(app) || no_layers(app).is_some() {
        return None;
    }
    let program = app.process.program.as_ref()?;
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
pub(super) fn enter(_: &App, _: &RunOptions) -> Option<Exit> {
    None
}

/// Tells whether a keeper's socket is there, and this is no axi that one of its commands started.
#[cfg(target_os = "linux")]
fn is_behind_keeper(app: &App) -> bool {
    let told = app.process.variable(crate::trial::KEEPER).and_then(|told| told.parse().ok());
    told.is_some_and(|number: i32| crate::sandbox::inherited(number).is_ok())
}

/// Says why there can be no layers, as far as that is known.
#[cfg(target_os = "linux")]
fn no_layers(app: &App) -> Option<Refused> {
    let told = app.process.variable(crate::trial::KEEPER).filter(|told| told.parse::<i32>().is_err());
    let chosen = (Offered::of(app) == Offered::InCopies).then(|| "AXI_TRIAL=copy".to_owned());
    told.or(chosen).or(app.process.program.is_none().then(String::new)).map(Refused::Denied)
}

/// There are no layers on this system.
#[cfg(not(target_os = "linux"))]
fn no_layers(_: &App) -> Option<Refused> {
    Some(Refused::Unsupported)
}

/// Copies the workspace where turns are to run in trials and no layers are possible: the agent works in the copy. `asks`:
/// somebody can be asked. Returns how axi ends where that is impossible, too.
pub(super) fn copy(app: &mut App, options: &RunOptions, asks: bool) -> Option<Exit> {
    let layer = no_layers(app).filter(|_| wanted(app, options))?;
    let made = match copied(app, Some(Most::UNASKED)) {
        Err(Refused::TooBig { .. }) if asks && agrees_to_copy(app) => copied(app, None),
        made => made,
    };
    let copies = match made {
        Ok(copies) => copies,
        Err(copy) => {
            let refused = Refused::Neither { layer: Box::new(layer), copy: Box::new(copy) };
            return none(app, options, &trial_cause(&app.locale, &refused));
        }
    };
    let (cwd, root) = (copies.inside(&app.project.cwd), copies.inside(&app.project.root));
    let (path, cause) = (app.paths.shown(&root), trial_cause(&app.locale, &layer));
    Console::new(&app.locale).note(&app.locale.with(word::trial::TurnsInCopy { path: &path, cause: &cause }));
    app.project.copy = Some(InCopy { cwd, root, temporary: copies.temporary() });
    app.turn_copies.set(Some(copies));
    None
}

fn copied(app: &App, most: Option<Most>) -> Result<TurnCopies, Refused> {
    let (sandbox, root) = (app.sandbox(), &app.project.root);
    if let Some(path) = sandbox.git_outside(root).into_iter().next() {
        return Err(Refused::Apart(path));
    }
    sandbox.only(Vec::new(), false).ok_or(Refused::NoSandbox)?;
    let real = root.real_path().unwrap_or_else(|_| root.clone());
    if sandbox.caches().iter().any(|cache| real.starts_with(cache) || cache.starts_with(&real)) {
        return Err(Refused::NoSandbox);
    }
    // Commands do not see into axi's own directory.
    let places = crate::trial::places(None);
    crate::trial::sweep(&places);
    TurnCopies::new(root, &places, most)
}

/// Has the agent's turns run in trials, if they are to; returns where print mode finds what one would change. `is_person`: a
/// person reviews them.
pub(super) fn begin(app: &App, options: &RunOptions, agent: &mut Agent, is_person: bool) -> Option<Printed> {
    let copies = app.turn_copies.take().map(|copies| Box::new(copies) as Box<dyn Trials>);
    let turns = copies.or_else(|| layers(app, options))?;
    let printed = Printed::default();
    let kept = Arc::clone(&printed);
    let (apply, json) = (options.apply, as_json(options));
    let reviewer = move |set: &ChangeSet, end: &TurnEnd| {
        let told = if json {
            TrialReport::Json(command::trial_json(set, 0))
        } else {
            TrialReport::Patch(command::trial_patch(set))
        };
        *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
        // What was stopped or failed half-way is not what was asked for.
        if apply && *end == TurnEnd::Done { Review::All } else { Review::Nothing }
    };
    agent.try_turns(Box::new(TurnTrials::new(turns, app, is_person)), Box::new(reviewer));
    Some(printed)
}

/// What lays and lifts the layers of turns, where a keeper does that for this axi.
#[cfg(target_os = "linux")]
fn layers(app: &App, options: &RunOptions) -> Option<Box<dyn Trials>> {
    use crate::trial::{self, KEEPER, Turns};
    let told = app.process.variable(KEEPER).filter(|_| wanted(app, options))?;
    let keeper = crate::sandbox::inherited(told.parse().ok()?).ok()?;
    // Without its keeper nobody lifts the layers, and what is written would be lost in one.
    crate::platform::end_with_parent(crate::platform::process::Signal::TERM);
    // No program that axi starts may have layers laid.
    crate::platform::keep_files();
    let places = trial::places(app.paths.state.as_deref());
    trial::sweep(&places);
    let also = app.sandbox().git_outside(&app.project.root);
    let turns = Turns::new(keeper, (app.project.root.clone(), also), app.project.cwd.clone(), places);
    Some(Box::new(turns))
}

/// There are no layers on this system.
#[cfg(not(target_os = "linux"))]
fn layers(_: &App, _: &RunOptions) -> Option<Box<dyn Trials>> {
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

/// Takes what a turn would change.
pub(super) fn taken(printed: &Printed, options: &RunOptions) -> TrialReport {
    let found = printed.lock().unwrap_or_else(PoisonError::into_inner).take();
    let nothing = || {
        if as_json(options) {
            TrialReport::Json(json!({"exit": 0, "changes": [], "also": []}))
        } else {
            TrialReport::Patch(String::new())
        }
    };
    found.unwrap_or_else(nothing)
}

/// Tells whether programs read what a turn would change, and no patch is to stand beside what they read.
const fn as_json(options: &RunOptions) -> bool {
    options.json || !matches!(options.output, Output::Text)
}
