//! The hidden helper `axi __adopt ARGUMENTS…`: starts `axi ARGUMENTS…` and stays beside it until nothing it started is
//! left. Linux only: elsewhere nothing adopts what a child leaves behind.
//!
//! A process that leaves its group, its session and its environment (`env -i setsid …`) and whose parent ends belongs
//! to nobody, and could not be found again. Here it belongs to the adopter (`PR_SET_CHILD_SUBREAPER`, prctl(2)).

use std::ffi::OsString;
use std::io::Read as _;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::platform::os::net::UnixStream;
use crate::platform::os::process::CommandExt as _;
use crate::platform::process::{Pid, Signal, WaitOptions, WaitStatus, wait};
use crate::platform::signal::low_level::pipe;
use crate::platform::{adopt_orphans, end_with_parent};
use crate::sandbox::JUDGE;
#[cfg(target_os = "linux")]
use crate::sandbox::{Confinement, Judge};

use super::front::{Lent, lend};
#[cfg(target_os = "linux")]
use super::modes::{CONFINED, CONFINED_HERE, KEEPER_ARGUMENTS};
use super::processes::{DETACHED_MARK, descendants, is_stuck, signal_each};

/// What it writes to its standard error, a socket to axi, when a finished command left something behind.
pub(crate) const LEFT_SOME: &[u8] = b"b";

/// The exit code when the command could not be started.
const NOT_RUN: u8 = 126;
/// From TERM to KILL for what a finished command left behind.
const GRACE: Duration = Duration::from_millis(300);
/// Looks whether Ctrl+Z has stopped a job halfway are this far apart.
pub(super) const STUCK: Duration = Duration::from_millis(500);
/// Looks for survivors are this far apart.
const LOOK: Duration = Duration::from_millis(10);
/// How long what ends by itself may take to do so before it counts as left behind.
const ENDING: Duration = Duration::from_millis(100);
/// How long KILL may take.
const KILL_GRACE: Duration = Duration::from_secs(1);

/// Runs the command and ends what it leaves behind. Told to end (TERM, HUP, INT), or when axi dies, it kills all;
/// what is detached goes on then.
pub(super) fn main(arguments: &mut dyn Iterator<Item = OsString>) -> ExitCode {
    adopt(arguments, Errors::WithOutput)
}

/// The same of a program that speaks on its standard output: its errors stay apart, and nothing is told of what it
/// leaves behind.
pub(super) fn apart_main(arguments: &mut dyn Iterator<Item = OsString>) -> ExitCode {
    adopt(arguments, Errors::Apart)
}

/// The same of a person's own command, which gets their terminal as a job. One that is stopped there ends: nobody has it go on.
pub(super) fn here_main(arguments: &mut dyn Iterator<Item = OsString>) -> ExitCode {
    adopt(arguments, Errors::OnTerminal)
}

/// Where a command's standard error goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Errors {
    /// Where its output goes: the adopter's own is a socket to axi.
    WithOutput,
    /// Where the adopter's own goes.
    Apart,
    /// The same; the command has the terminal.
    OnTerminal,
}

fn adopt(arguments: &mut dyn Iterator<Item = OsString>, errors: Errors) -> ExitCode {
    let here = errors == Errors::OnTerminal;
    let lent = if here {
        Lent::about_to_be()
    } else {
        // Keys and signals of axi's terminal are not for it.
        let _ = crate::platform::process::setsid();
        None
    };
    // The person said yes to its living on when axi ends: it is not swept then, nor when its first process ends, for
    // one that puts itself into the background is meant as a whole.
    let kept = std::env::var_os(DETACHED_MARK).is_some();
    let told = Arc::new(AtomicBool::new(false));
    let Ok(mut woken) = watch(&told, here) else { return ExitCode::from(NOT_RUN) };
    adopt_orphans();
    if !kept {
        end_with_parent(Signal::TERM);
    }
    let Ok(program) = std::env::current_exe() else { return ExitCode::from(NOT_RUN) };
    let arguments: Vec<OsString> = arguments.collect();
    let mut command = Command::new(program);
    command.args(&arguments).env_remove(JUDGE);
    if errors == Errors::WithOutput {
        // Its standard error is not the command's: see `LEFT_SOME`.
        let Ok(output) = crate::platform::stdio::stdout().try_clone_to_owned().map(Stdio::from) else {
            return ExitCode::from(NOT_RUN);
        };
        command.stderr(output);
    }
    let judged = judged(&arguments, &mut command);
    if lent.is_some() {
        command.process_group(0);
    }
    let Ok(child) = command.spawn() else {
        return ExitCode::from(NOT_RUN);
    };
    if let Some(start) = judged {
        // After the start: until here there is one thread. Where there can be no other, the command is told that
        // nobody hears it, and does not run.
        start();
    }
    if lent.is_some() {
        lend(&child);
    }
    let Some(child) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
        return ExitCode::from(NOT_RUN);
    };
    // Its output is the command's: who reads it waits for the last one that holds it.
    if !here {
        close_output();
    }
    if here && woken.set_read_timeout(Some(STUCK)).is_err() {
        return ExitCode::from(NOT_RUN);
    }
    let looks = if here { WaitOptions::NOHANG | WaitOptions::UNTRACED } else { WaitOptions::NOHANG };
    let mut code = None;
    while (code.is_none() || kept) && !told.load(Ordering::Relaxed) {
        match wait(looks) {
            Ok(Some((process, status))) if process == child => code = Some(exit_code(status)),
            Ok(Some(_)) | Err(crate::platform::io::Errno::INTR) => {}
            // Until the next signal; of more than fit into the pipe one is enough.
            Ok(None) => {
                drop(woken.read(&mut [0; 64]));
                if here && is_stuck(child) {
                    code = Some(stopped());
                }
            }
            Err(_) => break,
        }
    }
    let politely = code.is_some() && !told.load(Ordering::Relaxed);
    sweep(politely, errors);
    ExitCode::from(code.unwrap_or(128 + 9))
}

/// Has an approved command's changes of modes, owners and times be judged here: who is not held by its sandbox, and
/// stays as long as the last of its processes. Returns what starts that.
#[cfg(target_os = "linux")]
fn judged(arguments: &[OsString], command: &mut Command) -> Option<impl FnOnce() + use<>> {
    use crate::platform::os::fd::AsRawFd as _;
    // A keeper stands before the helper that confines itself, or nobody.
    let confined =
        |place: &usize| arguments.get(*place).is_some_and(|name| name == CONFINED || name == CONFINED_HERE);
    let place = [0, KEEPER_ARGUMENTS].into_iter().find(confined)?;
    let confinement = Confinement::from_arguments(&mut arguments.iter().skip(place + 1).cloned())?;
    let (judge, socket) = Judge::new(&confinement)?;
    // This process starts nothing else that it could go to.
    crate::platform::io::fcntl_setfd(&socket, crate::platform::io::FdFlags::empty()).ok()?;
    command.env(JUDGE, socket.as_raw_fd().to_string());
    Some(move || {
        drop(socket);
        drop(std::thread::Builder::new().name("judge".to_owned()).spawn(move || judge.run()));
    })
}

/// Nothing is judged here: the sandbox of this system knows attributes.
#[cfg(not(target_os = "linux"))]
fn judged(_: &[OsString], _: &mut Command) -> Option<fn()> {
    None
}

/// Makes what is readable whenever a child ended or a signal said to end; the latter sets the flag first. `here`: the
/// terminal's key is for the command, which may end as it likes.
fn watch(told: &Arc<AtomicBool>, here: bool) -> std::io::Result<UnixStream> {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let is_for_command = here && signal == Signal::INT;
        // A handler, not "ignored": that would be inherited by the command.
        crate::platform::signal::flag::register(
            signal.as_raw(),
            if is_for_command { Arc::default() } else { Arc::clone(told) },
        )?;
    }
    woken_by(&[Signal::TERM, Signal::HUP, Signal::INT, Signal::CHILD])
}

/// Makes what is readable after each of these signals.
pub(super) fn woken_by(signals: &[Signal]) -> std::io::Result<UnixStream> {
    let (woken, wake) = UnixStream::pair()?;
    for signal in signals {
        pipe::register(signal.as_raw(), wake.try_clone()?)?;
    }
    Ok(woken)
}

fn close_output() {
    if let Ok(null) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _ = crate::platform::stdio::dup2_stdin(&null);
        let _ = crate::platform::stdio::dup2_stdout(&null);
    }
}

/// The exit code of a job that Ctrl+Z ended: nobody could have it go on.
pub(super) fn stopped() -> u8 {
    u8::try_from(128 + Signal::TSTP.as_raw()).unwrap_or(NOT_RUN)
}

/// The exit code that a shell gives for what became of a process.
pub(super) fn exit_code(status: WaitStatus) -> u8 {
    let signal = status.terminating_signal().or_else(|| status.stopping_signal());
    let code = status.exit_status().or_else(|| signal.map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(NOT_RUN)
}

/// Ends all that is left; politely first, if there is time.
fn sweep(politely: bool, errors: Errors) {
    let own = crate::platform::process::getpid().as_raw_nonzero().get();
    if none_left() {
        return;
    }
    if politely {
        // A process substitution, or the rest of a pipeline, ends a moment after its shell.
        let begun = Instant::now();
        while begun.elapsed() < ENDING {
            std::thread::sleep(LOOK);
            if none_left() {
                return;
            }
        }
        if errors == Errors::WithOutput {
            let _ = crate::platform::io::write(crate::platform::stdio::stderr(), LEFT_SOME);
        }
        let begun = Instant::now();
        signal_each(&descendants(own), Signal::TERM);
        while begun.elapsed() < GRACE {
            std::thread::sleep(LOOK);
            if none_left() {
                return;
            }
        }
    }
    // Again and again: one that forks while it is looked for gets away once, not every time.
    let begun = Instant::now();
    while begun.elapsed() < KILL_GRACE {
        signal_each(&descendants(own), Signal::KILL);
        if none_left() {
            return;
        }
        std::thread::sleep(LOOK);
    }
}

/// Collects who ended; tells whether nobody is left.
fn none_left() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(crate::platform::io::Errno::INTR) => {}
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
}
