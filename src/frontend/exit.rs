//! The exit codes of the contract.

use crate::agent::TurnEnd;

/// How the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Everything was done; a closed pipe counts as done.
    Done,
    /// It failed.
    Failed,
    /// The command line makes no sense.
    Usage,
    /// No model, or no key.
    NotConfigured,
    /// The provider failed, after retries.
    Provider,
    /// A call needed an approval nobody could give.
    ApprovalNeeded,
    /// The step limit or the budget was reached.
    Limit,
    /// Interrupted.
    Interrupted,
    /// The exit code of the person's last command: a hand-off leaves the shell's `$?` as it was, and tells the hook
    /// its own code separately.
    AsBefore(u8),
}

impl Exit {
    /// Returns the code.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NotConfigured => 3,
            Self::Provider => 4,
            Self::ApprovalNeeded => 5,
            Self::Limit => 6,
            Self::Interrupted => 130,
            Self::AsBefore(code) => code,
        }
    }
}

impl From<&TurnEnd> for Exit {
    fn from(end: &TurnEnd) -> Self {
        match end {
            TurnEnd::Done => Self::Done,
            TurnEnd::Interrupted => Self::Interrupted,
            TurnEnd::ApprovalNeeded { .. } => Self::ApprovalNeeded,
            TurnEnd::StepLimit { .. } | TurnEnd::BudgetLimit { .. } => Self::Limit,
            TurnEnd::Looping | TurnEnd::Length | TurnEnd::Refused => Self::Failed,
            TurnEnd::Failed { error } if error.blames_the_key() => Self::NotConfigured,
            TurnEnd::Failed { .. } => Self::Provider,
        }
    }
}
