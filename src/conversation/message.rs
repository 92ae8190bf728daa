//! Messages and the blocks they are made of.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person, or the results of the tools run for the model.
    User,
    /// The model.
    Assistant,
}

/// How a file that a person attached to a message begins: a text of its own in that message.
pub const ATTACHED: &str = "<file path=\"";

/// How a text begins that code adds to a person's message: lines of earlier messages that are not sent any more.
pub const QUOTED: &str = "[From axi: this was said earlier in this conversation";

/// Whether code quoted this text from earlier messages. Nobody said it a second time.
#[must_use]
pub fn is_quoted(text: &str) -> bool {
    text.trim_start().starts_with(QUOTED)
}

/// One entry of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub content: Vec<ContentBlock>,
}

/// One piece of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentBlock {
    /// Words.
    Text {
        /// UTF-8 text, as the person or the model wrote it.
        text: String,
    },
    /// What the model thought before it spoke.
    Reasoning(Reasoning),
    /// A tool the model wants run.
    ToolCall(ToolCall),
    /// What a tool gave back.
    ToolResult(ToolResult),
    /// A picture.
    Image(Image),
    /// Something only the wire of the model that made it can read.
    WireItem(WireItem),
}

/// A model's reasoning, kept byte for byte: providers refuse it changed, and refuse another model's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reasoning {
    /// The reasoning in words; may be empty while `signature` is not.
    pub text: String,
    /// The provider's signature over it, opaque.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// A block the provider encrypted, opaque; `text` is then empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redacted: Option<String>,
    /// The `PROVIDER/MODEL` that made it; it is sent back to this one only.
    pub model: String,
}

/// A part of an answer that has no meaning of its own here (a search the provider made, the phase of a text, a
/// signature beside a text): sent back at its place, byte for byte, and to the model that made it only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WireItem {
    /// The `PROVIDER/MODEL` that made it.
    pub model: String,
    /// As its wire wrote it.
    pub item: Value,
}

/// A call the model made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id results refer to; unique within its message.
    pub id: String,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments: always a JSON object. `{}` when they were empty or not valid, see `invalid_input`.
    pub input: Value,
    /// The raw arguments when they were no JSON object; such a call is never executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid_input: Option<String>,
    /// Fields of the wire we do not know, sent back verbatim (Gemini's thought signatures live here).
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
    /// The `PROVIDER/MODEL` that made it, which alone gets `extra` and its own spelling of `id` back; empty when it
    /// is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The arguments as the model wrote them, where `input` written anew has other bytes; else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub arguments: String,
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It ran and succeeded.
    Ok,
    /// It ran, or could not run, and failed.
    Failed,
    /// The person or a rule said no.
    Denied,
    /// It was stopped, or never started because the turn was.
    Interrupted,
}

/// The answer to one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call it answers.
    pub call_id: String,
    /// The tool's name (Gemini and Ollama match results by it).
    pub name: String,
    /// What the model reads.
    pub content: String,
    /// What became of the call.
    pub outcome: Outcome,
    /// Pictures that belong to the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// What a person is told of it; the model is not.
    #[serde(default, skip_serializing_if = "is_default")]
    pub facts: ToolFacts,
    /// How long it ran, in ms.
    #[serde(default, skip_serializing_if = "is_default")]
    pub duration_ms: u64,
}

/// Facts about a finished call, for the title line a front end shows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolFacts {
    /// The file or directory it was about, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    /// A child's exit code; 128 + signal when a signal ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Lines read, found or printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u64>,
    /// Lines a change added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<u64>,
    /// Lines a change removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<u64>,
    /// The time limit that ended it, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed_out_after: Option<u64>,
    /// Where the whole output is, when `content` is only part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_output: Option<PathBuf>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// For example `image/png`.
    pub media_type: String,
    /// The bytes in standard base64.
    pub data: String,
}

impl Message {
    /// Makes a user message of one text.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, content: vec![ContentBlock::Text { text: text.into() }] }
    }

    /// Makes an assistant message of one text.
    #[must_use]
    pub fn assistant(text: impl Into<String>) -> Self {
        Self { role: Role::Assistant, content: vec![ContentBlock::Text { text: text.into() }] }
    }

    /// Iterates over the tool calls in it.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.content.iter().filter_map(|block| match block {
            ContentBlock::ToolCall(call) => Some(call),
            ContentBlock::Text { .. }
            | ContentBlock::Reasoning(_)
            | ContentBlock::ToolResult(_)
            | ContentBlock::Image(_)
            | ContentBlock::WireItem(_) => None,
        })
    }

    /// Iterates over the results in it.
    pub fn results(&self) -> impl Iterator<Item = &ToolResult> {
        self.content.iter().filter_map(|block| match block {
            ContentBlock::ToolResult(result) => Some(result),
            ContentBlock::Text { .. }
            | ContentBlock::Reasoning(_)
            | ContentBlock::ToolCall(_)
            | ContentBlock::Image(_)
            | ContentBlock::WireItem(_) => None,
        })
    }

    /// Returns the result of a call, by its id, if the message holds it.
    #[must_use]
    pub fn result_of(&self, call_id: &str) -> Option<&ToolResult> {
        self.results().find(|result| result.call_id == call_id)
    }

    /// Tells whether any block is a tool result.
    #[must_use]
    pub fn has_results(&self) -> bool {
        self.results().next().is_some()
    }

    /// Joins its text blocks, without reasoning.
    #[must_use]
    pub fn text(&self) -> String {
        let mut joined = String::new();
        for block in &self.content {
            if let ContentBlock::Text { text } = block {
                joined.push_str(text);
            }
        }
        joined
    }
}

impl ToolResult {
    /// Makes the answer to a call that has none: it did not run, or nobody knows how far.
    #[must_use]
    pub fn closed(call: &ToolCall, outcome: Outcome) -> Self {
        let content = match outcome {
            Outcome::Ok => "",
            Outcome::Failed => "The call failed.",
            Outcome::Denied => "The user denied this call. Do not repeat it.",
            Outcome::Interrupted => "Interrupted: it may have run in part, or not at all.",
        };
        Self {
            call_id: call.id.clone(),
            name: call.name.clone(),
            content: content.to_owned(),
            outcome,
            images: Vec::new(),
            facts: ToolFacts::default(),
            duration_ms: 0,
        }
    }
}
