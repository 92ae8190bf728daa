//! What reaches a person who looks elsewhere: the window's title, a notification when a long turn is over.

use std::io::Write;
use std::time::Duration;

use super::{Human, Section, words};
use crate::agent::TurnEnd;
use crate::config::Notify;
use crate::locale::{Word, word};
use crate::terminal::{Line, Mark};

/// After so long a person may have gone to another window.
const LONG_TURN: Duration = Duration::from_secs(10);

impl<W: Write> Human<W> {
    /// Marks that the answer to a line begins here: terminals jump between answers, and know that the prompt above is
    /// over (they erase a prompt on a resize).
    pub fn begin_answer(&mut self) {
        self.failed = false;
        self.screen.mark(&Mark::OutputStart);
        self.screen.flush();
    }

    /// Marks that the answer is over, and whether it was one.
    pub fn end_answer(&mut self) {
        self.screen.mark(&Mark::OutputEnd(u8::from(self.failed)));
        self.screen.flush();
    }

    /// Puts the turn's topic into the window's title.
    pub(super) fn claim_title(&mut self) {
        if self.keyboard.is_some() {
            self.screen.mark(&Mark::KeepTitle);
            let title = if self.topic.is_empty() { "axi".to_owned() } else { format!("axi · {}", self.topic) };
            self.screen.mark(&Mark::Title(title));
        }
    }

    fn give_title_back(&mut self) {
        if self.keyboard.is_some() {
            // For terminals that keep none; most show their own instead of an empty one.
            self.screen.mark(&Mark::Title(self.looks.resting_title.clone()));
            self.screen.mark(&Mark::RestoreTitle);
        }
    }

    pub(super) fn ended(&mut self, end: &TurnEnd) {
        self.end_stream();
        let told = words::turn_end(&self.locale, end);
        match (end, told) {
            (TurnEnd::Failed { .. }, Some(told)) => {
                self.begin(Section::Notice);
                self.tell(word::error::LABEL, self.looks.theme.error, &told);
            }
            (TurnEnd::Interrupted, Some(told)) => {
                self.begin(Section::Notice);
                self.commit_rows(&Line::styled(told.what, self.looks.theme.dim), 0);
            }
            (_, Some(told)) => {
                self.begin(Section::Notice);
                self.tell(word::error::WARNING, self.looks.theme.warning, &told);
            }
            (_, None) => {}
        }
        self.failed |= *end != TurnEnd::Done;
        self.give_title_back();
        let spent = self.turn.as_ref().map(|turn| self.now().saturating_duration_since(turn.started));
        if *end != TurnEnd::Interrupted && spent.is_some_and(|spent| spent >= LONG_TURN) {
            let text = match end {
                TurnEnd::Done => word::attention::DONE,
                TurnEnd::Interrupted
                | TurnEnd::ApprovalNeeded { .. }
                | TurnEnd::StepLimit { .. }
                | TurnEnd::Looping
                | TurnEnd::Length
                | TurnEnd::Refused
                | TurnEnd::Failed { .. } => word::attention::STOPPED,
            };
            self.notify(text);
        }
        self.turn = None;
        self.painted = None;
        self.end_section();
    }

    /// Tells a person who looks elsewhere that a question waits.
    pub(super) fn call_for_answer(&mut self) {
        self.notify(word::attention::QUESTION);
    }

    /// Notifies as the person wished: by default only where the terminal told that it has lost the focus.
    fn notify(&mut self, key: Word) {
        let Some(keyboard) = &self.keyboard else { return };
        if is_wanted(self.looks.notify, keyboard.keys.focused()) {
            let text = self.locale.text(key);
            let text = if self.topic.is_empty() { text.to_owned() } else { format!("{text}: {}", self.topic) };
            self.screen.mark(&Mark::Notify("axi".to_owned(), text));
            // What terminals and multiplexers show that know no notification.
            self.screen.mark(&Mark::Bell);
        }
    }
}

/// Decides; `focused` is what the terminal told of its focus, if anything.
fn is_wanted(notify: Notify, focused: Option<bool>) -> bool {
    match notify {
        Notify::Never => false,
        Notify::Always => true,
        Notify::Auto => focused == Some(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_looks_elsewhere_is_called_unless_they_wish_otherwise() {
        let wanted = |notify| [None, Some(true), Some(false)].map(|focused| is_wanted(notify, focused));
        assert_eq!(wanted(Notify::Auto), [false, false, true]);
        assert_eq!(wanted(Notify::Always), [true; 3]);
        assert_eq!(wanted(Notify::Never), [false; 3]);
    }
}
