//! Saves the part of an answer that has arrived so far, beside the session's file: if axi is killed, at most the
//! newest second is lost.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::conversation::Message;
use crate::file::whole_lines;

/// The answer so far.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Partial {
    /// How long the session's file was, in bytes: lines after that were written later, and contain the whole
    /// answer.
    after: u64,
    pub(super) message: Message,
}

impl Partial {
    /// Writes it beside the session's file, and replaces an earlier one in one step.
    pub(super) fn write(session: &Path, message: Message) -> std::io::Result<()> {
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
