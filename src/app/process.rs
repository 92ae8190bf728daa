//! What the process was started with, for the other files of this room.

use std::ffi::OsString;
use std::path::PathBuf;

/// Looks up an environment variable.
pub type Variables = fn(&str) -> Option<String>;

/// Looks up an environment variable, even if it is not UTF-8.
pub type RawVariables = fn(&str) -> Option<OsString>;

/// The environment, and the program itself.
#[derive(Clone)]
pub(super) struct Process {
    pub(super) variables: Variables,
    pub(super) raw_variables: RawVariables,
    /// This program, for helpers that run as children.
    pub(super) program: Option<PathBuf>,
    /// The words of the command line behind the program's name.
    pub(super) words: Vec<OsString>,
    /// Where it was started, before `--cwd`.
    pub(super) begun_in: Option<PathBuf>,
}

impl Process {
    /// Returns a variable that is set and not empty.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        (self.variables)(name).filter(|value| !value.is_empty())
    }
}
