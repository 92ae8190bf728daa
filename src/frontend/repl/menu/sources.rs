//! Where the menus' rows come from: commands and files for what is being typed, the history for Ctrl+R.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use fuzzy_matcher::FuzzyMatcher as _;
use fuzzy_matcher::skim::SkimMatcherV2;

use super::commands::CommandMenu;
use super::line_menu::Source;
use crate::frontend::repl::files::FileIndex;
use crate::frontend::repl::history::HistoryStore;
use crate::frontend::repl::line::{
    LONGEST_FUZZY, MOST_FOUND, Offer, Row, SharedState, Subject, has_letters, may_have_letters, open_mention,
};

/// Completes what is being typed.
pub(crate) struct WordSource {
    pub(crate) commands: Arc<RwLock<CommandMenu>>,
    pub(crate) files: FileIndex,
    pub(crate) state: SharedState,
    pub(crate) matcher: SkimMatcherV2,
    /// How long the list of files is waited for.
    pub(crate) patience: Duration,
}

impl Source for WordSource {
    fn offer(&mut self, line: &str, cursor: usize) -> Option<Offer> {
        let before = line.get(..cursor)?;
        let offer = match open_mention(before) {
            _ if line.starts_with('!') => None,
            Some((at, typed)) => {
                let servers = self.commands.read().unwrap_or_else(PoisonError::into_inner).servers.clone();
                servers.resources(&self.matcher, at..cursor, &typed).or_else(|| {
                    let mut offer = self.files.offer(at..cursor, &typed, self.patience);
                    offer.rows.splice(0..0, servers.names(&typed));
                    Some(offer)
                })
            }
            None => {
                let commands = self.commands.read().unwrap_or_else(PoisonError::into_inner);
                commands.offer(&self.matcher, before)
            }
        }?;
        let dismissed = self.state.lock().dismissed;
        (dismissed != Some(offer.span.start)).then_some(offer)
    }
}

/// Searches the history for the words of the line.
pub(crate) struct HistorySource {
    pub(crate) history: HistoryStore,
    pub(crate) matcher: SkimMatcherV2,
}

impl Source for HistorySource {
    fn offer(&mut self, line: &str, _cursor: usize) -> Option<Offer> {
        let wanted = line.to_lowercase();
        let mut exact = Vec::new();
        let mut fuzzy = Vec::new();
        self.history.visit(|stored| {
            if !may_have_letters(stored, &wanted) {
                return true;
            }
            let lower = stored.to_lowercase();
            if lower.contains(&wanted) {
                exact.push(stored.to_owned());
            } else if stored.len() <= LONGEST_FUZZY && has_letters(&lower, &wanted) {
                fuzzy.extend(self.matcher.fuzzy_match(&lower, &wanted).map(|score| (score, stored.to_owned())));
            }
            exact.len() < MOST_FOUND
        });
        let mut pending = false;
        if exact.len() < MOST_FOUND && !wanted.is_empty() {
            let (older_exact, older_fuzzy, more) = self.history.older_with_letters(&wanted);
            exact.extend(older_exact);
            fuzzy.extend(older_fuzzy);
            pending = more;
        }
        // Stable: among equals the newer stays first.
        fuzzy.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        let found = exact.into_iter().chain(fuzzy.into_iter().map(|(_, stored)| stored)).take(MOST_FOUND);
        let rows = found.map(|value| Row { label: Some(value.replace('\n', " ⏎ ")), value, ..Row::default() });
        Some(Offer { subject: Subject::History, span: 0..line.len(), rows: rows.collect(), pending, exact: false })
    }
}
