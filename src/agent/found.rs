//! Finds what `find … -delete` removes below a directory. Reads the disk, changes nothing.

use std::path::{Path, PathBuf};

use crate::approval::command::{Extent, Target};
use crate::file::tree;

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
    let mut found = Vec::new();
    for (before, (path, metadata)) in tree(place).enumerate() {
        if before >= MOST_WALKED || found.len() > MOST_FOUND {
            return None;
        }
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        if search.finds(&name, metadata.is_dir(), metadata.is_file()) {
            found.push(path);
        }
    }
    Some(found)
}
