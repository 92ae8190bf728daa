//! A trial and what is needed to run commands in it: in a layer, or in a copy where the system allows no layer.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::context::App;
use crate::agent::Probe;
use crate::child;
use crate::cli::{TryOptions, TryOutput};
use crate::platform::ADOPTS;
use crate::platform::os::fd::AsFd as _;
use crate::platform::os::process::ExitStatusExt as _;
use crate::platform::signal::consts::{SIGINT, SIGQUIT};
use crate::sandbox::{Confinement, Reach, Sandbox, Variables, WorkDirectories};
use crate::trial::{self, GitState, Most, Refused, Trial};

/// The variable by which trials are not offered in questions (`off`), or made in copies (`copy`).
const OFFERED: &str = "AXI_TRIAL";

/// The variable with the file of the person's definitions, which a line finds that was judged by them.
pub(in crate::app) const DEFINITIONS: &str = "AXI_DEFINITIONS";

/// What people say in [`OFFERED`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Offered {
    Yes,
    No,
    InCopies,
}

impl Offered {
    pub(in crate::app) fn of(app: &App) -> Self {
        match app.process.variable(OFFERED).as_deref() {
            Some("off") => Self::No,
            Some("copy") => Self::InCopies,
            Some(_) | None => Self::Yes,
        }
    }
}

/// Where trials are made, and by what.
pub(super) struct Workplace {
    program: Option<PathBuf>,
    sandbox: Sandbox,
    workspace: PathBuf,
    directory: PathBuf,
    /// The file that [`DEFINITIONS`] names.
    definitions: Option<String>,
}

impl Workplace {
    pub(super) fn of(app: &App) -> Self {
        let (workspace, directory) = (app.project.root.clone(), app.project.cwd.clone());
        let definitions = app.process.variable(DEFINITIONS);
        Self { program: app.process.program.clone(), sandbox: app.sandbox(), workspace, directory, definitions }
    }
}

/// A trial, and what is needed to run commands in it.
pub(super) struct Stand {
    pub(super) trial: Trial,
    program: PathBuf,
    confinement: Option<Confinement>,
    directory: PathBuf,
    /// What reads a line, and what it reads before.
    shell: &'static str,
    definitions: Option<String>,
    /// What a call's line does not get of axi's environment; a person's own command gets all of it.
    variables: Option<Variables>,
    /// What the repository was like before anything ran, where a person sees it.
    pub(super) repository: Option<GitState>,
}

impl Stand {
    /// Makes one in a layer.
    pub(super) fn new(workplace: &Workplace, options: &TryOptions, places: &[PathBuf]) -> Result<Self, Refused> {
        let Workplace { program, sandbox, workspace, directory, .. } = workplace;
        let program = program.clone().ok_or(Refused::Unsupported)?;
        let line = options.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let work = WorkDirectories { workspace, directory, temporary: sandbox.temporary(), line: &line };
        let mut also = options.also.clone();
        let reach = Reach::Workspace { network: !options.offline, also: also.clone() };
        let confinement = sandbox.confinement(&reach, work);
        also.extend(sandbox.git_outside(workspace));
        let covered = trial::Scope { workspace, also: &also, lent: &sandbox.lent(), open: &[] };
        let trial = Trial::new(&covered, places)?;
        Ok(Self::of(workplace, options, trial, program, confinement, directory.clone()))
    }

    /// Makes one in a copy.
    pub(super) fn in_copy(
        workplace: &Workplace,
        options: &TryOptions,
        places: &[PathBuf],
        most: Option<Most>,
    ) -> Result<Self, Refused> {
        let program = workplace.program.clone().ok_or(Refused::Unsupported)?;
        // Before anything is copied.
        workplace.sandbox.only(Vec::new(), false).ok_or(Refused::NoSandbox)?;
        let trial = Trial::copied(&workplace.workspace, places, most)?;
        let writable = trial.writable().to_vec();
        let confinement = workplace.sandbox.only(writable, !options.offline).ok_or(Refused::NoSandbox)?;
        let directory = trial.inside(&workplace.directory);
        Ok(Self::of(workplace, options, trial, program, Some(confinement), directory))
    }

    fn of(
        workplace: &Workplace,
        options: &TryOptions,
        trial: Trial,
        program: PathBuf,
        confinement: Option<Confinement>,
        directory: PathBuf,
    ) -> Self {
        // A call's line, which is tried in place of it, is bash's.
        let shell = if options.ask { "bash" } else { "sh" };
        let variables = options.ask.then(|| workplace.sandbox.variables().clone());
        let definitions = workplace.definitions.clone();
        Self { trial, program, confinement, directory, shell, definitions, variables, repository: None }
    }

    /// Asks git, in the trial, what the repository is like; `None` where nobody reads it, or there is none.
    pub(super) fn look_at_repository(&self, options: &TryOptions) -> Option<GitState> {
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
        self.command_for(false)
    }

    fn command_for(&self, has_terminal: bool) -> Command {
        let mut command = Command::new(&self.program);
        if self.trial.is_copy() {
            // It ends what the command leaves behind, and hands the sandbox its judge.
            if ADOPTS {
                command.arg(if has_terminal { child::ADOPT_HERE } else { child::ADOPT_APART });
            }
            let [_, temporary] = self.trial.writable();
            // No cache of the person's is written, either.
            command.env("XDG_CACHE_HOME", temporary.join("cache")).env("npm_config_cache", temporary.join("npm"));
            command.env("TMPDIR", temporary);
        } else {
            command.arg(child::TRIAL).args(self.trial.entry_arguments(&self.directory, has_terminal));
            if self.confinement.is_some() {
                command.arg(&self.program);
            }
        }
        if let Some(confinement) = &self.confinement {
            command.arg(child::CONFINED_HERE).args(confinement.to_arguments());
        }
        command.current_dir(&self.directory);
        command
    }

    /// Runs a program, or a line of the shell, with the terminal that axi has. What programs are to read of the standard
    /// output is not mixed with what the command says: that goes to standard error.
    pub(super) fn run(&self, words: &[OsString], output: TryOutput) -> Result<ExitStatus, Refused> {
        let denied = |error: std::io::Error| Refused::Denied(error.to_string());
        // A job of its own on the terminal, for a shell in there has jobs, too; a copy's adopter sees to that itself.
        let lent = if self.trial.is_copy() { None } else { child::Lent::about_to_be() };
        let mut command = self.command_for(lent.is_some() || self.trial.is_copy());
        command.env_remove(DEFINITIONS);
        if let Some(variables) = &self.variables {
            let line = words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
            variables.keep(&line, &mut command);
        }
        match words {
            [line] => {
                command.args([self.shell, "-c"]).arg(line);
                // Not for a shell: what is started in it would read them, too.
                if let Some(path) = &self.definitions {
                    command.env("BASH_ENV", path);
                }
            }
            words => drop(command.args(words)),
        }
        if output != TryOutput::Page {
            let errors = std::io::stderr().as_fd().try_clone_to_owned().map_err(denied)?;
            command.stdout(Stdio::from(errors));
        }
        // The key is for the command; a handler, not "ignored", which it would inherit.
        let heard = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGQUIT] {
            crate::platform::signal::flag::register(signal, Arc::clone(&heard)).map_err(denied)?;
        }
        let status = command.status().map_err(denied)?;
        drop(lent);
        self.trial.entered()?;
        // Whoever stops axi alone means the command, too.
        let is_stopped = heard.load(Ordering::Relaxed);
        Ok(if is_stopped { ExitStatus::from_raw(SIGINT) } else { status })
    }
}

/// Tells how commands can be tried where this axi works: whether in copies. Makes a trial and runs nothing in it.
///
/// # Errors
/// Why they cannot.
pub(super) fn probed(app: &App) -> Result<Option<Refused>, Refused> {
    let (workplace, places) = (Workplace::of(app), trial::places(app.paths.state.as_deref()));
    let layer = if Offered::of(app) == Offered::InCopies {
        Err(Refused::Denied(format!("{OFFERED}=copy")))
    } else {
        layered(&workplace, &places)
    };
    match layer {
        Ok(()) => Ok(None),
        Err(refused) if !refused.leaves_copy() => Err(refused),
        // How large a copy would be is seen, and asked, when there is something to try.
        Err(refused) => match workplace.sandbox.only(Vec::new(), false) {
            Some(_) => Ok(Some(refused)),
            None => Err(Refused::Neither { layer: Box::new(refused), copy: Box::new(Refused::NoSandbox) }),
        },
    }
}

/// Makes what tells, when it is asked, whether commands can be tried in layers.
pub(in crate::app) fn layer_probe(app: &App) -> Probe {
    let (offered, workplace) = (Offered::of(app), Workplace::of(app));
    let places = trial::places(app.paths.state.as_deref());
    Box::new(move || offered == Offered::Yes && layered(&workplace, &places).is_ok())
}

/// Makes a layer and runs nothing in it.
fn layered(workplace: &Workplace, places: &[PathBuf]) -> Result<(), Refused> {
    let stand = Stand::new(workplace, &TryOptions::default(), places)?;
    let mut command = stand.command();
    command.arg("true").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().map_err(|error| Refused::Denied(error.to_string()))?;
    stand.trial.entered()
}
