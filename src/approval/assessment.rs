//! One call, judged once: the verdict and, of a shell line, what it would do. Whoever counts, keeps copies, confines or
//! offers a rule takes it from here, and judges nothing again.

use std::sync::Arc;

use super::Verdict;
use super::command::LineJudgement;

/// What is known of a call before it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    /// What may happen, and why.
    pub verdict: Verdict,
    /// What the line would do, where the call is one.
    pub line: Option<Arc<LineJudgement>>,
}
