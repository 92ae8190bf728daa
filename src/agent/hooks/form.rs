//! The files in which hooks are written, and the names by which hooks know tools.

use std::path::{Path, PathBuf};
use std::time::Duration;

use grep_matcher::Matcher as _;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;

use super::fault::{HookFault, HookMistake};
use crate::conversation::{Subject, ToolCall, ToolVerb};

/// The time limit of a hook that names none, in seconds.
const LIMIT: u64 = 60;
/// The longest time limit a hook may name, in seconds.
const LONGEST_LIMIT: u64 = 600;

/// Kinds of entries that another agent has beside commands.
const THEIR_KINDS: [&str; 4] = ["prompt", "agent", "http", "mcp_tool"];
/// An event of another agent that has nearly the name of one here.
const THEIR_EVENT: &str = "Setup";

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
    /// Returns the name under which it is for a call; `None` where it is for others.
    pub(super) fn matches(&self, about: &About<'_>) -> Option<String> {
        let (theirs, ours) = (their_names(about.verb, &about.call.name), &about.call.name);
        let first = || theirs.first().unwrap_or(ours).clone();
        let Some(tools) = &self.tools else { return Some(first()) };
        let is = |name: &str| tools.is_match(name.as_bytes()).unwrap_or(false);
        theirs.iter().find(|name| is(name)).cloned().or_else(|| is(ours).then(first))
    }
}

/// The call that an event is about.
#[derive(Debug, Clone, Copy)]
pub(in crate::agent) struct About<'a> {
    pub(in crate::agent) call: &'a ToolCall,
    pub(in crate::agent) verb: ToolVerb,
    /// What it touches.
    pub(in crate::agent) subject: &'a Subject,
}

#[derive(Deserialize)]
struct File<Groups> {
    #[serde(default = "HashMap::new")]
    hooks: HashMap<String, Groups>,
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

/// Reads the hooks of a file, in order, and what is wrong with it.
pub(super) fn read(text: &str) -> (Vec<Hook>, Option<HookMistake>) {
    let mut hooks = Vec::new();
    let strict = serde_json::from_str::<File<Vec<Group>>>(text);
    let place = |error: &serde_json::Error| {
        let (line, column) = (error.line().max(1), error.column().max(1));
        HookMistake { line, column, fault: HookFault::Syntax { cause: error.to_string() } }
    };
    // A list would do for a structure.
    let object = serde_json::from_str::<HashMap<String, Value>>(text);
    let mut file: File<Value> = match object.and_then(|_| serde_json::from_str(text)) {
        Ok(file) => file,
        Err(error) => return (hooks, Some(place(&error))),
    };
    let mut wrong = file.hooks.keys().find_map(|name| {
        let fault = HookFault::Event { meant: meant(name)?, name: name.clone() };
        Some(HookMistake::at(text, name, fault))
    });
    for event in Event::ALL {
        let Some(groups) = file.hooks.remove(event.name()) else { continue };
        let groups: Vec<Group> = match serde_json::from_value(groups) {
            Ok(groups) => groups,
            Err(error) => {
                // Only the reader of the whole text knows where.
                wrong.get_or_insert_with(|| place(strict.as_ref().err().unwrap_or(&error)));
                continue;
            }
        };
        for group in groups {
            let matcher = group.matcher.filter(|matcher| !matches!(matcher.as_str(), "" | "*"));
            let tools = matcher.map(|matcher| {
                let whole = |pattern: &str| RegexMatcherBuilder::new().build(&format!("^(?:{pattern})$"));
                // An invalid pattern matches every tool: a typing mistake must not disable a guard.
                whole(&matcher).or_else(|_| whole(".*"))
            });
            for row in group.hooks {
                if row.kind != "command" || row.command.trim().is_empty() {
                    // What another agent asks a model or a server is missed where it would hold a call back.
                    if event == Event::PreToolUse || !THEIR_KINDS.contains(&row.kind.as_str()) {
                        let fault = HookFault::NoCommand { kind: row.kind.clone() };
                        wrong.get_or_insert_with(|| HookMistake::at(text, &row.kind, fault));
                    }
                    continue;
                }
                let limit = Duration::from_secs(row.timeout.unwrap_or(LIMIT).clamp(1, LONGEST_LIMIT));
                let tools = tools.as_ref().and_then(|tools| tools.as_ref().ok()).cloned();
                hooks.push(Hook { event, command: row.command, limit, tools });
            }
        }
    }
    (hooks, wrong)
}

/// Returns the event that a name means which is none: a typing mistake must not disable a guard.
fn meant(name: &str) -> Option<&'static str> {
    let is_near =
        |event: &Event| strsim::damerau_levenshtein(&name.to_lowercase(), &event.name().to_lowercase()) <= 2;
    let known = Event::ALL.iter().any(|event| event.name() == name) || name == THEIR_EVENT;
    Event::ALL.iter().find(|event| is_near(event)).filter(|_| !known).map(|event| event.name())
}

/// Returns the names by which hooks know a tool, beside ours: each under which the same could be done there.
fn their_names(verb: ToolVerb, ours: &str) -> Vec<String> {
    let names: &[&str] = match verb {
        ToolVerb::Run | ToolVerb::UseTerminal => &["Bash"],
        ToolVerb::Read => &["Read"],
        ToolVerb::Edit => &["Edit", "MultiEdit"],
        // It adds files, too.
        ToolVerb::Patch => &["MultiEdit", "Edit", "Write"],
        ToolVerb::Write => &["Write"],
        // There they are done with rm, mv and mkdir.
        ToolVerb::Delete | ToolVerb::MakeDirectory | ToolVerb::Move => &["Bash", "Write", "Edit"],
        ToolVerb::Search => &["Grep"],
        ToolVerb::FindFiles => &["Glob"],
        ToolVerb::List => &["LS"],
        ToolVerb::Fetch => &["WebFetch", "WebSearch"],
        ToolVerb::Explore => &["Task", "Agent"],
        ToolVerb::Plan => &["TodoWrite"],
        ToolVerb::Call => return their_server_names(ours),
        ToolVerb::Ask | ToolVerb::LookAfterJobs | ToolVerb::Propose => &[],
    };
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Returns their names of a tool of a server: `mcp__SERVER__TOOL`, without what ours has behind it to tell apart tools
/// whose names have other letters.
fn their_server_names(ours: &str) -> Vec<String> {
    let Some((_, tool)) = ours.split_once("__") else { return Vec::new() };
    let is_hash = |end: &str| end.len() == 8 && end.bytes().all(|byte| byte.is_ascii_hexdigit());
    let plain = tool.rsplit_once('_').filter(|(_, end)| is_hash(end));
    let plain = plain.map(|(_, end)| format!("mcp__{}", &ours[..ours.len() - end.len() - 1]));
    std::iter::once(format!("mcp__{ours}")).chain(plain).collect()
}

/// Returns the arguments of a call as hooks know them, one for each file that it names: a guard looks at one.
pub(super) fn their_inputs(about: &About<'_>, directory: &Path) -> Vec<Value> {
    let mut input = about.call.input.clone();
    let Some(fields) = input.as_object_mut() else { return vec![input] };
    let paths = match (about.verb, about.subject) {
        (ToolVerb::Patch | ToolVerb::Move, Subject::Paths { paths }) => paths.clone(),
        _ => fields.get("path").and_then(Value::as_str).map(|path| directory.join(path)).into_iter().collect(),
    };
    if let Some(line) = their_line(about, fields) {
        fields.insert("command".to_owned(), line.into());
    }
    if paths.is_empty() {
        return vec![input];
    }
    let with = |path: &PathBuf| {
        let mut input = input.clone();
        input["file_path"] = path.to_string_lossy().into();
        input
    };
    paths.iter().map(with).collect()
}

/// Returns the command line that does the same as a call which has none, or another one.
fn their_line(about: &About<'_>, fields: &serde_json::Map<String, Value>) -> Option<String> {
    let word = |name: &str| {
        let word = fields.get(name).and_then(Value::as_str).unwrap_or_default().replace('\0', "");
        shlex::try_quote(&word).map(std::borrow::Cow::into_owned).unwrap_or_default()
    };
    match (about.verb, about.subject) {
        (ToolVerb::Delete, _) => {
            let all = if fields.get("recursive").and_then(Value::as_bool) == Some(true) { " -rf" } else { "" };
            Some(format!("rm{all} {}", word("path")))
        }
        (ToolVerb::Move, _) => Some(format!("mv {} {}", word("from"), word("to"))),
        (ToolVerb::MakeDirectory, _) => Some(format!("mkdir -p {}", word("path"))),
        (ToolVerb::UseTerminal, Subject::Command { line }) => Some(line.clone()),
        (ToolVerb::Run, Subject::Command { line }) if !fields.contains_key("command") => Some(line.clone()),
        _ => None,
    }
}
