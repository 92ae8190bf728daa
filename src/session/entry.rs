//! The lines of a session's file.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::SessionId;
use crate::conversation::{ContentBlock, Cut, Message, Money, Role, Usage};
use crate::journal::Left;
use crate::platform::os::ffi::OsStringExt as _;

/// The version every line carries. A reader takes what it understands of another version, too.
pub(super) const VERSION: u32 = 1;

/// Where the kind of a line stands: after its version and its time.
pub(super) const HEAD: usize = 64;

/// What a session began in. Sub-agents keep no session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The loop at a terminal.
    Repl,
    /// One message of a program or a pipe.
    OneShot,
    /// A shell that handed its line over.
    HandOff,
    /// An editor.
    Acp,
    /// A file of another agent.
    Import,
    /// Something that this axi does not know.
    #[serde(other)]
    Unknown,
}

impl Origin {
    /// Returns its word in the file, in lists, and on the command line.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Repl => "repl",
            Self::OneShot => "one-shot",
            Self::HandOff => "hand-off",
            Self::Acp => "acp",
            Self::Import => "import",
            Self::Unknown => "unknown",
        }
    }
}

/// One line of a session's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Format version.
    #[serde(rename = "v")]
    pub version: u32,
    /// Milliseconds since 1970, UTC.
    #[serde(rename = "t")]
    pub time: u64,
    /// What happened.
    #[serde(flatten)]
    pub kind: EntryKind,
}

/// What a line says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EntryKind {
    /// The session began; always the first line.
    Started {
        /// Its id.
        id: SessionId,
        /// The working directory; bytes that are no UTF-8 are replaced.
        directory: String,
        /// Its bytes, where some are no UTF-8: JSON has no way to say them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        directory_bytes: Option<Vec<u8>>,
        /// The directory's identity on its disk: it stays the same when the directory is moved or renamed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        place: Option<String>,
        /// `PROVIDER/MODEL`.
        model: String,
        /// axi's version.
        axi: String,
        /// What it began in; an older axi did not write it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        origin: Option<Origin>,
    },
    /// The session is a fork: it begins with a part of another session's file. Always the second line.
    Forked {
        /// The other session.
        from: SessionId,
        /// How much of its file, in bytes.
        bytes: u64,
        /// What the other one is called.
        title: String,
    },
    /// A finished message.
    Message {
        /// The message.
        message: Message,
    },
    /// What a request cost.
    Usage {
        /// `PROVIDER/MODEL`.
        model: String,
        /// Tokens.
        usage: Usage,
        /// What they cost in dollars, by the price of that day; none where it was not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usd: Option<Money>,
    },
    /// The model was changed.
    Model {
        /// `PROVIDER/MODEL`.
        model: String,
    },
    /// A turn ended.
    TurnEnded {
        /// One word: `done`, `interrupted`, …
        end: String,
    },
    /// The conversation went back to before a message the person sent.
    Rewound {
        /// How many messages are left.
        messages: u64,
    },
    /// The conversation was cut for its requests.
    Cut {
        /// Where it is cut, and the text that replaces the messages before.
        cut: Cut,
    },
    /// The newest cut was taken back.
    CutUndone,
    /// The person wants a text kept at hand.
    Pinned {
        /// The text.
        text: String,
    },
    /// What the person said last, where the model could not be asked: it is not in the conversation.
    Unanswered {
        /// It, without what was attached.
        text: String,
    },
    /// What the model is told with the next message.
    Noted {
        /// It.
        text: String,
    },
    /// What was noted is told.
    NotesTold,
    /// What a turn left of the files that it changed.
    Changed {
        /// It.
        #[serde(flatten)]
        changed: Changed,
    },
    /// The session was given a title.
    Title {
        /// The title.
        title: String,
    },
    /// What a model calls the session, until it is given a title.
    Topic {
        /// A few words.
        topic: String,
    },
}

/// What a turn left of the files that it changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// How many messages the conversation had before the turn.
    pub messages: u64,
    /// What stands where; the paths are relative to the session's directory where they lie below it.
    pub files: Vec<Left>,
    /// Whether these are all: the turn ran nothing whose changes could not be seen.
    pub all: bool,
}

impl Entry {
    /// Writes a line, its newline included.
    ///
    /// # Errors
    /// What the format cannot say.
    pub(super) fn line(kind: EntryKind, now: SystemTime) -> std::io::Result<Vec<u8>> {
        let time =
            now.duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX));
        let mut line = serde_json::to_vec(&Self { version: VERSION, time, kind }).map_err(std::io::Error::other)?;
        line.push(b'\n');
        Ok(line)
    }
}

/// What a line came to.
pub(super) enum ReadLine {
    /// All of it was understood.
    Whole(EntryKind),
    /// A message of which not all was understood.
    Part(EntryKind),
    /// Nothing of it was.
    Nothing,
}

/// Reads a line; a bad byte (a failing disk, an editor) costs a character, not the line, and a block of a message that
/// another version wrote costs the block.
pub(super) fn read_line(line: &[u8]) -> ReadLine {
    if let Some(message) = read_message(line) {
        return ReadLine::Whole(EntryKind::Message { message });
    }
    let text = String::from_utf8_lossy(line);
    match serde_json::from_str::<Entry>(&text) {
        Ok(entry) => ReadLine::Whole(entry.kind),
        Err(_) => match part_of_message(&text) {
            Some(message) => ReadLine::Part(EntryKind::Message { message }),
            None => ReadLine::Nothing,
        },
    }
}

/// Reads a line like [`read_line`], but does not say whether all of it was understood.
pub(super) fn read_kind(line: &[u8]) -> Option<EntryKind> {
    match read_line(line) {
        ReadLine::Whole(kind) | ReadLine::Part(kind) => Some(kind),
        ReadLine::Nothing => None,
    }
}

fn part_of_message(text: &str) -> Option<Message> {
    let mut value: Value = serde_json::from_str(text).ok()?;
    let message = value.get_mut("message")?;
    let role: Role = serde_json::from_value(message.get_mut("role")?.take()).ok()?;
    let Value::Array(blocks) = message.get_mut("content")?.take() else { return None };
    let read = |block| serde_json::from_value::<ContentBlock>(block).ok();
    let content: Vec<ContentBlock> = blocks.into_iter().filter_map(read).collect();
    (!content.is_empty()).then_some(Message { role, content })
}

/// Names a directory by its disk and its place there: a moved or renamed one has the same. `None` where there is none.
pub(super) fn place_of(directory: &std::path::Path) -> Option<String> {
    use crate::platform::os::fs::MetadataExt as _;
    let metadata = std::fs::metadata(directory).ok()?;
    Some(format!("{:x}:{:x}", metadata.dev(), metadata.ino()))
}

/// The directory that a first line tells of.
pub(super) fn directory_of(text: String, bytes: Option<Vec<u8>>) -> PathBuf {
    bytes.map_or_else(|| PathBuf::from(text), |bytes| PathBuf::from(OsString::from_vec(bytes)))
}

/// The kind of a line without its content. Reading an [`Entry`] instead would copy the whole line.
#[derive(Deserialize)]
struct MessageLine {
    v: u32,
    kind: String,
    message: Message,
}

/// Reads a line that is a message of this version, faster than [`read_line`] does; `None` where it is anything else.
pub(super) fn read_message(line: &[u8]) -> Option<Message> {
    let read: MessageLine = serde_json::from_slice(line).ok()?;
    (read.v == VERSION && read.kind == "message").then_some(read.message)
}
