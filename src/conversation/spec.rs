//! The words that tools and the approval policy share: what a tool is, and the effect, subject and preview of a
//! call.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the model is told about a tool, and what axi knows of it. Both are declared in the tool's own file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Lower case with underscores; unique.
    pub name: String,
    /// One paragraph for the model, in English.
    pub description: String,
    /// A JSON schema of type `object`. Its bytes must not change within a session, or the provider's prompt cache
    /// no longer matches.
    pub input_schema: Value,
    /// What axi knows of the tool and the model is not told.
    #[serde(skip)]
    pub identity: ToolIdentity,
}

/// What axi knows of a tool, besides what the model is told. A server's tool has the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ToolIdentity {
    /// What its rules are about.
    pub kind: ToolKind,
    /// What it does; the front ends choose their words by it.
    pub verb: ToolVerb,
    /// Whether a sub-agent that only reads may call it.
    pub for_sub_agents: bool,
    /// How a small model is told of it; `None` if it is not offered to small models.
    pub brief: Option<Brief>,
}

/// How a small model is told of a tool, in as few words as it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Brief {
    /// What it does.
    pub description: &'static str,
    /// Its arguments, all of them texts; the name of a required one ends with `*`.
    pub arguments: &'static [&'static str],
    /// Whether the model is offered this tool alone, where it exists.
    pub alone: bool,
    /// Its position in the list: models use the first one most.
    pub order: u8,
}

/// What the rules for a tool are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolKind {
    /// The files it reads; a rule for [`READERS`] covers all such tools.
    Reader,
    /// The files it changes; a rule for [`WRITERS`] covers all such tools.
    Writer,
    /// The command lines it runs; a rule for [`COMMANDS`] covers all such tools.
    Command,
    /// The hosts it reaches.
    Network,
    /// The tool as a whole.
    #[default]
    Other,
}

/// The name in rules for every tool that reads files.
pub const READERS: &str = "read";
/// The name in rules for every tool that changes files.
pub const WRITERS: &str = "write";
/// The name in rules for every tool that runs command lines.
pub const COMMANDS: &str = "shell";

/// What a tool does; each verb has its own words in each language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolVerb {
    /// Puts a question to the person.
    Ask,
    /// Anything axi has no words for: the front ends show the tool's name.
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
    /// Manages background commands.
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

/// How a call is described to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// By its subject.
    Subject,
    /// By what it looks for in the subject.
    Pattern {
        /// What.
        pattern: String,
        /// Whether it is text to search for, rather than a name.
        quoted: bool,
    },
    /// By two paths: the first becomes the second.
    FromTo,
    /// By these words.
    Text {
        /// One line or more.
        text: String,
    },
    /// By what the screen of a program shows.
    Screen,
    /// By the end of a program.
    End,
}

/// The effect of a call, as the tool declares it for this input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Reads files of the workspace, and nothing else.
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
    /// Nothing that a rule could narrow: only the tool's name counts.
    Whole,
}

/// What a person sees before they approve a call.
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
    /// Several previews, in the order in which they would happen.
    Many {
        /// The parts.
        parts: Vec<Preview>,
    },
}

impl Preview {
    /// Shows of a call only what it names.
    #[must_use]
    pub fn named(subject: &Subject) -> Self {
        match subject {
            Subject::Command { line } => Self::Command { line: line.clone() },
            Subject::Paths { paths } => {
                let named: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
                Self::Text { text: named.join("\n") }
            }
            Subject::Host { host } => Self::Text { text: host.clone() },
            Subject::Whole => Self::Text { text: String::new() },
        }
    }
}
