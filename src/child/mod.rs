//! The hidden modes of the binary: what a process that axi starts does before it becomes a command, or beside one.
//!
//! `main` asks [`run`] before anything else is made: arguments, runtime, threads, files. Knows the sandbox it puts on,
//! and no tool.

mod adopter;
mod front;
pub(crate) mod keeper;
mod launch;
mod modes;
pub(crate) mod processes;
pub(crate) mod rm;
#[cfg(target_os = "linux")]
mod trial;
#[cfg(target_os = "linux")]
mod trial_keeper;

use std::ffi::OsString;
use std::process::ExitCode;

pub use front::Lent;
#[cfg(target_os = "linux")]
pub use modes::TRIES;
pub use modes::{ADOPT, ADOPT_APART, ADOPT_HERE, CONFINED, CONFINED_HERE, KEEPER, PLAIN, TERMINAL, TRIAL};

/// What a mode does with the arguments behind its name.
type Main = fn(&mut dyn Iterator<Item = OsString>) -> ExitCode;

/// The modes; one line each.
const MODES: &[(&str, Main)] = &[
    (ADOPT, adopter::main),
    (ADOPT_APART, adopter::apart_main),
    (ADOPT_HERE, adopter::here_main),
    (PLAIN, launch::plain_main),
    (CONFINED, launch::confined_main),
    (CONFINED_HERE, launch::confined_here_main),
    (TERMINAL, launch::terminal_main),
    (KEEPER, keeper::main),
    (modes::FRONT, keeper::front_main),
    #[cfg(target_os = "linux")]
    (modes::TRIAL, trial::main),
    #[cfg(target_os = "linux")]
    (modes::TRIAL_FIRST, trial::first_main),
    #[cfg(target_os = "linux")]
    (modes::TRIES, trial_keeper::main),
];

/// Runs the hidden mode that the program's arguments name; `None` for a call by a person. A mode that becomes another
/// program comes back only with a failure.
#[must_use]
pub fn run(arguments: &[OsString]) -> Option<ExitCode> {
    if rm::is_called_as(arguments.first()) {
        let own = std::env::current_exe().ok();
        let (path, directory) = (std::env::var_os("PATH"), std::env::current_dir().ok());
        return Some(rm::main(arguments, path.as_deref(), own, directory.as_deref()));
    }
    let name = arguments.get(1)?;
    let (_, main) = MODES.iter().find(|(mode, _)| name == mode)?;
    Some(main(&mut arguments.iter().skip(2).cloned()))
}
