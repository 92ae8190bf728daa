//! An examination under way: asks, judges what was heard, and keeps what was found.

use std::sync::Arc;

use super::ask::{Heard, Question, ask};
use super::finding::{Examination, Finding, Probe, Verdict};
use crate::provider::request::Provider;

/// The state of an examination.
pub(super) struct Doctor<'a> {
    pub(super) provider: Arc<dyn Provider>,
    pub(super) examination: Examination,
    pub(super) told: &'a mut dyn FnMut(&Finding),
    /// What was learnt before the probe that is under way.
    pub(super) learnt: Vec<String>,
}

impl Doctor<'_> {
    pub(super) fn find(&mut self, probe: Probe, good: bool, detail: String) {
        let learnt = self.provider.learnt();
        let new: Vec<&str> = learnt.iter().filter(|name| !self.learnt.contains(name)).map(String::as_str).collect();
        let new = new.join(", ");
        self.learnt = learnt;
        let (verdict, detail) = match (good, new.is_empty()) {
            (true, true) => (Verdict::Good, detail),
            (true, false) => (Verdict::Adapted, new),
            (false, _) => (Verdict::Bad, detail),
        };
        self.add(Finding { probe, verdict, detail });
    }

    /// The same for what was heard, where that says anything about it.
    pub(super) fn judge(&mut self, probe: Probe, heard: &Heard, good: bool, detail: String) {
        if heard.is_unclear() {
            self.add(Finding { probe, verdict: Verdict::Unclear, detail: heard.complaint().unwrap_or_default() });
        } else {
            self.find(probe, good, detail);
        }
    }

    pub(super) fn skip(&mut self, probes: &[Probe]) {
        for probe in probes {
            self.add(Finding { probe: *probe, verdict: Verdict::Skipped, detail: String::new() });
        }
    }

    pub(super) fn add(&mut self, finding: Finding) {
        (self.told)(&finding);
        self.examination.findings.push(finding);
    }

    pub(super) async fn ask(&self, question: &Question) -> Heard {
        ask(&*self.provider, question).await
    }

    /// Judges what only the model can do, and no server for it. If the model did not do it, `without` is asked: the same
    /// question without the part that was to make the model do it. If the server counts the same number of tokens for both,
    /// it did not pass that part on.
    pub(super) async fn judge_model(&mut self, probe: Probe, heard: &Heard, done: bool, without: &Question) {
        if done || heard.error.is_some() {
            let seen = heard.complaint().unwrap_or_else(|| heard.text());
            return self.judge(probe, heard, done, seen);
        }
        let (with, without) = (heard.finished.usage.read(), self.ask(without).await.finished.usage.read());
        let (verdict, detail) = match with {
            0 => (Verdict::Unclear, heard.text()),
            _ if without == 0 => (Verdict::Unclear, heard.text()),
            // More as a rule; fewer where a template has a longer system prompt of its own for who says none.
            _ if with != without => (Verdict::Weak, heard.text()),
            _ => (Verdict::Bad, format!("{with} tokens are counted with it, {without} without it")),
        };
        self.add(Finding { probe, verdict, detail });
    }
}
