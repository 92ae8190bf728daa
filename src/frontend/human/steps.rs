//! The calls of a message that wait for their results, and what was known of each before it ran.

use std::collections::HashMap;

use crate::conversation::{Effect, Preview, Subject, ToolCall, ToolVerb};
use crate::frontend::words;
use crate::locale::Locale;
use crate::tool::{Place, Proposal, Toolbox};

/// What was known of a call before it ran.
pub(super) struct Requested {
    pub(super) subject: Subject,
    /// A call that changes files, until it runs or a person is asked and sees the change then.
    pub(super) changes: Option<ToolCall>,
    /// The change it makes, that nobody was asked about.
    pub(super) change: Option<Preview>,
    /// The command it proposes.
    pub(super) proposal: Option<Proposal>,
    /// What it is about, in words.
    pub(super) about: String,
}

impl Default for Requested {
    fn default() -> Self {
        Self { subject: Subject::Whole, changes: None, change: None, proposal: None, about: String::new() }
    }
}

/// See the module.
pub(super) struct Steps {
    tools: Toolbox,
    /// By id.
    requested: HashMap<String, Requested>,
}

impl Steps {
    /// Knows the agent's tools: they tell what a change that nobody is asked about will look like.
    pub(super) fn new(tools: Toolbox) -> Self {
        Self { tools, requested: HashMap::new() }
    }

    pub(super) const fn tools(&self) -> &Toolbox {
        &self.tools
    }

    /// Forgets the turn before.
    pub(super) fn clear(&mut self) {
        self.requested.clear();
    }

    /// A call was made.
    pub(super) fn request(
        &mut self,
        locale: &Locale,
        place: &Place,
        call: &ToolCall,
        effect: Effect,
        subject: &Subject,
    ) {
        let changes = matches!(effect, Effect::Write | Effect::Delete).then(|| call.clone());
        let proposes = self.tools.identity(&call.name).verb == ToolVerb::Propose;
        let proposal = proposes.then(|| Proposal::parse(&call.input).ok()).flatten();
        let about = words::about(locale, place, &self.tools, call, subject);
        let requested = Requested { subject: subject.clone(), changes, change: None, proposal, about };
        self.requested.insert(call.id.clone(), requested);
    }

    /// Takes down what the call that runs now will change, unless a person has seen it: the files are still as they were.
    pub(super) fn look_ahead(&mut self, place: &Place) {
        for requested in self.requested.values_mut() {
            let Some(call) = requested.changes.take() else { continue };
            let change = self.tools.find(&call.name).and_then(|tool| tool.preview(&call.input, place).ok());
            // What is told in words the title says as well.
            let is_told = |change: &Preview| matches!(change, Preview::Diff { .. } | Preview::Many { .. });
            requested.change = change.filter(is_told);
        }
    }

    /// A person saw this call's change and decided.
    pub(super) fn seen(&mut self, call_id: &str) {
        if let Some(requested) = self.requested.get_mut(call_id) {
            requested.changes = None;
        }
    }

    /// A call has its result; returns what was known of it.
    pub(super) fn end(&mut self, call_id: &str) -> Requested {
        self.requested.remove(call_id).unwrap_or_default()
    }
}
