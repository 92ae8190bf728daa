//! What a command came to: the REPL does it.

use std::path::PathBuf;

use super::chart::Chart;
use crate::config::{ReasoningView, ThemeChoice};

/// An error in the user's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What failed, on what.
    pub what: String,
    /// What to do now; may be empty.
    pub hint: String,
}

/// A copy of the log without the secrets that are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedLog {
    /// Where it is.
    pub path: PathBuf,
    /// The same as people read it.
    pub shown: String,
    /// Ten hexadecimal digits, by which two people know that they read the same.
    pub id: String,
    /// Its lines.
    pub lines: String,
}

/// What the REPL does after a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing.
    Continue,
    /// Prints markdown.
    Show(String),
    /// Prints one quiet line.
    Say(String),
    /// Prints charts, quietly.
    Chart(Vec<Chart>),
    /// Prints an error.
    Fail(Problem),
    /// Sends this message.
    Ask(String),
    /// Lets the person pick one of these, then runs `/COMMAND PICKED`.
    Pick {
        /// The command.
        command: &'static str,
        /// The question.
        question: String,
        /// What is shown and what is run, pair by pair.
        items: Vec<(String, String)>,
    },
    /// Lets the person pick one of these, then puts it on the line that is edited next.
    PickLine {
        /// The question.
        question: String,
        /// What is shown and what is put there, pair by pair.
        items: Vec<(String, String)>,
    },
    /// Does one, then the other.
    Both(Box<Outcome>, Box<Outcome>),
    /// Puts this text on the line that is edited next.
    Edit(String),
    /// Asks for a key without echo, then stores it.
    AskKey(String),
    /// Speaks this language from now on.
    Language(&'static str),
    /// Shortens what is sent of the conversation; the text is what the person cares for.
    Shorten(String),
    /// Starts a new session; `clear` clears the screen too.
    NewSession {
        /// Whether the visible screen is cleared.
        clear: bool,
    },
    /// Goes on with this session.
    Resume(String),
    /// Goes on with another session that begins as this one.
    Fork {
        /// How many messages of it stay; all where `None`.
        before: Option<usize>,
    },
    /// Copies to the clipboard.
    Copy(String),
    /// Prints the end of a log and where its copy is, and copies that path to the clipboard.
    Share {
        /// The last lines.
        lines: String,
        /// What is said of the copy.
        said: String,
        /// The copy.
        log: Box<SharedLog>,
    },
    /// Prints names and what is said of each, in columns.
    List(Vec<(String, String)>),
    /// Prints a text as it is.
    Raw(String),
    /// Prints a turn again in full: 1 is the last one.
    ShowTurn(usize),
    /// Shows this much of reasoning from now on; `None` says what is shown.
    Reasoning(Option<ReasoningView>),
    /// Uses these styles from now on; `None` says which are used.
    Theme(Option<ThemeChoice>),
    /// Shows keys and commands.
    Help,
    /// Sets up provider, key and model again.
    SetUp,
    /// Leaves.
    Exit,
}
