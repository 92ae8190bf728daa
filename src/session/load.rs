//! Reading a session's file: what is there is taken, what is damaged is counted.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use super::entry::{EntryKind, ReadLine, directory_of, read_line};
use super::partial::Partial;
use super::{SessionError, SessionId};
use crate::conversation::{Bill, Conversation, Cut, Ledger, Message};

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
    /// What its requests cost.
    pub ledger: Ledger,
    /// Lines that could not be read, or not in full: a crash cut them, another version wrote them, a disk failed.
    pub skipped: usize,
    /// How long the part of its file is that was read, in bytes: whole lines.
    pub bytes: u64,
    /// Whether its last turn came to no end: axi was killed in it.
    pub broken_off: bool,
}

/// How many beginnings of beginnings are followed.
const DEEPEST: u32 = 64;

/// Reads a session's file. What an axi that was killed had shown of its last answer is the last message.
///
/// # Errors
/// [`SessionError::Io`], or [`SessionError::Unreadable`] when not one line can be read.
pub fn load(path: &Path) -> Result<Loaded, SessionError> {
    let mut reading = read(path, u64::MAX, DEEPEST)?;
    let partial = Partial::read(path).filter(|partial| partial.follows(reading.length));
    if let Some(partial) = partial {
        reading.messages.push(partial.message);
        reading.open = true;
    }
    reading.finish(path)
}

/// Reads what the lines of a session's file say, without an answer that may still be arriving.
///
/// # Errors
/// As [`load`].
pub fn load_lines(path: &Path) -> Result<Loaded, SessionError> {
    read(path, u64::MAX, DEEPEST)?.finish(path)
}

/// What was read so far.
#[derive(Default)]
struct Reading {
    started: Option<(SessionId, PathBuf)>,
    model: String,
    title: Option<String>,
    ledger: Ledger,
    messages: Vec<Message>,
    cuts: Vec<Cut>,
    pins: Vec<String>,
    read: usize,
    skipped: usize,
    length: u64,
    /// Whether a turn began that did not end.
    open: bool,
}

/// Reads as many bytes of a session's file, and the beginning it has from another.
fn read(path: &Path, most: u64, deepest: u32) -> Result<Reading, SessionError> {
    let failed = |cause| SessionError::Io { path: path.to_owned(), cause };
    let mut reader = BufReader::new(File::open(path).map_err(failed)?.take(most));
    let mut reading = Reading::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let bytes = reader.read_until(b'\n', &mut line).map_err(failed)?;
        if bytes == 0 {
            return Ok(reading);
        }
        // A line that a crash cut is not counted: what was to follow it did not come.
        reading.length += if line.ends_with(b"\n") { bytes as u64 } else { 0 };
        if line.trim_ascii().is_empty() {
            continue;
        }
        let kind = match read_line(&line) {
            ReadLine::Whole(kind) => kind,
            ReadLine::Part(kind) => {
                reading.skipped += 1;
                kind
            }
            ReadLine::Nothing => {
                reading.skipped += 1;
                continue;
            }
        };
        reading.read += 1;
        if let EntryKind::Forked { from, bytes, .. } = kind {
            reading.begin_as(&path.with_file_name(format!("{from}.jsonl")), bytes, deepest);
        } else {
            reading.take(kind);
        }
    }
}

impl Reading {
    /// Begins with what another session's file said. One that cannot be read counts as a line that cannot.
    fn begin_as(&mut self, other: &Path, bytes: u64, deepest: u32) {
        let base = deepest.checked_sub(1).and_then(|deepest| read(other, bytes, deepest).ok());
        let Some(base) = base.filter(|base| base.read > 0) else {
            self.skipped += 1;
            return;
        };
        self.messages = Conversation::restore(base.messages).messages().to_vec();
        (self.cuts, self.pins) = (base.cuts, base.pins);
        self.skipped += base.skipped;
        if self.model.is_empty() {
            self.model = base.model;
        }
    }

    fn take(&mut self, kind: EntryKind) {
        match kind {
            EntryKind::Started { id, directory, directory_bytes, model: first, .. } => {
                self.started.get_or_insert_with(|| (id, directory_of(directory, directory_bytes)));
                if self.model.is_empty() {
                    self.model = first;
                }
            }
            EntryKind::Message { message } => {
                self.messages.push(message);
                self.open = true;
            }
            EntryKind::Rewound { messages: left } => {
                // It counted messages of a conversation that was whole.
                let mut whole = Conversation::restore(std::mem::take(&mut self.messages));
                whole.rewind(usize::try_from(left).unwrap_or(usize::MAX));
                self.messages = whole.messages().to_vec();
                let cuts = std::mem::take(&mut self.cuts).into_iter();
                self.cuts = cuts.filter_map(|cut| cut.before(self.messages.len())).collect();
                self.open = false;
            }
            EntryKind::Cut { cut } => {
                // As above.
                let messages = std::mem::take(&mut self.messages);
                self.messages = Conversation::restore(messages).messages().to_vec();
                self.cuts.extend(cut.before(self.messages.len()));
            }
            EntryKind::CutUndone => drop(self.cuts.pop()),
            EntryKind::Pinned { text } => self.pins.push(text),
            EntryKind::Usage { model, usage, usd } => self.ledger.add(&model, Bill::stored(usage, usd)),
            EntryKind::Model { model: now } => self.model = now,
            EntryKind::Title { title: given } => self.title = Some(given),
            EntryKind::TurnEnded { .. } => {
                self.open = false;
                self.ledger.end_turn();
            }
            // Taken where its file is known.
            EntryKind::Forked { .. } => {}
        }
    }

    fn finish(self, path: &Path) -> Result<Loaded, SessionError> {
        let unreadable = || SessionError::Unreadable(path.to_owned());
        if self.read == 0 {
            return Err(unreadable());
        }
        let named = path.file_stem().and_then(|stem| stem.to_str()).and_then(SessionId::parse);
        let (id, directory) = self.started.or_else(|| Some((named?, PathBuf::new()))).ok_or_else(unreadable)?;
        let mut conversation = Conversation::restore(self.messages);
        for cut in self.cuts {
            conversation.push_cut(cut);
        }
        for text in self.pins {
            conversation.pin(text);
        }
        let (model, title, ledger, skipped) = (self.model, self.title, self.ledger, self.skipped);
        let (bytes, broken_off) = (self.length, self.open);
        Ok(Loaded { id, directory, model, title, conversation, ledger, skipped, bytes, broken_off })
    }
}
