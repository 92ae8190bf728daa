//! Writing a file so that nobody ever sees half of it.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

/// Replaces or makes a file: temporary file in the same directory, sync, rename, sync of the directory.
///
/// `path` must be free of links at its end ([`super::paths::real`]). Parents are made. Permissions, and the owner
/// where we may, are kept. A file with several hard links, or in a directory we may not write to, is written
/// in place: a rename would cut the links, or could not happen.
///
/// # Errors
/// What the file system said; the old content is then still there, but for a failed write in place.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let parent = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let existing = match path.symlink_metadata() {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    if let Some(metadata) = &existing {
        if metadata.permissions().mode() & 0o222 == 0 {
            // The rename would work, but somebody said that this file is not to be changed.
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
        }
        if metadata.nlink() > 1 {
            return in_place(path, bytes);
        }
    } else {
        std::fs::create_dir_all(parent)?;
    }
    // A new file gets what the umask leaves of 0666, as if it had been opened by its own name.
    let mode = existing.as_ref().map_or(0o666, |metadata| metadata.permissions().mode() & 0o7777);
    let attempt = tempfile::Builder::new()
        .prefix(".axi-")
        .permissions(Permissions::from_mode(if existing.is_some() { 0o600 } else { mode }))
        .tempfile_in(parent);
    let mut temporary = match attempt {
        Ok(temporary) => temporary,
        Err(error) if existing.is_some() && error.kind() == io::ErrorKind::PermissionDenied => {
            return in_place(path, bytes);
        }
        Err(error) => return Err(error),
    };
    temporary.write_all(bytes)?;
    if let Some(metadata) = &existing {
        // Only root may give files away; for all others the owner is already right.
        let _ = std::os::unix::fs::fchown(temporary.as_file(), Some(metadata.uid()), Some(metadata.gid()));
        temporary.as_file().set_permissions(Permissions::from_mode(mode))?;
    }
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|error| error.error)?;
    // Not every file system can sync a directory; the file itself is safe.
    let _ = File::open(parent).and_then(|directory| directory.sync_all());
    Ok(())
}

fn in_place(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).truncate(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_and_hard_links_are_kept_and_nothing_is_left_behind() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o751)).unwrap();
        write(&path, b"new").unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o7777, 0o751);
        std::fs::hard_link(&path, directory.path().join("b")).unwrap();
        write(&path, b"newer").unwrap();
        assert_eq!(std::fs::read(directory.path().join("b")).unwrap(), b"newer");
        assert_eq!(directory.path().read_dir().unwrap().count(), 2);
    }

    #[test]
    fn parents_are_made_and_a_read_only_file_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x/y/a");
        write(&path, b"1").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
        assert_eq!(write(&path, b"2").unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(std::fs::read(&path).unwrap(), b"1");
    }
}
