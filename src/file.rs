//! Files: one of axi's own replaced as a whole, where the last whole line of one ends, what lies below a path. Knows
//! nothing of what is in them.

use std::fs::{DirBuilder, File, Metadata};
use std::io::{ErrorKind, Result, Write as _};
use std::path::{Path, PathBuf};

use crate::platform::os::fs::{DirBuilderExt as _, FileExt as _};

/// What a replaced file outlives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outlives {
    /// That axi is killed.
    Kill,
    /// That the machine loses its power, too: this waits for the disk.
    PowerCut,
}

/// Tells whether something may be at a path: also a link to nothing, and what cannot be looked at.
#[must_use]
pub fn may_be_there(path: &Path) -> bool {
    !path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

/// Reads a file of JSON; one that is not there, cannot be read or cannot be understood holds nothing.
#[must_use]
pub fn read_json<T: serde::de::DeserializeOwned + Default>(path: &Path) -> T {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Replaces a file in one step: who reads it meanwhile reads the old one or the new one. It is readable by its owner only,
/// as is its folder where that is made.
///
/// # Errors
/// What the system says; the old file is still there then.
pub fn replace(path: &Path, bytes: &[u8], outlives: Outlives) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    if outlives == Outlives::PowerCut {
        file.as_file().sync_all()?;
    }
    file.persist(path)?;
    Ok(())
}

/// Tells whether a file ends within a line: whoever wrote it last was killed.
///
/// # Errors
/// What the system says.
pub fn is_torn(file: &File) -> Result<bool> {
    Ok(whole_lines(file)? < file.metadata()?.len())
}

/// Tells where the last whole line of a file ends, in bytes.
///
/// # Errors
/// What the system says.
pub fn whole_lines(file: &File) -> Result<u64> {
    let mut end = file.metadata()?.len();
    // Nearly always the file ends with a whole line.
    let mut piece = 1;
    while end > 0 {
        let mut bytes = vec![0; usize::try_from(end).unwrap_or(piece).min(piece)];
        let from = end - bytes.len() as u64;
        file.read_exact_at(&mut bytes, from)?;
        if let Some(newline) = memchr::memrchr(b'\n', &bytes) {
            return Ok(from + newline as u64 + 1);
        }
        (end, piece) = (from, 64 * 1024);
    }
    Ok(0)
}

/// Returns what lies at a path and below it, each with what the system knows of it, one after the other as it is asked
/// for. Links are not followed; what cannot be looked at or listed is passed over.
pub fn tree(path: &Path) -> impl Iterator<Item = (PathBuf, Metadata)> {
    let (mut waiting, mut folder) = (vec![path.to_path_buf()], None::<PathBuf>);
    std::iter::from_fn(move || {
        // Listed only when more is asked for.
        let entries = folder.take().into_iter().filter_map(|folder| folder.read_dir().ok()).flatten().flatten();
        waiting.extend(entries.map(|entry| entry.path()));
        loop {
            let path = waiting.pop()?;
            let Ok(metadata) = path.symlink_metadata() else { continue };
            folder = metadata.is_dir().then(|| path.clone());
            return Some((path, metadata));
        }
    })
}

#[cfg(test)]
mod tests {
    use crate::platform::os::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_file_is_replaced_for_its_owner_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("made/kept");
        for (text, outlives) in [("one", Outlives::Kill), ("two", Outlives::PowerCut)] {
            replace(&path, text.as_bytes(), outlives).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        assert_eq!(path.parent().unwrap().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn the_end_of_the_last_whole_line_is_found_however_far_back_it_is() {
        let half = "x".repeat(200_000);
        for (whole, rest) in [("", ""), ("", "a"), ("a\n", ""), ("a\nb\n", "c"), ("a\n", &half), ("", &half)] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(format!("{whole}{rest}").as_bytes()).unwrap();
            assert_eq!(whole_lines(&file).unwrap(), whole.len() as u64);
            assert_eq!(is_torn(&file).unwrap(), !rest.is_empty());
        }
    }

    #[test]
    fn a_tree_has_the_path_itself_and_all_below_it_and_follows_no_link() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/b/c"), "").unwrap();
        crate::platform::os::fs::symlink(root, root.join("a/link")).unwrap();
        let mut found: Vec<PathBuf> = tree(&root.join("a")).map(|(path, _)| path).collect();
        found.sort();
        assert_eq!(found, ["a", "a/b", "a/b/c", "a/link"].map(|name| root.join(name)));
        assert_eq!(tree(&root.join("a/link")).count(), 1);
        assert_eq!(tree(&root.join("gone")).count(), 0);
    }
}
