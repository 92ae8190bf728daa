//! The hidden helpers `axi __trial ENTRY… -- PROGRAM…` and `axi __trial_first …`: the first makes the namespaces of a
//! trial, the second is the first process in them, lays the layers, runs the program and collects what ends. When it
//! ends the kernel ends whatever is left in there.

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, WaitOptions, wait};

use super::adopter::{STUCK, exit_code, stopped, woken_by};
use super::front::lend;
use super::modes::TRIAL_FIRST;
use super::processes::is_stuck;
use crate::sandbox::{Reached, Witness, inherited, leave_the_machine};
use crate::trial::{ENTERED, Entry, Met, leave_others, rename_directory};

/// The first descriptor that is not standard input, output or error.
const FIRST_OTHER: i32 = 3;
/// The exit code when the command could not be started.
const NOT_RUN: u8 = 126;
/// The exit code of a shell that does not find a command.
const NOT_FOUND: u8 = 127;
/// How long what ends by itself may take to do so after the command, such as the rest of a pipeline.
const ENDING: Duration = Duration::from_millis(100);
/// Looks for it are this far apart.
const LOOK: Duration = Duration::from_millis(2);

/// Makes the namespaces and waits for what runs in them.
pub(super) fn main(arguments: &mut dyn Iterator<Item = OsString>) -> ExitCode {
    ExitCode::from(outside(arguments).unwrap_or(NOT_RUN))
}

fn outside(arguments: &mut dyn Iterator<Item = OsString>) -> Option<u8> {
    let entry = Entry::from_arguments(arguments)?;
    let standing = entry.standing().ok()?;
    let met = entry.met().ok()?;
    // Should axi die, nothing of the trial lives on.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).ok()?;
    // A key of the terminal is for the command; a handler, not "ignored", which the command would inherit.
    let heard = Arc::new(AtomicBool::new(false));
    for signal in [Signal::INT, Signal::QUIT] {
        signal_hook::flag::register(signal.as_raw(), Arc::clone(&heard)).ok()?;
    }
    if let Err(why) = leave_others() {
        return tell(&standing, &why);
    }
    let (life, _alive) = std::io::pipe().ok()?;
    let life = OwnedFd::from(life);
    fcntl_setfd(&life, FdFlags::empty()).ok()?;
    let mut first = Command::new(std::env::current_exe().ok()?);
    first.arg(TRIAL_FIRST).arg(life.as_raw_fd().to_string());
    let told = [standing, met].map(OwnedFd::from);
    for file in &told {
        fcntl_setfd(file, FdFlags::empty()).ok()?;
        first.arg(file.as_raw_fd().to_string());
    }
    if entry.is_job() {
        first.process_group(0);
    }
    let mut child = first.args(entry.to_arguments()).args(arguments).spawn().ok()?;
    if entry.is_job() {
        lend(&child);
    }
    let ended = child.wait().ok()?;
    let code = ended.code().or_else(|| ended.signal().map(|signal| 128 + signal))?;
    u8::try_from(code).ok()
}

/// Tells axi why a trial was not entered.
fn tell(mut standing: &std::fs::File, (what, cause): &(String, std::io::Error)) -> Option<u8> {
    standing.write_all(format!("{what}: {cause}").as_bytes()).ok()?;
    None
}

/// Lays the layers, runs the program, collects what ends.
pub(super) fn first_main(arguments: &mut dyn Iterator<Item = OsString>) -> ExitCode {
    ExitCode::from(inside(arguments).unwrap_or(NOT_RUN))
}

fn inside(arguments: &mut dyn Iterator<Item = OsString>) -> Option<u8> {
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    let mut number = || arguments.next()?.to_str()?.parse::<i32>().ok();
    let (life, standing, met) = (number()?, number()?, number()?);
    let (standing, met) = (inherited(standing).ok()?, inherited(met).ok()?);
    let life = taken(life)?;
    // It ended before this process could ask to end with it.
    let mut ended = [PollFd::new(&life, PollFlags::IN)];
    if poll(&mut ended, Some(&rustix::time::Timespec { tv_sec: 0, tv_nsec: 0 })).ok()? > 0 {
        return None;
    }
    let (standing, met) = (std::fs::File::from(standing), std::fs::File::from(met));
    let entry = Entry::from_arguments(arguments)?;
    if let Err(why) = entry.mount() {
        return tell(&standing, &why);
    }
    if let Err(error) = leave_the_machine() {
        return tell(&standing, &("capabilities".to_owned(), std::io::Error::other(error.to_string())));
    }
    (&standing).write_all(ENTERED.as_bytes()).ok()?;
    let program = arguments.next()?;
    let covered = entry.covers();
    let witness = witnessed();
    let mut woken = woken_by(&[Signal::CHILD]).ok()?;
    if entry.is_job() {
        woken.set_read_timeout(Some(STUCK)).ok()?;
    }
    let started = Command::new(&program).args(arguments).spawn();
    let child = match started {
        Ok(child) => Pid::from_raw(i32::try_from(child.id()).ok()?)?,
        Err(error) => {
            // Standard error is the command's; nothing can be done if it is closed.
            let _ = writeln!(std::io::stderr(), "axi: {}: {error}", program.display());
            return Some(if error.kind() == std::io::ErrorKind::NotFound { NOT_FOUND } else { NOT_RUN });
        }
    };
    // Stopped on its terminal it ends: nobody could have it go on from outside.
    let looks = if entry.is_job() { WaitOptions::NOHANG | WaitOptions::UNTRACED } else { WaitOptions::NOHANG };
    let code = loop {
        match wait(looks) {
            Ok(Some((process, status))) if process == child => break exit_code(status),
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            // Until the next one ends; of more than fit into the pipe one is enough.
            Ok(None) => {
                drop(woken.read(&mut [0; 64]));
                if entry.is_job() && is_stuck(child) {
                    break stopped();
                }
            }
            Err(_) => break NOT_RUN,
        }
    };
    let begun = Instant::now();
    while begun.elapsed() < ENDING {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) => std::thread::sleep(LOOK),
            Err(_) => break,
        }
    }
    let told = match witness {
        Some(witness) => {
            // A socket that lies below a layer answers nobody, and one in it is the trial's own.
            let outside = |reached: &Reached| match reached {
                Reached::Socket(path) => !covered.iter().any(|covered| path.starts_with(covered)),
                Reached::Host(_) | Reached::Name(_) => true,
            };
            Met::write(witness.reached().into_iter().filter(outside).map(met_by), &met)
        }
        None => Met::write([Met::Unseen], &met),
    };
    told.ok()?;
    Some(code)
}

/// Has somebody see what this thread, and all it starts from now on, reaches for outside; `None` where nobody can.
fn witnessed() -> Option<Arc<Witness>> {
    let (hand, handed) = std::sync::mpsc::channel::<Arc<Witness>>();
    // Before the filter, which holds for each thread that is made after it.
    let looks = move || handed.recv().into_iter().for_each(|witness| witness.run());
    std::thread::Builder::new().name("witness".to_owned()).spawn(looks).ok()?;
    let witness = Arc::new(Witness::new(rename_directory).ok()?);
    hand.send(Arc::clone(&witness)).ok()?;
    Some(witness)
}

fn met_by(reached: Reached) -> Met {
    match reached {
        Reached::Socket(path) => Met::Socket(path),
        Reached::Host(host) => Met::Host(host),
        Reached::Name(name) => Met::Name(name),
    }
}

/// Takes over the descriptor of that number, which the command does not get.
fn taken(number: i32) -> Option<OwnedFd> {
    let own = inherited(number).ok();
    close_fds::set_fds_cloexec(FIRST_OTHER, &[]);
    own
}
