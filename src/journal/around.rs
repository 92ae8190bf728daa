//! What lies around a command: kept whole where it is little, for nobody can read off a command all that it does. Looks
//! at the disk, changes nothing.

use std::ffi::OsStr;
use std::path::Path;

use super::{How, Touch};

/// More entries are not kept for the sake of what a command may do.
const MOST_ENTRIES: usize = 2_000;
/// More bytes are not.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Directories whose contents are made again by a command.
pub(super) const REMADE: &[&str] =
    &["node_modules", "target", "dist", "build", "__pycache__", ".venv", "venv", ".next", ".gradle", ".tox"];

/// All that lies around a command that runs here; `None` where it is too much.
#[must_use]
pub fn around(directory: &Path) -> Option<Touch> {
    let (mut entries, mut bytes) = (0, 0_u64);
    let mut waiting = vec![directory.to_path_buf()];
    while let Some(directory) = waiting.pop() {
        for entry in directory.read_dir().ok()?.flatten().filter(|entry| is_named_part(&entry.file_name())) {
            let Ok(metadata) = entry.metadata() else { continue };
            entries += 1;
            bytes = bytes.saturating_add(if metadata.is_file() { metadata.len() } else { 0 });
            if entries > MOST_ENTRIES || bytes > MOST_BYTES {
                return None;
            }
            if metadata.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    Some(Touch { path: directory.to_owned(), tree: true, how: How::Around })
}

/// Tells whether something of this name is part of it.
pub(super) fn is_named_part(name: &OsStr) -> bool {
    name.to_str().is_none_or(|name| name != ".git" && !REMADE.contains(&name))
}

/// Tells whether something below a directory is part of it.
pub(super) fn is_part(path: &Path, directory: &Path) -> bool {
    path.strip_prefix(directory).unwrap_or(path).iter().all(is_named_part)
}
