//! The files in which hooks are written, and the names by which hooks know tools.

use std::path::Path;
use std::time::Duration;

use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;

use crate::conversation::ToolVerb;

/// The time limit of a hook that names none, in seconds.
const LIMIT: u64 = 60;
/// The longest time limit a hook may name, in seconds.
const LONGEST_LIMIT: u64 = 600;

/// When a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::agent) enum Event {
    PreToolUse,
    PostToolUse,
    SessionStart,
    Stop,
    PreCompact,
}

impl Event {
    const ALL: [Self; 5] = [Self::PreToolUse, Self::PostToolUse, Self::SessionStart, Self::Stop, Self::PreCompact];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::SessionStart => "SessionStart",
            Self::Stop => "Stop",
            Self::PreCompact => "PreCompact",
        }
    }
}

/// A command, and when it runs.
#[derive(Debug)]
pub(super) struct Hook {
    pub(super) event: Event,
    pub(super) command: String,
    pub(super) limit: Duration,
    /// The tools it is for; `None` for all.
    tools: Option<RegexMatcher>,
}

impl Hook {
    /// Tells whether it is for a tool, by our name of it or by theirs; an event that is about no tool matches each
    /// hook.
    pub(super) fn matches(&self, names: Option<(&str, Option<&str>)>) -> bool {
        let (Some(tools), Some((ours, theirs))) = (&self.tools, names) else { return true };
        let is = |name: &str| tools.is_match(name.as_bytes()).unwrap_or(false);
        is(ours) || theirs.is_some_and(is)
    }
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    hooks: HashMap<String, Vec<Group>>,
}

#[derive(Deserialize)]
struct Group {
    #[serde(default)]
    matcher: Option<String>,
    #[serde(default)]
    hooks: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    command: String,
    #[serde(default)]
    timeout: Option<u64>,
}

/// Reads the hooks of a file, in order. A file that cannot be read as hooks, and an entry that is no command, have
/// none.
pub(super) fn read(text: &str) -> Vec<Hook> {
    let mut file: File = match serde_json::from_str(text) {
        Ok(file) => file,
        Err(error) => {
            tracing::warn!(%error, "a file of hooks cannot be read");
            return Vec::new();
        }
    };
    let mut hooks = Vec::new();
    for event in Event::ALL {
        for group in file.hooks.remove(event.name()).unwrap_or_default() {
            let matcher = group.matcher.filter(|matcher| !matches!(matcher.as_str(), "" | "*"));
            let tools = matcher.map(|matcher| {
                let whole = |pattern: &str| RegexMatcherBuilder::new().build(&format!("^(?:{pattern})$"));
                // An invalid pattern matches every tool: a typing mistake must not disable a guard.
                whole(&matcher).or_else(|_| whole(".*"))
            });
            for row in group.hooks.into_iter().filter(|row| row.kind == "command" && !row.command.trim().is_empty())
            {
                let limit = Duration::from_secs(row.timeout.unwrap_or(LIMIT).clamp(1, LONGEST_LIMIT));
                let tools = tools.as_ref().and_then(|tools| tools.as_ref().ok()).cloned();
                hooks.push(Hook { event, command: row.command, limit, tools });
            }
        }
    }
    hooks
}

/// Returns the name by which hooks know a tool with this verb.
pub(super) const fn their_name(verb: ToolVerb) -> Option<&'static str> {
    match verb {
        ToolVerb::Run => Some("Bash"),
        ToolVerb::Read => Some("Read"),
        ToolVerb::Edit => Some("Edit"),
        ToolVerb::Patch => Some("MultiEdit"),
        ToolVerb::Write => Some("Write"),
        ToolVerb::Search => Some("Grep"),
        ToolVerb::FindFiles => Some("Glob"),
        ToolVerb::List => Some("LS"),
        ToolVerb::Fetch => Some("WebFetch"),
        ToolVerb::Explore => Some("Task"),
        ToolVerb::Plan => Some("TodoWrite"),
        ToolVerb::Ask
        | ToolVerb::Call
        | ToolVerb::Delete
        | ToolVerb::LookAfterJobs
        | ToolVerb::MakeDirectory
        | ToolVerb::Move
        | ToolVerb::Propose
        | ToolVerb::UseTerminal => None,
    }
}

/// Returns the arguments of a call, with the argument names that hooks know added to ours.
pub(super) fn their_input(input: &Value, directory: &Path) -> Value {
    let mut input = input.clone();
    if let Some(fields) = input.as_object_mut()
        && let Some(path) = fields.get("path").and_then(Value::as_str)
        && !fields.contains_key("file_path")
    {
        let absolute = directory.join(path).to_string_lossy().into_owned();
        fields.insert("file_path".to_owned(), absolute.into());
    }
    input
}
