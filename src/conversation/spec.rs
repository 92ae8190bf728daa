//! What tools and the approval policy both speak of: what a tool is, and the effect, subject and preview of a call.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the model is told about a tool, and what axi knows of it: both are declared in the tool's own file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Lower case with underscores; unique.
    pub name: String,
    /// One paragraph for the model, in English.
    pub description: String,
    /// A JSON schema of type `object`. Its bytes must not change within a session: prompt caches live on it.
    pub input_schema: Value,
    /// What the model is not told.
    #[serde(skip)]
    pub identity: ToolIdentity,
}

/// What axi knows of a tool beside what the model is told. A tool of somebody else's has the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ToolIdentity {
    /// What its rules are about.
    pub kind: ToolKind,
    /// What it does, for whoever words it.
    pub verb: ToolVerb,
    /// Whether a sub-agent that only reads may call it.
    pub for_sub_agents: bool,
    /// What a small model is told of it; nothing where there is none.
    pub brief: Option<Brief>,
}

/// What a small model is told of a tool, in as few words as it understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Brief {
    /// What it does.
    pub description: &'static str,
    /// Its arguments, which are texts; the required ones end with a star.
    pub arguments: &'static [&'static str],
    /// Whether the model is told of this tool alone where it is there.
    pub alone: bool,
    /// Its place among them: what stands first is used most.
    pub order: u8,
}

/// What the rules of a tool are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolKind {
    /// Files that it reads; a rule for [`READERS`] is for all such tools.
    Reader,
    /// Files that it changes; a rule for [`WRITERS`] is for all such tools.
    Writer,
    /// Command lines; a rule for [`COMMANDS`] is for all such tools.
    Command,
    /// Hosts of the network.
    Network,
    /// The tool as a whole.
    #[default]
    Other,
}

/// What stands in a rule for every tool that reads files.
pub const READERS: &str = "read";
/// What stands in a rule for every tool that changes files.
pub const WRITERS: &str = "write";
/// What stands in a rule for every tool that runs command lines.
pub const COMMANDS: &str = "shell";

/// What a tool does, for whoever words it: one row of words each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolVerb {
    /// Puts a question to the person.
    Ask,
    /// What axi has no words for: it is called by its name.
    #[default]
    Call,
    /// Deletes files.
    Delete,
    /// Changes parts of a file.
    Edit,
    /// Has a sub-agent look for something.
    Explore,
    /// Fetches a page.
    Fetch,
    /// Finds files by name.
    FindFiles,
    /// Lists a directory.
    List,
    /// Looks after what runs in the background.
    LookAfterJobs,
    /// Makes a directory.
    MakeDirectory,
    /// Moves a file.
    Move,
    /// Applies a patch.
    Patch,
    /// Writes down the plan.
    Plan,
    /// Puts a command on the person's prompt line.
    Propose,
    /// Reads a file.
    Read,
    /// Runs a command line.
    Run,
    /// Searches files for a text.
    Search,
    /// Uses a program on a terminal of its own.
    UseTerminal,
    /// Writes a whole file.
    Write,
}

/// What a call is about, as a person reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// Its subject.
    Subject,
    /// Something that is looked for in the subject.
    Pattern {
        /// What.
        pattern: String,
        /// Whether it is part of a text, and not a name.
        quoted: bool,
    },
    /// The first of two paths, which becomes the second.
    FromTo,
    /// These words.
    Text {
        /// One line or more.
        text: String,
    },
    /// What the screen of a program shows.
    Screen,
    /// The end of a program.
    End,
}

/// What a call would touch, as the tool declares it for this input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Looks at files of the workspace only.
    Read,
    /// Changes files.
    Write,
    /// Takes files away.
    Delete,
    /// Reaches the network.
    Network,
    /// Runs a program, which can do anything.
    Execute,
}

/// What a rule is matched against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Subject {
    /// A shell command line.
    Command {
        /// The whole line, as it would be run.
        line: String,
    },
    /// Files, as absolute paths without `..`.
    Paths {
        /// Every path the call would touch.
        paths: Vec<PathBuf>,
    },
    /// A host name.
    Host {
        /// Lower case, without port.
        host: String,
    },
    /// Nothing a rule could narrow; only the tool's name counts.
    Whole,
}

/// What a person sees before they say yes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Preview {
    /// A shell command.
    Command {
        /// The whole line, as it would be run.
        line: String,
    },
    /// A change to a file.
    Diff {
        /// The file, absolute.
        path: PathBuf,
        /// Its content now; `None` when it does not exist.
        old: Option<String>,
        /// Its content afterwards; `None` when it would be deleted.
        new: Option<String>,
    },
    /// Anything else, in plain text.
    Text {
        /// A few lines.
        text: String,
    },
    /// Several of them, in the order they would happen.
    Many {
        /// The parts.
        parts: Vec<Preview>,
    },
}
