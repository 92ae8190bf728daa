//! Renaming a directory in a layer. The kernel refuses it (`EXDEV`) for a directory that was there before: it would have
//! to mark where it came from, which a layer of an ordinary user cannot (`redirect_dir`,
//! Documentation/filesystems/overlayfs.rst of the kernel).

use std::fs::Permissions;
use std::io;
use std::path::Path;

use crate::platform::os::fs::PermissionsExt as _;

use super::content::{give_attributes, give_rights, give_times};
use super::seen::{Ajar, Seen};

/// Renames a directory by making a new one and renaming everything in it, each file in one call.
///
/// # Errors
/// The system's error; a part may have its new name already.
pub fn rename_directory(from: &Path, to: &Path) -> io::Result<()> {
    let Some(seen) = Seen::look(from)? else { return Err(io::ErrorKind::NotFound.into()) };
    if Seen::look(to)?.is_some() {
        // An empty one is replaced, as by rename(2); any other is in the way.
        std::fs::remove_dir(to)?;
    }
    std::fs::create_dir(to)?;
    let opened = Ajar::open(from, seen.mode, 0o700);
    let moved = moved(from, to);
    drop(opened);
    moved?;
    give_rights(to, &seen);
    give_attributes(to, &seen);
    std::fs::set_permissions(to, Permissions::from_mode(seen.mode))?;
    give_times(to, &seen)?;
    std::fs::remove_dir(from)
}

fn moved(from: &Path, to: &Path) -> io::Result<()> {
    for entry in from.read_dir()? {
        let entry = entry?;
        let new = to.join(entry.file_name());
        match std::fs::rename(entry.path(), &new) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices && entry.file_type()?.is_dir() => {
                rename_directory(&entry.path(), &new)?;
            }
            done => done?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_has_its_new_name_with_all_that_it_had() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        std::fs::create_dir_all(from.join("inside/closed")).unwrap();
        std::fs::write(from.join("inside/file"), "text").unwrap();
        std::fs::set_permissions(from.join("inside/closed"), Permissions::from_mode(0o500)).unwrap();
        std::fs::set_permissions(&from, Permissions::from_mode(0o711)).unwrap();
        let before = Seen::look(&from).unwrap().unwrap();
        std::fs::create_dir(&to).unwrap();
        rename_directory(&from, &to).unwrap();
        let after = Seen::look(&to).unwrap().unwrap();
        assert!(before.has_rights_of(&after) && before.modified == after.modified && !from.exists());
        assert_eq!(std::fs::read_to_string(to.join("inside/file")).unwrap(), "text");
        assert_eq!(to.join("inside/closed").metadata().unwrap().permissions().mode() & 0o7777, 0o500);
        std::fs::create_dir(&from).unwrap();
        assert!(rename_directory(&from, &to).is_err(), "what is not empty is in the way");
    }
}
