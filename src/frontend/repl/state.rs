//! What the parts of the editor tell each other about the line between two paints.
//!
//! reedline shows the line to its highlighter, hinter and menus, but not to the edit mode, which decides what a
//! key does. The highlighter therefore leaves what it painted here. A key that arrives before the next paint
//! (a burst, a slow connection) finds [`LineState::fresh`] false and must not trust it.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crossterm::event::Event;

use super::drafts::Drafts;
use super::late_up::LateUp;
use super::menu::MenuView;

/// Why a line was ended without being sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// `?` was typed.
    Help,
    /// Ctrl+C.
    Interrupted,
    /// Ctrl+D, or Ctrl+C twice.
    End,
    /// The host needs the screen; the line comes back.
    Kept,
}

/// The line as last painted, and what the next key has to know about it.
#[derive(Debug, Default)]
pub(super) struct LineState {
    /// The line, pastes collapsed.
    pub(super) line: String,
    /// The cursor, in bytes.
    pub(super) cursor: usize,
    /// Whether no key arrived since the paint.
    pub(super) fresh: bool,
    /// When the last paint was.
    pub(super) painted_at: Option<Instant>,
    /// What the visible menu shows.
    pub(super) menu: Option<MenuView>,
    /// Where the word starts whose menu was closed by ESC; it stays closed for that word.
    pub(super) dismissed: Option<usize>,
    /// The `@…` tokens taken from the picker, which Backspace removes whole.
    pub(super) attached: HashSet<String>,
    /// What a line that was ended without being sent stands for.
    pub(super) ended: Option<Ended>,
    /// Keys that were read along with a line's Enter: they belong to the next line.
    pub(super) leftover: Vec<Event>,
    /// When ESC stopped the turn before this line: the rest of an arrow key may still come.
    pub(super) escaped: Option<Instant>,
    /// The line whose ghost text was closed by ESC.
    pub(super) unhinted: Option<String>,
    /// Whether something has come that the next paint shows, though no key was pressed.
    pub(super) repaint: bool,
    /// Whether the line was taken from the history and not edited since.
    pub(super) browsing: bool,
    /// The ↑ that had no answer yet.
    pub(super) late_up: LateUp,
    /// Who keeps the line in case axi does not come to its end, and whether they know of the last change.
    pub(super) drafts: Drafts,
    pub(super) untold: bool,
}

impl LineState {
    /// Has the line kept if it has changed. Not before it is painted: the first time a thread is made.
    pub(super) fn keep_draft(&mut self) {
        if std::mem::take(&mut self.untold) {
            self.drafts.mark();
        }
    }
}

/// The state, shared by the parts of one editor. One thread at a time uses it; the lock is never held long.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedState(Arc<Mutex<LineState>>);

impl SharedState {
    /// Locks the state. A panic elsewhere leaves plain data behind, which is as good as before.
    pub(super) fn lock(&self) -> MutexGuard<'_, LineState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
