//! Versions that were said before: of the same file, as long as its size and its time are the same.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::file::{self, Outlives};
use crate::platform::os::fs::MetadataExt as _;

/// Written anew with each form.
const FORM: u32 = 1;

/// After how many late answers a program is not asked any more: when all are asked at once they slow each other
/// down, alone each is quick.
const MOST_LATE: u32 = 3;

/// What tells one state of a file from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    size: u64,
    /// Seconds since 1970, and nanoseconds of them.
    modified: (i64, i64),
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Option<Self> {
        let modified = (metadata.mtime(), metadata.mtime_nsec());
        (metadata.mtime() != 0).then_some(Self { size: metadata.size(), modified })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Row {
    stamp: Stamp,
    version: Option<String>,
    /// How often it had not said its version in time.
    late: u32,
}

/// What is known of a file's version.
pub(super) enum Known {
    /// Nothing: it is to be asked.
    Nothing,
    /// It answered this; or it answered something that is no version, and is not asked again.
    Said(Option<String>),
}

/// The versions that are known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownVersions {
    form: u32,
    tools: BTreeMap<PathBuf, Row>,
    /// Whether there is something to be written.
    #[serde(skip)]
    changed: bool,
}

impl KnownVersions {
    /// Reads them; a file that is not there, or that nobody can read any more, knows nothing.
    #[must_use]
    pub fn read(path: &Path) -> Self {
        let read = std::fs::read(path).ok().and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        read.filter(|kept| kept.form == FORM).unwrap_or_default()
    }

    /// Writes them, where there is something new.
    ///
    /// # Errors
    /// What the system says; nothing is lost but time.
    pub fn write(&mut self, path: &Path) -> std::io::Result<()> {
        if !self.changed {
            return Ok(());
        }
        self.form = FORM;
        file::replace(path, &serde_json::to_vec(self)?, Outlives::Kill)?;
        self.changed = false;
        Ok(())
    }

    /// Forgets all.
    pub fn forget(&mut self) {
        self.tools.clear();
        self.changed = true;
    }

    /// Looks up what is known of a file.
    pub(super) fn version(&self, path: &Path, stamp: Stamp) -> Known {
        match self.tools.get(path).filter(|row| row.stamp == stamp) {
            Some(row) if row.late == 0 || row.late >= MOST_LATE => Known::Said(row.version.clone()),
            Some(_) | None => Known::Nothing,
        }
    }

    /// It said this, or nothing that is a version.
    pub(super) fn keep(&mut self, path: &Path, stamp: Stamp, version: Option<String>) {
        self.tools.insert(path.to_owned(), Row { stamp, version, late: 0 });
        self.changed = true;
    }

    /// It did not answer in time: it is asked again, but not for ever.
    pub(super) fn late(&mut self, path: &Path, stamp: Stamp) {
        let before = self.tools.get(path).filter(|row| row.stamp == stamp).map_or(0, |row| row.late);
        self.tools.insert(path.to_owned(), Row { stamp, version: None, late: before + 1 });
        self.changed = true;
    }
}
