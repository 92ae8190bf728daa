//! Reading a session's file: what is there is taken, what is damaged is counted.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::entry::{EntryKind, ReadLine, directory_of, read_line};
use super::partial::Partial;
use super::{SessionError, SessionId};
use crate::conversation::{Conversation, Cut, Usage};

/// What a session's file came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The session's id.
    pub id: SessionId,
    /// The directory it ran in; empty where the first line is damaged.
    pub directory: PathBuf,
    /// The last model used.
    pub model: String,
    /// Its title, if it was given one.
    pub title: Option<String>,
    /// The conversation, repaired.
    pub conversation: Conversation,
    /// Tokens of all its requests.
    pub usage: Usage,
    /// Lines that could not be read, or not in full: a crash cut them, another version wrote them, a disk failed.
    pub skipped: usize,
}

/// Reads a session's file. What an axi that was killed had shown of its last answer is the last message.
///
/// # Errors
/// [`SessionError::Io`], or [`SessionError::Unreadable`] when not one line can be read.
pub fn load(path: &Path) -> Result<Loaded, SessionError> {
    let failed = |cause| SessionError::Io { path: path.to_owned(), cause };
    let mut reader = BufReader::new(File::open(path).map_err(failed)?);
    let named = path.file_stem().and_then(|stem| stem.to_str()).and_then(SessionId::parse);
    let mut started: Option<(SessionId, PathBuf)> = None;
    let (mut model, mut title, mut usage) = (String::new(), None, Usage::default());
    let mut messages = Vec::new();
    let (mut cuts, mut pins) = (Vec::<Cut>::new(), Vec::new());
    let (mut read, mut skipped, mut length) = (0_usize, 0, 0);
    let mut line = Vec::new();
    loop {
        line.clear();
        let bytes = reader.read_until(b'\n', &mut line).map_err(failed)?;
        if bytes == 0 {
            break;
        }
        // A line that a crash cut is not counted: what was to follow it did not come.
        length += if line.ends_with(b"\n") { bytes as u64 } else { 0 };
        if line.trim_ascii().is_empty() {
            continue;
        }
        let kind = match read_line(&line) {
            ReadLine::Whole(kind) => kind,
            ReadLine::Part(kind) => {
                skipped += 1;
                kind
            }
            ReadLine::Nothing => {
                skipped += 1;
                continue;
            }
        };
        read += 1;
        match kind {
            EntryKind::Started { id, directory, directory_bytes, model: first, .. } => {
                started.get_or_insert_with(|| (id, directory_of(directory, directory_bytes)));
                if model.is_empty() {
                    model = first;
                }
            }
            EntryKind::Message { message } => messages.push(message),
            EntryKind::Rewound { messages: left } => {
                // It counted messages of a conversation that was whole.
                let mut whole = Conversation::restore(std::mem::take(&mut messages));
                whole.rewind(usize::try_from(left).unwrap_or(usize::MAX));
                messages = whole.messages().to_vec();
                cuts = cuts.into_iter().filter_map(|cut| cut.before(messages.len())).collect();
            }
            EntryKind::Cut { cut } => {
                // As above.
                messages = Conversation::restore(messages).messages().to_vec();
                cuts.extend(cut.before(messages.len()));
            }
            EntryKind::CutUndone => drop(cuts.pop()),
            EntryKind::Pinned { text } => pins.push(text),
            EntryKind::Usage { usage: spent, .. } => usage.add(spent),
            EntryKind::Model { model: now } => model = now,
            EntryKind::Title { title: given } => title = Some(given),
            EntryKind::TurnEnded { .. } => {}
        }
    }
    let unreadable = || SessionError::Unreadable(path.to_owned());
    if read == 0 {
        return Err(unreadable());
    }
    let (id, directory) = started.or_else(|| Some((named?, PathBuf::new()))).ok_or_else(unreadable)?;
    messages.extend(Partial::read(path).filter(|partial| partial.follows(length)).map(|partial| partial.message));
    let mut conversation = Conversation::restore(messages);
    for cut in cuts {
        conversation.push_cut(cut);
    }
    for text in pins {
        conversation.pin(text);
    }
    Ok(Loaded { id, directory, model, title, conversation, usage, skipped })
}
