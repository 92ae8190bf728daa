//! What the model is told after the system prompt: how far it may go, and when it must give its last answer.

use crate::approval::Mode;

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A step of a turn: the model may call tools.
    Step,
    /// The end of a turn that repeated itself or was too long: the model says in words what it learnt.
    LastWords,
}

/// Follows the system prompt in plan mode.
const PLAN: &str = "\n\nYou are planning: you can only read now, and must not try to change or run anything. Look at what \
                    matters, then answer with a plan the user can accept: the steps in order, the files each touches, \
                    how it will be checked. Ask what you cannot find out with ask_user.";

/// Follows the system prompt in explore mode.
const EXPLORE: &str = "\n\nYou are exploring: you can only read. Find out what is asked, in few steps, and answer with what \
                       you found, naming files and line numbers. Propose no changes.";

/// Follows the system prompt when a turn that repeated itself is ended.
const LAST_WORDS: &str = "\n\nThere are no tools any more: your calls went round in circles, or there were too many. Answer in plain text: \
                          what you did, what you learnt, what is open, and what the user could do next.";

/// Returns what follows the system prompt. It changes only with the mode: any other change would invalidate the
/// provider's prompt cache.
pub(super) const fn under_the_prompt(purpose: Purpose, mode: Mode) -> &'static str {
    match (purpose, mode) {
        (Purpose::LastWords, _) => LAST_WORDS,
        (Purpose::Step, Mode::Build) => "",
        (Purpose::Step, Mode::Plan) => PLAN,
        (Purpose::Step, Mode::Explore) => EXPLORE,
    }
}
