//! Starting a command: what it is held to, what it finds around it, which helpers stand between it and axi.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::SystemTime;

use crate::child;
use crate::child::keeper::ON_IT;
use crate::child::processes::{DETACHED_MARK, MARK};
use crate::child::rm::VARIABLE;
use crate::platform::ADOPTS;
use crate::platform::os::fd::OwnedFd;
use crate::platform::os::net::UnixStream;
use crate::sandbox::{Confinement, Reach, SandboxState, Variables, WorkDirectories};
use crate::secret::files::git_attributes;
use crate::tool::ToolContext;
use crate::trial::Trial;

use super::environment::{ASKING, HANDOFF, REMOVED, SET, editors};
use super::loan::Loan;
use super::own_directory::OwnDirectory;
use super::person_shell::PersonShell;
use super::trash::OpenTrash;
use crate::tool::jobs::DetachedJobs;
use crate::tool::jobs::Started;
use crate::tool::jobs::{Group, Mark};

/// What a command is held to, and the directory it has for itself.
pub(crate) struct Resources {
    pub(crate) confinement: Option<Confinement>,
    temporary: Option<OwnDirectory>,
    /// Where temporary files go when there is no such place as the environment says.
    instead: Option<PathBuf>,
    trash: Option<OpenTrash>,
    variables: Variables,
    /// What enters the trial that it runs in.
    trial: Vec<OsString>,
}

impl Resources {
    pub(crate) fn new(
        helper: Option<&Path>,
        line: &str,
        directory: &Path,
        context: &ToolContext<'_>,
    ) -> std::io::Result<Self> {
        Self::with(OwnDirectory::new, helper, (line, directory), context)
    }

    /// Where it can write whatever holds it.
    pub(crate) fn temporary<'a>(&'a self, context: &'a ToolContext<'_>) -> &'a Path {
        self.temporary.as_ref().map_or(context.sandbox.temporary(), OwnDirectory::path)
    }

    /// Writes what a command finds of the person's shell.
    pub(crate) fn definitions(
        &self,
        person: Option<&PersonShell>,
        context: &ToolContext<'_>,
    ) -> std::io::Result<Option<tempfile::TempPath>> {
        person.map_or(Ok(None), |person| person.definitions(self.temporary(context)))
    }

    fn with(
        own: fn(&Path) -> std::io::Result<OwnDirectory>,
        helper: Option<&Path>,
        (line, directory): (&str, &Path),
        context: &ToolContext<'_>,
    ) -> std::io::Result<Self> {
        let trash = helper.zip(context.trash.clone());
        let trash = trash.and_then(|(helper, trash)| {
            let open = OpenTrash::new(helper, context.sandbox.temporary(), trash);
            // What can be read off the command is kept all the same.
            open.inspect_err(|error| tracing::warn!(%error, "no trash")).ok()
        });
        let instead = context.sandbox.temporary_instead().map(Path::to_owned);
        let variables = context.sandbox.variables().clone();
        let trial = entry(context.trial, directory);
        let nothing = |trash, instead, variables, trial| Self {
            confinement: None,
            temporary: None,
            instead,
            trash,
            variables,
            trial,
        };
        // Only the helper can put anything on.
        if helper.is_none() || !matches!(context.sandbox.state(), SandboxState::On(_)) {
            return Ok(nothing(trash, instead, variables, trial));
        }
        let shared = context.sandbox.temporary();
        let temporary = match context.reach {
            Reach::Full => return Ok(nothing(trash, instead, variables, trial)),
            Reach::Workspace { .. } | Reach::Alone => None,
            Reach::ReadOnly => Some(own(shared)?),
        };
        let writable = temporary.as_ref().map_or(shared, OwnDirectory::path);
        let ground = WorkDirectories { workspace: &context.roots.workspace, directory, temporary: writable, line };
        let confinement = context.sandbox.confinement(context.reach, ground);
        Ok(Self { confinement, temporary, instead, trash, variables, trial })
    }
}

/// What enters a trial, before the helper that becomes the command there.
fn entry(trial: Option<&Trial>, directory: &Path) -> Vec<OsString> {
    let arguments = trial.map(|trial| trial.entry_arguments(directory, false));
    arguments.map(|all| std::iter::once(child::TRIAL.into()).chain(all).collect()).unwrap_or_default()
}

/// A program with its arguments, which no shell reads.
#[derive(Clone, Copy)]
pub(crate) struct Program<'a> {
    pub(crate) path: &'a Path,
    pub(crate) arguments: &'a [String],
}

/// What a command is made of.
pub(crate) struct Launch<'a> {
    pub(crate) helper: Option<&'a Path>,
    /// What a shell runs, or what says the same as the program.
    pub(crate) line: &'a str,
    /// What runs instead of a shell.
    pub(crate) program: Option<Program<'a>>,
    /// What bash reads before the line.
    pub(crate) environment: Option<&'a Path>,
    pub(crate) directory: &'a Path,
    pub(crate) mark: &'a Mark,
    pub(crate) resources: &'a Resources,
    /// Whether it goes on when axi ends.
    pub(crate) detached: bool,
}

impl Launch<'_> {
    /// Puts the command together. `tells` is where the adopter says that it found something.
    fn command(
        &self,
        shell: &Path,
        writer: &OwnedFd,
        tells: OwnedFd,
        terminal: Option<(&mut Loan, &str)>,
    ) -> std::io::Result<std::process::Command> {
        use crate::platform::os::process::CommandExt as _;
        let Self { helper, line, program, environment, directory, mark, resources, detached } = self;
        let first = program.as_ref().map_or(shell, |program| program.path);
        let interactive = matches!(&terminal, Some((_, mode)) if *mode == ON_IT);
        let asking = terminal.is_some();
        let mut command = std::process::Command::new(helper.map_or(first, |helper| helper));
        let mut input = Stdio::null();
        let mut errors = Stdio::from(writer.try_clone()?);
        if adopts(*helper) {
            command.arg(child::ADOPT);
            errors = Stdio::from(tells);
        }
        if let (Some((loan, mode)), Some(helper)) = (terminal, helper) {
            command.arg(child::KEEPER).arg(mode).arg(loan.name()).arg(helper);
            input = loan.stdin();
        }
        if let Some(helper) = helper.filter(|_| !resources.trial.is_empty()) {
            command.args(&resources.trial).arg(helper);
        }
        match (&resources.confinement, helper) {
            (_, None) => drop(command.process_group(0)),
            (None, Some(_)) => drop(command.arg(child::PLAIN).arg(first)),
            (Some(confinement), Some(_)) => {
                command.arg(child::CONFINED).args(confinement.to_arguments()).arg(first);
            }
        }
        match program {
            Some(program) => drop(command.args(program.arguments)),
            None => drop(command.arg("-c").arg(line)),
        }
        command.current_dir(directory);
        command.stdin(input).stdout(writer.try_clone()?).stderr(errors);
        for name in HANDOFF {
            command.env_remove(name);
        }
        for name in kept_from(&resources.variables, line) {
            command.env_remove(name);
        }
        if !interactive {
            for name in REMOVED {
                command.env_remove(name);
            }
            let set = SET.iter().filter(|(name, _)| !asking || !ASKING.contains(name));
            command.envs(set.copied());
            if asking {
                command.envs(editors(|name| std::env::var(name).ok()));
            }
        }
        let (set, other) = if *detached { (DETACHED_MARK, MARK) } else { (MARK, DETACHED_MARK) };
        if let Some(environment) = environment {
            command.env("BASH_ENV", environment);
        }
        command.env_remove(other).env(set, mark.value()).env("PWD", directory);
        match resources.trash.as_ref().filter(|_| !detached) {
            Some(trash) => drop(command.env(VARIABLE, trash.directory())),
            None => drop(command.env_remove(VARIABLE)),
        }
        if let Some(instead) = &resources.instead {
            command.env("TMPDIR", instead);
        }
        if let Some(temporary) = &resources.temporary {
            // Looking at a repository refreshes its index where it can; here it cannot.
            command.env("TMPDIR", temporary.path()).env("GIT_OPTIONAL_LOCKS", "0");
            // A module of the workspace must not stand in for one of Python's own.
            command.env("PYTHONSAFEPATH", "1");
            if line.contains("git") {
                command.envs(secret_history(temporary.path())?);
            }
        }
        Ok(command)
    }

    /// Starts it, a line with bash, or sh where there is none.
    pub(crate) fn start<C>(
        &self,
        writer: OwnedFd,
        tells: OwnedFd,
        mut terminal: Option<(&mut Loan, &str)>,
        spawn: impl Fn(std::process::Command) -> std::io::Result<C>,
    ) -> std::io::Result<C> {
        let lent = terminal.as_mut().map(|(loan, mode)| (&mut **loan, *mode));
        let bash = crate::platform::bash()?;
        let child = match spawn(self.command(&bash, &writer, tells.try_clone()?, lent)?) {
            Err(error)
                if error.kind() == std::io::ErrorKind::NotFound
                    && self.helper.is_none()
                    && self.program.is_none()
                    && self.directory.is_dir() =>
            {
                spawn(self.command(Path::new("sh"), &writer, tells, terminal)?)
            }
            other => other,
        };
        // As long as we hold a writing end the pipe does not end; those in the commands went with them.
        drop(writer);
        child
    }
}

/// Has git show no content of secret files that were committed: nobody sees a file opened there. The repository's own
/// attributes go before these.
fn secret_history(place: &Path) -> std::io::Result<[(String, std::ffi::OsString); 3]> {
    let attributes = place.join(".git-attributes");
    std::fs::write(&attributes, git_attributes())?;
    // The person may have settings there (git-config(1)).
    let set = std::env::var("GIT_CONFIG_COUNT").ok().and_then(|count| count.parse().ok()).unwrap_or(0_u32);
    Ok([
        ("GIT_CONFIG_COUNT".to_owned(), (set.saturating_add(1)).to_string().into()),
        (format!("GIT_CONFIG_KEY_{set}"), "core.attributesFile".into()),
        (format!("GIT_CONFIG_VALUE_{set}"), attributes.into()),
    ])
}

/// Lists the variables of this process that a command does not get.
fn kept_from(variables: &Variables, line: &str) -> Vec<String> {
    variables.kept_from(line, own_names())
}

/// Lists those of them that it gets if its line names them.
pub(crate) fn nameable(variables: &Variables, line: &str) -> Vec<String> {
    variables.nameable(line, own_names())
}

fn own_names() -> impl Iterator<Item = String> {
    std::env::vars_os().filter_map(|(name, _)| name.into_string().ok())
}

/// Starts a command that goes on by itself, as a job of the session.
///
/// # Errors
/// What the system said when it could not be started.
pub(crate) fn start_job(
    (helper, person): (Option<&Path>, Option<&PersonShell>),
    line: &str,
    directory: &Path,
    context: &ToolContext<'_>,
) -> std::io::Result<u64> {
    let mark = Mark::new();
    let (reader, writer) = std::io::pipe()?;
    let (told, tells) = UnixStream::pair()?;
    let resources = Resources::new(helper, line, directory, context)?;
    let environment = resources.definitions(person, context)?;
    let launch = Launch {
        helper,
        line,
        program: None,
        environment: environment.as_deref(),
        directory,
        mark: &mark,
        resources: &resources,
        detached: false,
    };
    let child = launch.start(writer.into(), tells.into(), None, |mut command| command.spawn())?;
    let path = context.output_dir.join(format!("job-{}.txt", mark.value()));
    let group = Group::of(child.id(), mark, adopts(helper))?;
    let started = Started { child, group, reader, held: Box::new((resources, told, environment)) };
    context.memory.jobs.add(line.to_owned(), started, path)
}

/// Starts a command that goes on when axi ends.
///
/// # Errors
/// What the system said when it could not be started.
pub(crate) fn start_detached(
    (helper, person): (Option<&Path>, Option<&PersonShell>),
    line: &str,
    directory: &Path,
    now: SystemTime,
    context: &ToolContext<'_>,
) -> std::io::Result<u64> {
    let mark = Mark::new();
    let mut resources = Resources::with(OwnDirectory::staying, helper, (line, directory), context)?;
    let (_, tells) = UnixStream::pair()?;
    let environment = resources.definitions(person, context)?;
    let reserved = DetachedJobs::in_directory(context.output_dir).reserve()?;
    let launch = Launch {
        helper,
        line,
        program: None,
        environment: environment.as_deref(),
        directory,
        mark: &mark,
        resources: &resources,
        detached: true,
    };
    let started = reserved
        .output
        .try_clone()
        .and_then(|output| launch.start(output.into(), tells.into(), None, |mut command| command.spawn()));
    match started {
        Ok(child) => {
            if let Some(environment) = environment {
                // Nobody here sees when it has been read.
                drop(environment.keep());
            }
            if let Some(temporary) = resources.temporary.take() {
                // Its directory lives as long as it does.
                temporary.stay();
            }
            // The file that tells of it outlives this axi, too.
            reserved.keep(child, (&(context.redact)(line), directory, &mark), now)
        }
        Err(error) => {
            reserved.give_back();
            Err(error)
        }
    }
}

/// Tells whether an adopter stands between axi and its commands.
pub(crate) const fn adopts(helper: Option<&Path>) -> bool {
    helper.is_some() && ADOPTS
}
