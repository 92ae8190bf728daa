//! The exit codes of the contract.

use crate::agent::{Failure, TurnEnd};

/// How the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Everything was done; a closed pipe counts as done.
    Done = 0,
    /// It failed.
    Failed = 1,
    /// The command line makes no sense.
    Usage = 2,
    /// No model, or no key.
    NotConfigured = 3,
    /// The provider failed, after retries.
    Provider = 4,
    /// A call needed an approval nobody could give.
    ApprovalNeeded = 5,
    /// The step limit was reached.
    Limit = 6,
    /// Interrupted.
    Interrupted = 130,
}

impl From<&TurnEnd> for Exit {
    fn from(end: &TurnEnd) -> Self {
        match end {
            TurnEnd::Done => Self::Done,
            TurnEnd::Interrupted => Self::Interrupted,
            TurnEnd::ApprovalNeeded { .. } => Self::ApprovalNeeded,
            TurnEnd::StepLimit { .. } => Self::Limit,
            TurnEnd::Looping | TurnEnd::Length | TurnEnd::Refused => Self::Failed,
            TurnEnd::Failed { error } => match error {
                Failure::Unauthorized { .. } => Self::NotConfigured,
                Failure::Unreachable { .. }
                | Failure::Broken { .. }
                | Failure::Timeout { .. }
                | Failure::NoSuchModel { .. }
                | Failure::ContextOverflow { .. }
                | Failure::Status { .. }
                | Failure::Protocol { .. }
                | Failure::Empty => Self::Provider,
            },
        }
    }
}
