//! The calls of a message that wait for their results, and what was known of each before it ran.

use std::collections::HashMap;
use std::sync::Arc;

use crate::agent::Approval;
use crate::approval::command::LineJudgement;
use crate::conversation::{About, Subject, ToolCall, ToolVerb};
use crate::frontend::words;
use crate::locale::{Locale, Word, word};
use crate::tool::{Proposal, Roots, Toolbox};

/// What was known of a call before it ran.
pub(super) struct Requested {
    pub(super) subject: Subject,
    /// Whether a person was asked, and has seen then what it changes.
    pub(super) seen: bool,
    /// The command it proposes.
    pub(super) proposal: Option<Proposal>,
    /// What it is about, in words.
    pub(super) about: String,
    /// How far a person allowed it, if one was asked.
    pub(super) allowed: Option<Word>,
}

impl Default for Requested {
    fn default() -> Self {
        Self { subject: Subject::Whole, seen: false, proposal: None, about: String::new(), allowed: None }
    }
}

/// See the module.
pub(super) struct Steps {
    tools: Toolbox,
    /// By id.
    requested: HashMap<String, Requested>,
    /// The command that was proposed last in this turn, judged.
    proposed: Option<Arc<LineJudgement>>,
}

impl Steps {
    /// Knows the agent's tools.
    pub(super) fn new(tools: Toolbox) -> Self {
        Self { tools, requested: HashMap::new(), proposed: None }
    }

    pub(super) const fn tools(&self) -> &Toolbox {
        &self.tools
    }

    /// Returns what a tool does.
    pub(super) fn verb(&self, tool: &str) -> ToolVerb {
        self.tools.identity(tool).verb
    }

    /// Forgets the turn before.
    pub(super) fn clear(&mut self) {
        self.requested.clear();
        self.proposed = None;
    }

    /// A call proposed this command, or none.
    pub(super) fn propose(&mut self, line: Option<Arc<LineJudgement>>) {
        self.proposed = line.or_else(|| self.proposed.take());
    }

    /// Takes the command that was proposed last in this turn.
    pub(super) const fn take_proposed(&mut self) -> Option<Arc<LineJudgement>> {
        self.proposed.take()
    }

    /// A call was made.
    pub(super) fn request(
        &mut self,
        locale: &Locale,
        roots: &Roots,
        call: &ToolCall,
        (subject, about): (&Subject, &About),
    ) {
        let proposes = self.tools.identity(&call.name).verb == ToolVerb::Propose;
        let proposal = proposes.then(|| Proposal::parse(&call.input).ok()).flatten();
        let about = words::about(locale, roots, about, subject);
        let requested = Requested { subject: subject.clone(), seen: false, proposal, about, allowed: None };
        self.requested.insert(call.id.clone(), requested);
    }

    /// A person saw this call's change and decided.
    pub(super) fn seen(&mut self, call_id: &str, approval: &Approval) {
        if let Some(requested) = self.requested.get_mut(call_id) {
            requested.seen = true;
            requested.allowed = match approval {
                Approval::Once => Some(word::title::ALLOWED_ONCE),
                Approval::ForSession => Some(word::title::ALLOWED_SESSION),
                Approval::Always(_) => Some(word::title::ALLOWED_ALWAYS),
                Approval::Deny(_)
                | Approval::Abort
                | Approval::Unavailable
                | Approval::Try
                | Approval::Explain
                | Approval::Tried(_) => None,
            };
        }
    }

    /// Returns the command that is running, in one line, unless the person has just seen it when they allowed it.
    /// With several running commands nobody can tell which one it is.
    pub(super) fn unseen_command(&self) -> Option<&str> {
        let mut commands = self.requested.values().filter(|call| matches!(call.subject, Subject::Command { .. }));
        let command = commands.next().filter(|call| !call.seen)?;
        commands.next().is_none().then_some(command.about.as_str())
    }

    /// A call has its result; returns what was known of it.
    pub(super) fn end(&mut self, call_id: &str) -> Requested {
        self.requested.remove(call_id).unwrap_or_default()
    }
}
