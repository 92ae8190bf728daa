//! The hidden helper `axi __child PROGRAM ARGUMENTS…`: leaves the terminal, then becomes the program.
//!
//! A new session cannot be asked of the standard library, and what it offers (a hook between fork and exec) is
//! unsafe; a helper that calls `setsid` on itself is not. Without a session of its own the child could open
//! /dev/tty and ask for a password there, for ever. It is also where the sandbox is put on:
//! `axi __confined CONFINEMENT… -- PROGRAM ARGUMENTS…`.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::process::{Command, ExitCode};

use crate::platform::os::process::CommandExt as _;
use crate::sandbox::{Confined, Confinement, JUDGE, confine};
use crate::secret::is_kept_from_readers;

use super::rm;

/// The exit code of a shell that does not find a command.
const NOT_FOUND: u8 = 127;

/// The exit code of a shell that may not run one.
const NOT_RUN: u8 = 126;

/// Becomes the program named by the arguments; comes back only with a failure.
pub(super) fn plain_main(arguments: &mut dyn Iterator<Item = OsString>) -> ExitCode {
    leave();
    become_program(arguments, &[])
}

/// Holds itself to the confinement in the arguments, then becomes the program behind it; comes back only with a
/// failure. What cannot be confined is not run.
pub(super) fn confined_main(arguments: &mut dyn Iterator<Item = OsString>) -> ExitCode {
    leave();
    confined(arguments)
}

/// The same for a person's own command, which keeps their terminal.
pub(super) fn confined_here_main(arguments: &mut dyn Iterator<Item = OsString>) -> ExitCode {
    crate::platform::keep_files();
    confined(arguments)
}

fn confined(arguments: &mut dyn Iterator<Item = OsString>) -> ExitCode {
    let held = match Confinement::from_arguments(arguments) {
        Some(confinement) => confine(&confinement, judge()).map(|held| (held, confinement)),
        None => return ExitCode::from(NOT_RUN),
    };
    let (held, confinement) = match held {
        Ok(held) => held,
        Err(error) => {
            // As below.
            let _ = writeln!(std::io::stderr(), "axi: not run: the sandbox could not be put on: {error}");
            return ExitCode::from(NOT_RUN);
        }
    };
    let mut removed = Vec::new();
    if confinement.is_read_only() {
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        removed.extend(names.filter(|name| is_kept_from_readers(name)));
    }
    match held {
        Confined::Here => become_program(arguments, &removed),
        Confined::Through(program, first) => {
            become_program(std::iter::once(program).chain(first).chain(arguments), &removed)
        }
    }
}

/// The number of the descriptor of a socket to this command's judge, which the adopter names.
fn judge() -> Option<i32> {
    std::env::var(JUDGE).ok()?.parse().ok()
}

/// Leaves the terminal, the parent's descriptors and, should it die, life.
fn leave() {
    // What axi itself was given open, and did not know of, is not the child's.
    crate::platform::keep_files();
    // Fails only if the process leads a group already, and then it has what it needs.
    let _ = crate::platform::process::setsid();
    // One that was given a terminal as its input (`terminal`) owns it; a pipe or nothing at all refuses.
    if crate::platform::termios::isatty(crate::platform::stdio::stdin()) {
        let _ = crate::platform::process::ioctl_tiocsctty(crate::platform::stdio::stdin());
    }
    // If axi dies without a word, its child must not live on; what the child started is swept at the next start.
    crate::platform::end_with_parent(crate::platform::process::Signal::KILL);
}

/// Becomes the program named by the arguments, with standard input as its controlling terminal: for a person's own
/// commands, which may ask for anything. Comes back only with a failure.
pub(super) fn terminal_main(arguments: &mut dyn Iterator<Item = OsString>) -> ExitCode {
    let _ = crate::platform::process::setsid();
    // Without it the program runs all the same, only without job control.
    let _ = crate::platform::process::ioctl_tiocsctty(crate::platform::stdio::stdin());
    become_program(arguments, &[])
}

fn become_program(arguments: impl IntoIterator<Item = OsString>, removed: &[String]) -> ExitCode {
    let mut arguments = arguments.into_iter();
    let Some(program) = arguments.next() else { return ExitCode::from(NOT_FOUND) };
    let arguments: Vec<OsString> = arguments.collect();
    let trash = std::env::var_os(rm::VARIABLE);
    let path = trash.zip(std::env::var_os("PATH"));
    let path = path.and_then(|(trash, path)| rm::before(&trash, &path));
    let start = |program: &OsStr| {
        let mut command = Command::new(program);
        for name in removed {
            command.env_remove(name);
        }
        command.env_remove(rm::VARIABLE).env_remove(JUDGE);
        if let Some(path) = &path {
            command.env("PATH", path);
        }
        command.args(&arguments).exec()
    };
    let mut failure = start(&program);
    if failure.kind() == std::io::ErrorKind::NotFound && program == "bash" {
        failure = start(OsStr::new("sh"));
    }
    // Standard error is the command's output pipe; nothing can be done if it is closed.
    let _ = writeln!(std::io::stderr(), "axi: {}: {failure}", program.display());
    ExitCode::from(NOT_FOUND)
}
