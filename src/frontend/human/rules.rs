//! Rules that a person may keep: what each would have let run before, and where it is kept.

use crate::agent::{Tried, Tryable};
use crate::approval::Rule;

/// Keeps a rule: returns the file it is kept in, as people read it, or why it is not.
pub type KeepRule = Box<dyn Fn(&Rule) -> Result<String, String>>;

/// Has the person try a command.
pub type Tries = Box<dyn Fn(&Tryable) -> Option<Tried>>;

/// Explains a line, a line each.
pub type Explains = Box<dyn Fn(&str) -> Vec<String>>;

/// What a rule would have run, and where one is kept. Made by the composition root.
pub struct Rules {
    /// Looks the last commands up.
    pub matches: Box<dyn Fn(&Rule) -> Matches>,
    /// Keeps a rule for good.
    pub keep: KeepRule,
    /// Tells whether commands can be tried here.
    pub can_try: Box<dyn Fn() -> bool>,
    /// Has the person try a command on the terminal; `None` where it could not be.
    pub tries: Tries,
    /// Says what is known of a line.
    pub explains: Explains,
}

/// What a rule would have let run unasked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Matches {
    /// How many commands were looked at.
    pub of: usize,
    /// Those it is about, the newest first.
    pub lines: Vec<String>,
}

impl Default for Rules {
    /// Knows no commands and keeps nothing.
    fn default() -> Self {
        Self {
            matches: Box::new(|_| Matches::default()),
            keep: Box::new(|_| Err(String::new())),
            can_try: Box::new(|| false),
            tries: Box::new(|_| None),
            explains: Box::new(|_| Vec::new()),
        }
    }
}
