//! How far the agent goes: `build` does everything the rules allow, `plan` and `explore` only read.

use std::borrow::Cow;

use serde_json::json;

use super::{Agent, explore};
use crate::approval::Mode;
use crate::conversation::{Effect, ToolSpec};

/// Said to the model beside the system prompt while it plans.
const PLAN: &str = "\n\nYou are planning: you can only read now, and must not try to change or run anything. Look at what \
                    matters, then answer with a plan the user can accept: the steps in order, the files each touches, \
                    how it will be checked. Ask what you cannot find out with ask_user.";

/// The same while it explores.
const EXPLORE: &str = "\n\nYou are exploring: you can only read. Find out what is asked, in few steps, and answer with what \
                       you found, naming files and line numbers. Propose no changes.";

/// Said beside the system prompt when a turn that went round in circles is ended.
const LAST_WORDS: &str = "\n\nThere are no tools any more: your calls went round in circles, or there were too many. Answer in plain text: \
                          what you did, what you learnt, what is open, and what the user could do next.";

/// What the model is told of a call that would do more than read.
pub(super) const ONLY_READS: &str = "Denied: you can only read now. Do not try again; go on by reading, or answer.";

impl Agent {
    /// Returns how far it goes.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.policy.mode()
    }

    /// Goes so far from now on.
    pub fn set_mode(&mut self, mode: Mode) {
        self.policy.set_mode(mode);
    }

    /// The system prompt of this mode. Changes only with the mode: prompt caches live on it.
    pub(super) fn system(&self) -> Cow<'_, str> {
        let base = if self.provider.model().small { &self.setup.small_system } else { &self.setup.system };
        if self.last_words {
            return Cow::Owned(format!("{base}{LAST_WORDS}"));
        }
        let more = match self.mode() {
            Mode::Build => return Cow::Borrowed(base),
            Mode::Plan => PLAN,
            Mode::Explore => EXPLORE,
        };
        Cow::Owned(format!("{base}{more}"))
    }

    /// The tools of this mode: what could only be denied is not offered.
    pub(super) fn offered(&self) -> Vec<ToolSpec> {
        let mut specs = self.tools.specs();
        specs.extend(self.explores.then(explore::spec));
        if self.mode() != Mode::Build {
            specs.retain(|spec| {
                let tool = self.tools.find(&spec.name);
                tool.is_none_or(|tool| match tool.effect(&json!({}), &self.setup.place) {
                    // Of a command line the policy finds out what it does.
                    Effect::Read | Effect::Execute => true,
                    Effect::Write | Effect::Network => false,
                })
            });
        }
        specs
    }
}
