//! Reads a session's file. Damaged lines are counted and skipped.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use super::entry::{Changed, EntryKind, ReadLine, directory_of, read_line};
use super::held::is_held;
use super::holder::{Holder, Position};
use super::outline::{Held, Outline};
use super::partial::Partial;
use super::read_ahead::ReadAhead;
use super::{SessionError, SessionId};
use crate::conversation::{Bill, Conversation, Cut, Ledger, Message, Outcome};

/// What a session's file came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The session's id.
    pub id: SessionId,
    /// The directory it ran in; empty where the first line is damaged.
    pub directory: PathBuf,
    /// The last model used.
    pub model: String,
    /// Its title: the one that a person gave, else a model's, else that of the session it began as.
    pub title: Option<String>,
    /// The conversation, repaired; see [`Conversation::earlier`].
    pub conversation: Conversation,
    /// What its requests cost.
    pub ledger: Ledger,
    /// What its turns left of the files that they changed, oldest first; an older axi did not write it.
    pub changed: Vec<Changed>,
    /// Lines that could not be read, or not in full: a crash cut them, another version wrote them, a disk failed.
    pub skipped: usize,
    /// How long the part of its file is that was read, in bytes: whole lines.
    pub bytes: u64,
    /// Whether its last turn has no end: axi was killed in it, or is still in it.
    pub broken_off: bool,
    /// What the next message is about, or goes with it.
    pub left: LeftOver,
}

/// What a session was left with between two messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOver {
    /// What the person said last, where the model could not be asked.
    pub unanswered: Option<String>,
    /// What the model is told with the next message.
    pub notes: Vec<String>,
}

impl Loaded {
    /// What a session that is in no file would be read as.
    #[must_use]
    pub fn unsaved(
        (id, directory): (SessionId, PathBuf),
        model: String,
        conversation: Conversation,
        ledger: Ledger,
    ) -> Self {
        Self {
            id,
            directory,
            model,
            title: None,
            conversation,
            ledger,
            changed: Vec::new(),
            skipped: 0,
            bytes: 0,
            broken_off: false,
            left: LeftOver::default(),
        }
    }

    /// Whether axi was killed in its last turn: where another axi has the file open, the turn may still go on.
    #[must_use]
    pub fn was_cut_off(&self, path: &Path) -> bool {
        self.broken_off && !is_held(path)
    }

    /// What the session is called: its title, else the first line that was said, else its id.
    #[must_use]
    pub fn heading(&self) -> String {
        let heading = self.title.clone().unwrap_or_else(|| self.conversation.first_words());
        if heading.trim().is_empty() { self.id.to_string() } else { heading }
    }
}

/// How long a chain of forks may be.
pub(super) const DEEPEST: u32 = 64;
/// How much of a file is read at once, in bytes: what a core keeps nearest.
const PIECE: usize = 64 * 1024;
/// A file of more bytes is read on a thread of its own.
const LONG: u64 = 8 * 1024 * 1024;

/// Reads a session's whole file. If axi was killed during an answer, the part that was saved is the last message.
///
/// # Errors
/// [`SessionError::Io`], or [`SessionError::Unreadable`] when not one line can be read.
pub fn load(path: &Path) -> Result<Loaded, SessionError> {
    read(path, u64::MAX, DEEPEST, Vec::new())?
        .with_partial(path, |messages, _| Some(Conversation::restore(messages)))
}

/// Reads the part of a session that is needed to continue it: the messages of the next request, and the last ones for
/// the screen. Earlier messages stay in the file; see [`Conversation::earlier`].
///
/// # Errors
/// As [`load`].
pub fn open(path: &Path) -> Result<Loaded, SessionError> {
    open_holding(path, Held::USUAL)
}

pub(super) fn open_holding(path: &Path, held: Held) -> Result<Loaded, SessionError> {
    let outline = read(path, u64::MAX, DEEPEST, Outline::default())?;
    // If another program changed the file, all of it is read.
    if outline.read > 0
        && let Ok(loaded) = outline.with_partial(path, |outline, cuts| outline.conversation(cuts, held))
    {
        return Ok(loaded);
    }
    load(path)
}

/// Reads what the lines of a session's file say, without an answer that may still be arriving.
///
/// # Errors
/// As [`load`].
pub fn load_lines(path: &Path) -> Result<Loaded, SessionError> {
    let read = read(path, u64::MAX, DEEPEST, Vec::new())?;
    read.finish(path, None, |messages, _| Some(Conversation::restore(messages)))
}

impl Holder for Vec<Message> {
    fn anew(&self) -> Self {
        Self::new()
    }

    fn line(&mut self, _: &[u8], _: Position<'_>) -> bool {
        false
    }

    fn message(&mut self, message: Message, _: Position<'_>) {
        self.push(message);
    }

    fn close(&mut self) {
        *self = Conversation::restore(std::mem::take(self)).into_messages();
    }

    fn rewind(&mut self, messages: usize) {
        let mut whole = Conversation::restore(std::mem::take(self));
        whole.rewind(messages);
        *self = whole.into_messages();
    }

    fn count(&self) -> usize {
        self.len()
    }
}

/// What was read so far.
struct Reading<H> {
    started: Option<(SessionId, PathBuf)>,
    model: String,
    title: Option<String>,
    /// What it is called where nobody gave it a title.
    topic: Option<String>,
    ledger: Ledger,
    changed: Vec<Changed>,
    messages: H,
    cuts: Vec<Cut>,
    pins: Vec<String>,
    read: usize,
    skipped: usize,
    length: u64,
    /// Whether a turn began that did not end.
    open: bool,
    left: LeftOver,
}

/// Reads the first `most` bytes of a session's file; for a fork, the other session's file as well.
fn read<H: Holder>(path: &Path, most: u64, deepest: u32, holder: H) -> Result<Reading<H>, SessionError> {
    let failed = |cause| SessionError::Io { path: path.to_owned(), cause };
    let mut reader = reader(path, most).map_err(failed)?;
    let mut reading = Reading::new(holder);
    let (mut line, mut offset) = (Vec::new(), 0);
    loop {
        // A line that lies whole in what was read is not copied.
        let whole = match reader.fill_buf() {
            Ok(piece) => memchr::memchr(b'\n', piece).map_or(0, |end| end + 1),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            Err(error) => return Err(failed(error)),
        };
        line.clear();
        let bytes = if whole == 0 {
            reader.read_until(b'\n', &mut line).map_err(failed)?;
            line.as_slice()
        } else {
            &reader.fill_buf().map_err(failed)?[..whole]
        };
        let length = bytes.len() as u64;
        if length == 0 {
            return Ok(reading);
        }
        let position = Position { path, offset, length };
        offset += length;
        // The last line may be cut by a crash. It is not counted as damaged.
        reading.length += if bytes.ends_with(b"\n") { length } else { 0 };
        if !bytes.trim_ascii().is_empty() {
            reading.line(bytes, position, deepest);
        }
        reader.consume(whole);
    }
}

/// Reads the first `most` bytes of a file: a long one ahead of who takes it.
fn reader(path: &Path, most: u64) -> io::Result<Box<dyn BufRead>> {
    let file = File::open(path)?;
    if file.metadata()?.len().min(most) > LONG
        && let Ok(ahead) = ReadAhead::begin(file.try_clone()?.take(most))
    {
        return Ok(Box::new(ahead));
    }
    Ok(Box::new(BufReader::with_capacity(PIECE, file.take(most))))
}

impl<H: Holder> Reading<H> {
    fn new(messages: H) -> Self {
        Self {
            started: None,
            model: String::new(),
            title: None,
            topic: None,
            ledger: Ledger::default(),
            changed: Vec::new(),
            messages,
            cuts: Vec::new(),
            pins: Vec::new(),
            read: 0,
            skipped: 0,
            length: 0,
            open: false,
            left: LeftOver::default(),
        }
    }

    fn line(&mut self, line: &[u8], position: Position<'_>, deepest: u32) {
        if self.messages.line(line, position) {
            self.read += 1;
            self.open = true;
            self.left.unanswered = None;
            return;
        }
        let kind = match read_line(line) {
            ReadLine::Whole(kind) => kind,
            ReadLine::Part(kind) => {
                self.skipped += 1;
                kind
            }
            ReadLine::Nothing => {
                self.skipped += 1;
                return;
            }
        };
        self.read += 1;
        if let EntryKind::Forked { from, bytes, title } = kind {
            self.topic = Some(title).filter(|title| !title.is_empty());
            self.begin_as(&position.path.with_file_name(format!("{from}.jsonl")), bytes, deepest);
        } else {
            self.take(kind, position);
        }
    }

    /// Takes in the other session's file that a fork begins with. An unreadable file counts as one damaged line.
    fn begin_as(&mut self, other: &Path, bytes: u64, deepest: u32) {
        let base =
            deepest.checked_sub(1).and_then(|deepest| read(other, bytes, deepest, self.messages.anew()).ok());
        let Some(mut base) = base.filter(|base| base.read > 0) else {
            self.skipped += 1;
            return;
        };
        base.messages.close();
        (self.messages, self.cuts, self.pins) = (base.messages, base.cuts, base.pins);
        self.changed = base.changed;
        self.skipped += base.skipped;
        if self.model.is_empty() {
            self.model = base.model;
        }
    }

    fn take(&mut self, kind: EntryKind, position: Position<'_>) {
        match kind {
            EntryKind::Started { id, directory, directory_bytes, model: first, .. } => {
                self.started.get_or_insert_with(|| (id, directory_of(directory, directory_bytes)));
                if self.model.is_empty() {
                    self.model = first;
                }
            }
            EntryKind::Message { message } => {
                self.messages.message(message, position);
                self.open = true;
                self.left.unanswered = None;
            }
            EntryKind::Rewound { messages: left } => {
                // The number counts messages of the whole conversation.
                self.messages.rewind(usize::try_from(left).unwrap_or(usize::MAX));
                let cuts = std::mem::take(&mut self.cuts).into_iter();
                self.cuts = cuts.filter_map(|cut| cut.before(self.messages.count())).collect();
                self.changed.retain(|changed| changed.messages < left);
                self.open = false;
            }
            EntryKind::Cut { cut } => {
                // Its numbers count messages of the whole conversation.
                self.messages.close();
                self.cuts.extend(cut.before(self.messages.count()));
            }
            EntryKind::CutUndone => drop(self.cuts.pop()),
            EntryKind::Pinned { text } => self.pins.push(text),
            EntryKind::Unanswered { text } => self.left.unanswered = Some(text),
            EntryKind::Noted { text } => self.left.notes.push(text),
            EntryKind::NotesTold => self.left.notes.clear(),
            EntryKind::Usage { model, usage, usd } => self.ledger.add(&model, Bill::stored(usage, usd)),
            EntryKind::Model { model: now } => self.model = now,
            EntryKind::Title { title: given } => self.title = Some(given),
            EntryKind::TurnEnded { .. } => {
                self.open = false;
                self.ledger.end_turn();
            }
            EntryKind::Changed { changed } => self.changed.push(changed),
            EntryKind::Topic { topic } => self.topic = Some(topic),
            // `line` has taken it: there the file is known.
            EntryKind::Forked { .. } => {}
        }
    }

    /// Finishes with the part of the last answer, or of the results of its calls, that was saved before axi was killed.
    fn with_partial(
        mut self,
        path: &Path,
        conversation: impl FnOnce(H, &[Cut]) -> Option<Conversation>,
    ) -> Result<Loaded, SessionError> {
        let partial = Partial::read(path).filter(|partial| partial.follows(self.length));
        let mut message = partial.map(|partial| partial.message);
        // Results are taken in before those that are missing are told to be.
        if let Some(results) = message.take_if(|message| message.has_results()) {
            self.messages.message(results, Position { path, offset: self.length, length: 0 });
        }
        self.finish(path, message, conversation)
    }

    fn finish(
        self,
        path: &Path,
        partial: Option<Message>,
        conversation: impl FnOnce(H, &[Cut]) -> Option<Conversation>,
    ) -> Result<Loaded, SessionError> {
        let unreadable = || SessionError::Unreadable(path.to_owned());
        if self.read == 0 {
            return Err(unreadable());
        }
        let named = path.file_stem().and_then(|stem| stem.to_str()).and_then(SessionId::parse);
        let (id, directory) = self.started.or_else(|| Some((named?, PathBuf::new()))).ok_or_else(unreadable)?;
        let broken_off = self.open || partial.is_some();
        let mut conversation = conversation(self.messages, &self.cuts).ok_or_else(unreadable)?;
        if let Some(message) = partial.filter(|message| !message.content.is_empty()) {
            conversation.push_assistant(message);
            conversation.close_open_calls(Outcome::Interrupted);
        }
        let earlier = conversation.earlier();
        for cut in self.cuts {
            conversation.push_cut(cut.nearer(earlier));
        }
        for text in self.pins {
            conversation.pin(text);
        }
        let (model, title, ledger, skipped) = (self.model, self.title.or(self.topic), self.ledger, self.skipped);
        let (changed, bytes, left) = (self.changed, self.length, self.left);
        Ok(Loaded { id, directory, model, title, conversation, ledger, changed, skipped, bytes, broken_off, left })
    }
}
