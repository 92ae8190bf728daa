//! The outline of a session's messages: who speaks, and which calls are answered. Only the newest messages are read with
//! their text.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs::File;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::entry::{HEAD, VERSION};
use super::holder::{Files, Holder, Line, Position};
use crate::conversation::{Conversation, Cut, Earlier, Message, Role};

/// How much of a conversation is held.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    /// The least that is held, in bytes: enough to print the last screenful again.
    pub(super) shown: u64,
    /// The most that is held for requests, in bytes.
    pub(super) sent: u64,
}

impl Held {
    /// Twice the text that the largest window takes. Planning a cut reads the earlier messages from the file.
    pub(super) const USUAL: Self = Self { shown: 256 * 1024, sent: 8 * 1024 * 1024 };
}

/// The weight of a picture, in bytes: providers count it like a page of text.
const PICTURE: u64 = 8 * 1024;

/// The outline: where each message stands, without its text.
#[derive(Default)]
pub(super) struct Outline {
    files: Files,
    messages: Vec<Outlined>,
    /// The calls of the last message that have no results yet.
    open: Vec<String>,
    /// Whether the file has something that axi does not write. Then the outline is not reliable.
    odd: bool,
}

/// One message of the outline.
struct Outlined {
    /// The line of the message. `None` for results that a crash left out of the file.
    line: Option<Line>,
    /// Its size in a request, in bytes.
    weight: u64,
    /// Whether a person said it.
    said: bool,
}

/// A line that is a message.
#[derive(Deserialize)]
struct Bones<'a> {
    v: u32,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    message: MessageBones<'a>,
}

#[derive(Deserialize)]
struct MessageBones<'a> {
    role: Role,
    #[serde(borrow)]
    content: Vec<BlockBones<'a>>,
}

#[derive(Deserialize)]
struct BlockBones<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    call_id: Option<Cow<'a, str>>,
    #[serde(default)]
    images: Option<IgnoredAny>,
}

impl Outline {
    /// Reads the messages that are to be held, and makes a conversation of them. `None` if the outline is not reliable: then
    /// the caller must read all messages.
    pub(super) fn conversation(mut self, cuts: &[Cut], held: Held) -> Option<Conversation> {
        self.close();
        if self.odd {
            return None;
        }
        let from = self.held_from(cuts.last().map_or(0, |cut| cut.dropped), held);
        let files: Vec<File> = self.files.open().ok()?;
        let lines = self.messages[from..].iter().filter_map(|message| message.line.as_ref());
        let messages = lines.map(|line| line.read(&files)).collect::<Option<Vec<_>>>()?;
        let held = Conversation::restore(messages);
        if held.messages().len() != self.messages.len() - from {
            return None;
        }
        if from == 0 {
            return Some(held);
        }
        let opening = self.messages[0].line.as_ref()?.read(&files)?.text();
        Some(held.behind(Earlier { messages: from, opening }))
    }

    /// Returns the first message that is held. It is a person's message, so no call is open there.
    fn held_from(&self, dropped: usize, held: Held) -> usize {
        let (mut sent, mut shown) = (0_u64, 0_u64);
        let mut from = self.messages.len();
        for (index, message) in self.messages.iter().enumerate().rev() {
            sent += message.weight;
            shown += message.line.as_ref().map_or(0, |line| line.length);
            let enough = sent > held.sent || (from <= dropped && shown > held.shown);
            if enough && from < self.messages.len() {
                return from;
            }
            if message.said {
                from = index;
            }
        }
        0
    }

    /// Adds a message to the outline, by the rules of [`Conversation::restore`].
    fn add(&mut self, said: &MessageBones<'_>, position: Position<'_>) {
        let of_kind = |kind: &str| said.content.iter().filter(move |block| block.kind == kind).count();
        let calls: Vec<String> = ids(said.content.iter().filter_map(|block| block.id.as_ref()));
        let results: Vec<String> = ids(said.content.iter().filter_map(|block| block.call_id.as_ref()));
        let known = ["text", "reasoning", "image", "wire_item"].into_iter().map(of_kind).sum::<usize>();
        let (call_count, result_count) = (of_kind("tool_call"), of_kind("tool_result"));
        let once = |ids: &[String]| ids.iter().collect::<HashSet<_>>().len() == ids.len();
        let regular = !said.content.is_empty()
            && known + call_count + result_count == said.content.len()
            && calls.len() == call_count
            && results.len() == result_count
            && once(&calls)
            && once(&results)
            && match said.role {
                Role::User => calls.is_empty() && results.iter().all(|id| self.open.contains(id)),
                Role::Assistant => results.is_empty(),
            };
        self.odd |= !regular;
        let pictured = said.content.iter().any(|block| block.kind == "image" || block.images.is_some());
        if results.is_empty() {
            self.close();
        }
        self.open = calls;
        let line =
            Line { file: self.files.number(position.path), offset: position.offset, length: position.length };
        let weight = if pictured { position.length.min(PICTURE) } else { position.length };
        let said = said.role == Role::User && results.is_empty();
        self.messages.push(Outlined { line: Some(line), weight, said });
    }
}

impl Holder for Outline {
    fn anew(&self) -> Self {
        Self::default()
    }

    fn line(&mut self, line: &[u8], position: Position<'_>) -> bool {
        let head = &line[..line.len().min(HEAD)];
        if memchr::memmem::find(head, b"\"kind\":\"message\"").is_none() {
            return false;
        }
        let Ok(bones) = serde_json::from_slice::<Bones<'_>>(line) else { return false };
        if bones.v != VERSION || bones.kind != "message" {
            return false;
        }
        self.add(&bones.message, position);
        true
    }

    fn message(&mut self, _: Message, _: Position<'_>) {
        // The line was only partly understood.
        self.odd = true;
    }

    fn close(&mut self) {
        if !std::mem::take(&mut self.open).is_empty() {
            self.messages.push(Outlined { line: None, weight: 0, said: false });
        }
    }

    fn rewind(&mut self, messages: usize) {
        self.close();
        if self.messages.get(messages).is_some_and(|message| message.said) {
            self.messages.truncate(messages);
        }
    }

    fn count(&self) -> usize {
        self.messages.len()
    }
}

fn ids<'a, 'b: 'a>(ids: impl Iterator<Item = &'a Cow<'b, str>>) -> Vec<String> {
    ids.map(|id| id.clone().into_owned()).collect()
}

#[cfg(test)]
#[path = "outline_tests.rs"]
mod tests;
