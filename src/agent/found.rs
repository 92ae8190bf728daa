//! Finds what `find … -delete` removes below a directory. Reads the disk, changes nothing.

use std::path::{Path, PathBuf};

use crate::approval::command::{Extent, Target};

/// Looks at no more entries than this.
const MOST_WALKED: usize = 100_000;
/// Keeps no more files than this for one line.
const MOST_FOUND: usize = 40_000;

/// Lists the entries below a directory that a line may remove by their names; `None` if that cannot be told, or
/// there are too many.
pub(super) fn below(target: &Target, place: &Path) -> Option<Vec<PathBuf>> {
    let Extent::Found(search) = &target.extent else { return None };
    if !search.is_by_name() || !search.deletes {
        return None;
    }
    let (mut found, mut walked) = (Vec::new(), 0);
    let mut waiting = vec![place.to_path_buf()];
    while let Some(path) = waiting.pop() {
        walked += 1;
        if walked > MOST_WALKED || found.len() > MOST_FOUND {
            return None;
        }
        let Ok(kind) = path.symlink_metadata().map(|metadata| metadata.file_type()) else { continue };
        if kind.is_dir() {
            waiting.extend(path.read_dir().into_iter().flatten().flatten().map(|entry| entry.path()));
        }
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        if search.finds(&name, kind.is_dir(), kind.is_file()) {
            found.push(path);
        }
    }
    Some(found)
}
