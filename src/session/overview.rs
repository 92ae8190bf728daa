//! What a list shows of a session. It is read from the heads of the session's lines and cached in a file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::entry::{EntryKind, HEAD, Origin, directory_of, read_kind};
use crate::conversation::{Money, Usage};
use crate::file::{self, Outlives};

/// The name of the cache, beside the sessions. If a session's file is shorter than the cache says, it is read anew.
const COPY: &str = "overview.json";
/// The version of the cache. A cache of another version is not used.
const FORM: u32 = 4;
/// The most of a title, in characters.
const TITLE: usize = 80;

/// What is known of a session without its conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Overview {
    /// How many bytes were read: all before the last newline.
    read: u64,
    pub(super) directory: PathBuf,
    /// The directory's identity on its disk.
    pub(super) place: Option<String>,
    pub(super) model: String,
    /// What it began in.
    pub(super) origin: Option<Origin>,
    /// The title it was given last.
    pub(super) given: Option<String>,
    /// What a model calls it.
    pub(super) topic: Option<String>,
    /// Its first words.
    first: Option<String>,
    pub(super) turns: u64,
    pub(super) usage: Usage,
    /// What its requests cost.
    spent: Money,
    /// Whether the price of one was not known.
    unpriced: bool,
    /// The session whose beginning this one has.
    pub(super) forked_from: Option<String>,
    /// Whether one line was understood.
    pub(super) readable: bool,
}

impl Overview {
    /// The title: the one that was given, else what a model made of it, else the first words.
    pub(super) fn title(&self) -> String {
        self.given.as_ref().or(self.topic.as_ref()).or(self.first.as_ref()).cloned().unwrap_or_default()
    }

    /// What its requests cost; none where there were none, or the price of one was not known.
    pub(super) fn spent(&self) -> Option<Money> {
        (self.usage.total() > 0 && !self.unpriced).then_some(self.spent)
    }

    /// Reads what was written since it was last read; a file that is shorter by now is another one.
    pub(super) fn read_on(&mut self, path: &Path, length: u64) -> std::io::Result<()> {
        if length < self.read {
            *self = Self::default();
        }
        if length == self.read {
            return Ok(());
        }
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(self.read))?;
        let mut reader = BufReader::with_capacity(256 * 1024, file.take(length - self.read));
        let mut line = Vec::new();
        loop {
            line.clear();
            let bytes = reader.read_until(b'\n', &mut line)?;
            if bytes == 0 {
                return Ok(());
            }
            // A line that is still being written is read when it is whole.
            if !line.ends_with(b"\n") {
                return Ok(());
            }
            self.line(&line);
            self.read += bytes as u64;
        }
    }

    /// Takes in a line. Only those that say something for a list are read whole.
    fn line(&mut self, line: &[u8]) {
        let head = &line[..line.len().min(HEAD)];
        let is = |kind: &str| memchr::memmem::find(head, format!("\"kind\":\"{kind}\"").as_bytes()).is_some();
        if is("turn_ended") {
            self.turns += 1;
            self.readable = true;
            return;
        }
        if is("message") && self.first.is_some() {
            return;
        }
        let Some(kind) = read_kind(line) else { return };
        self.readable = true;
        match kind {
            EntryKind::Started { directory, directory_bytes, place, model, origin, .. } => {
                self.origin = origin;
                self.directory = directory_of(directory, directory_bytes);
                self.place = place;
                self.model = model;
            }
            EntryKind::Message { message } => {
                self.first = Some(in_a_row(&message.text()));
            }
            EntryKind::Title { title } => self.given = Some(in_a_row(&title)),
            EntryKind::Topic { topic } => self.topic = Some(in_a_row(&topic)),
            EntryKind::Usage { usage, usd, .. } => {
                self.usage.add(usage);
                self.unpriced |= usd.is_none();
                self.spent = self.spent.plus(usd.unwrap_or_default());
            }
            EntryKind::Model { model } => self.model = model,
            EntryKind::Forked { from, title, .. } => {
                self.forked_from = Some(from.to_string());
                self.first = Some(title);
            }
            EntryKind::TurnEnded { .. }
            | EntryKind::Changed { .. }
            | EntryKind::Rewound { .. }
            | EntryKind::Cut { .. }
            | EntryKind::CutUndone
            | EntryKind::Unanswered { .. }
            | EntryKind::Noted { .. }
            | EntryKind::NotesTold
            | EntryKind::Pinned { .. } => {}
        }
    }
}

/// The first line of a text, as much as a list shows.
fn in_a_row(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(TITLE).collect()
}

/// The overviews of all sessions as they were last read, by id.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Copy {
    form: u32,
    sessions: BTreeMap<String, Overview>,
    #[serde(skip)]
    changed: bool,
}

impl Copy {
    /// Reads it; one that is missing, damaged or of another form is empty: the sessions have all of it.
    pub(super) fn read(directory: &Path) -> Self {
        let read = std::fs::read(directory.join(COPY)).ok();
        let copy = read.and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        copy.filter(|copy| copy.form == FORM).unwrap_or_default()
    }

    /// The overview of a session as it is now; `None` where its file cannot be read.
    pub(super) fn of(&mut self, id: &str, path: &Path, length: u64) -> Option<Overview> {
        let mut overview = self.sessions.get(id).cloned().unwrap_or_default();
        if let Err(error) = overview.read_on(path, length) {
            tracing::debug!(%error, "a session could not be read");
            return None;
        }
        if self.sessions.get(id) != Some(&overview) {
            self.sessions.insert(id.to_owned(), overview.clone());
            self.changed = true;
        }
        Some(overview)
    }

    /// Keeps it for the next list, without the sessions that are gone. Where it cannot be written the next list takes longer.
    pub(super) fn keep(mut self, directory: &Path, there: &dyn Fn(&str) -> bool) {
        let before = self.sessions.len();
        self.sessions.retain(|id, _| there(id));
        if !self.changed && before == self.sessions.len() {
            return;
        }
        self.form = FORM;
        let written = serde_json::to_vec(&self)
            .map_err(std::io::Error::from)
            .and_then(|bytes| file::replace(&directory.join(COPY), &bytes, Outlives::Kill));
        if let Err(error) = written {
            tracing::debug!(%error, "the overview of the sessions could not be kept");
        }
    }
}
