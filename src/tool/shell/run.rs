//! Running one command: its pipe, its clock, its end. Leaves no process behind.

use std::io::Read as _;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};
use tokio::time::Instant;

use crate::child::keeper::{APART, ON_IT};
use crate::platform::os::net::UnixStream;
use crate::platform::process::Signal;
use crate::platform::runtime::Receiver;
use crate::sandbox::Confinement;
use crate::tool::{ToolContext, work};

use super::capture::{Collected, Excerpt, Progress};
use super::loan::{self, KeeperEvent, Loan};
use super::person_shell::PersonShell;
use super::start::{Launch, Program, Resources, adopts};
use crate::tool::jobs::{Group, Mark};

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
    pub(crate) told: Excerpt,
    /// Whether processes it had left in the background were ended.
    pub(crate) background: bool,
    /// What held it.
    pub(crate) confinement: Option<Confinement>,
    /// Whether it had the person's terminal.
    pub(crate) lent: bool,
}

/// What runs.
pub(crate) struct What<'a> {
    /// The line, for bash or sh.
    pub(crate) line: &'a str,
    /// Whether it has the person's terminal from the beginning.
    pub(crate) interactive: bool,
    /// What runs instead of a shell; the line is then what says the same.
    pub(crate) program: Option<Program<'a>>,
    /// The person's shell, of which the line finds something, and which it may want to change.
    pub(crate) person: Option<&'a PersonShell>,
}

/// Ends the processes of a command whose future is dropped.
struct Guard {
    group: Group,
    reaped: bool,
    armed: bool,
}

impl Guard {
    /// Leaves alone what still runs.
    fn disarm(mut self) {
        self.armed = false;
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.armed {
            self.group.signal(Signal::KILL, self.reaped);
        }
    }
}

/// Runs a command line with bash, or sh where there is none; or a program by itself.
///
/// # Errors
/// What the system said when it could not be started.
///
/// # Cancel safety
/// Dropped, it kills all processes of the command at once.
pub(crate) async fn run(
    helper: Option<&Path>,
    what: &What<'_>,
    directory: &Path,
    limit: Duration,
    context: &ToolContext<'_>,
) -> std::io::Result<Ended> {
    let mut resources = Resources::new(helper, what.line, directory, context)?;
    let person = what.person.filter(|_| what.program.is_none());
    let report = person.map(|person| person.prepare(what.line, resources.temporary(context))).transpose()?;
    let environment = report.as_ref().map(|report| &*report.environment);
    let mut running = Running::start(helper, what, (directory, environment), &resources, context).await?;
    let watched = running.watch(what.interactive, limit, context).await?;
    let Running { guard, mut loan, collected, mut progress, tells, .. } = running;
    if let Some(loan) = &mut loan {
        loan.end(&context.person).await;
    }
    progress.flush();
    let left = |at: Instant| at.saturating_duration_since(Instant::now());
    let background = sweep(&guard, watched.kill_at.map_or(BACKGROUND_GRACE, left)).await | left_some(&tells);
    guard.disarm();
    let confinement = resources.confinement.take();
    let Watched { reason, status, lent, .. } = watched;
    if let (Some(person), Some(report)) = (what.person, report.filter(|_| status.is_some_and(|it| it.success()))) {
        person.take(what.line, &report);
    }
    // Deleting its directory may take long.
    drop(work::to_the_end(move || drop(resources)).await);
    Ok(Ended { reason, status, told: collected.tell().await, background, confinement, lent })
}

/// A command that has been started.
struct Running {
    // Dropped before the child: what kills the group needs the child's number to be still its own.
    guard: Guard,
    child: Child,
    pipe: Receiver,
    loan: Option<Loan>,
    collected: Collected,
    progress: Progress,
    /// Where an adopter says that it ended what a command left behind.
    tells: UnixStream,
}

/// What was seen of a command until it ended.
struct Watched {
    reason: Reason,
    status: Option<ExitStatus>,
    /// When it is killed, if it was told to end.
    kill_at: Option<Instant>,
    /// Whether it had the person's terminal.
    lent: bool,
}

impl Running {
    async fn start(
        helper: Option<&Path>,
        what: &What<'_>,
        (directory, environment): (&Path, Option<&Path>),
        resources: &Resources,
        context: &ToolContext<'_>,
    ) -> std::io::Result<Self> {
        let What { line, interactive, program, .. } = *what;
        let mark = Mark::new();
        let (reader, writer) = std::io::pipe()?;
        let possible = loan::is_possible(helper, context.person.can_lend());
        let mut loan = if possible { Some(Loan::new()?) } else { None };
        if interactive && let Some(loan) = &mut loan {
            // Before there is anything to see.
            loan.lend(&context.person).await;
        }
        let terminal = loan.as_mut().map(|loan| (loan, if interactive { ON_IT } else { APART }));
        let (tells, told) = UnixStream::pair()?;
        let launch =
            Launch { helper, line, program, environment, directory, mark: &mark, resources, detached: false };
        let child = launch.start(writer.into(), told.into(), terminal, |command| {
            // An adopter is told to end, by the guard, and then kills all the others.
            Command::from(command).kill_on_drop(!adopts(helper)).spawn()
        })?;
        let pipe = Receiver::from_owned_fd(reader.into())?;
        let group = Group::of(child.id().unwrap_or(0), mark.clone(), adopts(helper))?;
        let collected = Collected::new(context.output_dir.join(format!("shell-{}.txt", mark.value())));
        let guard = Guard { group, reaped: false, armed: true };
        Ok(Self { guard, child, pipe, loan, collected, progress: Progress::new(context.progress.clone()), tells })
    }

    /// Reads what it prints until it has ended, or until its time or the person's patience has.
    async fn watch(
        &mut self,
        interactive: bool,
        limit: Duration,
        context: &ToolContext<'_>,
    ) -> std::io::Result<Watched> {
        let Self { guard, child, pipe, loan, collected, progress, .. } = self;
        let mut reason = None;
        let mut status = None;
        let mut open = true;
        let (mut hearing, mut lent) = (loan.is_some(), interactive);
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
                () = work::at(Some(deadline)), if reason.is_none() && status.is_none() && lent_at.is_none() => stop = Some(Reason::TimedOut),
                () = work::at(kill_at), if kill_at.is_some() => {
                    guard.group.signal(Signal::KILL, guard.reaped);
                    kill_at = None;
                    give_up_at = Some(Instant::now() + KILL_GRACE);
                }
                () = work::at(give_up_at), if give_up_at.is_some() => break,
                ended = child.wait(), if status.is_none() => {
                    status = Some(ended?);
                    guard.reaped = true;
                    if reason.is_none() {
                        give_up_at = Some(Instant::now() + PIPE_GRACE);
                    }
                }
                word = heard(loan.as_mut()), if hearing && status.is_none() => {
                    let Some(loan) = loan else { continue };
                    match word {
                        KeeperEvent::Ended => hearing = false,
                        KeeperEvent::Wants if reason.is_some() => {}
                        KeeperEvent::Wants => {
                            if loan.lend(&context.person).await {
                                lent_at = lent_at.or_else(|| Some(Instant::now()));
                                lent = true;
                            } else {
                                stop = Some(Reason::NoTerminal);
                            }
                        }
                        KeeperEvent::Stopped => {
                            loan.take_back(&context.person).await;
                            // What it took the person is not the command's time.
                            deadline += lent_at.take().map_or(Duration::ZERO, |at| at.elapsed());
                        }
                    }
                }
                () = work::at(tell_at), if tell_at.is_some() => {
                    progress.flush();
                    tell_at = None;
                }
                read = pipe.read(&mut buffer), if open => match read {
                    Ok(0) | Err(_) => open = false,
                    Ok(length) => {
                        if let Some(loan) = loan {
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
        Ok(Watched { reason: reason.unwrap_or(Reason::Finished), status, kill_at, lent })
    }
}

/// Tells whether an adopter said that it ended what a command left behind.
fn left_some(told: &UnixStream) -> bool {
    let mut byte = [0];
    told.set_nonblocking(true).is_ok() && (&mut &*told).read(&mut byte).is_ok_and(|length| length > 0)
}

/// Waits for the keeper's word, if there is one.
async fn heard(loan: Option<&mut Loan>) -> KeeperEvent {
    match loan {
        Some(loan) => loan.told().await,
        None => std::future::pending().await,
    }
}

/// Ends the processes that a command left: TERM, then KILL after the grace. Tells whether there were any.
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
