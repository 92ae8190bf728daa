//! What the process was started with, as the rest of the room looks it up.

use std::ffi::OsString;
use std::path::PathBuf;

/// Looks a variable of the environment up.
pub type Variables = fn(&str) -> Option<String>;

/// The same, whatever its bytes are.
pub type RawVariables = fn(&str) -> Option<OsString>;

/// The environment, and the program itself.
#[derive(Clone)]
pub(super) struct Process {
    pub(super) variables: Variables,
    pub(super) raw_variables: RawVariables,
    /// This program, for helpers that run as children.
    pub(super) program: Option<PathBuf>,
}

impl Process {
    /// A variable that is set to something.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        (self.variables)(name).filter(|value| !value.is_empty())
    }
}
