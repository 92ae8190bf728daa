//! Where the menus' rows come from: commands and files for what is being typed, the history for Ctrl+R.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use fuzzy_matcher::FuzzyMatcher as _;
use fuzzy_matcher::skim::SkimMatcherV2;

use super::command_menu::CommandMenu;
use super::file_index::FileIndex;
use super::history::HistoryStore;
use super::mention;
use super::menu::{Offer, Row, Source, Subject};
use super::state::SharedState;

/// Rows of a menu at most; nobody reads further.
pub(super) const ROWS: usize = 100;
/// Lines longer than this, in bytes, are not looked through fuzzily.
pub(super) const FUZZY: usize = 512;

/// Completes what is being typed.
pub(super) struct WordSource {
    pub(super) commands: Arc<RwLock<CommandMenu>>,
    pub(super) files: FileIndex,
    pub(super) state: SharedState,
    pub(super) matcher: SkimMatcherV2,
    /// How long the list of files is waited for.
    pub(super) patience: Duration,
}

impl Source for WordSource {
    fn offer(&mut self, line: &str, cursor: usize) -> Option<Offer> {
        let before = line.get(..cursor)?;
        let offer = match mention::open_mention(before) {
            _ if line.starts_with('!') => None,
            Some((at, typed)) => Some(self.files.offer(at..cursor, &typed, self.patience)),
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
pub(super) struct HistorySource {
    pub(super) history: HistoryStore,
    pub(super) matcher: SkimMatcherV2,
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
            } else if stored.len() <= FUZZY && has_letters(&lower, &wanted) {
                fuzzy.extend(self.matcher.fuzzy_match(&lower, &wanted).map(|score| (score, stored.to_owned())));
            }
            exact.len() < ROWS
        });
        let mut pending = false;
        if exact.len() < ROWS && !wanted.is_empty() {
            let (older_exact, older_fuzzy, more) = self.history.older_with_letters(&wanted);
            exact.extend(older_exact);
            fuzzy.extend(older_fuzzy);
            pending = more;
        }
        // Stable: among equals the newer stays first.
        fuzzy.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        let found = exact.into_iter().chain(fuzzy.into_iter().map(|(_, stored)| stored)).take(ROWS);
        let rows = found.map(|value| Row { label: Some(value.replace('\n', " ⏎ ")), value, ..Row::default() });
        Some(Offer { subject: Subject::History, span: 0..line.len(), rows: rows.collect(), pending, exact: false })
    }
}

/// The same for a text in any case, without making another text of it; `true` where that does not tell.
pub(super) fn may_have_letters(text: &str, wanted: &str) -> bool {
    if !wanted.is_ascii() || !text.is_ascii() {
        return true;
    }
    let mut letters = text.bytes().map(|letter| letter.to_ascii_lowercase());
    wanted.bytes().filter(|letter| *letter != b' ').all(|letter| letters.any(|other| other == letter))
}

/// Tells whether the letters of `wanted` stand in `text` in their order: what a fuzzy match needs, at a fraction
/// of its price.
pub(super) fn has_letters(text: &str, wanted: &str) -> bool {
    if wanted.is_ascii() {
        let mut letters = text.bytes();
        return wanted.bytes().filter(|letter| *letter != b' ').all(|letter| letters.any(|other| other == letter));
    }
    let mut letters = text.chars();
    wanted.chars().filter(|letter| !letter.is_whitespace()).all(|letter| letters.any(|other| other == letter))
}
