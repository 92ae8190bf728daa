//! What the slash menu knows: plain data that the commands hand over, and the matching.

use std::sync::Arc;

use super::servers::{Prompt, ServerMenu};
use crate::frontend::repl::line::{Offer, Row, Subject};
use fuzzy_matcher::FuzzyMatcher as _;
use fuzzy_matcher::skim::SkimMatcherV2;

/// One value a command's argument can take, or a group of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Candidate {
    /// What is put into the line.
    pub value: String,
    /// What is shown instead, if not the value.
    pub label: Option<String>,
    /// What it means, in the person's language.
    pub description: String,
    /// Whether another level follows (a group of models).
    pub more: bool,
}

/// What can follow at one level.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Candidates {
    /// The values.
    pub candidates: Vec<Candidate>,
    /// Whether more may come without a key.
    pub pending: bool,
}

impl From<Vec<Candidate>> for Candidates {
    fn from(candidates: Vec<Candidate>) -> Self {
        Self { candidates, pending: false }
    }
}

/// Lists the values of the next argument, given the ones written before it and what is typed of it. Must not wait.
pub type Arguments = Arc<dyn Fn(&[&str], &str) -> Candidates + Send + Sync>;

/// One slash command as the menu shows it.
#[derive(Clone, Default)]
pub struct CommandEntry {
    /// Its name, without the slash.
    pub name: String,
    /// Other names.
    pub aliases: Vec<String>,
    /// What it does, in the person's language.
    pub description: String,
    /// What its arguments look like, for example `[ID]`; may be empty.
    pub usage: String,
    /// Lists its arguments, level by level.
    pub arguments: Option<Arguments>,
}

impl From<Prompt> for CommandEntry {
    fn from(Prompt { name, description, usage }: Prompt) -> Self {
        Self { name, description, usage, ..Self::default() }
    }
}

/// All slash commands, in the order they are shown.
#[derive(Clone, Default)]
pub struct CommandMenu {
    /// The commands.
    pub entries: Vec<CommandEntry>,
    /// What else there is, as far as it is known when it is looked for.
    pub servers: ServerMenu,
}

impl CommandMenu {
    /// Returns the command of that name or alias.
    pub fn find(&self, name: &str) -> Option<&CommandEntry> {
        self.entries.iter().find(|entry| entry.name == name || entry.aliases.iter().any(|alias| alias == name))
    }

    /// Returns what the menu shows for a line that begins with a slash, up to the cursor.
    pub(super) fn offer(&self, matcher: &SkimMatcherV2, before: &str) -> Option<Offer> {
        let written = before.strip_prefix('/')?;
        if written.contains('\n') {
            return None;
        }
        let Some((name, arguments)) = written.split_once(char::is_whitespace) else {
            let prompts: Vec<CommandEntry> = self.servers.prompts().into_iter().map(CommandEntry::from).collect();
            let rows = self.matching_names(&prompts, matcher, written);
            let exact = self.find(written).is_some() || prompts.iter().any(|prompt| prompt.name == written);
            return Some(Offer { subject: Subject::Command, span: 1..before.len(), rows, pending: false, exact });
        };
        let list = self.find(name)?.arguments.as_ref()?;
        let typed = arguments.rsplit(char::is_whitespace).next().unwrap_or_default();
        let earlier = &arguments[..arguments.len() - typed.len()];
        let levels: Vec<&str> = earlier.split_whitespace().collect();
        let Candidates { candidates, pending } = list(&levels, typed);
        let rows = matching_values(matcher, candidates, typed);
        let span = before.len() - typed.len()..before.len();
        Some(Offer { subject: Subject::Argument, span, rows, pending, exact: false })
    }

    fn matching_names(&self, prompts: &[CommandEntry], matcher: &SkimMatcherV2, typed: &str) -> Vec<Row> {
        let scored = self.entries.iter().chain(prompts).filter_map(|entry| {
            let names = std::iter::once(&entry.name).chain(&entry.aliases);
            let best = names.filter_map(|name| score(matcher, name, typed)).max()?;
            let label = if entry.usage.is_empty() {
                format!("/{}", entry.name)
            } else {
                format!("/{} {}", entry.name, entry.usage)
            };
            // What a prompt takes is typed behind it.
            let more = entry.arguments.is_some() || entry.name.contains(':') && !entry.usage.is_empty();
            let value = if more { format!("{} ", entry.name) } else { entry.name.clone() };
            Some((best, Row { value, label: Some(label), description: entry.description.clone(), more }))
        });
        sorted(scored.collect())
    }
}

fn matching_values(matcher: &SkimMatcherV2, values: Vec<Candidate>, typed: &str) -> Vec<Row> {
    let scored = values.into_iter().filter_map(|candidate| {
        let by_value = score(matcher, &candidate.value, typed);
        let by_label = candidate.label.as_deref().and_then(|label| score(matcher, label, typed));
        let best = by_value.max(by_label)?;
        let Candidate { mut value, label, description, more } = candidate;
        let label = label.or_else(|| Some(value.clone()));
        if more {
            value.push(' ');
        }
        Some((best, Row { value, label, description, more }))
    });
    sorted(scored.collect())
}

/// Scores a name: exact before prefix before fuzzy.
fn score(matcher: &SkimMatcherV2, name: &str, typed: &str) -> Option<i64> {
    if typed.is_empty() {
        return Some(0);
    }
    let lower = name.to_lowercase();
    let wanted = typed.to_lowercase();
    if lower == wanted {
        return Some(i64::MAX);
    }
    let fuzzy = matcher.fuzzy_match(&lower, &wanted)?;
    Some(if lower.starts_with(&wanted) { fuzzy + 1_000_000 } else { fuzzy })
}

/// Best first; the order of the table where the scores are equal.
fn sorted(mut rows: Vec<(i64, Row)>) -> Vec<Row> {
    rows.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    rows.into_iter().map(|(_, row)| row).collect()
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
