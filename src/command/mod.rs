//! Slash commands: one row a command in `table.rs`, the bodies by theme beside it.
//!
//! A body decides and says what to do; the REPL does it. Knows no terminal.

mod bodies;
mod jobs;
mod modes;
mod permissions;
mod sessions;
mod table;
mod undo;
mod user;

use std::sync::Arc;

use crate::agent::Agent;
use crate::approval::{Decision, Rule};
use crate::config::{self, ReasoningView, ThemeChoice};
use crate::conversation::Usage;
use crate::locale::{Locale, Word};
use crate::provider::Provider;
use crate::session::SessionStore;

pub use permissions::{describe, rule_error};
pub use sessions::session_problem;
pub use table::COMMANDS;
pub use user::{CommandSource, UserCommand, command_body, load_user_commands};

/// A row of the table.
pub struct SlashCommand {
    /// The name, without the slash.
    pub name: &'static str,
    /// What it does.
    pub says: Word,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// What may follow it.
    pub argument: Argument,
    /// The body; takes what followed the name, trimmed.
    pub run: fn(&mut Context<'_>, &str) -> Outcome,
}

/// What may follow a command, for completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// Nothing.
    None,
    /// A model.
    Model,
    /// A language.
    Language,
    /// A word about sessions, and a session.
    Session,
    /// A session.
    SessionId,
    /// A provider.
    Provider,
    /// One of these words.
    Word(&'static [&'static str]),
}

/// What a body works with.
pub struct Context<'a> {
    /// The agent.
    pub agent: &'a mut Agent,
    /// The user's words.
    pub locale: &'a Locale,
    /// Everything outside.
    pub world: &'a mut dyn World,
}

/// What commands ask of the world outside the agent. Implemented by the composition root.
pub trait World {
    /// Connects to a model named `PROVIDER/MODEL`; the error is in the user's words.
    fn connect(&mut self, model: &str, locale: &Locale) -> Result<Arc<dyn Provider>, Problem>;

    /// Lists the models that can be asked, as `PROVIDER/MODEL`; waits at most a second or two for servers.
    fn models(&mut self) -> Vec<String>;

    /// Lists the names of all providers.
    fn providers(&self) -> Vec<String>;

    /// Writes a setting into the user's file.
    fn remember(&mut self, key: &str, value: &str, locale: &Locale) -> Result<(), Problem>;

    /// Returns the tokens ghost text has used since the start: they belong to no session.
    fn ghost_usage(&self) -> Usage;

    /// Keeps a rule in the user's file; returns the file as people read it.
    fn keep_rule(&mut self, decision: Decision, rule: &Rule, locale: &Locale) -> Result<String, Problem>;

    /// Takes a rule out of the user's file; one that is not there is no error.
    fn forget_rule(&mut self, decision: Decision, rule: &Rule, locale: &Locale) -> Result<(), Problem>;

    /// Returns where sessions are kept, if they are.
    fn sessions(&self) -> Option<SessionStore>;

    /// Stores a key that was asked for without echo, or removes it.
    fn keychain(&mut self, action: KeyAction, provider: &str, locale: &Locale) -> Result<String, Problem>;

    /// Reports what works here, as markdown.
    fn doctor(&mut self, locale: &Locale) -> String;
}

/// What to do with a provider's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyAction {
    /// Store this key.
    Store(String),
    /// Remove it.
    Remove,
}

/// An error in the user's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What failed, on what.
    pub what: String,
    /// What to do now; may be empty.
    pub hint: String,
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
    /// Does one, then the other.
    Both(Box<Outcome>, Box<Outcome>),
    /// Puts this text on the line that is edited next.
    Edit(String),
    /// Asks for a key without echo, then stores it.
    AskKey(String),
    /// Speaks this language from now on.
    Language(&'static str),
    /// Starts a new session; `clear` clears the screen too.
    NewSession {
        /// Whether the visible screen is cleared.
        clear: bool,
    },
    /// Goes on with this session.
    Resume(String),
    /// Copies to the clipboard.
    Copy(String),
    /// Prints a turn again in full: 1 is the last one.
    ShowTurn(usize),
    /// Shows this much of reasoning from now on; `None` says what is shown.
    Reasoning(Option<ReasoningView>),
    /// Uses these styles from now on; `None` says which are used.
    Theme(Option<ThemeChoice>),
    /// Shows keys and commands.
    Help,
    /// Leaves.
    Exit,
}

/// Finds a command by its name or one of its other names.
#[must_use]
pub fn find(name: &str) -> Option<&'static SlashCommand> {
    COMMANDS.iter().find(|command| command.name == name || command.aliases.contains(&name))
}

/// Finds the command whose name is nearest to a misspelt one. `own` are the names of further commands.
#[must_use]
pub fn nearest<'names>(name: &str, own: impl Iterator<Item = &'names str>) -> Option<&'names str> {
    let table =
        COMMANDS.iter().flat_map(|command| std::iter::once(command.name).chain(command.aliases.iter().copied()));
    config::nearest(name, table.chain(own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_command_finds_its_neighbour() {
        assert_eq!(nearest("modle", std::iter::empty()), Some("model"));
        assert_eq!(nearest("languge", std::iter::empty()), Some("language"));
        assert_eq!(nearest("xyzzy", std::iter::empty()), None);
    }

    #[test]
    fn names_are_unique() {
        let mut seen = std::collections::HashSet::new();
        for command in COMMANDS {
            for name in std::iter::once(&command.name).chain(command.aliases) {
                assert!(seen.insert(*name), "{name} twice");
            }
        }
    }
}
