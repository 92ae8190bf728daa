//! What is known of a server's tools, and where that is kept, so that no server starts before its first call.

use std::fmt::Write as _;
use std::path::Path;

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::definition::{Definition, Way};
use super::plain::{plain, visible};
use crate::file::{self, Outlives};

/// The most characters of a name.
const MOST_NAME: usize = 128;
/// The most bytes of what is typed as one word.
const MOST_WORD: usize = 1024;
/// The most arguments of a prompt.
const MOST_ARGUMENTS: usize = 16;
/// The most bytes of a tool's schema.
const MOST_SCHEMA: usize = 64 * 1024;

/// How a server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Era {
    /// A session that `initialize` begins: revision 2025-11-25 and before.
    Session,
    /// Each request by itself: revision 2026-07-28.
    Stateless,
}

/// A tool as its server tells of it. All of it is untrusted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolEntry {
    /// Its name at the server.
    pub name: String,
    /// What it is said to do.
    pub description: String,
    /// A JSON schema of type `object`.
    pub input_schema: Value,
    /// Whether its server answers a call of it with a task only.
    #[serde(default)]
    pub as_task: bool,
    /// Whether its server says outright that it may destroy something, or that it reaches others (`destructiveHint`,
    /// `openWorldHint`).
    #[serde(default)]
    pub harms: bool,
}

/// What a server said of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// How it is spoken to.
    pub era: Era,
    /// The revision of the protocol.
    pub revision: String,
    /// What it calls itself, with its version.
    pub title: String,
    /// Its tools, in its own order.
    pub tools: Vec<ToolEntry>,
    /// Its prompts.
    #[serde(default)]
    pub prompts: Vec<PromptEntry>,
    /// Its resources.
    #[serde(default)]
    pub resources: Vec<ResourceEntry>,
}

/// A prompt as its server tells of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptEntry {
    /// Its name at the server.
    pub name: String,
    /// What it is said to do, in one line.
    pub description: String,
    /// The names of what it takes, in order.
    pub arguments: Vec<String>,
}

/// A resource as its server tells of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceEntry {
    /// Its address at the server.
    pub uri: String,
    /// What it is called.
    pub name: String,
}

impl PromptEntry {
    /// Reads one; nothing where its name cannot be typed as one word.
    pub(super) fn read(value: &Value) -> Option<Self> {
        let name = word(value.get("name")?)?;
        let listed = value.get("arguments").and_then(Value::as_array).into_iter().flatten();
        let arguments = listed.filter_map(|argument| word(argument.get("name")?)).take(MOST_ARGUMENTS);
        Some(Self { name, description: line(value, "description"), arguments: arguments.collect() })
    }
}

impl ResourceEntry {
    /// Reads one; nothing where its address cannot be typed as one word.
    pub(super) fn read(value: &Value) -> Option<Self> {
        Some(Self { uri: word(value.get("uri")?)?, name: line(value, "name") })
    }
}

/// A text that can be typed as one word, and is not endless.
fn word(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    let fits = !text.is_empty() && text.len() <= MOST_WORD && !text.contains(char::is_whitespace);
    (fits && visible(text) == text).then(|| text.to_owned())
}

/// The first line of what is said of something.
fn line(value: &Value, name: &str) -> String {
    let text = visible(value.get(name).and_then(Value::as_str).unwrap_or_default());
    text.trim().lines().next().unwrap_or_default().chars().take(MOST_NAME).collect()
}

impl ToolEntry {
    /// Reads one; nothing where it has no name that could be called.
    pub(super) fn read(value: &Value) -> Option<Self> {
        let name = value.get("name")?.as_str()?;
        if name.is_empty() || name.chars().count() > MOST_NAME || name.chars().any(char::is_control) {
            return None;
        }
        let words = value.get("description").or_else(|| value.get("title")).and_then(Value::as_str);
        let schema = value.get("inputSchema").filter(|schema| schema.is_object());
        let schema = schema.filter(|schema| schema.to_string().len() <= MOST_SCHEMA);
        let mut input_schema = schema.cloned().unwrap_or_else(|| json!({}));
        // Providers refuse a request for one schema that says something else, or names a dialect.
        if let Some(fields) = input_schema.as_object_mut() {
            fields.remove("$schema");
            fields.insert("type".to_owned(), "object".into());
            if !fields.get("properties").is_some_and(Value::is_object) {
                fields.insert("properties".to_owned(), json!({}));
            }
        }
        let support = value.get("execution").and_then(|execution| execution.get("taskSupport"));
        let as_task = support.is_some_and(|support| support == "required");
        let description = plain(words.unwrap_or_default());
        let hints = ["destructiveHint", "openWorldHint"];
        let harms = value.get("annotations").is_some_and(|said| hints.iter().any(|hint| said[hint] == true));
        Some(Self { name: name.to_owned(), description, input_schema, as_task, harms })
    }
}

/// The file of a server's manifest: by its command, arguments and the names of its variables, or by its address. Where a
/// project brings the server or its program, also by that directory: `node server.js` is another server elsewhere.
fn file_name(directory: &Path, definition: &Definition) -> String {
    let known = match &definition.way {
        Way::Process { command, args, env } => json!([command, args, env.keys().collect::<Vec<_>>()]),
        Way::Address { url, headers } => json!([url, headers.keys().collect::<Vec<_>>()]),
    };
    let is_here = |word: &String| Path::new(word).is_relative() && directory.join(word).is_file();
    let of_here = definition.of_project
        || match &definition.way {
            Way::Process { command, args, .. } => std::iter::once(command).chain(args).any(is_here),
            Way::Address { .. } => false,
        };
    let known = if of_here { json!([known, directory]) } else { known };
    let hash = digest(&SHA256, known.to_string().as_bytes());
    let mut name = String::new();
    for byte in hash.as_ref().iter().take(16) {
        // Writing to a String cannot fail.
        let _ = write!(name, "{byte:02x}");
    }
    name + ".json"
}

/// Reads what was known of a server; nothing where that cannot be read.
pub(super) fn load(folder: &Path, directory: &Path, definition: &Definition) -> Option<Manifest> {
    let text = std::fs::read(folder.join(file_name(directory, definition))).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Keeps what is known of a server; only its owner can read it. What cannot be kept is asked for again.
pub(super) fn keep(folder: &Path, directory: &Path, definition: &Definition, manifest: &Manifest) {
    let path = folder.join(file_name(directory, definition));
    let written = serde_json::to_vec(manifest)
        .map_err(std::io::Error::from)
        .and_then(|bytes| file::replace(&path, &bytes, Outlives::Kill));
    if let Err(error) = written {
        tracing::debug!(server = definition.name, %error, "what is known of it could not be kept");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_server_says_of_a_tool_is_fit_for_a_request() {
        let tool = |value: Value| ToolEntry::read(&value);
        let read = tool(json!({"name": "a", "inputSchema": {"$schema": "x", "properties": []}})).unwrap();
        assert_eq!(read.input_schema, json!({"properties": {}, "type": "object"}));
        assert_eq!(tool(json!({"name": "a", "inputSchema": 7})).unwrap().input_schema["type"], "object");
        for wrong in [json!({}), json!({"name": ""}), json!({"name": "a\u{1b}"}), json!({"name": "a".repeat(200)})]
        {
            assert_eq!(tool(wrong), None);
        }
    }

    #[test]
    fn a_server_can_only_say_that_a_tool_does_harm() {
        let harms = |said: Value| ToolEntry::read(&json!({"name": "a", "annotations": said})).unwrap().harms;
        assert!(harms(json!({"destructiveHint": true})));
        assert!(harms(json!({"readOnlyHint": true, "openWorldHint": true})));
        for said in [json!({}), json!({"readOnlyHint": false, "destructiveHint": false}), json!("x"), json!(7)] {
            assert!(!harms(said));
        }
    }

    #[test]
    fn what_cannot_be_typed_is_not_offered() {
        let read = PromptEntry::read(
            &json!({"name": "ask", "description": " a\u{1b}[2Jb\nc", "arguments": [{"name": "x"}, {}]}),
        );
        let entry = PromptEntry { name: "ask".into(), description: "ab".into(), arguments: vec!["x".into()] };
        assert_eq!(read, Some(entry));
        for name in ["", "a b", "a\u{1b}[2J", "a\u{202e}b", "a\n"] {
            assert_eq!(PromptEntry::read(&json!({"name": name})), None, "{name:?}");
            assert_eq!(ResourceEntry::read(&json!({"uri": name, "name": "x"})), None, "{name:?}");
        }
    }

    #[test]
    fn what_is_kept_is_for_the_same_command_and_for_its_owner_alone() {
        use crate::platform::os::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let way = |args: &[&str], value: &str| Way::Process {
            command: "x".to_owned(),
            args: args.iter().map(|word| (*word).to_owned()).collect(),
            env: [("TOKEN".to_owned(), value.to_owned())].into(),
        };
        let tools = vec![ToolEntry {
            name: "t".into(),
            description: String::new(),
            input_schema: json!({}),
            as_task: true,
            harms: false,
        }];
        let manifest = Manifest {
            era: Era::Session,
            revision: "2025-06-18".into(),
            title: "x 1".into(),
            tools,
            prompts: vec![],
            resources: vec![],
        };
        let (cache, server) = (folder.path().join("mcp"), Definition::own("a", way(&["1"], "secret")));
        let load = |definition: &Definition| load(&cache, folder.path(), definition);
        keep(&cache, folder.path(), &server, &manifest);
        assert_eq!(load(&server), Some(manifest.clone()));
        assert_eq!(load(&Definition::own("b", way(&["1"], "other"))), Some(manifest.clone()));
        assert_eq!(load(&Definition::own("a", way(&["1", "2"], "secret"))), None);
        let kept: Vec<_> = cache.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!std::fs::read_to_string(&kept[0]).unwrap().contains("secret"));
        // One that a project brings, or whose program is a file of it, is another server in another directory.
        let elsewhere = tempfile::tempdir().unwrap();
        for (file, of_project) in [("server.js", false), ("none", true)] {
            std::fs::write(folder.path().join("server.js"), "").unwrap();
            let server = Definition { of_project, ..Definition::own("a", way(&[file], "x")) };
            keep(&cache, folder.path(), &server, &manifest);
            assert_eq!(super::load(&cache, folder.path(), &server).as_ref(), Some(&manifest));
            assert_eq!(super::load(&cache, elsewhere.path(), &server), None);
        }
    }
}
