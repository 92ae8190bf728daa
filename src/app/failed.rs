//! Why a command ends before it has begun.

use tokio::runtime::Runtime;

use crate::command::Problem;
use crate::frontend::exit::Exit;
use crate::locale::{Locale, word};

/// What a person is told, and how the process ends.
pub(super) struct Failed {
    pub(super) problem: Problem,
    pub(super) exit: Exit,
}

impl Failed {
    pub(super) const fn new(problem: Problem, exit: Exit) -> Self {
        Self { problem, exit }
    }

    /// The person wanted none of it: there is nothing to say.
    pub(super) const fn interrupted() -> Self {
        Self::new(Problem { what: String::new(), hint: String::new() }, Exit::Interrupted)
    }
}

/// Makes the runtime that drives a conversation.
pub(super) fn runtime(locale: &Locale) -> Result<Runtime, Failed> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
        let what = locale.with(word::error::Io { path: "tokio", cause: &error.to_string() });
        Failed::new(Problem { what, hint: String::new() }, Exit::Failed)
    })
}
