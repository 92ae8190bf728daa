//! What the model may do: one trait, one file a tool, one line a tool in the table.
//!
//! This room knows no terminal, locale, approval or session: a tool declares facts, others judge and show them.

mod apply_patch;
mod arguments;
mod ask_user;
mod atomic;
pub(crate) mod base64;
mod delete;
mod edit;
mod edit_match;
mod glob;
mod grep;
mod grep_search;
mod html_markdown;
mod html_tokens;
mod interactive;
mod interactive_cap;
mod interactive_keys;
mod interactive_state;
mod jobs;
mod kept;
pub(crate) mod kind;
mod list;
mod make_directory;
mod memory;
mod move_path;
mod multi_edit;
pub mod output;
mod patch;
mod patch_apply;
mod patch_unified;
mod paths;
mod person;
pub mod picture;
mod project;
mod project_table;
mod propose_command;
mod read;
mod read_page;
mod shell;
pub mod shell_adopter;
pub mod shell_child;
mod shell_environment;
mod shell_group;
mod shell_job;
pub mod shell_keeper;
mod shell_kept;
mod shell_loan;
mod shell_output;
mod shell_run;
mod shell_settle;
pub mod shell_trash;
mod sweep;
pub mod table;
mod terminal_tool;
mod text_file;
mod todo;
mod web_address;
mod web_fetch;
mod web_page;
mod work;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use apply_patch::ApplyPatchTool;
pub use ask_user::AskUserTool;
pub use delete::DeleteTool;
pub use edit::EditTool;
pub use glob::GlobTool;
pub use grep::GrepTool;
pub use list::ListTool;
pub use make_directory::MakeDirectoryTool;
pub use memory::JobReport;
pub use move_path::MoveTool;
pub use multi_edit::MultiEditTool;
pub use person::{Person, Wish};
pub use propose_command::{NAME as PROPOSE_COMMAND, Proposal, ProposeCommandTool, is_plain_line, proposed};
pub use read::ReadTool;
pub use shell::ShellTool;
pub use shell_environment::HANDOFF as HANDOFF_VARIABLES;
pub use shell_group::end_orphans;
pub use shell_job::ShellJobTool;
pub use shell_trash::SharedTrash;
pub use sweep::{ONCE, Swept, sweep, sweep_aside};
pub use terminal_tool::TerminalTool;
pub use todo::TodoTool;
pub use web_fetch::WebFetchTool;
pub use write::WriteTool;

pub use crate::conversation::ToolFacts;
use crate::conversation::{Effect, Image, Outcome, Preview, Subject, ToolSpec};
use crate::sandbox::{Reach, Sandbox};

/// Something the model may do.
///
/// Called by the agent: `effect` and `subject` before the policy decides, `preview` before a person is asked,
/// `run` once it is allowed. A failure is an [`ToolOutput`] with [`Outcome::Failed`], for the model to read.
pub trait Tool: Send + Sync {
    /// Describes the tool to the model; the same bytes at every call.
    fn spec(&self) -> ToolSpec;

    /// Declares what this input would touch.
    fn effect(&self, input: &Value, place: &Place) -> Effect;

    /// Declares what rules are matched against.
    fn subject(&self, input: &Value, place: &Place) -> Subject;

    /// Declares how much more than usual the model asks for; a call that asks for any is never run unasked.
    fn access(&self, _input: &Value) -> Access {
        Access::Usual
    }

    /// Tells whether what the call starts goes on when axi ends; such a call is asked for each time.
    fn outlives(&self, _input: &Value) -> bool {
        false
    }

    /// Decides what the input leaves open and only the disk and the session know, once, before anything is judged:
    /// what it gives is then judged, shown and run. Looks at the disk, changes nothing.
    fn settle(&self, _input: &Value, _place: &Place, _memory: &ToolMemory) -> Settled {
        Settled::AsIs
    }

    /// Makes what a person sees before they approve; reads files, changes nothing.
    ///
    /// # Errors
    /// The text for the model when the input is such that running it can only fail (a missing argument, an
    /// `old_string` that is not there): the person is then not asked at all.
    fn preview(&self, input: &Value, place: &Place) -> Result<Preview, String>;

    /// Does it.
    ///
    /// # Cancel safety
    /// Ends within 2.5 s of `context.cancel` (a child's group gets TERM, then KILL after 2 s) and leaves no
    /// process behind, also when the future is dropped.
    fn run<'a>(&'a self, input: Value, context: ToolContext<'a>) -> BoxFuture<'a, ToolOutput>;

    /// Tells whether a call that went well is the turn's last word: the model is not asked again.
    fn concludes(&self) -> bool {
        false
    }
}

/// What became of an input before it is judged.
#[derive(Debug, Clone, PartialEq)]
pub enum Settled {
    /// Nothing.
    AsIs,
    /// This one stands in its place; the note is for the model, behind the result.
    Input {
        /// The input that is judged, shown and run.
        input: Value,
        /// What was decided.
        note: String,
    },
    /// There is nothing to run: this is the call's result.
    Answer(Box<ToolOutput>),
}

/// What a call asks for beside what it would get by itself.
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

/// Where a turn takes place; passed in, never read from the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The working directory, absolute.
    pub cwd: PathBuf,
    /// The workspace: the repository's root, else `cwd`.
    pub workspace: PathBuf,
    /// The user's home.
    pub home: Option<PathBuf>,
}

impl Place {
    /// Resolves a path the model wrote: `~` and relative ones against the working directory, `.` and `..`
    /// taken out by name. Does not look at the disk.
    #[must_use]
    pub fn resolve(&self, path: &str) -> PathBuf {
        let expanded = match (path.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ if path == "~" => self.home.clone().unwrap_or_else(|| PathBuf::from(path)),
            _ => self.cwd.join(path),
        };
        let mut clean = PathBuf::new();
        for part in expanded.components() {
            match part {
                std::path::Component::CurDir => {}
                std::path::Component::ParentDir => {
                    clean.pop();
                }
                std::path::Component::Prefix(_)
                | std::path::Component::RootDir
                | std::path::Component::Normal(_) => clean.push(part),
            }
        }
        clean
    }

    /// Shows a path relative to the working directory where it lies below it.
    #[must_use]
    pub fn shown<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.cwd).unwrap_or(path)
    }
}

/// What a running tool is given.
pub struct ToolContext<'a> {
    /// Where it runs.
    pub place: &'a Place,
    /// The turn's token.
    pub cancel: &'a CancellationToken,
    /// Takes lines of output as they come, for the live row; a full channel drops them (`try_send`).
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
    /// Takes out of a text what must not be written to the disk.
    pub redact: &'a (dyn Fn(&str) -> String + Sync),
}

/// What the tools of a session remember between calls: which files were read, in which state.
#[derive(Debug, Default)]
pub struct ToolMemory {
    /// Size, modification time and content hash of each file when the model last saw it.
    pub seen: std::sync::Mutex<std::collections::HashMap<PathBuf, Seen>>,
    /// Which parts of them the model was shown, and their text then.
    pub(crate) shown: std::sync::Mutex<memory::Shown>,
    /// Commands that run in the background; they end with this memory.
    pub(crate) jobs: jobs::Jobs,
    /// How much of the output of commands that outlive axi was read.
    pub(crate) kept_read: std::sync::Mutex<std::collections::HashMap<u64, u64>>,
    /// Programs on terminals of their own; they end with this memory.
    pub(crate) interactives: interactive::Interactives,
    /// What was set up.
    pub(crate) made: std::sync::Mutex<Vec<project::Made>>,
    /// The model's plan, to remind it.
    pub(crate) plan: std::sync::Mutex<memory::Plan>,
}

/// A file's state when the model last saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Bytes.
    pub length: u64,
    /// Modification time, where the file system has one.
    pub modified: Option<std::time::SystemTime>,
    /// A 64-bit hash of the bytes; of the first and last ones only in a very large file.
    pub hash: u64,
}

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    /// What the model reads: sanitised of nothing but trimmed to the limits.
    pub content: String,
    /// What became of the call.
    pub outcome: Outcome,
    /// What a person is told about it.
    pub facts: ToolFacts,
    /// Pictures for models that can see.
    pub images: Vec<Image>,
}

impl ToolOutput {
    /// Makes a failure for the model to read.
    #[must_use]
    pub fn failed(content: impl Into<String>) -> Self {
        Self { content: content.into(), outcome: Outcome::Failed, facts: ToolFacts::default(), images: Vec::new() }
    }

    /// Makes a success.
    #[must_use]
    pub fn ok(content: impl Into<String>, facts: ToolFacts) -> Self {
        Self { content: content.into(), outcome: Outcome::Ok, facts, images: Vec::new() }
    }
}

/// The tools of a run, in the order the model is told about them.
#[derive(Clone, Default)]
pub struct Toolbox {
    tools: Vec<(ToolSpec, Arc<dyn Tool>)>,
}

impl Toolbox {
    /// Makes a toolbox; the specifications are asked for once, so that their bytes never change.
    #[must_use]
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        Self { tools: tools.into_iter().map(|tool| (tool.spec(), tool)).collect() }
    }

    /// Returns the specifications, in order.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.iter().map(|(spec, _)| spec.clone()).collect()
    }

    /// Makes a toolbox of those of these names.
    #[must_use]
    pub fn only(&self, names: &[&str]) -> Self {
        let kept = self.tools.iter().filter(|(spec, _)| names.contains(&spec.name.as_str()));
        Self { tools: kept.cloned().collect() }
    }

    /// Finds a tool by its exact name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|(spec, _)| spec.name == name).map(|(_, tool)| tool)
    }
}
