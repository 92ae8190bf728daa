//! What happens in a turn, as facts; and the one trait through which a front end hears of it.

use std::path::PathBuf;

use serde::Serialize;

use super::failure::Failure;
use super::figures::{FallbackPrice, Shortened};
use super::question::{Approval, ApprovalRequest, Review};
use crate::conversation::{
    About, Answer, Effect, Forecast, Money, Outcome, Preview, Question, Subject, ToolCall, Usage,
};
use crate::platform::os::fd::OwnedFd;
use crate::sandbox::Missing;
use crate::tool::ToolFacts;
use crate::trial::{ChangeSet, Why};

/// Everything that happens in a turn, in order. JSON output prints exactly these.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AgentEvent {
    /// A turn began.
    TurnStarted {
        /// The session's id.
        session: String,
        /// `PROVIDER/MODEL`.
        model: String,
    },
    /// The agent waits for something; the status line says for what.
    Waiting {
        /// What it waits for.
        activity: Activity,
    },
    /// More words of the answer.
    TextDelta {
        /// Raw markdown source, cut anywhere between characters.
        text: String,
    },
    /// More words of reasoning.
    ReasoningDelta {
        /// As above.
        text: String,
    },
    /// The model's message is whole: what follows is a tool, another message or the end.
    MessageEnded,
    /// A call is about to be judged and, if allowed, run.
    ToolRequested {
        /// The call.
        call: ToolCall,
        /// What it would touch.
        effect: Effect,
        /// What rules are matched against.
        subject: Subject,
        /// What a person reads it is about.
        #[serde(skip)]
        about: About,
    },
    /// A line a running tool printed.
    ToolOutput {
        /// The call's id.
        call_id: String,
        /// One line, raw: sanitise before showing.
        line: String,
    },
    /// A call has its result.
    ToolFinished {
        /// The call's id.
        call_id: String,
        /// The tool's name.
        name: String,
        /// What became of it.
        outcome: Outcome,
        /// What the model reads.
        content: String,
        /// What a person is told.
        facts: ToolFacts,
        /// How long it ran, in ms.
        duration_ms: u64,
        /// The change it made, to show a person who has not seen it before.
        #[serde(skip)]
        change: Option<Preview>,
    },
    /// The request failed and will be sent again.
    Retrying {
        /// 1 for the first repetition.
        attempt: u32,
        /// How many repetitions there are at most.
        of: u32,
        /// How long is still waited, in ms.
        wait_ms: u64,
        /// Why.
        error: Failure,
    },
    /// What the last request cost.
    Usage {
        /// Tokens.
        usage: Usage,
        /// Dollars; none where nobody knows the price.
        #[serde(skip_serializing_if = "Option::is_none")]
        usd: Option<Money>,
        /// Whether the model runs on this machine.
        #[serde(skip)]
        local: bool,
    },
    /// Something the person should know.
    Notice {
        /// What.
        notice: Notice,
    },
    /// The turn is over; always the last event of a turn.
    TurnEnded {
        /// How.
        end: TurnEnd,
    },
}

/// What the agent is busy with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Activity {
    /// The request is on its way; nothing has come back.
    Connecting,
    /// The model sums up what will not be sent any more.
    SummingUp,
    /// The model in this process is being loaded.
    Loading,
    /// The model in this process reads the request. Unit: tokens.
    Reading {
        /// So many are read, or were known.
        read: u64,
        /// All of them.
        all: u64,
    },
    /// Nothing has arrived for so long; the answer may still come.
    Silent {
        /// Seconds.
        seconds: u64,
    },
    /// Reasoning is arriving.
    Thinking,
    /// Text is arriving.
    Answering,
    /// The model writes a call.
    WritingCall {
        /// The tool's name.
        name: String,
        /// What the call is about, as far as it is written.
        subject: Subject,
    },
    /// A hook of the person's runs.
    Hook {
        /// Its command.
        command: String,
    },
    /// A tool runs.
    Running {
        /// The tool's name.
        name: String,
        /// What rules are matched against, for a human title.
        subject: Subject,
    },
    /// Sub-agents explore, side by side.
    Exploring {
        /// Those that run now, in the order of their calls.
        explorers: Vec<Explorer>,
    },
}

/// A sub-agent that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Explorer {
    /// The id of the call that asked for it.
    pub call_id: String,
    /// Which it is of those that were asked for together, from 1.
    pub number: usize,
    /// What it is to find out.
    pub question: String,
    /// What it does, or did last; none before its first call.
    pub doing: Option<Doing>,
}

/// A call of a sub-agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Doing {
    /// The tool's name.
    pub name: String,
    /// What it is about.
    pub subject: Subject,
    /// What it looks for, where it looks for something.
    pub pattern: Option<String>,
}

/// Things a person should know that end nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Notice {
    /// The output limit cut the answer.
    CutByLength,
    /// axi ended an answer of its own model that said the same again and again.
    CutByRepeating,
    /// Calls of a cut message were not run.
    CallsCut,
    /// The provider's filter cut the answer.
    FilteredByProvider,
    /// The connection broke after text was shown; the text is kept.
    BrokenMidway {
        /// Why.
        error: Failure,
    },
    /// The session file could not be written; the turn goes on, and what is unsaved is kept until it can be.
    NotSaved {
        /// The file.
        path: PathBuf,
        /// Why, in the system's words.
        cause: String,
    },
    /// The session file can be written again: nothing is missing in it.
    SavedAgain {
        /// The file.
        path: PathBuf,
    },
    /// Somebody removed the session file while it was open: it was written anew.
    SavedAnew {
        /// The file.
        path: PathBuf,
    },
    /// The turn's writing calls cannot run in a trial, and are asked about.
    NoTrial {
        /// Why.
        cause: String,
    },
    /// What a trial held could not be read, and is lost: nothing of it was applied.
    TrialLost {
        /// Why, in the system's words.
        cause: String,
    },
    /// What became of the turn's trial.
    Reviewed {
        /// How many changes were made.
        applied: u64,
        /// How many were dropped.
        dropped: u64,
        /// What could not be applied, and why.
        refused: Vec<(PathBuf, Why)>,
    },
    /// A guard stopped a repeated call.
    Repeating {
        /// The tool's name.
        name: String,
    },
    /// A hook came to no proper end.
    HookFailed {
        /// Its command.
        command: String,
        /// Why.
        cause: String,
    },
    /// The model answered with nothing at all and is asked again.
    EmptyAnswer,
    /// What the message will cost, before it is sent.
    Price {
        /// At least, and likely.
        #[serde(flatten)]
        forecast: Forecast,
    },
    /// There is a budget, and nobody knows what the model costs.
    PriceUnknown {
        /// `PROVIDER/MODEL`.
        model: String,
    },
    /// So many secrets were stood in for; later ones are not told of.
    SecretsHidden {
        /// How many.
        count: u64,
    },
    /// The provider had no room for the question: another model answers the rest of this turn.
    FellBack {
        /// `PROVIDER/MODEL`, whose provider had no room.
        from: String,
        /// `PROVIDER/MODEL`, which is asked now.
        to: String,
        /// What the provider said.
        error: Failure,
        /// What the other costs.
        price: FallbackPrice,
    },
    /// The provider searched the web itself.
    Searched {
        /// For these words.
        query: String,
    },
    /// So many files are too large, or too many, to be kept: what is about to happen to them cannot be taken back.
    NotKept {
        /// How many.
        files: u64,
    },
    /// A hook runs where nothing is kept of what it changes.
    HookUnkept {
        /// Its command line.
        command: String,
    },
    /// From now on less of the conversation is sent; all of it is kept.
    Shortened {
        /// Figures.
        #[serde(flatten)]
        shortened: Shortened,
    },
    /// The window is small: from now on the model is told of so few tools, and in few words.
    FewerTools {
        /// How many are left.
        left: usize,
        /// How many there were.
        of: usize,
    },
    /// An edit failed, and its file is as it was, whatever the model says.
    NotChanged {
        /// The file, absolute.
        path: PathBuf,
        /// Whether the model is asked for it once more.
        asked_again: bool,
        /// The text that was to be replaced, and what with.
        #[serde(skip_serializing_if = "Option::is_none")]
        wanted: Option<(String, String)>,
    },
    /// What is about to be changed could not be kept: it cannot be taken back.
    NoUndo {
        /// The file of the journal.
        path: PathBuf,
        /// Why, in the system's words.
        cause: String,
    },
    /// A server's tools are left out. Told once.
    Server {
        /// Its name.
        name: String,
        /// Why.
        failure: crate::mcp::Failure,
    },
    /// What runs unasked is not confined: this system cannot. Told once.
    NoSandbox {
        /// What it lacks.
        missing: Missing,
    },
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TurnEnd {
    /// The model said everything.
    Done,
    /// ESC, Ctrl+C or a signal.
    Interrupted,
    /// A call needed an approval that nobody could give.
    ApprovalNeeded {
        /// The tool's name.
        name: String,
        /// What rules are matched against.
        subject: Subject,
        /// Whether `-y` does not allow it either, and no rule but one that names a host.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        never_auto: bool,
        /// Whether `-y` would have done, had copies of what it changes been kept; a rule that names it does.
        unkept: bool,
    },
    /// The step limit was reached.
    StepLimit {
        /// The limit.
        limit: u32,
    },
    /// The next request would have cost more than may be spent; it was not sent.
    BudgetLimit {
        /// What may be spent.
        budget: Money,
        /// What is spent.
        spent: Money,
        /// What the request would have cost at least.
        least: Money,
    },
    /// The guard ended a turn that went round in circles.
    Looping,
    /// The output limit cut the answer.
    Length,
    /// The provider's filter cut it, or the model refused.
    Refused,
    /// The provider failed, after retries.
    Failed {
        /// Why.
        error: Failure,
    },
}

impl TurnEnd {
    /// Returns the one word the session's file and JSON output use.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Interrupted => "interrupted",
            Self::ApprovalNeeded { .. } => "approval_needed",
            Self::StepLimit { .. } => "step_limit",
            Self::BudgetLimit { .. } => "budget_limit",
            Self::Looping => "looping",
            Self::Length => "length",
            Self::Refused => "refused",
            Self::Failed { .. } => "failed",
        }
    }
}

/// How one person or program meets the agent. Implemented in frontend/; called by `run_turn` only.
pub trait Frontend {
    /// Shows one event. Must not fail: a closed pipe is remembered and told at the end.
    fn show(&mut self, event: &AgentEvent);

    /// Asks. May block: everything shown before has reached the screen, and nothing else can happen meanwhile.
    fn approve(&mut self, request: &ApprovalRequest) -> Approval;

    /// Puts a running tool's question. May block, as [`Frontend::approve`] does.
    fn ask(&mut self, _question: &Question) -> Answer {
        Answer::Unavailable
    }

    /// Has the person review what a turn changed in its trial. May block, as [`Frontend::approve`] does.
    fn review(&mut self, _set: &ChangeSet) -> Review {
        Review::Unavailable
    }

    /// Tells whether there is a terminal that [`Frontend::lend`] could lend.
    fn can_lend(&self) -> bool {
        false
    }

    /// Connects the person's terminal with a command's own, whose near end this is, until [`Frontend::take_back`];
    /// false when it cannot be. `pressed` gets a byte for each Ctrl+Z that asks to stop. Does not block: what happens in between is shown to nobody.
    fn lend(&mut self, _near: OwnedFd, _pressed: OwnedFd) -> bool {
        false
    }

    /// Has the terminal for itself again.
    fn take_back(&mut self) {}

    /// Tells when [`Frontend::tick`] wants to be called next; `None` while nothing moves on the screen.
    fn next_tick(&self) -> Option<std::time::Instant> {
        None
    }

    /// Moves the spinner, paints what was held back to be painted together. Writes nothing when nothing changed.
    fn tick(&mut self) {}
}
