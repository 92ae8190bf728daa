//! What the body of a command works with.

use std::path::Path;
use std::sync::Arc;

use super::{LeftInShells, Problem, SharedLog};
use crate::agent::{Agent, Recalled};
use crate::approval::{Decision, Rule};
use crate::config::Held;
use crate::conversation::Usage;
use crate::locale::Locale;
use crate::provider::Provider;
use crate::session::{SessionId, SessionStore};
use crate::tool::devtool::Search;

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

    /// Lists the models that can be asked, as `PROVIDER/MODEL`, each with what is known of it in a few words; waits at
    /// most a second or two for servers.
    fn models(&mut self, locale: &Locale) -> Vec<(String, String)>;

    /// Lists the names of all providers.
    fn providers(&self) -> Vec<String>;

    /// Writes a setting into the user's file.
    fn remember(&mut self, key: &str, value: &str, locale: &Locale) -> Result<(), Problem>;

    /// Lists the settings that hold, each with where it comes from.
    fn settings(&self) -> Vec<Held>;

    /// Tells whether the file says another value of a setting than this axi was started with, and works by until the next
    /// start.
    fn waits_for_start(&self, key: &str) -> bool;

    /// Writes what a person chose for a setting into their file; returns the file as people read it. What the setting
    /// cannot hold is not written.
    fn choose(&mut self, key: &str, value: &str, locale: &Locale) -> Result<String, Problem>;

    /// Makes a comment of the line that sets it; returns the file, and whether there was such a line.
    fn unset(&mut self, key: &str, locale: &Locale) -> Result<(String, bool), Problem>;

    /// Returns a path as people read it.
    fn shown(&self, path: &Path) -> String;

    /// Returns the tokens ghost text has used since the start: they belong to no session.
    fn ghost_usage(&self) -> Usage;

    /// Keeps a rule in the user's file; returns the file as people read it.
    fn keep_rule(&mut self, decision: Decision, rule: &Rule, locale: &Locale) -> Result<String, Problem>;

    /// Takes a rule out of the user's file; one that is not there is no error.
    fn forget_rule(&mut self, decision: Decision, rule: &Rule, locale: &Locale) -> Result<(), Problem>;

    /// Returns where sessions are kept, if they are.
    fn sessions(&self) -> Option<SessionStore>;

    /// Deletes the sessions that were not used for as long as the settings say; returns how many, and the days.
    fn clean_up(&mut self, current: &SessionId) -> (u64, u64);

    /// Searches what was typed at shells and said in sessions, all but one; the best first.
    fn recalled(&self, text: &str, without: &SessionId) -> Vec<Recalled>;

    /// Stores a key that was asked for without echo, or removes it.
    fn keychain(&mut self, action: KeyAction, provider: &str, locale: &Locale) -> Result<String, Problem>;

    /// Looks for the developer tools of this machine; a `refresh` asks all of them for their versions again. Takes a second
    /// at most.
    fn dev_tools(&mut self, refresh: bool) -> Search;

    /// Writes a copy of the newest log that can be handed on, headed by `about`; `None` where no log is kept.
    fn log(&self, about: &str) -> Option<std::io::Result<SharedLog>>;

    /// Words what commands left in their shells, for the person's own.
    fn left_in_shells(&self) -> LeftInShells;

    /// Tells whether a shell waits to put a line on its prompt.
    fn has_prompt(&self) -> bool;

    /// Reports what works here, as markdown.
    fn doctor(&mut self, model: &str, locale: &Locale) -> String;
}

/// What to do with a provider's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyAction {
    /// Store this key.
    Store(String),
    /// Store it in a file that only its owner can read.
    StoreInFile(String),
    /// Remove it.
    Remove,
}
