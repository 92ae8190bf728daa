//! What the parts of the editor tell each other about the line between two paints.
//!
//! reedline shows the line to its highlighter, hinter and menus, but not to the edit mode, which decides what a
//! key does. The highlighter therefore leaves what it painted here. A key that arrives before the next paint
//! (a burst, a slow connection) finds [`LineState::fresh`] false and must not trust it.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crossterm::event::Event;

use super::late_up::LateUp;
use super::offer::MenuView;
use crate::terminal::Pending;

/// Why a line was ended without being sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// `?` was typed.
    Help,
    /// Ctrl+C.
    Interrupted,
    /// Ctrl+D, or Ctrl+C twice.
    End,
    /// The host needs the screen; the line comes back.
    Kept,
}

/// What the next key has to know about the line as last painted.
#[derive(Debug, Default)]
pub(crate) struct LineState {
    /// The cursor, in bytes.
    pub(crate) cursor: usize,
    /// Whether no key arrived since the paint.
    pub(crate) fresh: bool,
    /// When the last paint was.
    pub(crate) painted_at: Option<Instant>,
    /// What the visible menu shows.
    pub(crate) menu: Option<MenuView>,
    /// Where the word starts whose menu was closed by ESC; it stays closed for that word.
    pub(crate) dismissed: Option<usize>,
    /// The `@…` tokens taken from the picker, which Backspace removes whole.
    pub(crate) attached: HashSet<String>,
    /// Why a line ended that was not sent.
    pub(crate) ended: Option<Ended>,
    /// Keys that were read along with a line's Enter: they belong to the next line.
    pub(crate) leftover: Vec<Event>,
    /// When ESC stopped the turn before this line: the rest of an arrow key may still come.
    pub(crate) escaped: Option<Instant>,
    /// The line whose ghost text was closed by ESC.
    pub(crate) unhinted: Option<String>,
    /// Whether something has come that the next paint shows, though no key was pressed.
    pub(crate) repaint: bool,
    /// Whether the line was taken from the history and not edited since.
    pub(crate) browsing: bool,
    /// The ↑ that had no answer yet.
    pub(crate) late_up: LateUp,
}

/// The state, shared by the parts of one editor, and the line itself, pastes collapsed. One thread at a time uses the
/// state; the lock is never held long.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedState {
    state: Arc<Mutex<LineState>>,
    pending: Pending,
}

impl SharedState {
    /// Shares the line that is pending.
    pub(crate) fn new(pending: Pending) -> Self {
        Self { state: Arc::default(), pending }
    }

    /// Locks the state. After a panic elsewhere it is still plain data, and usable.
    pub(crate) fn lock(&self) -> MutexGuard<'_, LineState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is typed and not sent. Its line is the painted one, plus what is known to have been typed since.
    pub(crate) const fn pending(&self) -> &Pending {
        &self.pending
    }

    /// Returns the line.
    pub(crate) fn line(&self) -> String {
        self.pending.look(|unsent| unsent.line.clone())
    }
}
