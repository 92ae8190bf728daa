//! The judgement of one call: the verdict and, for a shell line, what it would do. Everything that counts, copies,
//! confines or offers a rule reads it from here; nothing is judged twice.

use std::sync::Arc;

use super::command::{LineJudgement, unread};
use super::{Decision, Reason, Verdict};

/// What is known of a call before it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    /// What may happen, and why.
    pub verdict: Verdict,
    /// What the line would do, if the call is a shell line.
    pub line: Option<Arc<LineJudgement>>,
}

impl Assessment {
    /// What is known of a line while the disk does not answer: nothing, so that the person decides about this one call.
    #[must_use]
    pub fn unanswered(line: &str) -> Self {
        let mut verdict = Verdict::new(Decision::Ask, vec![Reason::Unanswered]);
        verdict.never_auto = true;
        Self { verdict, line: Some(Arc::new(unread(line))) }
    }
}
