//! What is about to be changed, and what of it could not be kept, and why.

use std::path::{Path, PathBuf};

use crate::platform::RealPath as _;

/// Something that is about to be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    /// Where it is, absolute.
    pub path: PathBuf,
    /// Whether everything below it changes with it.
    pub tree: bool,
    /// How it changes.
    pub how: How,
}

/// How something changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// In any way.
    Any,
    /// It loses its name, and nothing can have written it before: a hard link is enough to keep it.
    Removed,
    /// Only its mode and owner change.
    Attributes,
    /// Not known: it lies in the surroundings of a command. Git's own directory and the directories that a build
    /// makes anew are not part of it; what cannot be kept is not counted.
    Around,
}

/// What could not be kept of the touches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unkept {
    /// Files that are too large, or too many.
    pub files: u64,
}

/// Why the journal could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {cause}")]
pub struct JournalError {
    /// The file or directory.
    pub path: PathBuf,
    /// The system's error.
    pub cause: std::io::Error,
}

/// Resolves all links in front of the last component: each file then has one path only, and removing a link does
/// not change it.
pub(super) fn settled(path: &Path) -> PathBuf {
    let real = path.ancestors().skip(1).find_map(|ancestor| Some((ancestor, ancestor.real_path().ok()?)));
    let settled = real.and_then(|(ancestor, real)| Some(real.join(path.strip_prefix(ancestor).ok()?)));
    settled.unwrap_or_else(|| path.to_owned())
}
