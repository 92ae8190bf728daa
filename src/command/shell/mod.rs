//! What the agent's commands changed in their own shells, as one line that makes the same changes in the person's: in
//! the grammar of that shell, for the person to read and to enter. Nobody runs it for them.
//!
//! Inside: `meant` (which commands were for the shell), `change` (what two states differ in), `write` (a change in a
//! shell's grammar).

mod change;
mod meant;
mod write;

use std::path::Path;

use crate::locale::{Locale, word};
use crate::secret::{self, Known, Level};
use crate::tool::{ShellRun, is_plain_line};
use change::{Change, changes};
use write::Grammar;

/// The longest piece of the line, in bytes.
const LONGEST: usize = 4096;

/// Where the line is to go.
#[derive(Debug, Clone, Copy)]
pub struct ShellGoal<'a> {
    /// The person's shell, such as `zsh`.
    pub shell: &'a str,
    /// Where it is.
    pub directory: &'a Path,
    /// The secrets that are known.
    pub known: &'a Known,
}

/// What commands left in their shells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftInShells {
    /// The line; `None` if there is nothing.
    pub line: Option<String>,
    /// What is not in it because it looks like a secret.
    pub secret: Vec<String>,
    /// What is not in it because the person's shell has no words for it, or because nobody could read it.
    pub unwritten: Vec<String>,
}

impl LeftInShells {
    /// Says what is not in the line, if anything.
    #[must_use]
    pub fn left_out(&self, locale: &Locale) -> Vec<String> {
        let rows = [(&self.secret, true), (&self.unwritten, false)];
        let said = |(names, is_secret): (&Vec<String>, bool)| {
            let names = &names.join(", ");
            if is_secret {
                locale.with(word::handoff::LeftSecret { names })
            } else {
                locale.with(word::handoff::LeftUnwritten { names })
            }
        };
        rows.into_iter().filter(|(names, _)| !names.is_empty()).map(said).collect()
    }
}

/// Words what these commands left.
#[must_use]
pub fn left_in_shells(runs: &[ShellRun], goal: ShellGoal<'_>) -> LeftInShells {
    let grammar = Grammar::of(goal.shell);
    let reads_bash = grammar.is_some_and(Grammar::reads_bash);
    let all = runs.iter().filter(|run| meant::is_for_the_shell(run)).map(|run| changes(run, reads_bash));
    let mut kept: Vec<Change> = Vec::new();
    for change in all.flatten().filter(Change::is_named) {
        kept.retain(|known| known.subject() != change.subject());
        kept.push(change);
    }
    kept.sort_by_key(Change::order);
    let directory = kept.iter().find_map(Change::directory).unwrap_or(goal.directory).to_owned();
    let mut left = LeftInShells::default();
    let mut pieces = Vec::new();
    for change in &kept {
        let name = change.name();
        match grammar.and_then(|grammar| grammar.write(change, goal.directory, &directory)) {
            Some(piece) if secret::redact(&piece, goal.known, Level::Sent).1 > 0 => left.secret.push(name),
            Some(piece) if piece.len() <= LONGEST && is_plain_line(&piece) => pieces.push(piece),
            Some(_) | None => left.unwritten.push(name),
        }
    }
    let line = pieces.join(" && ");
    left.line = Some(line).filter(|line| !line.is_empty() && is_plain_line(line));
    left
}

#[cfg(test)]
#[path = "shell_tests.rs"]
mod tests;
