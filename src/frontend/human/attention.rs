//! Reaches a person who looks elsewhere: sets the window's title and the progress in its tab, and notifies when a long
//! turn is over.

use std::io::Write;
use std::time::Duration;

use super::keyboard::Keyboard;
use super::painter::Painter;
use crate::agent::TurnEnd;
use crate::config::{Notify, OnOff};
use crate::locale::{Word, word};
use crate::terminal::{Mark, Progress, sanitize_line};

/// The most characters of a topic: a title, and a notification, is one row.
const TOPIC: usize = 120;

/// Shows a title and a text on the desktop.
type Desktop = Box<dyn Fn(&str, &str)>;

/// How what a turn is about gets to who looks elsewhere.
pub struct Notifier {
    /// Shows a title and a text on the desktop.
    pub desktop: Desktop,
    /// Takes the secrets out of a text: a title, and a program's arguments, can be read by others.
    pub redact: Box<dyn Fn(&str) -> String>,
}

/// What the turn is about, for who looks elsewhere.
pub(super) struct Attention {
    topic: String,
    notifier: Notifier,
}

impl Attention {
    pub(super) fn new(notifier: Notifier) -> Self {
        Self { topic: String::new(), notifier }
    }

    /// Says what the next turn is about.
    pub(super) fn set_topic(&mut self, message: &str) {
        // What is secret in the first line may show by another one: all of them are searched, and cut afterwards.
        let clean = (self.notifier.redact)(message.trim_start());
        self.topic = cut(clean.lines().next().unwrap_or_default().trim());
    }

    /// Puts the topic into the window's title.
    pub(super) fn claim_title<W: Write>(&self, painter: &mut Painter<W>, keyboard: &Keyboard) {
        if let Some(tty) = keyboard.tty() {
            if painter.screen().mark(&Mark::KeepTitle) {
                let undo = resting_title(painter).iter().chain(&idle(painter)).flat_map(Mark::bytes).collect();
                tty.title(Some(undo));
            }
            let title = if self.topic.is_empty() { "axi".to_owned() } else { format!("axi · {}", self.topic) };
            painter.screen().mark(&Mark::Title(title));
        }
        tell_progress(painter, Progress::Working);
    }

    /// Reports the end of a turn: restores the window's title, and notifies a person who may have gone elsewhere.
    pub(super) fn ended<W: Write>(
        &self,
        painter: &mut Painter<W>,
        keyboard: &Keyboard,
        end: &TurnEnd,
        spent: Option<Duration>,
    ) {
        // A suspended axi gave it back already.
        if keyboard.tty().is_some_and(|tty| tty.title(None)) {
            for mark in resting_title(painter) {
                painter.screen().mark(&mark);
            }
        }
        let failed = !matches!(end, TurnEnd::Done | TurnEnd::Interrupted);
        tell_progress(painter, if failed { Progress::Failed } else { Progress::None });
        if let (true, Some(idle), Some(tty)) = (failed, idle(painter), keyboard.tty()) {
            // What failed is shown until the next turn, but not longer than axi is there.
            tty.title(Some(idle.bytes()));
        }
        let wishes = &painter.looks().notifications;
        // After so long a person may have gone to another window.
        let is_long = |spent: Duration| spent >= Duration::from_secs(wishes.long_turn);
        if wishes.turns == OnOff::Off || !spent.is_some_and(is_long) {
            return;
        }
        match end {
            TurnEnd::Done => self.notify(painter, keyboard, word::attention::DONE),
            TurnEnd::Interrupted => {}
            TurnEnd::ApprovalNeeded { .. }
            | TurnEnd::StepLimit { .. }
            | TurnEnd::BudgetLimit { .. }
            | TurnEnd::Looping
            | TurnEnd::Length
            | TurnEnd::Refused
            | TurnEnd::Failed { .. } => self.notify(painter, keyboard, word::attention::STOPPED),
        }
    }

    /// Tells a person who looks elsewhere that a question waits.
    pub(super) fn call_for_answer<W: Write>(&self, painter: &mut Painter<W>, keyboard: &Keyboard) {
        if painter.looks().notifications.questions == OnOff::On {
            self.notify(painter, keyboard, word::attention::QUESTION);
        }
        tell_progress(painter, Progress::None);
    }

    /// Shows that the work goes on behind a question.
    pub(super) fn answered<W: Write>(painter: &mut Painter<W>) {
        tell_progress(painter, Progress::Working);
    }

    /// Notifies as the person wished: by default only where the terminal told that it has lost the focus.
    fn notify<W: Write>(&self, painter: &mut Painter<W>, keyboard: &Keyboard, text: Word) {
        if keyboard.is_watched() && is_wanted(painter.looks().notify, keyboard.focused()) {
            let text = painter.locale().text(text);
            let text = if self.topic.is_empty() { text.to_owned() } else { format!("{text}: {}", self.topic) };
            let (by, wishes) = (painter.looks().notifies_by, painter.looks().notifications.clone());
            if wishes.desktop == OnOff::On {
                (self.notifier.desktop)("axi", &sanitize_line(&text));
            }
            if wishes.terminal == OnOff::On {
                painter.screen().mark(&Mark::Notify(by, "axi".to_owned(), text));
            }
            // Terminals and multiplexers that know no notifications show this.
            if wishes.bell == OnOff::On {
                painter.screen().mark(&Mark::Bell);
            }
        }
    }
}

fn cut(text: &str) -> String {
    if text.chars().count() <= TOPIC {
        return text.to_owned();
    }
    text.chars().take(TOPIC - 1).chain(['…']).collect()
}

/// Tells the terminal, where it is one that shows it.
fn tell_progress<W: Write>(painter: &mut Painter<W>, progress: Progress) {
    if painter.looks().progress {
        painter.screen().mark(&Mark::Progress(progress));
    }
}

/// What ends the progress, where it is shown.
fn idle<W: Write>(painter: &Painter<W>) -> Option<Mark> {
    painter.looks().progress.then_some(Mark::Progress(Progress::None))
}

/// Gives the window's own title back.
fn resting_title<W: Write>(painter: &Painter<W>) -> [Mark; 2] {
    // The first sequence is for terminals that save no title; most show their own in place of an empty one.
    [Mark::Title(painter.looks().resting_title.clone()), Mark::RestoreTitle]
}

/// Decides whether to notify; `focused` is the focus that the terminal reported, if it did.
fn is_wanted(notify: Notify, focused: Option<bool>) -> bool {
    match notify {
        Notify::Never => false,
        Notify::Always => focused != Some(true),
        Notify::Auto => focused == Some(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_one_row_without_secrets() {
        let redact = |text: &str| text.replace("hunter2", "[redacted]");
        let notifier = Notifier { desktop: Box::new(|_, _| {}), redact: Box::new(redact) };
        let mut attention = Attention::new(notifier);
        attention.set_topic(" log in with hunter2 \nand more");
        assert_eq!(attention.topic, "log in with [redacted]");
        attention.set_topic(&"长".repeat(10_000));
        assert_eq!(attention.topic, format!("{}…", "长".repeat(TOPIC - 1)));
        attention.set_topic(&format!("{}hunter2", "x".repeat(TOPIC - 4)));
        assert!(!attention.topic.contains("hun"), "cut before it was redacted: {}", attention.topic);
    }

    #[test]
    fn only_who_looks_elsewhere_is_called_unless_they_wish_otherwise() {
        let wanted = |notify| [None, Some(true), Some(false)].map(|focused| is_wanted(notify, focused));
        assert_eq!(wanted(Notify::Auto), [false, false, true]);
        assert_eq!(wanted(Notify::Always), [true, false, true]);
        assert_eq!(wanted(Notify::Never), [false; 3]);
    }
}
