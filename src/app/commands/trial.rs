//! `axi try`: a command runs in a trial, outside of any conversation and without a model.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::SystemTime;

use super::super::console::Console;
use super::super::context::App;
use super::super::new_session::session_in;
use super::stand::{Offered, Stand, Workplace, probed};
use crate::agent::touches;
use crate::cli::{TryOptions, TryOutput};
use crate::command::{self, Problem};
use crate::conversation::Message;
use crate::fingerprint::fingerprint;
use crate::frontend::exit::Exit;
use crate::frontend::human::trial_diff;
use crate::journal::{Journal, JournalError};
use crate::locale::{Locale, word};
use crate::session::Origin;
use crate::trial::{self, ChangeSet, Kind, Most, Refused};

/// What stands before and behind a question of a trial, for whoever reads its output: sequences that no terminal shows.
pub(in crate::app) const ASKING: &str = "\x1b[0;27;0;27m";
/// As above.
pub(in crate::app) const ASKED: &str = "\x1b[27;0;27;0m";

/// Runs a command in a trial, and prints or applies what it changed.
pub(in crate::app) fn trial(app: &App, options: &TryOptions) -> Exit {
    let console = Console::new(&app.locale);
    let places = trial::places(app.paths.state.as_deref());
    trial::sweep(&places);
    let (stand, mut status) = match tried(app, options, &places) {
        Ok(tried) => tried,
        Err(refused) => {
            let hint = if refused.is_for_size() { app.locale.text(word::trial::COPY_HINT) } else { "" };
            let what = command::trial_refused(&app.locale, &refused);
            console.fail(&Problem { what, hint: hint.to_owned() });
            return Exit::Failed;
        }
    };
    // On a terminal a person says what becomes of it.
    let asks = options.ask || !options.apply && options.output == TryOutput::Page && is_on_terminal();
    loop {
        let mut set = match stand.trial.changes() {
            Ok(set) => set,
            Err(error) => return failed(app, &stand.trial.workspace().display().to_string(), &error.to_string()),
        };
        let shown = match options.output {
            TryOutput::Page => {
                set.repository = stand.repository.clone().zip(stand.look_at_repository(options));
                if !status.success() {
                    set.foreign = stand.trial.foreign();
                }
                console.page(command::trial_page(&app.locale, &set, code(status)).trim_end())
            }
            TryOutput::Json => console.json(&command::trial_json(&set, code(status))),
            TryOutput::Patch => match command::trial_patch(&set) {
                patch if patch.is_empty() => Exit::Done,
                patch => console.print(&patch),
            },
        };
        if asks && (options.ask || !set.changes.is_empty()) {
            match decided(app, &stand, &set, &mut status) {
                Some(true) => return apply(app, options, &set),
                // Who asked is told; a person knows.
                Some(false) if options.ask => return Exit::ApprovalNeeded,
                Some(false) => return shown,
                None => continue,
            }
        }
        let is_stopped = options.apply && was_interrupted(status);
        if !options.apply || is_stopped {
            if options.output == TryOutput::Page && !set.changes.is_empty() {
                console.note(app.locale.text(word::trial::UNTOUCHED));
            }
            return if is_stopped { Exit::Interrupted } else { shown };
        }
        if set.changes.is_empty() {
            return shown;
        }
        return match apply(app, options, &set) {
            Exit::Done => shown,
            failed => failed,
        };
    }
}

fn is_on_terminal() -> bool {
    use std::io::IsTerminal as _;
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Runs the command in a layer, or in a copy where there can be no layer.
fn tried(app: &App, options: &TryOptions, places: &[PathBuf]) -> Result<(Stand, ExitStatus), Refused> {
    let run = |mut stand: Stand| {
        stand.repository = stand.look_at_repository(options);
        let status = stand.run(&options.command, options.output)?;
        Ok((stand, status))
    };
    let workplace = Workplace::of(app);
    let layer = if options.copy || Offered::of(app) == Offered::InCopies {
        None
    } else {
        match Stand::new(&workplace, options, places).and_then(run) {
            Err(refused) if refused.leaves_copy() => Some(refused),
            tried => return tried,
        }
    };
    let most = (!options.copy).then_some(Most::UNASKED);
    let copied = match Stand::in_copy(&workplace, options, places, most) {
        Err(Refused::TooBig { .. }) if is_agreed(app, options) => Stand::in_copy(&workplace, options, places, None),
        copied => copied,
    };
    match (copied.and_then(run), layer) {
        (Err(copy), Some(layer)) => Err(Refused::Neither { layer: Box::new(layer), copy: Box::new(copy) }),
        (tried, _) => tried,
    }
}

/// Asks whether a large directory is copied, where there is somebody to ask.
fn is_agreed(app: &App, options: &TryOptions) -> bool {
    (options.ask || options.output == TryOutput::Page && is_on_terminal()) && agrees_to_copy(app)
}

/// Asks whether a large directory is copied.
pub(in crate::app) fn agrees_to_copy(app: &App) -> bool {
    let (locale, console) = (&app.locale, Console::new(&app.locale));
    let items = [('y', word::trial::ask::COPY), ('n', word::trial::ask::NO_COPY)];
    let items = items.map(|(key, text)| (key, locale.text(text).to_owned()));
    console.control(ASKING);
    let chosen = app.asker().decide_from(locale.text(word::trial::ask::LARGE), "", &items, 1);
    console.control(ASKED);
    matches!(chosen, Ok(0))
}

/// Asks what becomes of a trial: applied, dropped, or `None` where more ran in it.
fn decided(app: &App, stand: &Stand, set: &ChangeSet, status: &mut ExitStatus) -> Option<bool> {
    let (locale, console, asker) = (&app.locale, Console::new(&app.locale), app.asker());
    let keys = [
        ('y', word::trial::ask::APPLY),
        ('n', word::trial::ask::DROP),
        ('d', word::trial::ask::DIFF),
        ('r', word::trial::ask::MORE),
        ('o', word::trial::ask::SHELL),
    ];
    let items = keys.map(|(key, text)| (key, locale.text(text).to_owned()));
    // What is lost by an Enter too many is not applied by one, nor what a person stopped half-way.
    let deletes = set.changes.iter().any(|change| change.kind == Kind::Deleted);
    let start = usize::from(deletes || was_interrupted(*status));
    loop {
        // What a person reads in order to decide is not told to the model.
        console.control(ASKING);
        let chosen = asker.decide_from(locale.text(word::trial::ask::QUESTION), "", &items, start);
        let words = match chosen {
            Ok(2) => {
                show_diff(app, set);
                None
            }
            Ok(3) => asker.feedback(locale.text(word::trial::ask::LINE)).filter(|line| !line.trim().is_empty()),
            Ok(0 | 1 | 4..) | Err(_) => None,
        };
        console.control(ASKED);
        let words = match (chosen, words) {
            (Ok(0), _) => return Some(true),
            (Ok(2), _) | (Ok(3), None) => continue,
            (Ok(3), Some(line)) => {
                console.note(&line);
                vec![OsString::from(line)]
            }
            (Ok(4), _) => {
                console.note(locale.text(word::trial::ask::INSIDE));
                let shell = app.process.variable("SHELL").filter(|shell| Path::new(shell).is_file());
                vec![shell.unwrap_or_else(|| "sh".to_owned()).into(), "-i".into()]
            }
            (Ok(_) | Err(_), _) => return Some(false),
        };
        match stand.run(&words, TryOutput::Page) {
            Ok(ran) => *status = ran,
            Err(refused) => {
                console.fail(&Problem { what: command::trial_refused(locale, &refused), hint: String::new() });
            }
        }
        return None;
    }
}

/// Shows what changed line by line, as in a question about a change.
fn show_diff(app: &App, set: &ChangeSet) {
    let display = app.display();
    let looks = display.looks();
    let mut screen = display.screen(&looks);
    screen.commit_all(&trial_diff(&app.locale, &looks, set));
    screen.flush();
}

/// Tells whether commands can be tried where this axi works: makes a trial and runs nothing in it.
pub(in crate::app) fn can_try(app: &App) -> bool {
    Offered::of(app) != Offered::No && probed(app).inspect_err(|error| tracing::info!(%error, "no trials")).is_ok()
}

/// Says why commands cannot be tried where this axi works, or only in copies; `None` where they can.
pub(in crate::app) fn why_not(app: &App, locale: &Locale) -> Option<String> {
    if Offered::of(app) == Offered::No {
        return Some(locale.with(word::trial::Cannot { cause: "AXI_TRIAL=off" }));
    }
    match probed(app) {
        Ok(None) => None,
        Ok(Some(layer)) => {
            let cause = &command::trial_cause(locale, &layer);
            Some(locale.with(word::trial::OnlyCopies { cause }))
        }
        Err(refused) => Some(command::trial_refused(locale, &refused)),
    }
}

fn code(status: ExitStatus) -> i32 {
    use crate::platform::os::process::ExitStatusExt as _;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// Tells whether Ctrl+C ended the command.
fn was_interrupted(status: ExitStatus) -> bool {
    code(status) == i32::from(Exit::Interrupted.code())
}

/// Applies what can be; what stands there is kept first, in a session of its own.
fn apply(app: &App, options: &TryOptions, set: &ChangeSet) -> Exit {
    let console = Console::new(&app.locale);
    if set.changes.is_empty() {
        return Exit::Done;
    }
    let ready = set.ready(&|_| true);
    let touches = touches(&ready);
    let mut journal = match begun(app, options) {
        Some(mut journal) if !touches.is_empty() => match journal.before(&touches) {
            Ok(unkept) => {
                if unkept.files > 0 {
                    console.warn(&app.locale.count(word::trial::LOST, unkept.files));
                }
                Some(journal)
            }
            Err(JournalError { path, cause }) => {
                let cause = format!("{}: {cause}", path.display());
                console.warn(&app.locale.with(word::trial::NoUndo { cause: &cause }));
                None
            }
        },
        _ => None,
    };
    let applied = ready.apply();
    let kept = journal.as_mut().is_some_and(|journal| journal.after().is_ok());
    console.note(&app.locale.count(word::trial::APPLIED, applied.done));
    if kept && applied.done > 0 && options.session.is_none() {
        console.note(app.locale.text(word::trial::UNDO));
    }
    for (path, why) in &applied.refused {
        console.warn(&command::trial_unapplied(&app.locale, set.shown(path), why));
    }
    if applied.refused.is_empty() { Exit::Done } else { Exit::Failed }
}

/// Begins a session that says what was applied, and its journal: `axi -c` goes on with it, and `/undo` takes it back.
fn begun(app: &App, options: &TryOptions) -> Option<Journal> {
    if let Some(session) = options.session.as_deref().filter(|session| !session.contains('/')) {
        let mut journal = Journal::new(app.paths.journal()?, session);
        journal.begin_turn(0, 0, SystemTime::now());
        return Some(journal);
    }
    let mut session = session_in(app, app.project.cwd.clone(), true).begun_in(Origin::OneShot);
    let line = options.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let said = app.locale.with(word::trial::Session { line: &line });
    let mark = fingerprint(said.bytes());
    let said = Message::user(said);
    let now = SystemTime::now();
    let kept = session.append_message("", &said, now).and_then(|()| session.sync());
    if let Err(error) = kept {
        tracing::warn!(%error, "no session for what is applied");
        return None;
    }
    let mut journal = Journal::new(app.paths.journal()?, session.id().as_str());
    journal.begin_turn(0, mark, now);
    Some(journal)
}

fn failed(app: &App, path: &str, cause: &str) -> Exit {
    let what = app.locale.with(word::error::Io { path, cause });
    Console::new(&app.locale).fail(&Problem { what, hint: String::new() });
    Exit::Failed
}
