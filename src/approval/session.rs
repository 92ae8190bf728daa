//! What a person allows for the rest of a session.

use super::offer::line_rule;
use super::policy::Policy;
use super::rule::Rule;
use super::{Assessment, Decision, Source, Surroundings};
use crate::conversation::{Effect, READERS, Subject};

impl Policy {
    /// Remembers a yes for the rest of the session.
    ///
    /// A shell line: the narrow rule for it when there is one, else this exact line. A change of files: every
    /// change inside the workspace, but not of what is deleted: these paths. A host: this host. Anything else: the tool. What can never be run unasked is
    /// asked again all the same.
    pub fn grant_for_session(
        &mut self,
        tool: &str,
        effect: Effect,
        subject: &Subject,
        assessment: &Assessment,
        place: &Surroundings,
    ) {
        let rule = match subject {
            Subject::Command { line } => {
                if let Some(rule) = line_rule(assessment, place) {
                    rule
                } else {
                    self.exact_lines.push((tool.to_owned(), line.clone()));
                    return;
                }
            }
            Subject::Paths { paths } if matches!(effect, Effect::Read | Effect::Delete) => {
                let about = if effect == Effect::Read { READERS } else { tool };
                for path in paths {
                    if let Ok(rule) = Rule::literal_path(about, &path.to_string_lossy()) {
                        self.push_session(rule);
                    }
                }
                return;
            }
            Subject::Paths { .. } => match Rule::edits() {
                Some(rule) => rule,
                None => return,
            },
            Subject::Host { host } => Rule::host(tool, host),
            Subject::Whole => Rule::whole_tool(tool),
        };
        self.push_session(rule);
    }

    /// Tells whether every change inside the workspace is allowed for this session.
    #[must_use]
    pub fn accepts_edits(&self) -> bool {
        self.rules().any(|(decision, rule, source)| {
            decision == Decision::Allow && source == Source::Session && rule.is_edits()
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
