//! Keeps what a running command removes, just before it is removed, whichever process of the command does it.
//!
//! It works beside the journal of the current turn, and writes records of the same turn into the same file.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::Journal;
use super::record::Log;
use super::touch::{JournalError, Touch, settled};

/// The trash of one command.
#[derive(Debug)]
pub struct Trash {
    journal: Journal,
    touched: Vec<Touch>,
    links: Vec<u64>,
    unkept: u64,
    /// When the turn began: a file that was made later did not exist before the turn.
    begun: SystemTime,
    strict: bool,
}

impl Journal {
    /// Makes the trash for a command of the current turn; `None` before the first turn. A `strict` trash refuses
    /// the removal of files it cannot keep.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn trash(&mut self, strict: bool) -> Result<Option<Trash>, JournalError> {
        // Both write records of the same turn, so both need its number.
        let Some(turn) = self.write_turn()? else { return Ok(None) };
        let begun = self.now.map_or(0, |(turn, _)| turn.time);
        tracing::trace!(turn, "a trash is made");
        let journal = Self {
            log: Log::new(self.log.directory().to_owned()),
            root: self.root.clone(),
            now: self.now,
            recorded: self.recorded.clone(),
            touched: Vec::new(),
            links: Vec::new(),
            copied: self.copied.clone(),
            limits: self.limits,
            cleaned: true,
        };
        let begun = UNIX_EPOCH + Duration::from_millis(begun);
        Ok(Some(Trash { journal, touched: Vec::new(), links: Vec::new(), unkept: 0, begun, strict }))
    }
}

impl Trash {
    /// Keeps what is about to be removed; it is on the disk when this returns. Returns whether the removal may go
    /// on.
    pub fn keep(&mut self, touches: &[Touch]) -> bool {
        let old: Vec<Touch> = touches.iter().filter(|touch| !self.is_new(&touch.path)).cloned().collect();
        if old.is_empty() {
            return true;
        }
        let unkept = match self.journal.before(&old) {
            Ok(unkept) => unkept.files,
            Err(error) => {
                tracing::warn!(%error, "what a command removes could not be kept");
                old.len() as u64
            }
        };
        self.touched.append(&mut self.journal.touched);
        self.links.append(&mut self.journal.links);
        if unkept > 0 && self.strict {
            return false;
        }
        self.unkept += unkept;
        true
    }

    /// Returns how many files were removed without a copy.
    #[must_use]
    pub const fn unkept(&self) -> u64 {
        self.unkept
    }

    /// Records what the command left; call it when the command has ended.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn look_after(&mut self) -> Result<(), JournalError> {
        self.journal.touched = std::mem::take(&mut self.touched);
        self.journal.links = std::mem::take(&mut self.links);
        self.journal.after()
    }

    /// Tells whether something was made in this turn; if the file system does not record that, it was not. What
    /// somebody saves meanwhile as editors do, by giving a new file the old name, stood there before.
    fn is_new(&self, path: &Path) -> bool {
        let path = settled(path);
        let made = path.symlink_metadata().and_then(|metadata| metadata.created());
        made.is_ok_and(|made| made >= self.begun) && !self.journal.recorded.was_there(&path)
    }
}
