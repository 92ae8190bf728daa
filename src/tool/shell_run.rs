//! Running one command: its pipe, its clock, its end. Leaves no process behind.

use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, Signal};
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;
use tokio::process::Command;
use tokio::time::Instant;

use super::ToolContext;
use super::jobs::{self, Started};
use super::shell::{OFFLINE_NOTE, READ_ONLY_NOTE, WORKSPACE_NOTE};
use super::shell_environment::{ASKING, HANDOFF, MARK, REMOVED, SET};
use super::shell_group::{Group, Mark};
use super::shell_keeper::{self, APART, ON_IT};
use super::shell_loan::{self, Loan, Told as Word};
use super::shell_output::{Collected, Progress, Told};
use super::shell_trash::{OpenTrash, VARIABLE};
use super::{interactive, kept, shell_adopter, shell_child, work};
use crate::sandbox::{Confinement, Ground, Reach, Standing};

/// From TERM to KILL.
const TERM_GRACE: Duration = Duration::from_secs(2);
/// From TERM to KILL for what a finished command left in the background.
const BACKGROUND_GRACE: Duration = Duration::from_millis(300);
/// How long the pipe of a finished command is read that a background process holds open.
const PIPE_GRACE: Duration = Duration::from_millis(200);
/// How long KILL may take; a process that waits for a dead disk outlives even that.
const KILL_GRACE: Duration = Duration::from_millis(300);
/// The live row is told at most this often.
const PROGRESS: Duration = Duration::from_millis(50);
/// Looks for survivors are this far apart.
const LOOK: Duration = Duration::from_millis(20);

/// Why a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// By itself.
    Finished,
    /// Its time was over.
    TimedOut,
    /// The turn was cancelled.
    Cancelled,
    /// It wanted the terminal, which could not be lent, or which the person had taken back.
    NoTerminal,
}

/// A command that ended.
pub(crate) struct Ended {
    /// Why.
    pub(crate) reason: Reason,
    /// How; `None` for one that could not even be killed.
    pub(crate) status: Option<ExitStatus>,
    /// What it printed.
    pub(crate) told: Told,
    /// Whether processes it had left in the background were ended.
    pub(crate) background: bool,
    /// What to tell the model of what held it, should it have failed for that.
    pub(crate) held: Option<&'static str>,
    /// Whether it had the person's terminal.
    pub(crate) lent: bool,
}

/// Ends the processes of a command whose future is dropped.
struct Guard {
    group: Group,
    reaped: bool,
    armed: bool,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.armed {
            self.group.signal(Signal::KILL, self.reaped);
        }
    }
}

/// Runs a command line with bash, or sh where there is none.
///
/// # Errors
/// What the system said when it could not be started.
///
/// # Cancel safety
/// Dropped, it kills all processes of the command at once.
pub(crate) async fn run(
    helper: Option<&Path>,
    (line, interactive): (&str, bool),
    directory: &Path,
    limit: Duration,
    context: &ToolContext<'_>,
) -> std::io::Result<Ended> {
    let mark = Mark::new();
    let (reader, writer) = std::io::pipe()?;
    let held = Held::new(helper, directory, context)?;
    let possible = shell_loan::is_possible(helper, &context.person);
    let mut loan = if possible { Some(Loan::new()?) } else { None };
    if interactive && let Some(loan) = &mut loan {
        // Before there is anything to see.
        loan.lend(&context.person).await;
    }
    let terminal = loan.as_mut().map(|loan| (loan, if interactive { ON_IT } else { APART }));
    let (told, tells) = UnixStream::pair()?;
    let parts = Parts { helper, line, directory, mark: &mark, held: &held, kept: false };
    let mut child = parts.start(writer.into(), tells.into(), terminal, |command| {
        // An adopter is told to end, by the guard, and then kills all the others.
        Command::from(command).kill_on_drop(!adopts(helper)).spawn()
    })?;
    let mut pipe = Receiver::from_owned_fd(reader.into())?;
    let Some(leader) = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)) else {
        return Err(std::io::Error::other("the process has no number"));
    };
    let mut guard = Guard { group: Group::new(leader, mark.clone(), adopts(helper)), reaped: false, armed: true };
    let mut collected = Collected::new(context.output_dir.join(format!("shell-{}.txt", mark.value())));
    let mut progress = Progress::new(context.progress.clone());

    let mut reason = None;
    let mut status = None;
    let mut open = true;
    let (mut hearing, mut was_lent) = (loan.is_some(), interactive);
    let mut deadline = Instant::now() + limit;
    let mut lent_at = interactive.then(Instant::now);
    let mut kill_at: Option<Instant> = None;
    let mut give_up_at: Option<Instant> = None;
    let mut tell_at: Option<Instant> = None;
    let mut buffer = vec![0; 64 * 1024];
    while status.is_none() || open {
        let mut stop = None;
        tokio::select! {
            biased;
            () = context.cancel.cancelled(), if reason.is_none() => stop = Some(Reason::Cancelled),
            () = at(Some(deadline)), if reason.is_none() && status.is_none() && lent_at.is_none() => stop = Some(Reason::TimedOut),
            () = at(kill_at), if kill_at.is_some() => {
                guard.group.signal(Signal::KILL, guard.reaped);
                kill_at = None;
                give_up_at = Some(Instant::now() + KILL_GRACE);
            }
            () = at(give_up_at), if give_up_at.is_some() => break,
            ended = child.wait(), if status.is_none() => {
                status = Some(ended?);
                guard.reaped = true;
                if reason.is_none() {
                    give_up_at = Some(Instant::now() + PIPE_GRACE);
                }
            }
            word = heard(loan.as_mut()), if hearing && status.is_none() => {
                let Some(loan) = &mut loan else { continue };
                match word {
                    Word::Ended => hearing = false,
                    Word::Wants if reason.is_some() => {}
                    Word::Wants => {
                        if loan.lend(&context.person).await {
                            lent_at = lent_at.or_else(|| Some(Instant::now()));
                            was_lent = true;
                        } else {
                            stop = Some(Reason::NoTerminal);
                        }
                    }
                    Word::Stopped => {
                        loan.take_back(&context.person).await;
                        // What it took the person is not the command's time.
                        deadline += lent_at.take().map_or(Duration::ZERO, |at| at.elapsed());
                    }
                }
            }
            () = at(tell_at), if tell_at.is_some() => {
                progress.flush();
                tell_at = None;
            }
            read = pipe.read(&mut buffer), if open => match read {
                Ok(0) | Err(_) => open = false,
                Ok(length) => {
                    if let Some(loan) = &loan {
                        loan.show(&buffer[..length]);
                    }
                    progress.push(&buffer[..length]);
                    tell_at = tell_at.or_else(|| Some(Instant::now() + PROGRESS));
                    if collected.push(&buffer[..length]) {
                        collected.flush().await;
                    }
                }
            },
        }
        if stop.is_some() {
            reason = stop;
            guard.group.signal(Signal::TERM, guard.reaped);
            kill_at = Some(Instant::now() + TERM_GRACE);
            give_up_at = None;
        }
    }
    if let Some(loan) = &mut loan {
        loan.end(&context.person).await;
    }
    progress.flush();
    let grace = kill_at.map_or(BACKGROUND_GRACE, |at| at.saturating_duration_since(Instant::now()));
    let background = sweep(&guard, grace).await | left_some(&told);
    guard.armed = false;
    let reason = reason.unwrap_or(Reason::Finished);
    let note = held.note();
    // What is left in its directory may be much.
    drop(work::to_the_end(move || drop(held)).await);
    Ok(Ended { reason, status, told: collected.tell().await, background, held: note, lent: was_lent })
}

/// What a command is held to, and the directory it has for itself.
struct Held {
    confinement: Option<Confinement>,
    temporary: Option<TempDir>,
    trash: Option<OpenTrash>,
}

impl Held {
    fn new(helper: Option<&Path>, directory: &Path, context: &ToolContext<'_>) -> std::io::Result<Self> {
        let trash = helper.zip(context.trash.clone());
        let trash = trash.and_then(|(helper, trash)| {
            let open = OpenTrash::new(helper, context.sandbox.temporary(), trash);
            // What can be read off the command is kept all the same.
            open.inspect_err(|error| tracing::warn!(%error, "no trash")).ok()
        });
        let nothing = |trash| Self { confinement: None, temporary: None, trash };
        // Only the helper can put anything on.
        if helper.is_none() || !matches!(context.sandbox.standing(), Standing::On(_)) {
            return Ok(nothing(trash));
        }
        let shared = context.sandbox.temporary();
        let own = match context.reach {
            Reach::Full => return Ok(nothing(trash)),
            Reach::Workspace { .. } => None,
            Reach::ReadOnly => {
                let permissions = std::fs::Permissions::from_mode(0o700);
                Some(tempfile::Builder::new().prefix("axi-").permissions(permissions).tempdir_in(shared)?)
            }
        };
        let temporary = own.as_ref().map_or(shared, TempDir::path);
        let ground = Ground { workspace: &context.place.workspace, directory, temporary };
        let confinement = context.sandbox.confinement(context.reach, ground);
        Ok(Self { confinement, temporary: own, trash })
    }

    fn note(&self) -> Option<&'static str> {
        let confinement = self.confinement.as_ref()?;
        Some(match (confinement.is_read_only(), confinement.has_network()) {
            (true, _) => READ_ONLY_NOTE,
            (false, true) => WORKSPACE_NOTE,
            (false, false) => OFFLINE_NOTE,
        })
    }
}

/// What a command is made of.
struct Parts<'a> {
    helper: Option<&'a Path>,
    line: &'a str,
    directory: &'a Path,
    mark: &'a Mark,
    held: &'a Held,
    /// Whether it goes on when axi ends.
    kept: bool,
}

impl Parts<'_> {
    /// Puts the command together. `tells` is where the adopter says that it found something.
    fn command(
        &self,
        shell: &str,
        writer: &OwnedFd,
        tells: OwnedFd,
        terminal: Option<(&mut Loan, &str)>,
    ) -> std::io::Result<std::process::Command> {
        use std::os::unix::process::CommandExt as _;
        let Self { helper, line, directory, mark, held, kept } = self;
        let interactive = matches!(&terminal, Some((_, mode)) if *mode == ON_IT);
        let asking = terminal.is_some();
        let mut command = std::process::Command::new(helper.map_or(Path::new(shell), |helper| helper));
        let mut input = Stdio::null();
        let mut errors = Stdio::from(writer.try_clone()?);
        if adopts(*helper) {
            command.arg(shell_adopter::ARGUMENT);
            errors = Stdio::from(tells);
        }
        if let (Some((loan, mode)), Some(helper)) = (terminal, helper) {
            command.arg(shell_keeper::ARGUMENT).arg(mode).arg(loan.name()).arg(helper);
            input = loan.stdin();
        }
        match (&held.confinement, helper) {
            (_, None) => drop(command.process_group(0)),
            (None, Some(_)) => drop(command.arg(shell_child::ARGUMENT).arg(shell)),
            (Some(confinement), Some(_)) => {
                command.arg(shell_child::CONFINED_ARGUMENT).args(confinement.to_arguments()).arg(shell);
            }
        }
        command.arg("-c").arg(line).current_dir(directory);
        command.stdin(input).stdout(writer.try_clone()?).stderr(errors);
        for name in HANDOFF {
            command.env_remove(name);
        }
        if !interactive {
            for name in REMOVED {
                command.env_remove(name);
            }
            let set = SET.iter().filter(|(name, _)| !asking || !ASKING.contains(name));
            command.envs(set.copied());
        }
        let (set, other) = if *kept { (kept::MARK, MARK) } else { (MARK, kept::MARK) };
        command.env_remove(other).env(set, mark.value()).env("PWD", directory);
        match held.trash.as_ref().filter(|_| !kept) {
            Some(trash) => drop(command.env(VARIABLE, trash.directory())),
            None => drop(command.env_remove(VARIABLE)),
        }
        if let Some(temporary) = &held.temporary {
            // Looking at a repository refreshes its index where it can; here it cannot.
            command.env("TMPDIR", temporary.path()).env("GIT_OPTIONAL_LOCKS", "0");
            // A module of the workspace must not stand in for one of Python's own.
            command.env("PYTHONSAFEPATH", "1");
        }
        Ok(command)
    }

    /// Starts it with bash, or sh where there is none.
    fn start<C>(
        &self,
        writer: OwnedFd,
        tells: OwnedFd,
        mut terminal: Option<(&mut Loan, &str)>,
        spawn: impl Fn(std::process::Command) -> std::io::Result<C>,
    ) -> std::io::Result<C> {
        let lent = terminal.as_mut().map(|(loan, mode)| (&mut **loan, *mode));
        let child = match spawn(self.command("bash", &writer, tells.try_clone()?, lent)?) {
            Err(error)
                if error.kind() == std::io::ErrorKind::NotFound
                    && self.helper.is_none()
                    && self.directory.is_dir() =>
            {
                spawn(self.command("sh", &writer, tells, terminal)?)
            }
            other => other,
        };
        // As long as we hold a writing end the pipe does not end; those in the commands went with them.
        drop(writer);
        child
    }
}

/// Starts a command that goes on by itself, as a job of the session.
///
/// # Errors
/// What the system said when it could not be started.
pub(crate) fn start_job(
    helper: Option<&Path>,
    line: &str,
    directory: &Path,
    context: &ToolContext<'_>,
) -> std::io::Result<u64> {
    let mark = Mark::new();
    let (reader, writer) = std::io::pipe()?;
    let (told, tells) = UnixStream::pair()?;
    let held = Held::new(helper, directory, context)?;
    let parts = Parts { helper, line, directory, mark: &mark, held: &held, kept: false };
    let child = parts.start(writer.into(), tells.into(), None, |mut command| command.spawn())?;
    let path = context.output_dir.join(format!("job-{}.txt", mark.value()));
    let group = jobs::group_of(&child, mark, adopts(helper))?;
    let started = Started { child, group, reader, held: Box::new((held, told)) };
    context.memory.jobs.add(line.to_owned(), started, path)
}

/// Starts a command that goes on when axi ends.
///
/// # Errors
/// What the system said when it could not be started.
pub(crate) fn start_kept(
    helper: Option<&Path>,
    line: &str,
    directory: &Path,
    now: SystemTime,
    context: &ToolContext<'_>,
) -> std::io::Result<u64> {
    let mark = Mark::new();
    let mut held = Held::new(helper, directory, context)?;
    let (_, tells) = UnixStream::pair()?;
    let taken = kept::take(context.output_dir)?;
    let parts = Parts { helper, line, directory, mark: &mark, held: &held, kept: true };
    let started = taken
        .output
        .try_clone()
        .and_then(|output| parts.start(output.into(), tells.into(), None, |mut command| command.spawn()));
    match started {
        Ok(child) => {
            if let Some(temporary) = held.temporary.take() {
                // Its directory lives as long as it does; the system cleans such places.
                drop(temporary.keep());
            }
            // The file that tells of it outlives this axi, too.
            taken.keep(child, (&(context.redact)(line), directory, &mark), now)
        }
        Err(error) => {
            taken.give_back();
            Err(error)
        }
    }
}

/// Starts a command on a pseudo-terminal of its own.
///
/// # Errors
/// What the system said when it could not be started.
pub(crate) fn start_interactive(
    helper: &Path,
    line: &str,
    context: &ToolContext<'_>,
) -> std::io::Result<std::sync::Arc<interactive::Program>> {
    let mark = Mark::new();
    let (near, far) = interactive::open()?;
    let (told, tells) = UnixStream::pair()?;
    let directory = context.place.cwd.as_path();
    let held = Held::new(Some(helper), directory, context)?;
    let parts = Parts { helper: Some(helper), line, directory, mark: &mark, held: &held, kept: false };
    let input = far.try_clone()?;
    let child = parts.start(far, tells.into(), None, |mut command| {
        // Whoever has a terminal may page, colour and edit.
        for (name, _) in SET {
            command.env_remove(name);
        }
        command.env("TERM", "xterm-256color").stdin(input.try_clone()?).spawn()
    })?;
    drop(input);
    let group = jobs::group_of(&child, mark, true)?;
    let started = interactive::Started { near, child, group, held: Box::new((held, told)) };
    context.memory.interactives.add(started)
}

/// Tells whether an adopter stands between axi and its commands.
const fn adopts(helper: Option<&Path>) -> bool {
    helper.is_some() && cfg!(target_os = "linux")
}

/// Tells whether an adopter said that it ended what a command left behind.
fn left_some(told: &UnixStream) -> bool {
    let mut byte = [0];
    told.set_nonblocking(true).is_ok() && (&mut &*told).read(&mut byte).is_ok_and(|length| length > 0)
}

/// Waits for the keeper's word, if there is one.
async fn heard(loan: Option<&mut Loan>) -> Word {
    match loan {
        Some(loan) => loan.told().await,
        None => std::future::pending().await,
    }
}

/// Waits for a moment, if there is one to wait for.
pub(super) async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}

/// Ends what is left of a command: TERM, then KILL after the grace. Tells whether there was anything.
async fn sweep(guard: &Guard, grace: Duration) -> bool {
    if !alive(guard).await {
        return false;
    }
    guard.group.signal(Signal::TERM, guard.reaped);
    let kill_at = Instant::now() + grace;
    while Instant::now() < kill_at {
        tokio::time::sleep(LOOK).await;
        if !alive(guard).await {
            return true;
        }
    }
    let give_up_at = Instant::now() + KILL_GRACE;
    // Again and again: one that forks while it is looked for gets away once, not every time.
    while Instant::now() < give_up_at {
        guard.group.signal(Signal::KILL, guard.reaped);
        tokio::time::sleep(LOOK).await;
        if !alive(guard).await {
            break;
        }
    }
    true
}

async fn alive(guard: &Guard) -> bool {
    let group = guard.group.clone();
    work::to_the_end(move || group.is_alive()).await.unwrap_or(false)
}
