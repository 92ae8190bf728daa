//! The interface between a tool and its callers: the trait, what a call is given, and what it returns.

use std::path::Path;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::conversation::{About, Effect, Image, Outcome, Preview, Subject, ToolFacts, ToolSpec};
use crate::sandbox::{Reach, Sandbox};
use crate::trial::Trial;

use super::memory::ToolMemory;
use super::paths;
use super::person::Person;
use super::roots::Roots;
use super::trash::SharedTrash;

/// Something the model may do.
///
/// The agent calls `settle`, `effect` and `subject` before the policy decides, `check` before a person is asked,
/// and `run` once the call is allowed. Only `settle`, `check` and `run` read the disk; the first two are called on
/// a thread that may hang, because a file system may. A failure is a [`ToolOutput`] with [`Outcome::Failed`], which
/// the model reads.
pub trait Tool: Send + Sync {
    /// Describes the tool to the model; the same bytes at every call.
    fn spec(&self) -> ToolSpec;

    /// Declares what this input would touch. Does not look at the disk.
    fn effect(&self, input: &Value, roots: &Roots) -> Effect;

    /// Declares what rules are matched against, as the input names it. Does not read the disk: [`followed`] adds
    /// where paths really lead.
    fn subject(&self, input: &Value, roots: &Roots) -> Subject;

    /// Says what a person reads a call is about.
    fn about(&self, _input: &Value) -> About {
        About::Subject
    }

    /// Declares how much more than usual the model asks for; a call that asks for more always needs an approval.
    fn access(&self, _input: &Value) -> Access {
        Access::Usual
    }

    /// Tells whether the call starts something that goes on after axi ends; each such call is asked about.
    fn outlives(&self, _input: &Value) -> bool {
        false
    }

    /// Tells whether the source of the tool (an MCP server) says that the tool may destroy something or reaches others. If
    /// the source says that a tool is harmless, that counts for nothing.
    fn is_said_to_harm(&self) -> bool {
        false
    }

    /// Tells whether the call has to do with the person's terminal, or goes on beside the conversation: nothing can repeat
    /// it.
    fn is_beside(&self, _input: &Value) -> bool {
        false
    }

    /// Decides, once and before anything is judged, what the input leaves open and only the disk and the session
    /// know. Its result is then judged, shown and run. Reads the disk, changes nothing.
    fn settle(&self, _input: &Value, _place: &Roots, _memory: &ToolMemory) -> Settled {
        Settled::AsIs
    }

    /// Makes what a person sees before they approve; looks at the disk, changes nothing.
    ///
    /// # Errors
    /// The text for the model when running it would be refused (a missing argument, an `old_string` that is not
    /// there, a file that was not read before): the person is then not asked at all.
    fn check(&self, input: &Value, before: &Before<'_>) -> Result<Preview, String>;

    /// The text that a change is to replace, and what with; `None` where the input does not say both. Does not look at the
    /// disk.
    fn wanted(&self, _input: &Value) -> Option<(String, String)> {
        None
    }

    /// Does it.
    ///
    /// # Cancel safety
    /// Ends within 2.5 s of `context.cancel` (a child's group gets TERM, then KILL after 2 s) and leaves no
    /// process behind, also when the future is dropped.
    fn run<'a>(&'a self, input: Value, context: ToolContext<'a>) -> BoxFuture<'a, ToolOutput>;

    /// Tells whether the turn ends after this call if it succeeds: the model is not asked again.
    fn concludes(&self) -> bool {
        false
    }
}

/// What a call is checked with before anybody is asked.
#[derive(Debug, Clone, Copy)]
pub struct Before<'a> {
    /// Where it would run.
    pub roots: &'a Roots,
    /// What the tools remember of this session.
    pub memory: &'a ToolMemory,
    /// Where whole outputs are kept.
    pub output_dir: &'a Path,
    /// Whether the person has a terminal that could be lent.
    pub can_lend: bool,
}

/// Adds to the paths of a subject where each really leads if that is elsewhere: this is what is judged. Reads the
/// disk.
#[must_use]
pub fn followed(subject: &Subject) -> Subject {
    match subject {
        Subject::Paths { paths } => Subject::Paths { paths: paths::followed(paths) },
        Subject::Command { .. } | Subject::Host { .. } | Subject::Whole => subject.clone(),
    }
}

/// The result of settling an input, before it is judged.
#[derive(Debug, Clone, PartialEq)]
pub enum Settled {
    /// Nothing.
    AsIs,
    /// This input replaces it; the note is for the model, and follows the result.
    Input {
        /// The input that is judged, shown and run.
        input: Value,
        /// What was decided; empty if the result says it.
        note: String,
    },
    /// There is nothing to run: this is the call's result.
    Answer(Box<ToolOutput>),
}

/// What a call asks for in addition to its usual reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Nothing.
    #[default]
    Usual,
    /// To write the workspace and reach the network, where it would only read.
    Workspace,
    /// To run outside the sandbox.
    Full,
}

/// What a running tool is given.
pub struct ToolContext<'a> {
    /// Where it runs.
    pub roots: &'a Roots,
    /// The turn's token.
    pub cancel: &'a CancellationToken,
    /// Receives lines of output as they come, for the live row; if the channel is full they are dropped
    /// (`try_send`).
    pub progress: mpsc::Sender<String>,
    /// Where whole outputs are kept; made at first use, 0700.
    pub output_dir: &'a Path,
    /// What the tools remember of this session.
    pub memory: &'a ToolMemory,
    /// The way to the person.
    pub person: Person,
    /// Confines the children of this run.
    pub sandbox: &'a Sandbox,
    /// How far a child of this call may reach.
    pub reach: &'a Reach,
    /// Keeps what a command of this call removes.
    pub trash: Option<SharedTrash>,
    /// The trial that a command of this call runs in.
    pub trial: Option<&'a Trial>,
    /// Takes out of a text what must not be written to the disk.
    pub redact: &'a (dyn Fn(&str) -> String + Sync),
}

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    /// What the model reads: trimmed to the limits, but not sanitised.
    pub content: String,
    /// What became of the call.
    pub outcome: Outcome,
    /// What a person is told about it.
    pub facts: ToolFacts,
    /// Pictures for models that can see.
    pub images: Vec<Image>,
    /// The change that was made, for a person who has not seen it before.
    pub change: Option<Preview>,
}

impl ToolOutput {
    /// Makes a failure for the model to read.
    #[must_use]
    pub fn failed(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            outcome: Outcome::Failed,
            facts: ToolFacts::default(),
            images: Vec::new(),
            change: None,
        }
    }

    /// Makes a success.
    #[must_use]
    pub fn ok(content: impl Into<String>, facts: ToolFacts) -> Self {
        Self { content: content.into(), outcome: Outcome::Ok, facts, images: Vec::new(), change: None }
    }
}
