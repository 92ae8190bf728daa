//! Saves the part of an answer that has arrived so far, or the results of some of its calls, beside the session's file: if
//! axi is killed, at most the newest second is lost.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::error::SessionError;
use super::redact::Redactor;
use crate::conversation::Message;
use crate::file::whole_lines;
use crate::platform::os::fs::OpenOptionsExt as _;

/// The answer so far, or the results so far.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Partial {
    /// How long the session's file was, in bytes: lines after that were written later, and contain the whole
    /// answer.
    after: u64,
    pub(super) message: Message,
}

/// Saves the answer so far of one session. It may do so on another thread, for what is secret in a long answer takes
/// long to find.
#[derive(Debug)]
pub struct PartialKeeper {
    session: PathBuf,
    redactor: Redactor,
    place: PartialSlot,
    /// Which answer it saves, by number.
    answer: u64,
}

/// The place beside a session's file.
#[derive(Debug, Clone, Default)]
pub(super) struct PartialSlot(Arc<Mutex<Beside>>);

#[derive(Debug, Default)]
struct Beside {
    /// Which answer may be there, by number.
    answer: u64,
    /// Whether one is.
    is_there: bool,
}

impl PartialKeeper {
    /// Saves what has arrived, unless the answer was appended meanwhile.
    ///
    /// # Errors
    /// [`SessionError::Io`].
    pub fn keep(&self, message: &Message) -> Result<(), SessionError> {
        let message = self.redactor.message(message);
        let mut beside = self.place.beside();
        if beside.answer != self.answer {
            return Ok(());
        }
        beside.is_there = true;
        let written = Partial::write(&self.session, message);
        written.map_err(|cause| SessionError::Io { path: self.session.clone(), cause })
    }
}

impl PartialSlot {
    pub(super) fn keeper(&self, session: &Path, redactor: &Redactor) -> PartialKeeper {
        let (session, redactor) = (session.to_owned(), redactor.clone());
        PartialKeeper { session, redactor, place: self.clone(), answer: self.beside().answer }
    }

    /// Lets nothing more of the present answer be saved.
    pub(super) fn end_answer(&self) {
        self.beside().answer += 1;
    }

    /// Removes what is saved.
    pub(super) fn clear(&self, session: &Path) {
        if std::mem::take(&mut self.beside().is_there) {
            Partial::remove(session);
        }
    }

    fn beside(&self) -> MutexGuard<'_, Beside> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Partial {
    /// Writes it beside the session's file, and replaces an earlier one in one step.
    fn write(session: &Path, message: Message) -> std::io::Result<()> {
        let after = whole_lines(&std::fs::File::open(session)?)?;
        let (path, new) = (beside(session), session.with_extension("partial-new"));
        let bytes = serde_json::to_vec(&Self { after, message })?;
        let mut options = std::fs::OpenOptions::new();
        options.create(true).write(true).truncate(true).mode(0o600).open(&new)?.write_all(&bytes)?;
        std::fs::rename(new, path)
    }

    /// Reads the part that is saved beside a session's file.
    pub(super) fn read(session: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(beside(session)).ok()?).ok()
    }

    /// Tells whether no line was written to the session's file since; `length` is where its last whole line ends.
    pub(super) const fn follows(&self, length: u64) -> bool {
        self.after == length
    }

    /// Removes it.
    pub(super) fn remove(session: &Path) {
        for path in [beside(session), session.with_extension("partial-new")] {
            match std::fs::remove_file(path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    tracing::warn!(%error, "the answer so far was left behind");
                }
                Ok(()) | Err(_) => {}
            }
        }
    }
}

fn beside(session: &Path) -> PathBuf {
    session.with_extension("partial")
}
