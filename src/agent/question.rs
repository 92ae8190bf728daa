//! The question a person is asked about a call, and the answers they may give.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::approval::{BlastRadius, Reason, Rule};
use crate::conversation::{Effect, Preview, Subject, ToolCall};

/// What a person decided about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    /// Yes, this once.
    Once,
    /// Yes, and the same for the rest of the session.
    ForSession,
    /// Yes, and this rule allows it from now on; the front end has saved the rule, or reported why it could not.
    Always(Rule),
    /// No; any words go to the model.
    Deny(String),
    /// ESC or Ctrl+C: the turn ends.
    Abort,
    /// There is nobody to ask (print mode).
    Unavailable,
    /// The person wants to try it first; the front end answers with [`Approval::Tried`] or asks again.
    Try,
    /// The person wants it explained first; the front end does that and asks again.
    Explain,
    /// The person ran it in a trial, and this is what came of it: it does not run any more.
    Tried(Tried),
}

/// What came of a command that a person ran in a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// Whether they applied its changes, and all of them.
    pub applied: bool,
    /// What was on the screen: what it printed, what it would change.
    pub printed: String,
}

/// What is applied of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Review {
    /// All of it.
    All,
    /// These paths, with the directories that they need.
    Some(BTreeSet<PathBuf>),
    /// Nothing.
    Nothing,
    /// There is nobody to say so.
    Unavailable,
}

/// How a command could be tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tryable {
    /// The line.
    pub line: String,
    /// Whether it reaches the network: the question says so.
    pub network: bool,
    /// What it may write besides the workspace.
    pub also: Vec<PathBuf>,
    /// The session whose journal keeps what is applied over.
    pub session: Option<String>,
}

/// A question to the person about a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalRequest {
    /// The call.
    pub call: ToolCall,
    /// What it would touch.
    pub effect: Effect,
    /// What a rule would be matched against.
    pub subject: Subject,
    /// The diff or the command.
    pub preview: Preview,
    /// Why it is asked.
    pub reasons: Vec<Reason>,
    /// How much a command would affect, if it has targets and the disk answered.
    pub reach: Option<BlastRadius>,
    /// The rule that [`Approval::ForSession`] would add, if it is a rule and not this exact line.
    pub session_rule: Option<String>,
    /// The rule that [`Approval::Always`] would save, if one is narrow enough.
    pub always_rule: Option<Rule>,
    /// Why the call would reach further than other calls, if it would: a yes then holds for this call only.
    pub widened: Option<Widened>,
    /// Whether the call starts something that goes on after axi ends: a yes then holds for this call only.
    pub outlives: bool,
    /// Whether the call destroys something, shows a secret, leaves the sandbox or the machine, or whether who brings its tool
    /// says so: an accidental Enter then means no.
    pub careful: bool,
    /// How it could be tried first; `None` for what no trial can hold.
    pub trial: Option<Tryable>,
    /// The call's number within its message, from 1, and how many calls the message has: a no also denies the calls
    /// after it.
    pub number: (usize, usize),
}

/// Why a call would reach further than its kind does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Widened {
    /// It runs as another user (`sudo`), which a sandbox cannot allow: it runs outside.
    ChangesUser,
    /// It changes the machine for all its users, which the sandbox forbids: it runs outside.
    ChangesMachine,
    /// The model asks for the command to run outside the sandbox.
    Full,
    /// As far as is known it only reads, but the model asks that it may write the workspace and use the network.
    Workspace,
}
