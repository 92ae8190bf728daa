//! What a command says differently now, and how that is worded.

use crate::locale::{Locale, word};
use crate::terminal::sanitize_line;

/// One thing that a command says differently now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// The line says it, the command said nothing of it.
    Added { said: String, now: String },
    /// The command said something else.
    Instead { said: String, was: String, now: String },
    /// `wc` prints a total that would be counted, too.
    CountedTwice { now: String },
    /// A quiet program's output was to be read.
    SaysNothing { was: String, now: String },
    /// What stands on both sides of an `-o` belongs together.
    Grouped { now: String },
    /// Nobody has asked for a part of the output.
    Shown { was: String },
    /// A program would compare more, or something else.
    Compared { program: String, now: String },
}

impl Change {
    /// Words it for the person.
    pub(crate) fn worded(&self, locale: &Locale) -> String {
        match self {
            Self::Added { said, now } => locale.with(word::handoff::Meant { said: &sanitize_line(said), now }),
            Self::Instead { said, was, now } => {
                locale.with(word::handoff::MeantNot { said: &sanitize_line(said), now, was: &sanitize_line(was) })
            }
            Self::CountedTwice { now } => locale.with(word::handoff::CountedTwice { now }),
            Self::SaysNothing { was, now } => locale.with(word::handoff::SaysNothing { was, now }),
            Self::Shown { was } => locale.with(word::handoff::Shown { was: &sanitize_line(was) }),
            Self::Compared { program, now } => locale.with(word::handoff::Compared { program, now }),
            Self::Grouped { now } => locale.with(word::handoff::Grouped { now: &sanitize_line(now) }),
        }
    }
}
