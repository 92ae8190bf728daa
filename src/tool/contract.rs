//! The interface between a tool and its callers: the trait, what a call is given, and what it returns.

use std::path::Path;
use std::sync::Arc;

use futures_util::future::{BoxFuture, ready};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::conversation::{About, Effect, Image, Outcome, Preview, Subject, ToolFacts, ToolSpec};
use crate::sandbox::{Reach, Sandbox};
use crate::trial::Trial;

use super::arguments::Arguments;
use super::memory::ToolMemory;
use super::paths;
use super::person::Person;
use super::roots::Roots;
use super::trash::SharedTrash;

/// Something the model may do.
///
/// The agent has a tool read each call once, where the call enters; all else is asked of the [`Request`] that this gives.
pub trait Tool: Send + Sync {
    /// Describes the tool to the model; the same bytes at every call.
    fn spec(&self) -> ToolSpec;

    /// Reads the arguments of a call; [`Unread`] where they are wrong. Does not look at the disk.
    fn read(&self, input: &Value, roots: &Roots) -> Arc<dyn Request>;

    /// Tells whether the source of the tool (an MCP server) says that the tool may destroy something or reaches others. If
    /// the source says that a tool is harmless, that counts for nothing.
    fn is_said_to_harm(&self) -> bool {
        false
    }

    /// Tells whether the turn ends after a call of it that succeeds: the model is not asked again.
    fn concludes(&self) -> bool {
        false
    }
}

/// A call that was read.
///
/// The agent calls `settle`, `effect` and `subject` before the policy decides, `check` before a person is asked,
/// and `run` once the call is allowed. Only `settle`, `check` and `run` read the disk; the first two are called on
/// a thread that may hang, because a file system may. A failure is a [`ToolOutput`] with [`Outcome::Failed`], which
/// the model reads.
pub trait Request: Send + Sync + 'static {
    /// Declares what the call would touch.
    fn effect(&self) -> Effect;

    /// Declares what rules are matched against, as the call names it: [`followed`] adds where paths really lead.
    fn subject(&self) -> Subject {
        Subject::Whole
    }

    /// Says what a person reads a call is about.
    fn about(&self) -> About {
        About::Subject
    }

    /// Declares how much more than usual the model asks for; a call that asks for more always needs an approval.
    fn access(&self) -> Access {
        Access::Usual
    }

    /// Tells whether the call starts something that goes on after axi ends; each such call is asked about.
    fn outlives(&self) -> bool {
        false
    }

    /// Tells whether the call has to do with the person's terminal, or goes on beside the conversation: nothing can repeat
    /// it.
    fn is_beside(&self) -> bool {
        false
    }

    /// Tells whether the call is its line and nothing more, so that a trial of the line shows what the call would do.
    fn is_its_line(&self) -> bool {
        false
    }

    /// Decides, once and before anything is judged, what the call leaves open and only the disk and the session
    /// know. Its result is then judged, shown and run. Reads the disk, changes nothing.
    fn settle(&self, _place: &Roots, _memory: &ToolMemory) -> Settled {
        Settled::AsIs
    }

    /// Makes what a person sees before they approve; looks at the disk, changes nothing.
    ///
    /// # Errors
    /// The text for the model when running it would be refused (a missing argument, an `old_string` that is not
    /// there, a file that was not read before): the person is then not asked at all.
    fn check(&self, before: &Before<'_>) -> Result<Preview, String>;

    /// The text that a change is to replace, and what with; `None` where the call does not say both.
    fn wanted(&self) -> Option<(String, String)> {
        None
    }

    /// Does it.
    ///
    /// # Cancel safety
    /// Ends within 2.5 s of `context.cancel` (a child's group gets TERM, then KILL after 2 s) and leaves no
    /// process behind, also when the future is dropped.
    fn run(self: Arc<Self>, context: ToolContext<'_>) -> BoxFuture<'_, ToolOutput>;
}

/// A call whose arguments are wrong: it is told so when it is checked or run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// What the tool touches at most.
    pub effect: Effect,
    /// What of it could be read all the same.
    pub subject: Subject,
    /// What it is about, as far as that could be read.
    pub about: About,
    /// The text for the model.
    pub problem: String,
}

impl Unread {
    /// Makes a call of which nothing could be read.
    #[must_use]
    pub const fn new(effect: Effect, problem: String) -> Self {
        Self { effect, subject: Subject::Whole, about: About::Subject, problem }
    }

    /// Returns what could be read of a call, else that nothing could.
    pub(super) fn or<R: Request>(effect: Effect, read: Result<R, String>) -> Arc<dyn Request> {
        match read {
            Ok(request) => Arc::new(request),
            Err(problem) => Arc::new(Self::new(effect, problem)),
        }
    }

    /// The same for a call on one file: what is wrong with its other arguments does not hide which file that is.
    pub(super) fn or_on_path<R: Request>(
        effect: Effect,
        arguments: Result<Arguments<'_>, String>,
        roots: &Roots,
        rest: impl FnOnce(&Arguments<'_>, &str, Subject) -> Result<R, String>,
    ) -> Arc<dyn Request> {
        let read = arguments.and_then(|arguments| {
            let path = arguments.filled_text("path")?;
            let subject = paths::subject(roots, [path]);
            Ok(match rest(&arguments, path, subject.clone()) {
                Ok(request) => Arc::new(request) as Arc<dyn Request>,
                Err(problem) => Arc::new(Self { subject, ..Self::new(effect, problem) }),
            })
        });
        read.unwrap_or_else(|problem| Arc::new(Self::new(effect, problem)))
    }

    /// The same, but what the call is about is known all the same.
    pub(super) fn or_about<R: Request>(
        effect: Effect,
        arguments: Result<Arguments<'_>, String>,
        about: impl FnOnce(&Arguments<'_>) -> About,
        read: impl FnOnce(&Arguments<'_>) -> Result<R, String>,
    ) -> Arc<dyn Request> {
        let arguments = match arguments {
            Ok(arguments) => arguments,
            Err(problem) => return Arc::new(Self::new(effect, problem)),
        };
        match read(&arguments) {
            Ok(request) => Arc::new(request),
            Err(problem) => Arc::new(Self { about: about(&arguments), ..Self::new(effect, problem) }),
        }
    }
}

impl Request for Unread {
    fn effect(&self) -> Effect {
        self.effect
    }

    fn subject(&self) -> Subject {
        self.subject.clone()
    }

    fn about(&self) -> About {
        self.about.clone()
    }

    fn check(&self, _before: &Before<'_>) -> Result<Preview, String> {
        Err(self.problem.clone())
    }

    fn run(self: Arc<Self>, _context: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        Box::pin(ready(ToolOutput::failed(self.problem.clone())))
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

/// The result of settling a call, before it is judged.
pub enum Settled {
    /// Nothing.
    AsIs,
    /// This call replaces it; the note is for the model, and follows the result.
    Instead {
        /// The call that is judged, shown and run.
        request: Arc<dyn Request>,
        /// Its arguments, as the conversation shows them.
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
