//! The hidden helper `axi __child PROGRAM ARGUMENTS…`: leaves the terminal, then becomes the program.
//!
//! A new session cannot be asked of the standard library, and what it offers (a hook between fork and exec) is
//! unsafe; a helper that calls `setsid` on itself is not. Without a session of its own the child could open
//! /dev/tty and ask for a password there, for ever.

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

/// The first argument that makes `main` call [`child_main`].
pub const ARGUMENT: &str = "__child";

/// The first argument that makes `main` call [`terminal_main`].
pub const TERMINAL_ARGUMENT: &str = "__terminal";

/// The exit code of a shell that does not find a command.
const NOT_FOUND: u8 = 127;

/// Becomes the program named by the arguments after [`ARGUMENT`]; comes back only with a failure.
///
/// To be called first in `main`: before a runtime, a thread or a file is made.
#[must_use]
pub fn child_main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    // Fails only if the process leads a group already, and then it has what it needs.
    let _ = rustix::process::setsid();
    // If axi dies without a word, its child must not live on; what the child started is swept at the next start.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    become_program(arguments)
}

/// Becomes the program named by the arguments after [`TERMINAL_ARGUMENT`], with standard input as its controlling
/// terminal: for a person's own commands, which may ask for anything. Comes back only with a failure.
#[must_use]
pub fn terminal_main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let _ = rustix::process::setsid();
    // Without it the program runs all the same, only without job control.
    let _ = rustix::process::ioctl_tiocsctty(rustix::stdio::stdin());
    become_program(arguments)
}

fn become_program(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.into_iter();
    let Some(program) = arguments.next() else { return ExitCode::from(NOT_FOUND) };
    let arguments: Vec<OsString> = arguments.collect();
    let mut failure = Command::new(&program).args(&arguments).exec();
    if failure.kind() == std::io::ErrorKind::NotFound && program == "bash" {
        failure = Command::new("sh").args(&arguments).exec();
    }
    // Standard error is the command's output pipe; nothing can be done if it is closed.
    let _ = writeln!(std::io::stderr(), "axi: {}: {failure}", program.display());
    ExitCode::from(NOT_FOUND)
}
