//! `axi try`: a command runs in a trial, outside of any conversation and without a model.

use std::ffi::OsString;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use super::super::console::Console;
use super::super::context::App;
use super::super::talk::session_in;
use crate::child;
use crate::cli::{TryOptions, TryOutput};
use crate::command::{self, GitState, Problem};
use crate::conversation::Message;
use crate::fingerprint::fingerprint;
use crate::frontend::exit::Exit;
use crate::journal::{self, Journal, JournalError, Touch};
use crate::locale::{Locale, word};
use crate::sandbox::{Confinement, Reach, WorkDirectories};
use crate::session::Origin;
use crate::trial::{self, ChangeSet, Ground, How, Kind, Refused, Trial, Why};

/// What stands before and behind a question of a trial, for whoever reads its output: sequences that no terminal shows.
pub(in crate::app) const ASKING: &str = "\x1b[0;27;0;27m";
/// As above.
pub(in crate::app) const ASKED: &str = "\x1b[27;0;27;0m";

/// The variable by which trials are not offered in questions: `off`.
const OFFERED: &str = "AXI_TRIAL";

/// Runs a command in a trial, and prints or applies what it changed.
pub(in crate::app) fn trial(app: &App, options: &TryOptions) -> Exit {
    let console = Console::new(&app.locale);
    let places = trial::places(app.paths.state.as_deref());
    trial::sweep(&places);
    let tried = Stand::new(app, options, &places).and_then(|stand| {
        let status = stand.run(&options.command, options.output)?;
        Ok((stand, status))
    });
    let (stand, mut status) = match tried {
        Ok(tried) => tried,
        Err(refused) => {
            console.fail(&Problem { what: command::trial_refused(&app.locale, &refused), hint: String::new() });
            return Exit::Failed;
        }
    };
    loop {
        let set = match stand.trial.changes() {
            Ok(set) => set,
            Err(error) => return failed(app, &stand.trial.workspace().display().to_string(), &error.to_string()),
        };
        let shown = match options.output {
            TryOutput::Page => {
                let mut page = command::trial_page(&app.locale, &set, code(status));
                if let Some((before, after)) = stand.repository.as_ref().zip(stand.look_at_repository(options)) {
                    page += &command::trial_git(&app.locale, before, &after);
                }
                console.page(page.trim_end())
            }
            TryOutput::Json => console.json(&command::trial_json(&set, code(status))),
            TryOutput::Patch => match command::trial_patch(&set) {
                patch if patch.is_empty() => Exit::Done,
                patch => console.print(&patch),
            },
        };
        if options.ask {
            match decided(app, &stand, &set, &mut status) {
                Some(true) => return apply(app, options, &set),
                Some(false) => return Exit::ApprovalNeeded,
                None => continue,
            }
        }
        if !options.apply {
            if options.output == TryOutput::Page && !set.changes.is_empty() {
                console.note(app.locale.text(word::trial::UNTOUCHED));
            }
            return shown;
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

/// Asks what becomes of a trial: applied, dropped, or `None` where more ran in it.
fn decided(app: &App, stand: &Stand<'_>, set: &ChangeSet, status: &mut ExitStatus) -> Option<bool> {
    let (locale, console, asker) = (&app.locale, Console::new(&app.locale), app.asker());
    let keys = [
        ('y', word::trial::ask::APPLY),
        ('n', word::trial::ask::DROP),
        ('d', word::trial::ask::DIFF),
        ('r', word::trial::ask::MORE),
    ];
    let items = keys.map(|(key, text)| (key, locale.text(text).to_owned()));
    // What is lost by an Enter too many is not applied by one.
    let start = usize::from(set.changes.iter().any(|change| change.kind == Kind::Deleted));
    loop {
        // What a person reads in order to decide is not told to the model.
        console.control(ASKING);
        let chosen = asker.decide_from(locale.text(word::trial::ask::QUESTION), "", &items, start);
        let words = match chosen {
            Ok(2) => {
                console.page(command::trial_patch(set).trim_end());
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

/// Tells whether commands can be tried where this axi works: makes a trial and runs nothing in it.
pub(in crate::app) fn can_try(app: &App) -> bool {
    app.process.variable(OFFERED).is_none_or(|offered| offered != "off")
        && probed(app).inspect_err(|error| tracing::info!(%error, "no trials")).is_ok()
}

/// Says why commands cannot be tried where this axi works; `None` where they can.
pub(in crate::app) fn why_not(app: &App, locale: &Locale) -> Option<String> {
    if app.process.variable(OFFERED).is_some_and(|offered| offered == "off") {
        return Some(locale.with(word::trial::Cannot { cause: "AXI_TRIAL=off" }));
    }
    probed(app).err().map(|refused| command::trial_refused(locale, &refused))
}

fn probed(app: &App) -> Result<(), Refused> {
    let places = trial::places(app.paths.state.as_deref());
    let options = TryOptions::default();
    let stand = Stand::new(app, &options, &places)?;
    let mut command = stand.command();
    command.arg("true").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().map_err(|error| Refused::Denied(error.to_string()))?;
    stand.trial.entered()
}

/// A trial, and what is needed to run commands in it.
pub(super) struct Stand<'a> {
    pub(super) trial: Trial,
    program: PathBuf,
    confinement: Option<Confinement>,
    directory: &'a Path,
    /// What the repository was like before anything ran, where a person sees it.
    repository: Option<GitState>,
}

impl<'a> Stand<'a> {
    pub(super) fn new(app: &'a App, options: &TryOptions, places: &[PathBuf]) -> Result<Self, Refused> {
        let program = app.process.program.clone().ok_or(Refused::Unsupported)?;
        let sandbox = app.sandbox();
        let line = options.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let (workspace, directory) = (&app.project.root, &app.project.cwd);
        let ground = WorkDirectories { workspace, directory, temporary: sandbox.temporary(), line: &line };
        let mut also = options.also.clone();
        let reach = Reach::Workspace { network: !options.offline, also: also.clone() };
        let confinement = sandbox.confinement(&reach, ground);
        also.extend(sandbox.git_outside(workspace));
        let trial = Trial::new(&Ground { workspace, also: &also, lent: &sandbox.lent() }, places)?;
        let mut stand = Self { trial, program, confinement, directory, repository: None };
        stand.repository = stand.look_at_repository(options);
        Ok(stand)
    }

    /// Asks git, in the trial, what the repository is like; `None` where nobody reads it, or there is none.
    fn look_at_repository(&self, options: &TryOptions) -> Option<GitState> {
        if options.output != TryOutput::Page
            || options.command.is_empty()
            || !self.trial.workspace().join(".git").exists()
        {
            return None;
        }
        let ran = self.command().args(GitState::COMMAND).stdin(Stdio::null()).output().ok()?;
        ran.status.success().then(|| GitState::parse(&String::from_utf8_lossy(&ran.stdout)))
    }

    /// What enters the trial; the program to run there comes behind it.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(child::TRIAL).args(self.trial.entry(self.directory).to_arguments());
        if let Some(confinement) = &self.confinement {
            command.arg(&self.program).arg(child::CONFINED_HERE).args(confinement.to_arguments());
        }
        command.current_dir(self.directory);
        command
    }

    /// Runs a program, or a line of the shell, with the terminal that axi has. What programs are to read of the standard
    /// output is not mixed with what the command says: that goes to standard error.
    fn run(&self, words: &[OsString], output: TryOutput) -> Result<ExitStatus, Refused> {
        let denied = |error: std::io::Error| Refused::Denied(error.to_string());
        let mut command = self.command();
        match words {
            [line] => drop(command.args(["sh", "-c"]).arg(line)),
            words => drop(command.args(words)),
        }
        if output != TryOutput::Page {
            let errors = std::io::stderr().as_fd().try_clone_to_owned().map_err(denied)?;
            command.stdout(Stdio::from(errors));
        }
        // The key is for the command; a handler, not "ignored", which it would inherit.
        let heard = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGQUIT] {
            signal_hook::flag::register(signal, Arc::clone(&heard)).map_err(denied)?;
        }
        let status = command.status().map_err(denied)?;
        self.trial.entered()?;
        Ok(status)
    }
}

fn code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// Applies what can be; what stands there is kept first, in a session of its own.
fn apply(app: &App, options: &TryOptions, set: &ChangeSet) -> Exit {
    let console = Console::new(&app.locale);
    if set.changes.is_empty() {
        return Exit::Done;
    }
    let ready = set.ready(&|_| true);
    let touches: Vec<Touch> = ready.writes().into_iter().map(touch).collect();
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
        let cause = match why {
            Why::Meanwhile => app.locale.text(word::trial::MEANWHILE),
            Why::Failed(cause) => cause,
        };
        let path = &set.shown(path).display().to_string();
        console.warn(&app.locale.with(word::trial::Refused { path, cause }));
    }
    if applied.refused.is_empty() { Exit::Done } else { Exit::Failed }
}

/// How the journal is told of a path that is about to be written.
fn touch((path, how): (PathBuf, How)) -> Touch {
    let how = match how {
        How::Removed => journal::How::Removed,
        How::Any => journal::How::Any,
        How::Attributes => journal::How::Attributes,
    };
    Touch { path, tree: false, how }
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
