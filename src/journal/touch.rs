//! What is about to be changed, what could not be kept of it, and why.

use std::path::{Path, PathBuf};

/// Something that is about to be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    /// Where it is, absolute.
    pub path: PathBuf,
    /// Whether everything below goes with it.
    pub tree: bool,
    /// How it changes.
    pub how: How,
}

/// How something changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// In any way.
    Any,
    /// It loses its name, and nothing can have written it before: keeping a second name for it is enough.
    Removed,
    /// Only its mode and owner change.
    Attributes,
    /// Nobody knows: it lies where a command runs. What git keeps of itself, and what is made again by a command, is no
    /// part of it; what cannot be kept is not counted.
    Around,
}

/// What could not be kept of what is about to be changed.
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
    /// The system's word.
    pub cause: std::io::Error,
}

/// A path with no link in front of its last name: a thing has one path only, and no link that goes takes it along.
pub(super) fn settled(path: &Path) -> PathBuf {
    let real = path.ancestors().skip(1).find_map(|ancestor| Some((ancestor, ancestor.canonicalize().ok()?)));
    let settled = real.and_then(|(ancestor, real)| Some(real.join(path.strip_prefix(ancestor).ok()?)));
    settled.unwrap_or_else(|| path.to_owned())
}
