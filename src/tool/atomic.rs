//! Writes a file so that nobody ever sees half of it, and only where it was judged to be.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Component, Path};
use std::time::Duration;

use crate::platform::fs::{AtFlags, Mode, OFlags, Stat};
use crate::platform::os::fd::{AsRawFd as _, OwnedFd};
use crate::platform::os::fs::MetadataExt as _;
use crate::platform::{LOOKED_UP, unnamed};

/// How often a temporary file is tried; each name twice, because the first try may free it.
const ATTEMPTS: u32 = 2000;
/// A younger file may not be locked yet.
const YOUNG: Duration = Duration::from_mins(1);

/// Replaces or makes a file: temporary file in the same directory, sync, rename, sync of the directory.
///
/// `path` must be free of links ([`super::paths::real`]). A link that something has put there since is not
/// followed, so that what is written is what was judged and agreed to. Parents are made. Permissions are kept, and
/// the owner, too, where we may set it. A file with several hard links, or in a directory we may not write to, is
/// written in place: a rename would separate the links, or would fail.
///
/// # Errors
/// The file system's error; the old content is still there then, unless a write in place failed.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let parent = parent(path.parent().ok_or(io::ErrorKind::InvalidInput)?)?;
    let existing = match crate::platform::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(metadata) => Some(metadata),
        Err(crate::platform::io::Errno::NOENT) => None,
        Err(error) => return Err(error.into()),
    };
    if let Some(metadata) = &existing {
        if metadata.st_mode & 0o222 == 0 {
            // The rename would work, but somebody has declared that this file must not change.
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
        }
        if metadata.st_nlink > 1 {
            return in_place(&parent, name, bytes);
        }
    }
    // A new file gets what the umask leaves of 0666, as if it had been opened by its own name.
    let mode = Mode::from_raw_mode(if existing.is_some() { 0o600 } else { 0o666 });
    let temporary = match beside(&parent, mode, existing.as_ref(), bytes)? {
        Some(temporary) => temporary,
        None if existing.is_some() => return in_place(&parent, name, bytes),
        None => return Err(io::ErrorKind::PermissionDenied.into()),
    };
    if let Err(error) = crate::platform::fs::renameat(&parent, &temporary, &parent, name) {
        discard(&parent, &temporary);
        return Err(error.into());
    }
    // Not every file system can sync a directory; the file itself is safe.
    let listed = crate::platform::fs::openat(&parent, ".", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    drop(listed.map(|directory| File::from(directory).sync_all()));
    Ok(())
}

/// Opens a directory, step by step and through no link; what is missing is made.
fn parent(path: &Path) -> io::Result<OwnedFd> {
    let flags = LOOKED_UP | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = path.ancestors().last().ok_or(io::ErrorKind::InvalidInput)?;
    let mut parent = crate::platform::fs::open(root, flags, Mode::empty())?;
    for part in path.components() {
        let Component::Normal(name) = part else { continue };
        let open =
            |parent: &OwnedFd| crate::platform::fs::openat(parent, name, flags | OFlags::NOFOLLOW, Mode::empty());
        let next = match open(&parent) {
            Err(crate::platform::io::Errno::NOENT) => {
                match crate::platform::fs::mkdirat(&parent, name, Mode::from_raw_mode(0o777)) {
                    // Another process was faster.
                    Ok(()) | Err(crate::platform::io::Errno::EXIST) => open(&parent),
                    Err(error) => Err(error),
                }
            }
            next => next,
        };
        parent = next?;
    }
    Ok(parent)
}

/// Writes a file beside the one that it is to replace, under a name nobody else has; `None` where none may be made.
fn beside(parent: &OwnedFd, mode: Mode, existing: Option<&Stat>, bytes: &[u8]) -> io::Result<Option<OsString>> {
    if let Some(mut file) = unnamed(parent, mode) {
        fill(&mut file, existing, bytes)?;
        if let Some(name) = named(parent, &file) {
            return Ok(Some(name));
        }
    }
    let (name, mut file) = match temporary(parent, mode) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(None),
        other => other?,
    };
    fill(&mut file, existing, bytes).inspect_err(|_| discard(parent, &name))?;
    Ok(Some(name))
}

/// Removes half a file: under a name that nobody knows it is of no use.
fn discard(parent: &OwnedFd, name: &OsStr) {
    let _ = crate::platform::fs::unlinkat(parent, name, AtFlags::empty());
}

/// Gives a file without a name one; see `open(2)`, `O_TMPFILE`.
fn named(parent: &OwnedFd, file: &File) -> Option<OsString> {
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    for attempt in 0..ATTEMPTS {
        let name = name(attempt);
        match crate::platform::fs::linkat(
            crate::platform::fs::CWD,
            own.as_str(),
            parent,
            &name,
            AtFlags::SYMLINK_FOLLOW,
        ) {
            Ok(()) => return Some(name),
            Err(crate::platform::io::Errno::EXIST) => remove_left(parent, &name),
            Err(_) => return None,
        }
    }
    None
}

/// Each name two tries.
fn name(attempt: u32) -> OsString {
    OsString::from(format!(".axi-new-{}", attempt / 2))
}

fn temporary(parent: &OwnedFd, mode: Mode) -> io::Result<(OsString, File)> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for attempt in 0..ATTEMPTS {
        let name = name(attempt);
        match crate::platform::fs::openat(parent, &name, flags, mode) {
            Ok(file) => {
                let file = File::from(file);
                // Where nothing can be locked, no file counts as left behind.
                drop(file.try_lock());
                return Ok((name, file));
            }
            // An axi that was killed may have left it behind.
            Err(crate::platform::io::Errno::EXIST) => remove_left(parent, &name),
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Removes a temporary file whose writer is gone: each is locked while it is written.
fn remove_left(parent: &OwnedFd, name: &OsStr) {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = crate::platform::fs::openat(parent, name, flags, Mode::empty()).map(File::from) else { return };
    let is_left = file.metadata().is_ok_and(|metadata| {
        let age = metadata.modified().ok().and_then(|changed| changed.elapsed().ok());
        let user = crate::platform::process::geteuid().as_raw();
        metadata.is_file() && metadata.uid() == user && metadata.nlink() == 1 && age.is_some_and(|age| age > YOUNG)
    });
    if is_left && file.try_lock().is_ok() {
        // Whoever wants the name finds it free the next time, or not.
        let _ = crate::platform::fs::unlinkat(parent, name, AtFlags::empty());
    }
}

fn fill(file: &mut File, existing: Option<&Stat>, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    if let Some(metadata) = existing {
        // Only root may change the owner; for everybody else the owner is right already.
        let _ = crate::platform::os::fs::fchown(&*file, Some(metadata.st_uid), Some(metadata.st_gid));
        crate::platform::fs::fchmod(&*file, Mode::from_raw_mode(metadata.st_mode & 0o7777))?;
    }
    file.sync_all()
}

fn in_place(parent: &OwnedFd, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(crate::platform::fs::openat(parent, name, flags, Mode::empty())?);
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use crate::platform::os::fs::PermissionsExt as _;
    use std::fs::Permissions;

    use super::*;

    #[test]
    fn permissions_and_hard_links_are_kept_and_nothing_is_left_behind() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().canonicalize().unwrap().join("a");
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
    fn what_a_killed_writer_left_goes_with_the_next_write_and_what_is_written_stays() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let names = [".axi-new-0", ".axi-new-1", ".axi-new-2"];
        let files = names.map(|name| File::create(root.join(name)).unwrap());
        let past = std::time::SystemTime::now() - YOUNG * 2;
        for file in &files {
            file.set_modified(past).unwrap();
        }
        // The first one is written by somebody who lives, the second was made just now.
        files[0].lock().unwrap();
        files[1].set_modified(std::time::SystemTime::now()).unwrap();
        write(&root.join("a"), b"1").unwrap();
        assert_eq!(names.map(|name| root.join(name).exists()), [true, true, false]);
        assert_eq!(std::fs::read(root.join("a")).unwrap(), b"1");
    }

    #[test]
    fn a_file_that_is_not_whole_yet_has_no_name_that_could_stay() {
        let directory = tempfile::tempdir().unwrap();
        let parent = parent(&directory.path().canonicalize().unwrap()).unwrap();
        let listed = || directory.path().read_dir().unwrap().count();
        // Not every file system can.
        let Some(mut file) = unnamed(&parent, Mode::from_raw_mode(0o600)) else { return };
        fill(&mut file, None, b"whole").unwrap();
        assert_eq!(listed(), 0, "killed here, it leaves nothing");
        let name = named(&parent, &file).unwrap();
        assert_eq!(std::fs::read(directory.path().join(name)).unwrap(), b"whole");
        assert_eq!(listed(), 1);
    }

    #[test]
    fn parents_are_made_and_a_read_only_file_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().canonicalize().unwrap().join("x/y/a");
        write(&path, b"1").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
        assert_eq!(write(&path, b"2").unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(std::fs::read(&path).unwrap(), b"1");
    }

    #[test]
    fn a_link_that_took_a_directorys_place_is_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("outside")).unwrap();
        crate::platform::os::fs::symlink("outside", root.join("inside")).unwrap();
        std::fs::write(root.join("outside/kept"), "old").unwrap();
        for name in ["inside/kept", "inside/new", "inside/x/new"] {
            assert!(write(&root.join(name), b"new").is_err(), "{name}");
        }
        assert_eq!(std::fs::read(root.join("outside/kept")).unwrap(), b"old");
        assert_eq!(root.join("outside").read_dir().unwrap().count(), 1);
        // At the end, the link itself is replaced.
        crate::platform::os::fs::symlink("outside/kept", root.join("end")).unwrap();
        write(&root.join("end"), b"new").unwrap();
        assert_eq!(std::fs::read(root.join("outside/kept")).unwrap(), b"old");
    }
}
