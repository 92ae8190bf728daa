//! `axi replay`: a session runs again without a model, in a trial, and is compared with what was recorded.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde::{Deserialize, Serialize};

use super::super::console::Console;
use super::super::context::App;
use super::stand::{Stand, Workplace};
use crate::agent::replay::{RanAgain, ReplaySetting, Step, Unrun, compare, run_again, steps};
use crate::cli::TryOptions;
use crate::command::{self, Problem, Replayed, ReplayedFile};
use crate::conversation::ToolCall;
use crate::frontend::exit::Exit;
use crate::journal::{Journal, Kind, Left, is_surroundings, taken_back};
use crate::locale::word;
use crate::session::{Changed, Loaded, load};
use crate::tool::{Roots, Toolbox, table};
use crate::trial::{self, ChangeSet, Refused};

/// What the axi in the trial is told to do.
#[derive(Serialize, Deserialize)]
struct Order {
    calls: Vec<ToolCall>,
    /// The session's directory then.
    then: PathBuf,
    /// What is looked at in the end.
    files: Vec<PathBuf>,
}

/// What it answers.
#[derive(Serialize, Deserialize)]
struct Report {
    ran: Vec<Result<RanAgain, Unrun>>,
    files: Vec<Left>,
}

/// Replays a session, by its id or its file.
pub(in crate::app) fn replay(app: &App, session: &str, inside: bool) -> Exit {
    let console = Console::new(&app.locale);
    let done = if inside { inner(app) } else { outer(app, session) };
    done.unwrap_or_else(|problem| {
        console.fail(&problem);
        Exit::Failed
    })
}

fn problem(what: String) -> Problem {
    Problem { what, hint: String::new() }
}

fn outer(app: &App, session: &str) -> Result<Exit, Problem> {
    let console = Console::new(&app.locale);
    let loaded = loaded(app, session)?;
    if let Some(damage) = command::session_damage(&app.locale, &loaded) {
        console.warn(&damage);
    }
    let gone = gone(app, &loaded)?;
    let (roots, tools) = (roots(app), tools(app));
    let then = if loaded.directory.as_os_str().is_empty() { &roots.cwd } else { &loaded.directory };
    let grounds = ReplaySetting { then, roots: &roots, tools: &tools, taken_back: &gone };
    let steps = steps(&loaded.conversation, &grounds);
    let expected = expected(&loaded.changed, &gone, &roots.cwd);
    let order = Order {
        calls: steps.iter().filter(|step| step.unrun.is_none()).map(|step| step.call.clone()).collect(),
        then: then.clone(),
        files: expected.keys().cloned().collect(),
    };
    let (report, set) = in_a_trial(app, &order).map_err(|refused| match refused {
        Failed::Refused(refused) => problem(command::trial_refused(&app.locale, &refused)),
        Failed::Broken(cause) => problem(app.locale.with(word::replay::Broken { cause: &cause })),
    })?;
    let mut ran = report.ran.iter();
    let told = steps.into_iter().map(|mut step| {
        let now = if step.unrun.is_none() { ran.next() } else { None };
        step.unrun = step.unrun.or_else(|| now?.as_ref().err().copied());
        let compared = now.and_then(|now| now.as_ref().ok()).map(|now| compare(&step, now, &grounds));
        (step, compared)
    });
    let told: Vec<_> = told.collect();
    let files = files(&loaded.changed, &told.iter().map(|(step, _)| step).collect::<Vec<_>>(), &expected, &report);
    let secrets = app.sandbox().secret_files();
    let keeps_secret = |path: &Path| secrets.holds(path);
    let beside = beside(&set, &expected, &roots, &keeps_secret);
    let is_whole = !loaded.changed.is_empty()
        && loaded.changed.iter().all(|changed| changed.all)
        && !told.iter().any(|(step, _)| may_write(step));
    let replayed = Replayed {
        id: loaded.id.as_str(),
        then,
        now: &roots.cwd,
        steps: &told,
        files: &files,
        beside: &beside,
        is_whole,
        has_files: !loaded.changed.is_empty(),
        tools: &tools,
    };
    console.page(command::replay_page(&app.locale, &replayed).trim_end());
    Ok(if replayed.is_same() { Exit::Done } else { Exit::Failed })
}

/// Finds a session by its id, or reads the file of that name.
fn loaded(app: &App, session: &str) -> Result<Loaded, Problem> {
    let path = app.project.cwd.join(session);
    let found = if path.is_file() {
        Ok(path)
    } else {
        let none = || problem(app.locale.text(word::error::SESSION_NONE).to_owned());
        app.sessions().ok_or_else(none)?.find(session).map(|(_, path)| path)
    };
    found.and_then(|path| load(&path)).map_err(|error| command::session_problem(&app.locale, &error))
}

/// The turns whose changes were taken back.
fn gone(app: &App, loaded: &Loaded) -> Result<Vec<u64>, Problem> {
    let journal = app.paths.journal().map(|root| taken_back(&Journal::new(root, loaded.id.as_str())));
    let turns = journal.transpose().map_err(|error| {
        let (path, cause) = (&error.path.display().to_string(), &error.cause.to_string());
        problem(app.locale.with(word::error::Io { path, cause }))
    })?;
    Ok(turns.unwrap_or_default().iter().map(|turn| turn.messages).collect())
}

fn roots(app: &App) -> Roots {
    Roots { cwd: app.project.cwd.clone(), workspace: app.project.root.clone(), home: app.paths.home.clone() }
}

fn tools(app: &App) -> Toolbox {
    Toolbox::new(table::standard(app.process.program.clone(), None))
}

/// What stands where in the end, by the recorded turns.
fn expected(changed: &[Changed], gone: &[u64], cwd: &Path) -> BTreeMap<PathBuf, (u64, Left)> {
    let mut all = BTreeMap::new();
    for changed in changed.iter().filter(|changed| !gone.contains(&changed.messages)) {
        for left in changed.files.iter().filter(|left| left.path.is_relative()) {
            let path = cwd.join(&left.path);
            all.insert(path.clone(), (changed.messages, Left { path, ..left.clone() }));
        }
    }
    all
}

/// Whether a call that did not run again may have written something then.
fn may_write(step: &Step) -> bool {
    match step.unrun {
        None | Some(Unrun::NotThen | Unrun::TakenBack) => false,
        Some(Unrun::Unended | Unrun::NoTool | Unrun::Network | Unrun::Outside | Unrun::Secret | Unrun::Person) => {
            true
        }
    }
}

/// Compares what stands there now; what a turn left of which not every call ran again is in doubt.
fn files(
    changed: &[Changed],
    steps: &[&Step],
    expected: &BTreeMap<PathBuf, (u64, Left)>,
    report: &Report,
) -> Vec<ReplayedFile> {
    let in_doubt = |turn: u64| steps.iter().any(|step| step.turn == turn && may_write(step));
    let is_late = |turn: u64| changed.iter().any(|changed| changed.messages <= turn && in_doubt(changed.messages));
    let now = |path: &Path| report.files.iter().find(|left| left.path == path);
    expected
        .iter()
        .map(|(path, (turn, then))| {
            let now = now(path);
            let same = now.is_some_and(|now| now.is_same(then));
            ReplayedFile {
                path: path.clone(),
                then: then.clone(),
                now: now.cloned().unwrap_or(Left { kind: Kind::Missing, executable: false, path: path.clone() }),
                same,
                in_doubt: !same && is_late(*turn),
            }
        })
        .collect()
}

/// What this run changed and the session did not, as far as such is recorded at all.
fn beside(
    set: &ChangeSet,
    expected: &BTreeMap<PathBuf, (u64, Left)>,
    roots: &Roots,
    keeps_secret: &dyn Fn(&Path) -> bool,
) -> Vec<PathBuf> {
    let changes = set.changes.iter().filter(|change| !change.is_directory());
    let paths = changes.map(|change| change.path.clone()).filter(|path| {
        path.starts_with(&roots.workspace)
            && is_surroundings(path, &roots.workspace)
            && !expected.contains_key(path)
            && !keeps_secret(path)
    });
    paths.collect()
}

enum Failed {
    Refused(Refused),
    Broken(String),
}

/// Has another axi run the calls in a trial; nothing of it stays.
fn in_a_trial(app: &App, order: &Order) -> Result<(Report, ChangeSet), Failed> {
    let places = trial::places(app.paths.state.as_deref());
    trial::sweep(&places);
    let options = TryOptions { offline: true, ..TryOptions::default() };
    let stand = Stand::new(&Workplace::of(app), &options, &places).map_err(Failed::Refused)?;
    let broken = |cause: &dyn std::fmt::Display| Failed::Broken(cause.to_string());
    let program = app.process.program.as_ref().ok_or(Failed::Refused(Refused::Unsupported))?;
    let mut command = stand.command();
    command.arg(program).args(["replay", "--inside", "-", "--lang", app.locale.tag()]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| broken(&error))?;
    let written = serde_json::to_vec(order).map_err(|error| broken(&error))?;
    if let Some(mut input) = child.stdin.take() {
        // One that ends at once says why itself.
        drop(input.write_all(&written));
    }
    let output = child.wait_with_output().map_err(|error| broken(&error))?;
    stand.trial.entered().map_err(Failed::Refused)?;
    let report = serde_json::from_slice(&output.stdout).map_err(|error| broken(&error))?;
    let set = stand.trial.changes().map_err(|error| broken(&error))?;
    Ok((report, set))
}

/// In the trial: runs what standard input says, and prints what came of it.
fn inner(app: &App) -> Result<Exit, Problem> {
    let broken = |cause: String| problem(app.locale.with(word::replay::Broken { cause: &cause }));
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|error| broken(error.to_string()))?;
    let order: Order = serde_json::from_str(&text).map_err(|error| broken(error.to_string()))?;
    let (roots, tools, sandbox) = (roots(app), tools(app), app.sandbox());
    let surroundings = app.project.surroundings(sandbox.secret_files(), app.shell.definitions());
    let grounds = ReplaySetting { then: &order.then, roots: &roots, tools: &tools, taken_back: &[] };
    let outputs = tempfile::tempdir().map_err(|error| broken(error.to_string()))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| broken(error.to_string()))?;
    let redactor = app.redactor();
    let ran =
        runtime.block_on(run_again(order.calls, &grounds, (&surroundings, &sandbox), outputs.path(), &redactor));
    let files = order.files.into_iter().filter_map(|path| Left::look(path).ok()).collect();
    let report = serde_json::to_string(&Report { ran, files }).map_err(|error| broken(error.to_string()))?;
    Ok(Console::new(&app.locale).print(&report))
}
