//! A line of a Claude Code session (`~/.claude/projects/DIRECTORY/ID.jsonl`): one message, or a part of one.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::talk::{Talk, field, text_of};
use crate::conversation::{ContentBlock, Image, Role};

/// Which lines of a file are the conversation: the last one and those it follows. What was edited away or rewound stays in
/// the file as a branch that nothing follows.
#[derive(Default)]
pub(super) struct Branch {
    links: Vec<Link>,
    kept: HashSet<String>,
    /// Messages that are kept: a message is a line for each of its blocks, and not all follow one another.
    messages: HashSet<String>,
    /// The calls of those: results of parallel calls are branches, too.
    calls: HashSet<String>,
}

struct Link {
    id: String,
    /// The line it follows; across a compaction that is another field.
    follows: String,
    /// Whether somebody says something in it.
    said: bool,
    message: String,
    calls: Vec<String>,
}

impl Branch {
    /// Takes down what a line follows.
    pub(super) fn note(&mut self, line: &Value) {
        let id = field(line, "uuid").to_owned();
        let is = |name: &str| line.get(name).and_then(Value::as_bool).unwrap_or(false);
        if id.is_empty() || is("isSidechain") {
            return;
        }
        let parent = [field(line, "parentUuid"), field(line, "logicalParentUuid")];
        let follows = parent.into_iter().find(|id| !id.is_empty()).unwrap_or_default().to_owned();
        let said = matches!(field(line, "type"), "user" | "assistant") && !is("isMeta");
        let message = line.get("message").map(|message| field(message, "id")).unwrap_or_default().to_owned();
        let calls = blocks(line, "tool_use").map(|block| field(block, "id").to_owned()).collect();
        self.links.push(Link { id, follows, said, message, calls });
    }

    /// Finds the branch, once all lines are noted.
    pub(super) fn close(&mut self) {
        let places: HashMap<&str, usize> =
            self.links.iter().enumerate().map(|(place, link)| (link.id.as_str(), place)).collect();
        let mut next = self.links.iter().rposition(|link| link.said);
        while let Some(place) = next {
            let link = &self.links[place];
            if !self.kept.insert(link.id.clone()) {
                break;
            }
            // A line that is not there, as of a file that was cut: what was said before it is likely the same.
            let before = || self.links[..place].iter().rposition(|link| link.said);
            next = match link.follows.as_str() {
                "" => None,
                follows => places.get(follows).copied().or_else(before),
            };
        }
        let kept = self.links.iter().filter(|link| self.kept.contains(&link.id) && !link.message.is_empty());
        self.messages = kept.map(|link| link.message.clone()).collect();
        let own = |link: &&Link| self.kept.contains(&link.id) || self.messages.contains(&link.message);
        self.calls = self.links.iter().filter(own).flat_map(|link| link.calls.iter().cloned()).collect();
    }

    /// Whether a line is on it. One that does not say what it follows is.
    fn has(&self, line: &Value) -> bool {
        let message = line.get("message").map(|message| field(message, "id")).unwrap_or_default();
        let id = field(line, "uuid");
        id.is_empty()
            || self.kept.contains(id)
            || self.messages.contains(message)
            || blocks(line, "tool_result").any(|block| self.calls.contains(field(block, "tool_use_id")))
    }
}

fn blocks<'a>(line: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    let blocks = line.pointer("/message/content").and_then(Value::as_array);
    blocks.into_iter().flatten().filter(move |block| field(block, "type") == kind)
}

/// Reads a line; false if it is not Claude Code's.
pub(super) fn read(line: &Value, branch: &Branch, talk: &mut Talk) -> bool {
    let role = match field(line, "type") {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return false,
    };
    let Some(message) = line.get("message") else { return false };
    let is = |name: &str| line.get(name).and_then(Value::as_bool).unwrap_or(false);
    // Claude Code's messages to itself, and those of its sub-agents.
    if is("isMeta") || is("isSidechain") || !branch.has(line) {
        return true;
    }
    let directory = field(line, "cwd");
    if !directory.is_empty() {
        talk.directory = directory.into();
    }
    let model = field(message, "model");
    if !model.is_empty() && !model.starts_with('<') {
        talk.model = format!("anthropic/{model}");
    }
    match message.get("content") {
        Some(Value::String(text)) => talk.text(role, text),
        Some(Value::Array(blocks)) => blocks.iter().for_each(|block| read_block(role, block, talk)),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {}
    }
    true
}

fn read_block(role: Role, block: &Value, talk: &mut Talk) {
    match field(block, "type") {
        "text" => talk.text(role, field(block, "text")),
        "tool_use" => {
            let input = block.get("input").cloned().unwrap_or_default();
            talk.call(field(block, "id"), field(block, "name"), input);
        }
        "tool_result" => {
            let failed = block.get("is_error").and_then(Value::as_bool).unwrap_or(false);
            let content = block.get("content").map(text_of).unwrap_or_default();
            talk.result(field(block, "tool_use_id"), content, failed);
        }
        "image" => {
            let Some(source) = block.get("source") else { return };
            let image = Image {
                media_type: field(source, "media_type").to_owned(),
                data: field(source, "data").to_owned(),
            };
            if !image.data.is_empty() {
                talk.say(role, vec![ContentBlock::Image(image)]);
            }
        }
        // Reasoning is signed for the model that made it: no other model can use it.
        _ => {}
    }
}
