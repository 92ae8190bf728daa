//! What a person allows for the rest of a session.

use super::offer::line_rule;
use super::policy::Policy;
use super::rule::Rule;
use super::{Assessment, Decision, Source, Surroundings};
use crate::conversation::{Effect, READERS, Subject};

impl Policy {
    /// Remembers a yes for the rest of the session.
    ///
    /// A yes to a shell line allows the narrow rule for it if there is one, otherwise this exact line. A yes to a
    /// change of files allows every change inside the workspace; a yes to a deletion allows these paths only. A yes
    /// to a host allows this host; any other yes allows the tool. What always needs a person's approval is still
    /// asked about.
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

    /// Tells whether every change inside the workspace is allowed in this session.
    #[must_use]
    pub fn accepts_edits(&self) -> bool {
        self.rules().any(|(decision, rule, source)| {
            decision == Decision::Allow && source == Source::Session && rule.is_edits()
        })
    }

    /// Allows every change inside the workspace in this session, or goes back to asking about each.
    pub fn set_accepts_edits(&mut self, accepts: bool) {
        let Some(rule) = Rule::edits() else { return };
        if accepts {
            // The policy refuses only a project's rules, and this one is the session's.
            drop(self.add_rule(Decision::Allow, rule, Source::Session));
        } else {
            self.remove_rule(Decision::Allow, &rule, Source::Session);
        }
    }
}
