//! The judgement of one call: the verdict and, for a shell line, what it would do. Everything that counts, copies,
//! confines or offers a rule reads it from here; nothing is judged twice.

use std::sync::Arc;

use super::Verdict;
use super::command::LineJudgement;

/// What is known of a call before it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    /// What may happen, and why.
    pub verdict: Verdict,
    /// What the line would do, if the call is a shell line.
    pub line: Option<Arc<LineJudgement>>,
}
