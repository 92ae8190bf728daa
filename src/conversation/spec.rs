//! What tools and the approval policy both speak of: the specification, effect, subject and preview of a call.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the model is told about a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Lower case with underscores; unique.
    pub name: String,
    /// One paragraph for the model, in English.
    pub description: String,
    /// A JSON schema of type `object`. Its bytes must not change within a session: prompt caches live on it.
    pub input_schema: Value,
}

/// What a call would touch, as the tool declares it for this input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Looks at files of the workspace only.
    Read,
    /// Changes files.
    Write,
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
