//! What belongs to the surroundings of a command, by its name.

use std::ffi::OsStr;
use std::path::Path;

/// Directories whose contents are made again by a command.
pub(super) const REMADE: &[&str] =
    &["node_modules", "target", "dist", "build", "__pycache__", ".venv", "venv", ".next", ".gradle", ".tox"];

/// Tells whether something of this name is part of it.
pub(super) fn is_named_part(name: &OsStr) -> bool {
    name.to_str().is_none_or(|name| name != ".git" && !REMADE.contains(&name))
}

/// Tells whether something below a directory is part of it.
pub(super) fn is_part(path: &Path, directory: &Path) -> bool {
    path.strip_prefix(directory).unwrap_or(path).iter().all(is_named_part)
}
