//! The parts of a judgement: decisions, classes and reasons, all as facts.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Rule;
use crate::conversation::Effect;

/// What may happen. The strictest match wins, so the order of the variants counts.
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

/// How far the agent may go in this turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// It may do everything that the rules allow.
    #[default]
    Build,
    /// It may only read.
    Plan,
    /// It may only read.
    Explore,
}

impl Mode {
    /// Every mode, with the word that a person writes for it.
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
    /// The project's settings; they can only make things stricter.
    Project,
    /// The command line.
    Flag,
    /// A decision of the person in this session.
    Session,
}

/// The most that a simple command does, mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Looks, and changes nothing.
    ReadOnly,
    /// Changes files, and destroys no known content.
    Write,
    /// Reaches the network.
    Network,
    /// Runs something that is not known, or cannot be seen.
    Execute,
    /// Destroys content, or stops processes.
    Destructive,
}

/// The judgement of one call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// What may happen.
    pub decision: Decision,
    /// Why; the most important reason comes last.
    pub reasons: Vec<Reason>,
    /// Whether neither a rule nor `-y` can allow it: only a person who has just read it can.
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
        /// Where the rule comes from.
        source: Source,
    },
    /// No rule matched: the effect that the tool declares decides.
    DefaultForEffect {
        /// The effect.
        effect: Effect,
    },
    /// In this mode the agent may only read.
    ModeOnlyReads {
        /// The mode.
        mode: Mode,
    },
    /// A path outside the workspace would be changed.
    OutsideWorkspace {
        /// The path.
        path: PathBuf,
    },
    /// A file that may contain a secret would be read.
    Credential {
        /// The file's path, or the name of a variable.
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
    /// A hook wants the person to be asked.
    Hook {
        /// Why, in its words.
        words: String,
    },
    /// A file of hooks has a mistake: a guard may be missing.
    HookMistake {
        /// The file and the mistake.
        words: String,
    },
    /// It is to be tried first, and cannot be.
    Untried,
    /// The disk did not answer where a path leads.
    Unanswered,
    /// Neither a rule nor `-y` can allow it.
    NeverAuto {
        /// Why.
        why: NeverAuto,
    },
    /// The host is this machine, or is in its private network. `-y` does not allow it; a rule that names it does.
    PrivateHost {
        /// The host.
        host: String,
    },
    /// Copies of this many files cannot be kept, so that the call cannot be taken back; 0 if no copy can be kept at
    /// all.
    CannotUndo {
        /// How many.
        files: u64,
    },
    /// `-y` agreed.
    AssumedYes,
}

/// Why a part of a shell line cannot be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unparsed {
    /// It is no shell grammar, or shells read it differently.
    Syntax,
    /// The command's name is only known when it runs.
    DynamicCommand,
    /// Some characters look different from what the shell reads.
    Characters,
    /// A wrapper around something that cannot be seen.
    Wrapper,
    /// A variable that changes what programs do.
    Environment,
    /// A name whose meaning the line itself has changed.
    Redefined,
    /// The text of a program in another language than shell.
    Script,
    /// It is longer or deeper than is judged.
    TooLong,
}

/// Why neither a rule nor `-y` can allow a call.
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
    /// An interpreter gets something that nobody has seen.
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
    /// It starts processes without end, ends all processes, or stops the machine.
    Machine,
    /// It changes this machine for all its users: clock, name, network, services, kernel.
    ChangesMachine {
        /// The command as written.
        command: String,
    },
    /// A rule denies a command that this one may turn out to be.
    MayBeDenied,
    /// It changes, for good, something on another machine that others share.
    Shared {
        /// The command as written.
        command: String,
    },
    /// It rewrites or deletes a branch or a tag that others share.
    Push {
        /// The branch or tag as written; `HEAD` if the line names none.
        branch: String,
        /// The remote.
        remote: String,
    },
    /// A line that reads a secret also reaches the network.
    SecretLeaves {
        /// The secret.
        what: String,
    },
    /// A line that reaches the network may take a secret along that it does not name: in a directory, by a pattern.
    SecretTaken {
        /// The secret.
        what: String,
    },
    /// It changes what programs keep in home, below a name with a dot.
    Settings {
        /// The target as resolved.
        target: String,
    },
    /// It changes a file that will be run automatically later, or that lets others in.
    RunsLater {
        /// The target as resolved.
        target: String,
    },
}

impl Verdict {
    /// Tells whether it rests on a rule that names commands or files, and not on one for the whole tool.
    #[must_use]
    pub fn by_narrow_rule(&self) -> bool {
        self.reasons.iter().any(|reason| {
            matches!(reason, Reason::MatchedRule { decision: Decision::Allow, rule, .. } if !rule.is_whole())
        })
    }

    /// Makes a verdict that nothing forbids.
    pub(crate) fn new(decision: Decision, reasons: Vec<Reason>) -> Self {
        Self { decision, reasons, never_auto: false }
    }
}
