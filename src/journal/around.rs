//! Decides by its name whether a file belongs to the surroundings of a command, which are kept in case the command
//! changes them.

use std::ffi::OsStr;
use std::path::Path;

/// Directories whose contents a build or an installation makes anew.
pub(super) const REMADE: &[&str] =
    &["node_modules", "target", "dist", "build", "__pycache__", ".venv", "venv", ".next", ".gradle", ".tox"];

/// Tells whether something with this name belongs to the surroundings.
pub(super) fn is_named_part(name: &OsStr) -> bool {
    name.to_str().is_none_or(|name| name != ".git" && !REMADE.contains(&name))
}

/// Tells whether something below a directory belongs to the surroundings.
pub(super) fn is_part(path: &Path, directory: &Path) -> bool {
    path.strip_prefix(directory).unwrap_or(path).iter().all(is_named_part)
}
