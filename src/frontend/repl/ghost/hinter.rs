//! Ghost text: the rest of a line of the history or of a word of this session, at once; later what a model suggests.

use std::sync::Arc;

use nu_ansi_term::Style;
use reedline::{Hinter, History};

use super::session_words::SessionWords;
use super::suggest::Suggestions;
use crate::frontend::repl::history::HistoryStore;
use crate::frontend::repl::line::{MARK, SharedState};

/// Characters of ghost text at most: more than a row of it hides what is on the screen.
const LONGEST: usize = 200;

/// The hinter of one editor.
pub(crate) struct LineHinter {
    history: HistoryStore,
    state: SharedState,
    pub(crate) suggestions: Option<Arc<Suggestions>>,
    words: SessionWords,
    style: Style,
    hint: String,
}

impl LineHinter {
    /// Makes a hinter that asks no model.
    pub(crate) fn new(history: HistoryStore, words: SessionWords, state: SharedState, style: Style) -> Self {
        let style = if style.is_plain() { Style::new().dimmed() } else { style };
        Self { history, state, suggestions: None, words, style, hint: String::new() }
    }

    fn tell(&self, line: &str, needed: bool) {
        if let Some(suggestions) = &self.suggestions {
            suggestions.heard(line, needed && !self.history.is_secret(line));
        }
    }

    fn find(&self, line: &str, cursor: usize) -> String {
        let (busy, browsing) = {
            let state = self.state.lock();
            (state.menu.is_some() || state.unhinted.as_deref() == Some(line), state.browsing)
        };
        if busy || cursor != line.len() || line.contains(MARK) {
            self.tell(line, false);
            return String::new();
        }
        let from_history = from_history(&self.history, line);
        self.tell(line, from_history.is_none() && !browsing);
        from_history
            .or_else(|| self.suggestions.as_ref()?.suggestion(line))
            .or_else(|| self.words.completion(line))
            .unwrap_or_default()
    }
}

/// Returns the ghost text the history has for a line.
pub(crate) fn from_history(history: &HistoryStore, line: &str) -> Option<String> {
    if line.trim().is_empty() || line.contains(MARK) {
        return None;
    }
    let rest = history.completion(line)?;
    // Only one row: a hint of several rows would move the rows below at each key.
    let row = rest.split('\n').next().unwrap_or_default();
    Some(row.chars().take_while(|character| !character.is_control()).take(LONGEST).collect())
}

impl Hinter for LineHinter {
    fn handle(&mut self, line: &str, cursor: usize, _: &dyn History, _: bool, _: &str) -> String {
        self.hint = self.find(line, cursor);
        if self.hint.is_empty() {
            return String::new();
        }
        // Dim even where no colour is wanted: what looks typed must be typed.
        self.style.paint(&self.hint).to_string()
    }

    fn complete_hint(&self) -> String {
        self.hint.clone()
    }

    fn next_hint_token(&self) -> String {
        let content = self.hint.find(|character: char| !character.is_whitespace()).unwrap_or(0);
        let end = self.hint[content..].find(char::is_whitespace).map_or(self.hint.len(), |space| content + space);
        self.hint[..end].to_owned()
    }
}

#[cfg(test)]
#[path = "hinter_tests.rs"]
mod tests;
