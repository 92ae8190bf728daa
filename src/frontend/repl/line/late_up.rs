//! Remembers an ↑ that came before the old lines had an answer, and presses it once more when they have one.
//!
//! reedline receives only what the terminal sends, and only a key makes it go through the history. Its edit mode
//! gets one other event without a key, a change of the terminal's size: so it is sent that.

use reedline::ReedlineEvent;

use crate::platform::process::{Signal, getpid, kill_process};

/// How many are pressed again at most: a person who holds the key down does not want all of them back at once.
const MOST: usize = 100;

/// The ↑ without an answer.
#[derive(Debug, Default)]
pub(crate) struct LateUp {
    /// The last key was one.
    is_last: bool,
    /// So many have had no answer yet.
    waiting: usize,
    /// So many are to be pressed again at the next event.
    due: usize,
}

impl LateUp {
    /// Notes what a key does: any but ↑ gives up those that wait.
    pub(crate) fn pressed(&mut self, does: &ReedlineEvent) {
        self.is_last = goes_back(does);
        if !self.is_last {
            (self.waiting, self.due) = (0, 0);
        }
    }

    /// Notes that the last key had no answer.
    pub(crate) fn has_no_answer(&mut self) {
        // Keys are done in batches: one behind it may have changed the line before it was looked for.
        if self.is_last {
            self.waiting = MOST.min(self.waiting + 1);
        }
    }

    /// Notes that there may be an answer. Tells whether one is waited for: [`LateUp::wake`] is then to be called.
    pub(crate) fn answer_has_come(&mut self) -> bool {
        let waiting = std::mem::take(&mut self.waiting);
        self.due = MOST.min(self.due + waiting);
        waiting > 0
    }

    /// Has the reader of the terminal come back with an event, as if its size had changed.
    pub(crate) fn wake() {
        // Where it cannot be, the person presses the key again.
        let _ = kill_process(getpid(), Signal::WINCH);
    }

    /// Returns how many are to be pressed again.
    pub(crate) fn take_due(&mut self) -> usize {
        std::mem::take(&mut self.due)
    }
}

fn goes_back(event: &ReedlineEvent) -> bool {
    match event {
        ReedlineEvent::Up | ReedlineEvent::PreviousHistory => true,
        ReedlineEvent::Multiple(events) | ReedlineEvent::UntilFound(events) => events.iter().any(goes_back),
        _ => false,
    }
}

#[cfg(test)]
#[path = "late_up_tests.rs"]
mod tests;
