//! Edits accepted beforehand: every change of a file inside the workspace, for this session.

use super::policy::Policy;
use super::rule::Rule;
use super::{Decision, Source};

impl Policy {
    /// Tells whether every change inside the workspace is allowed for this session.
    #[must_use]
    pub fn accepts_edits(&self) -> bool {
        Rule::edits().is_some_and(|edits| {
            let is_it = |(decision, rule, source): (Decision, &Rule, Source)| {
                decision == Decision::Allow && source == Source::Session && *rule == edits
            };
            self.rules().any(is_it)
        })
    }

    /// Allows every change inside the workspace for this session, or asks about each again.
    pub fn set_accepts_edits(&mut self, accepts: bool) {
        let Some(rule) = Rule::edits() else { return };
        if accepts {
            // Only a project's rules are refused.
            drop(self.add_rule(Decision::Allow, rule, Source::Session));
        } else {
            self.remove_rule(Decision::Allow, &rule, Source::Session);
        }
    }
}
