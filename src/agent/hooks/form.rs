//! The files hooks are written in, and how they call tools.

use std::path::Path;
use std::time::Duration;

use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;

use crate::conversation::ToolVerb;

/// How long a hook may run that does not say it.
const LIMIT: u64 = 60;
/// How long any may.
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

/// A command and when it runs.
#[derive(Debug)]
pub(super) struct Hook {
    pub(super) event: Event,
    pub(super) command: String,
    pub(super) limit: Duration,
    /// Which tools it is for; `None` for all.
    tools: Option<RegexMatcher>,
}

impl Hook {
    /// Whether it is for a tool, by our name of it or theirs; what is about no tool is for each.
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

/// Reads the hooks of a file, in their order; a file that is none, and what is no command, has none.
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
                // What is no pattern is for every tool: a guard must not be lost by a slip.
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

/// What hooks call a tool that does this.
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

/// The arguments of a call with the names hooks know beside ours.
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
