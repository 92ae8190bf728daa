//! What a change left at a path, so that another run of it can be compared.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::around::is_part;
use super::path_text::{read_path, write_path};
use super::state::{Kind, State};

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// Where.
    #[serde(serialize_with = "write_path", deserialize_with = "read_path")]
    pub path: PathBuf,
    /// What: a file's content by its length and a hash, if it was worth reading.
    #[serde(flatten)]
    pub kind: Kind,
    /// Whether its owner may execute it; of files only.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
}

impl Left {
    pub(super) fn of(path: PathBuf, state: &State) -> Self {
        let executable = state.is_file() && state.mode & 0o100 != 0;
        Self { path, kind: state.kind.clone(), executable }
    }

    /// Looks at a path, and reads a file that is not too large.
    ///
    /// # Errors
    /// The system's error, unless the path does not exist.
    pub fn look(path: PathBuf) -> io::Result<Self> {
        let state = State::look_closely(&path)?;
        Ok(Self::of(path, &state))
    }

    /// Tells whether the same stands at another place; of a large file only its length is compared.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let kind = match (&self.kind, &other.kind) {
            (Kind::File { length, hash: Some(hash) }, Kind::File { length: other, hash: Some(now) }) => {
                length == other && hash == now
            }
            (Kind::File { length, .. }, Kind::File { length: other, .. }) => length == other,
            (one, other) => one == other,
        };
        kind && self.executable == other.executable
    }
}

/// Tells whether something below a directory belongs to what is kept of a command's surroundings: not what git or a build
/// makes anew.
#[must_use]
pub fn is_surroundings(path: &Path, directory: &Path) -> bool {
    is_part(path, directory)
}
