//! What a person is asked about a call, and what they may answer.

use crate::approval::{BlastRadius, Reason, Rule};
use crate::conversation::{Effect, Preview, Subject, ToolCall};

/// What a person decided about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    /// Yes, this once.
    Once,
    /// Yes, and the same for the rest of the session.
    ForSession,
    /// Yes, and by this rule from now on; the front end has kept it, or said why not.
    Always(Rule),
    /// No; the words, if any, go to the model.
    Deny(String),
    /// ESC or Ctrl+C: the turn ends.
    Abort,
    /// There is nobody to ask (print mode).
    Unavailable,
}

/// A question to the person.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalRequest {
    /// The call.
    pub call: ToolCall,
    /// What it would touch.
    pub effect: Effect,
    /// What a rule would be matched against.
    pub subject: Subject,
    /// The diff or command.
    pub preview: Preview,
    /// Why it is asked.
    pub reasons: Vec<Reason>,
    /// How far a command would reach, where it has targets and the disk answered.
    pub reach: Option<BlastRadius>,
    /// The rule that [`Approval::ForSession`] would add, where it is one and not this exact line.
    pub session_rule: Option<String>,
    /// The rule that [`Approval::Always`] would keep, where one is narrow enough.
    pub always_rule: Option<Rule>,
    /// Why it would reach further than other calls, if it would: a yes is then for this once.
    pub widened: Option<Widened>,
    /// Whether what it starts goes on when axi ends: a yes is then for this once.
    pub outlives: bool,
    /// Whether it loses something, shows a secret, leaves the sandbox or hands something to others: an Enter too many is
    /// then a no.
    pub careful: bool,
    /// Which of the calls of one message it is, from 1, and how many they are: a no denies those that follow.
    pub number: (usize, usize),
}

/// Why a call would reach further than its kind does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Widened {
    /// It becomes another user (`sudo`), which no sandbox allows: it runs outside.
    ChangesUser,
    /// It changes the machine for all who use it, which no sandbox lets it: it runs outside.
    ChangesMachine,
    /// The model asks to run it outside the sandbox.
    Full,
    /// It only reads, as far as is known, and the model asks that it may write the workspace and use the network.
    Workspace,
}
