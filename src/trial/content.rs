//! Writing what lies in a layer to its real place: whole or not at all, with holes, rights, attributes and times.

use std::fs::{File, Permissions};
use std::io::{self, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::seen::{OVERLAY, Seen};
use crate::platform::fs::{
    AtFlags, CWD, Gid, Timespec, Timestamps, Uid, XattrFlags, chownat, llistxattr, llistxattr_query, lremovexattr,
    lsetxattr, utimensat,
};
use crate::platform::os::fs::PermissionsExt as _;
use crate::platform::{next_data, share_content};

/// Moves a file of the layer to its place, where both lie on one file system.
pub(super) fn moved(layer: &Path, target: &Path) -> io::Result<()> {
    without_marks(layer)?;
    std::fs::rename(layer, target)
}

/// Copies a file of the layer to its place.
pub(super) fn copied(layer: &Path, target: &Path, seen: &Seen) -> io::Result<()> {
    whole(target, |beside| {
        let source = File::open(layer)?;
        let file = File::options().write(true).create_new(true).open(beside)?;
        filled(&source, &file, seen.length)?;
        file.sync_data()?;
        drop(file);
        give_rights(beside, seen);
        std::fs::set_permissions(beside, Permissions::from_mode(seen.mode))?;
        give_attributes(beside, seen);
        give_times(beside, seen)
    })
}

/// Makes something under a name beside its place, and gives it its name when it is whole.
pub(super) fn whole(target: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let beside = beside(target);
    let done = make(&beside).and_then(|()| std::fs::rename(&beside, target));
    // It is still there, too, where both were names of one file already (rename(2)).
    drop(std::fs::remove_file(&beside));
    done
}

/// A name beside a path that nothing has.
fn beside(target: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    target.with_file_name(format!("{}{number}", beside_of(&std::process::id().to_string())))
}

/// How the names begin that a process of this number makes beside files.
pub(super) fn beside_of(process: &str) -> String {
    format!(".axi-trial-{process}-")
}

/// Fills a new file with what another has, sharing its blocks if the file system can, and leaving holes as they are.
pub(super) fn filled(source: &File, file: &File, length: u64) -> io::Result<()> {
    if share_content(source, file) {
        return Ok(());
    }
    file.set_len(length)?;
    let mut at = 0;
    while at < length {
        let Some((from, to)) = next_data(source, at, length) else { break };
        let (mut source, mut file) = (source, file);
        source.seek(SeekFrom::Start(from))?;
        file.seek(SeekFrom::Start(from))?;
        io::copy(&mut io::Read::take(source, to - from), &mut file)?;
        at = to;
    }
    Ok(())
}

/// Removes the overlay's own attributes from a file that leaves its layer.
fn without_marks(path: &Path) -> io::Result<()> {
    let length = llistxattr_query(path).unwrap_or(0);
    if length == 0 {
        return Ok(());
    }
    let mut names = vec![0; length];
    let length = llistxattr(path, &mut names[..])?;
    names.truncate(length);
    let marks = names.split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok());
    for mark in marks.filter(|name| name.starts_with(OVERLAY)) {
        lremovexattr(path, mark)?;
    }
    Ok(())
}

/// Gives a path the owner that was seen, as far as the user may.
pub(super) fn give_rights(path: &Path, seen: &Seen) {
    let (user, group) = (Uid::from_raw(seen.owner.0), Gid::from_raw(seen.owner.1));
    if crate::platform::process::geteuid() == user || crate::platform::process::geteuid().is_root() {
        let _ = chownat(CWD, path, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW);
    }
}

/// Tells whether this user can give what they make that owner and group.
pub(super) fn can_give((user, group): (u32, u32)) -> bool {
    use crate::platform::process::{getegid, geteuid, getgroups};
    let is_in = || getgroups().is_ok_and(|groups| groups.iter().any(|own| own.as_raw() == group));
    geteuid().is_root() || geteuid().as_raw() == user && (getegid().as_raw() == group || is_in())
}

/// Gives a path the extended attributes that were seen, and no others.
pub(super) fn give_attributes(path: &Path, seen: &Seen) {
    let now = Seen::look(path).ok().flatten().map(|now| now.attributes).unwrap_or_default();
    for (name, _) in now.iter().filter(|(name, _)| !seen.attributes.iter().any(|(kept, _)| kept == name)) {
        let _ = lremovexattr(path, name.as_str());
    }
    for (name, value) in seen.attributes.iter().filter(|attribute| !now.contains(attribute)) {
        let _ = lsetxattr(path, name.as_str(), value, XattrFlags::empty());
    }
}

/// Gives a path the time of change that was seen; what is a link is not followed.
pub(super) fn give_times(path: &Path, seen: &Seen) -> io::Result<()> {
    let omit = Timespec { tv_sec: 0, tv_nsec: crate::platform::fs::UTIME_OMIT };
    let modified = Timespec { tv_sec: seen.modified.0, tv_nsec: seen.modified.1 as _ };
    let times = Timestamps { last_access: omit, last_modification: modified };
    utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).map_err(io::Error::from)
}
