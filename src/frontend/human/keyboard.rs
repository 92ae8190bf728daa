//! The keyboard while a turn runs, and the terminal it belongs to; there is none between turns, nor in print mode.

use std::rc::Rc;

use crate::terminal::{Background, KeyWatch, Mark, Pressed, Tty, Unsent};

/// Whether the terminal was asked for its background.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Asked {
    #[default]
    Unasked,
    Waiting,
    Done,
}

/// See the module.
#[derive(Default)]
pub(super) struct Keyboard {
    watched: Option<(KeyWatch, Rc<Tty>)>,
    background: Asked,
    /// The focus as far as it is known, while the terminal has told nothing newer.
    focus: Option<bool>,
}

impl Keyboard {
    /// Tells whether somebody can press a key.
    pub(super) const fn is_watched(&self) -> bool {
        self.watched.is_some()
    }

    /// Returns the terminal while somebody can press a key.
    pub(super) fn tty(&self) -> Option<&Tty> {
        self.watched.as_ref().map(|(_, tty)| &**tty)
    }

    pub(super) fn watch(&mut self, keys: KeyWatch, tty: Rc<Tty>) {
        self.watched = Some((keys, tty));
    }

    /// Stops watching and returns what the keys asked for.
    pub(super) fn unwatch(&mut self) -> Pressed {
        self.focus = self.focused();
        self.watched.take().map(|(keys, _)| keys.stop()).unwrap_or_default()
    }

    /// Waits, not for long, until nobody types.
    pub(super) fn settle(&self) {
        if let Some((keys, _)) = &self.watched {
            keys.settle();
        }
    }

    /// Leaves the keys to another reader.
    pub(super) fn pause(&mut self) {
        if let Some((keys, _)) = &mut self.watched {
            keys.pause();
        }
    }

    /// Takes down that somebody has just pressed a key for another reader, which does not tell of the focus. A terminal
    /// that never told is not believed to have it: it would never tell that it lost it.
    pub(super) fn somebody_is_there(&mut self) {
        self.focus = self.take_focus().map(|_| true);
    }

    /// Forgets what the terminal told of the focus: while a command had the terminal, it told nothing.
    pub(super) fn forget_focus(&mut self) {
        self.take_focus();
        self.focus = None;
    }

    fn take_focus(&self) -> Option<bool> {
        self.watched.as_ref().and_then(|(keys, _)| keys.take_focus()).or(self.focus)
    }

    /// Reads the keys again, once somebody has answered a question.
    pub(super) fn resume_answered(&mut self) {
        self.somebody_is_there();
        self.resume();
    }

    /// Reads the keys again; the terminal's settings for them have not changed.
    pub(super) fn resume(&mut self) {
        if let Some((keys, _)) = &mut self.watched
            && let Err(error) = keys.resume()
        {
            tracing::warn!(%error, "the keyboard cannot be watched");
        }
    }

    /// Returns what is typed so far.
    pub(super) fn typed(&self) -> Unsent {
        self.watched.as_ref().map(|(keys, _)| keys.pending().snapshot()).unwrap_or_default()
    }

    /// Returns a counter of the keys that changed something.
    pub(super) fn version(&self) -> u64 {
        self.watched.as_ref().map_or(0, |(keys, _)| keys.version())
    }

    /// Tells whether the terminal has the focus, where it tells.
    pub(super) fn focused(&self) -> Option<bool> {
        self.watched.as_ref().and_then(|(keys, _)| keys.focused()).or(self.focus)
    }

    /// Tells once that Ctrl+Z was pressed, with the terminal that is to be given back.
    pub(super) fn take_suspend(&self) -> Option<Rc<Tty>> {
        self.watched.as_ref().filter(|(keys, _)| keys.take_suspend()).map(|(_, tty)| Rc::clone(tty))
    }

    /// Sets the known background: the terminal is not asked then.
    pub(super) const fn trust_background(&mut self) {
        self.background = Asked::Done;
    }

    /// Returns the question for the terminal's background, the first time: the watcher takes the answer.
    pub(super) fn ask_background(&mut self) -> Option<Mark> {
        let (keys, _) = self.watched.as_ref().filter(|_| self.background == Asked::Unasked)?;
        keys.expect_answer();
        self.background = Asked::Waiting;
        Some(Mark::AskBackground)
    }

    /// Takes the terminal's answer, if it has come.
    pub(super) fn take_background(&mut self) -> Option<Background> {
        let (keys, _) = self.watched.as_ref().filter(|_| self.background == Asked::Waiting)?;
        let told = keys.background()?;
        self.background = Asked::Done;
        Some(told)
    }
}
