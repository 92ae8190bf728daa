//! What a judgement is made of: decisions, classes and reasons, all facts.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Rule;
use crate::conversation::Effect;

/// What may happen; the strictest match wins, so the order counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It runs at once.
    Allow,
    /// A person is asked.
    Ask,
    /// It does not run.
    Deny,
}

/// How far the agent of this turn may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Everything, by the rules.
    #[default]
    Build,
    /// Only reading.
    Plan,
    /// Only reading.
    Explore,
}

impl Mode {
    /// Every mode, by the word a person writes.
    pub const ALL: [(&'static str, Self); 3] =
        [("build", Self::Build), ("plan", Self::Plan), ("explore", Self::Explore)];

    /// Returns the word a person writes.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Build => "build",
            Self::Plan => "plan",
            Self::Explore => "explore",
        }
    }
}

/// Where a rule comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The user's settings.
    User,
    /// The project's settings; they can only tighten.
    Project,
    /// The command line.
    Flag,
    /// Said in this session.
    Session,
}

/// What a simple command does at most, mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Looks, and changes nothing.
    ReadOnly,
    /// Changes files without losing any known content.
    Write,
    /// Reaches the network.
    Network,
    /// Runs what is not known, or cannot be seen.
    Execute,
    /// Loses content, or stops what runs.
    Destructive,
}

/// The judgement of one call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// What may happen.
    pub decision: Decision,
    /// Why, the weightiest last.
    pub reasons: Vec<Reason>,
    /// Whether neither a rule nor `-y` can run it: only a person who has just read it.
    pub never_auto: bool,
}

/// One fact behind a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reason {
    /// A rule matched.
    MatchedRule {
        /// What it decides.
        decision: Decision,
        /// The rule.
        rule: Rule,
        /// Whose it is.
        source: Source,
    },
    /// No rule matched; what the tool declares decides.
    DefaultForEffect {
        /// What it declares.
        effect: Effect,
    },
    /// The agent's mode only reads.
    ModeOnlyReads {
        /// The mode.
        mode: Mode,
    },
    /// A path outside the workspace would be changed.
    OutsideWorkspace {
        /// The path.
        path: PathBuf,
    },
    /// A file that may hold a secret would be read.
    Credential {
        /// Its path, or the name of the variable.
        what: String,
    },
    /// A file that makes programs run, or decides what axi may do, would be changed.
    Protected {
        /// Its path.
        path: PathBuf,
    },
    /// A simple command of a shell line is known and does more than look.
    Segment {
        /// Its text.
        text: String,
        /// What it does at most.
        class: Class,
    },
    /// A part of a shell line could not be read for certain.
    Unparsed {
        /// The part.
        text: String,
        /// Why.
        why: Unparsed,
    },
    /// A hook wants it to be asked about.
    Hook {
        /// Why, in its words.
        words: String,
    },
    /// The disk did not say where a path leads.
    Unanswered,
    /// Neither a rule nor `-y` can run it.
    NeverAuto {
        /// Why.
        why: NeverAuto,
    },
    /// The host is this machine, or in its private network; `-y` does not allow it, a rule that names it does.
    PrivateHost {
        /// The host.
        host: String,
    },
    /// Copies of so many files cannot be kept, so that it cannot be taken back; 0 where none can be kept at all.
    CannotUndo {
        /// How many.
        files: u64,
    },
    /// `-y` said yes.
    AssumedYes,
}

/// Why a part of a shell line cannot be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unparsed {
    /// Not in the shell's grammar, or not the same in every shell.
    Syntax,
    /// The command's name is only known when it runs.
    DynamicCommand,
    /// Characters that are shown otherwise than they are read.
    Characters,
    /// A wrapper around something that cannot be seen.
    Wrapper,
    /// A variable that changes what programs do.
    Environment,
    /// A name whose meaning the line itself changes.
    Redefined,
    /// A program's text, which is not shell.
    Script,
    /// Longer or deeper than is judged.
    TooLong,
}

/// Why neither a rule nor `-y` can run a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NeverAuto {
    /// The home directory, or one above it.
    HomeOrAbove {
        /// The target as resolved.
        target: String,
    },
    /// The workspace, or a directory above it.
    WorkspaceOrAbove {
        /// The target as resolved.
        target: String,
    },
    /// A directory of the operating system.
    System {
        /// The target as resolved.
        target: String,
    },
    /// A destructive command whose target is only known when it runs.
    Unresolved {
        /// The word as written.
        word: String,
    },
    /// Something that nobody has seen is given to an interpreter.
    UnseenScript,
    /// It could not be read for certain, and looks destructive.
    HiddenDestructive {
        /// What it looks like.
        looks: String,
    },
    /// A disk or a file system is overwritten.
    Device {
        /// The target as written.
        target: String,
    },
    /// Processes are made without end, or all are ended, or the machine stops.
    Machine,
    /// This machine is changed for all who use it: its clock, name, network, services, kernel.
    ChangesMachine {
        /// The command as written.
        command: String,
    },
    /// A rule denies a command that this one may turn out to be.
    MayBeDenied,
    /// What others share is changed for good on another machine.
    Shared {
        /// The command as written.
        command: String,
    },
    /// A branch or a tag that others share is rewritten or deleted.
    Push {
        /// Which one, as written; `HEAD` where the line names none.
        branch: String,
        /// Where.
        remote: String,
    },
    /// A secret is read in a line that reaches the network.
    SecretLeaves {
        /// The secret.
        what: String,
    },
    /// A file is changed that is run by itself later, or lets others in.
    RunsLater {
        /// The target as resolved.
        target: String,
    },
}

impl Verdict {
    /// Tells whether it rests on a rule that says which commands or files, and not on one for the whole tool.
    #[must_use]
    pub fn by_narrow_rule(&self) -> bool {
        self.reasons.iter().any(|reason| {
            matches!(reason, Reason::MatchedRule { decision: Decision::Allow, rule, .. } if !rule.is_whole())
        })
    }

    /// Makes a verdict without anything that forbids running it unasked.
    pub(crate) fn new(decision: Decision, reasons: Vec<Reason>) -> Self {
        Self { decision, reasons, never_auto: false }
    }
}
