//! The hidden helper `axi __keeper MODE TERMINAL PROGRAM ARGUMENTS…`: keeps a command away from a terminal of its own
//! until that is lent to it.
//!
//! It leads a session whose controlling terminal is a pseudo-terminal, and runs the command as a background job there,
//! as a shell does. The kernel stops a background job that reads the terminal, writes to it (TOSTOP) or changes its
//! mode (`termios(3)`, "Access to a terminal"), which is the one certain sign that a program wants a person: no
//! prompt has to be guessed. The keeper tells axi, and puts the job into the foreground when it is told to. The
//! person's real terminal is out of reach: what is approved cannot type into it (TIOCSTI) or paint over it.

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;

use super::modes::FRONT;
use crate::platform::end_with_parent;
use crate::platform::fs::{Mode, OFlags, open};
use crate::platform::os::fd::{AsFd as _, OwnedFd};
use crate::platform::os::net::UnixStream;
use crate::platform::os::process::CommandExt as _;
use crate::platform::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process_group, waitpid};
use crate::platform::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr, tcsetpgrp};

/// The mode of a command that has no terminal until it wants one: its input is empty, its output a pipe.
pub(crate) const APART: &str = "apart";
/// The mode of a command whose input and output are the terminal from the start.
pub(crate) const ON_IT: &str = "on-it";

/// Keeper to axi: the command wants the terminal; the person has stopped it.
pub(crate) const WANTS: u8 = b't';
pub(crate) const STOPPED: u8 = b'z';
/// Axi to keeper: the terminal is lent; it is taken back.
pub(crate) const LENT: u8 = b'l';
pub(crate) const BACK: u8 = b'b';

/// The exit code of a shell that cannot run a command.
const NOT_RUN: u8 = 126;

/// Runs the program in the arguments and ends with its exit code, 128 + signal if one ended it. Standard input is the
/// socket to axi.
pub(super) fn main(arguments: &mut dyn Iterator<Item = OsString>) -> ExitCode {
    keep(arguments).unwrap_or_else(|error| {
        // Standard error is the command's output pipe; nothing can be done if it is closed.
        let _ = writeln!(std::io::stderr(), "axi: {error}");
        ExitCode::from(NOT_RUN)
    })
}

/// Puts the process group in the argument into the foreground of the controlling terminal.
///
/// Started by the keeper as a member of the foreground group: only who is in the foreground may change it without
/// being stopped, and the keeper itself is not then.
pub(super) fn front_main(arguments: &mut dyn Iterator<Item = OsString>) -> ExitCode {
    let group = arguments.next().and_then(|group| group.to_str()?.parse().ok()).and_then(Pid::from_raw);
    let Some(group) = group else { return ExitCode::FAILURE };
    let terminal = open("/dev/tty", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
    match terminal.and_then(|terminal| tcsetpgrp(terminal, group)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// The session's terminal, and who is on it.
struct Session {
    terminal: OwnedFd,
    /// The keeper's group.
    own: Pid,
    /// The command's group.
    job: Pid,
}

fn keep(arguments: &mut dyn Iterator<Item = OsString>) -> std::io::Result<ExitCode> {
    let (Some(mode), Some(name), Some(program)) = (arguments.next(), arguments.next(), arguments.next()) else {
        return Err(std::io::ErrorKind::InvalidInput.into());
    };
    // Fails only if the process leads a group already, which axi sees to that it does not.
    let _ = crate::platform::process::setsid();
    end_with_parent(Signal::KILL);
    let terminal = open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    crate::platform::process::ioctl_tiocsctty(&terminal)?;
    // Ending is the command's business: it is told, and the keeper ends with it.
    let (told, ends) = UnixStream::pair()?;
    crate::platform::signal::low_level::pipe::register(Signal::TERM.as_raw(), ends)?;
    // Who started axi may ignore them (nohup, some multiplexers), and what is ignored stays so in every child: the
    // command would get errors instead of being stopped. What is handled is back to the default after exec.
    for signal in [Signal::TTIN, Signal::TTOU, Signal::TSTP, Signal::INT, Signal::QUIT] {
        crate::platform::signal::flag::register(signal.as_raw(), Arc::default())?;
    }
    let on_it = mode == ON_IT;
    forbid_writing(&terminal, !on_it)?;
    let mut command = Command::new(program);
    command.args(arguments).process_group(0);
    if on_it {
        let stdio = || terminal.try_clone().map(Stdio::from);
        command.stdin(stdio()?).stdout(stdio()?).stderr(stdio()?);
    } else {
        command.stdin(Stdio::null());
    }
    let control = UnixStream::from(crate::platform::stdio::stdin().try_clone_to_owned()?);
    let child = command.spawn()?;
    let raw = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let Some(job) = raw else { return Err(std::io::Error::other("the process has no number")) };
    let session = Session { terminal, own: crate::platform::process::getpgrp(), job };
    if on_it {
        session.lend();
    }
    let listening = control.try_clone()?;
    std::thread::Builder::new().name("control".into()).spawn(move || session.obey(listening))?;
    std::thread::Builder::new().name("end".into()).spawn(move || pass_on(told, job))?;
    Ok(watch(job, control))
}

/// Waits for the command; tells axi each time it is stopped.
fn watch(job: Pid, mut control: UnixStream) -> ExitCode {
    loop {
        let status = match waitpid(Some(job), WaitOptions::UNTRACED) {
            Ok(Some((_, status))) => status,
            Ok(None) | Err(crate::platform::io::Errno::INTR) => continue,
            Err(_) => return ExitCode::FAILURE,
        };
        if let Some(code) = ended(status) {
            return ExitCode::from(code);
        }
        let wants = [Signal::TTIN, Signal::TTOU].map(|signal| Some(signal.as_raw()));
        let word = if wants.contains(&status.stopping_signal()) { WANTS } else { STOPPED };
        // Axi has gone: the keeper is killed in a moment.
        let _ = control.write_all(&[word]);
    }
}

/// The exit code of a command that ended, as a shell would say it.
fn ended(status: WaitStatus) -> Option<u8> {
    let code = status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal))?;
    Some(u8::try_from(code).unwrap_or(u8::MAX))
}

/// Hands TERM on, to the whole job, also where it is stopped.
fn pass_on(mut told: UnixStream, job: Pid) {
    let mut byte = [0];
    while told.read_exact(&mut byte).is_ok() {
        let _ = kill_process_group(job, Signal::TERM);
        let _ = kill_process_group(job, Signal::CONT);
    }
}

impl Session {
    fn obey(&self, mut control: UnixStream) {
        let mut byte = [0];
        while control.read_exact(&mut byte).is_ok() {
            match byte[0] {
                LENT => self.lend(),
                BACK => self.take_back(),
                _ => {}
            }
        }
    }

    fn lend(&self) {
        // Each step that fails leaves the command stopped, to be stopped again or ended by its time limit.
        let _ = forbid_writing(&self.terminal, false);
        let _ = tcsetpgrp(self.terminal.as_fd(), self.job);
        let _ = kill_process_group(self.job, Signal::CONT);
    }

    fn take_back(&self) {
        let front = std::env::current_exe().and_then(|program| {
            let own = self.own.as_raw_nonzero().get().to_string();
            let mut command = Command::new(program);
            command.arg(FRONT).arg(own).process_group(self.job.as_raw_nonzero().get());
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()
        });
        if front.is_ok_and(|status| status.success()) {
            let _ = forbid_writing(&self.terminal, true);
        }
        let _ = kill_process_group(self.job, Signal::CONT);
    }
}

/// Says whether a background job is stopped when it writes, too.
fn forbid_writing(terminal: &OwnedFd, forbidden: bool) -> std::io::Result<()> {
    let mut mode = tcgetattr(terminal)?;
    mode.local_modes.set(LocalModes::TOSTOP, forbidden);
    Ok(tcsetattr(terminal, OptionalActions::Now, &mode)?)
}
