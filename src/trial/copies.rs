//! A trial in a copy, where the system allows no layer: the workspace is copied, the command works in the copy, and the copy
//! is read against what was copied. The files share their blocks with the real ones where the file system can do that.
//!
//! This room does not see to it that the command writes nothing else: who starts it does.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;

use crate::platform::os::fs::{DirBuilderExt as _, PermissionsExt as _};
#[cfg(target_os = "linux")]
use std::fs::File;
use std::fs::{DirBuilder, Permissions};
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use super::content::filled;
use super::content::{give_attributes, give_rights, give_times};
use super::directory::remove;
use super::refused::Refused;
use super::seen::{Ajar, Seen, What};

/// What is copied at most without being agreed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Most {
    /// So many files and directories.
    pub files: u64,
    /// So many bytes, where the file system cannot share them.
    pub bytes: u64,
}

impl Most {
    /// What takes some seconds.
    pub const UNASKED: Self = Self { files: 50_000, bytes: 512 * 1024 * 1024 };
}

/// What was copied: how each path looked, and how its copy did.
#[derive(Debug, Default)]
pub(super) struct Known {
    kept: BTreeMap<PathBuf, CopiedFile>,
    /// Of copies of what belongs to others, which may get another name: the path of the real one.
    foreign: HashMap<(u64, u64), PathBuf>,
}

#[derive(Debug, Clone)]
struct CopiedFile {
    real: Seen,
    copied: Seen,
}

impl Known {
    /// Returns how a real path looked when it was copied.
    pub(super) fn real(&self, path: &Path) -> Option<&Seen> {
        self.kept.get(path).map(|kept| &kept.real)
    }

    /// Lists the names that were in a directory.
    pub(super) fn names(&self, directory: &Path) -> Vec<OsString> {
        let below = self.kept.range::<Path, _>((Bound::Excluded(directory), Bound::Unbounded));
        let below = below.take_while(|(path, _)| path.starts_with(directory));
        let own = below.filter(|(path, _)| path.parent() == Some(directory));
        own.filter_map(|(path, _)| path.file_name().map(OsString::from)).collect()
    }

    /// Tells whether a copy is what it was when it was made.
    pub(super) fn is_untouched(&self, path: &Path, now: &Seen) -> bool {
        self.kept.get(path).is_some_and(|kept| kept.copied.id == now.id && kept.copied.changed == now.changed)
    }

    /// Says of a copy what would be said of the real one: what could not be copied was not changed.
    pub(super) fn as_real(&self, path: &Path, now: Seen) -> Seen {
        // A number may be given to another file, once one is gone.
        let named = self.foreign.get(&now.id).and_then(|first| Some((first, self.kept.get(first)?)));
        let same = named.filter(|(first, kept)| *first == path || kept.copied.modified == now.modified);
        let owner = same.map_or(now.owner, |(_, kept)| kept.real.owner);
        let Some(CopiedFile { real, copied }) = self.kept.get(path) else { return Seen { owner, ..now } };
        Seen {
            mode: if now.mode == copied.mode { real.mode } else { now.mode },
            owner,
            modified: if now.modified == copied.modified { real.modified } else { now.modified },
            attributes: if now.attributes == copied.attributes { real.attributes.clone() } else { now.attributes },
            ..now
        }
    }
}

/// Counts what a copy of a directory would have; refuses as soon as that is too much. `place`: where it would lie.
pub(super) fn measured(directory: &Path, place: &Path, most: Most) -> Result<(), Refused> {
    let (mut files, mut bytes, mut shares) = (0, 0, None);
    for (path, metadata) in crate::file::tree(directory) {
        files += 1;
        if metadata.is_file() && metadata.len() > 0 && !*shares.get_or_insert_with(|| can_share(&path, place)) {
            bytes += metadata.len();
        }
        if files > most.files || bytes > most.bytes {
            return Err(Refused::TooBig { files, bytes });
        }
    }
    Ok(())
}

/// Tells whether files there can share their blocks with this one.
#[cfg(target_os = "linux")]
fn can_share(file: &Path, place: &Path) -> bool {
    let shared = || {
        let own = tempfile::tempfile_in(place).ok()?;
        crate::platform::fs::ioctl_ficlone(&own, File::open(file).ok()?).ok()
    };
    shared().is_some()
}

/// Files are copied by the system's own call there, which shares blocks if it can.
#[cfg(not(target_os = "linux"))]
const fn can_share(_: &Path, _: &Path) -> bool {
    false
}

/// Copies a directory with all that is in it; sockets and devices are left out.
///
/// # Errors
/// The path that could not be copied and the system's error.
pub(super) fn copied(real: &Path, copy: &Path) -> Result<Known, (PathBuf, io::Error)> {
    let mut copying = Copying { known: Known::default(), links: HashMap::new(), named_twice: Vec::new() };
    copying.directory(real, copy)?;
    copying.settle().map_err(|error| (copy.to_owned(), error))?;
    Ok(copying.known)
}

/// Makes a copy again what the directory is now: what was changed in either of them is copied anew.
///
/// # Errors
/// As [`copied`].
pub(super) fn renewed(real: &Path, copy: &Path, known: &Known) -> Result<Known, (PathBuf, io::Error)> {
    let mut copying = Copying { known: Known::default(), links: HashMap::new(), named_twice: Vec::new() };
    copying.again(real, copy, known)?;
    copying.settle().map_err(|error| (copy.to_owned(), error))?;
    Ok(copying.known)
}

struct Copying {
    known: Known,
    /// Of files with several names: the first copy.
    links: HashMap<(u64, u64), PathBuf>,
    /// All their names, with that of the copy.
    named_twice: Vec<(PathBuf, PathBuf)>,
}

impl Copying {
    fn directory(&mut self, real: &Path, copy: &Path) -> Result<(), (PathBuf, io::Error)> {
        let failed = |error| (real.to_owned(), error);
        let Some(seen) = Seen::look(real).map_err(failed)? else { return Ok(()) };
        DirBuilder::new().mode(0o700).create(copy).map_err(failed)?;
        let entries = match real.read_dir() {
            // Closed to this user, and so to the command.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return self.closed(real, copy, seen).map_err(failed);
            }
            entries => entries.map_err(failed)?,
        };
        for entry in entries {
            let name = entry.map_err(failed)?.file_name();
            self.entry(&real.join(&name), &copy.join(&name))?;
        }
        self.look_alike(real, copy, seen).map_err(failed)
    }

    /// Copies what a directory holds under one name.
    fn entry(&mut self, real: &Path, copy: &Path) -> Result<(), (PathBuf, io::Error)> {
        let failed = |error| (real.to_owned(), error);
        let Some(seen) = Seen::look(real).map_err(failed)? else { return Ok(()) };
        if seen.is_directory() {
            return self.directory(real, copy);
        }
        match self.other(real, copy, &seen) {
            Ok(true) => self.keep(real, copy, seen).map_err(failed),
            Ok(false) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && copy.symlink_metadata().is_ok() => {
                self.closed(real, copy, seen).map_err(failed)
            }
            // It has gone meanwhile: nothing of it is there to be changed.
            Err(error) if error.kind() == io::ErrorKind::NotFound && real.symlink_metadata().is_err() => {
                drop(std::fs::remove_file(copy));
                Ok(())
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Gives the copy of a directory what it has beside its names.
    fn look_alike(&mut self, real: &Path, copy: &Path, seen: Seen) -> io::Result<()> {
        give_rights(copy, &seen);
        give_attributes(copy, &seen);
        std::fs::set_permissions(copy, mode_here(real, &seen))?;
        give_times(copy, &seen)?;
        self.keep(real, copy, seen)
    }

    /// Copies a directory anew where it, or its copy, is not what it was.
    fn again(&mut self, real: &Path, copy: &Path, old: &Known) -> Result<(), (PathBuf, io::Error)> {
        let failed = |error| (real.to_owned(), error);
        let Some(seen) = Seen::look(real).map_err(failed)? else { return Ok(()) };
        let was = old.real(real).is_some_and(Seen::is_directory);
        let now = Seen::look(copy).map_err(failed)?.filter(|now| was && now.is_directory());
        let (Some(now), true) = (now, seen.is_directory()) else {
            remove(copy).map_err(failed)?;
            return self.entry(real, copy);
        };
        let opened = Ajar::open(copy, now.mode, 0o700);
        let entries = match real.read_dir() {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                drop(opened);
                remove(copy).map_err(failed)?;
                return self.entry(real, copy);
            }
            entries => entries.map_err(failed)?,
        };
        let mut names = BTreeSet::new();
        for entry in entries {
            let name = entry.map_err(failed)?.file_name();
            let (real, copy) = (real.join(&name), copy.join(&name));
            names.insert(name);
            if !self.is_still(&real, &copy, old).map_err(failed)? {
                self.again(&real, &copy, old)?;
            }
        }
        for entry in copy.read_dir().map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            if !names.contains(&name) {
                remove(&copy.join(name)).map_err(failed)?;
            }
        }
        drop(opened);
        self.look_alike(real, copy, seen).map_err(failed)
    }

    /// Tells whether what is no directory, and its copy, are what they were; then it is known as before.
    fn is_still(&mut self, real: &Path, copy: &Path, old: &Known) -> io::Result<bool> {
        let Some(kept) = old.kept.get(real).filter(|kept| !kept.real.is_directory()) else { return Ok(false) };
        let (Some(seen), Some(now)) = (Seen::look(real)?, Seen::look(copy)?) else { return Ok(false) };
        if seen.id != kept.real.id || seen.changed != kept.real.changed || !old.is_untouched(real, &now) {
            return Ok(false);
        }
        if seen.names > 1 {
            self.links.entry(seen.id).or_insert_with(|| copy.to_owned());
        }
        self.know(real, kept.clone());
        Ok(true)
    }

    /// Keeps a name of what nobody here can read: the command cannot, either.
    fn closed(&mut self, real: &Path, copy: &Path, seen: Seen) -> io::Result<()> {
        std::fs::set_permissions(copy, Permissions::from_mode(0o0))?;
        self.keep(real, copy, seen)
    }

    /// Copies what is no directory; tells whether it could be.
    fn other(&mut self, real: &Path, copy: &Path, seen: &Seen) -> io::Result<bool> {
        match &seen.what {
            What::File => {
                if seen.names > 1 {
                    self.named_twice.push((real.to_owned(), copy.to_owned()));
                    if let Some(first) = self.links.get(&seen.id) {
                        return std::fs::hard_link(first, copy).map(|()| true);
                    }
                    self.links.insert(seen.id, copy.to_owned());
                }
                content(real, copy, seen)?;
                give_rights(copy, seen);
                give_attributes(copy, seen);
                std::fs::set_permissions(copy, mode_here(real, seen))?;
                give_times(copy, seen)?;
            }
            What::Link(target) => {
                crate::platform::os::fs::symlink(target, copy)?;
                give_rights(copy, seen);
                give_times(copy, seen)?;
            }
            What::Pipe => super::apply::pipe(copy, seen)?,
            What::Directory | What::Whiteout | What::Other => return Ok(false),
        }
        Ok(true)
    }

    fn keep(&mut self, real: &Path, copy: &Path, seen: Seen) -> io::Result<()> {
        if let Some(copied) = Seen::look(copy)? {
            self.know(real, CopiedFile { real: seen, copied });
        }
        Ok(())
    }

    fn know(&mut self, real: &Path, kept: CopiedFile) {
        if kept.copied.owner != kept.real.owner {
            self.known.foreign.insert(kept.copied.id, real.to_owned());
        }
        self.known.kept.insert(real.to_owned(), kept);
    }

    /// Looks once more at files with several names: each name that came later changed them.
    fn settle(&mut self) -> io::Result<()> {
        for (real, copy) in &self.named_twice {
            if let (Some(kept), Some(copied)) = (self.known.kept.get_mut(real), Seen::look(copy)?) {
                kept.copied = copied;
            }
        }
        Ok(())
    }
}

/// Returns the rights of a copy, which is this user's own: what they may do with the real one.
fn mode_here(real: &Path, seen: &Seen) -> Permissions {
    use crate::platform::fs::Access;
    if seen.is_own() || crate::platform::process::geteuid().is_root() {
        return Permissions::from_mode(seen.mode);
    }
    let may = |access| {
        crate::platform::fs::accessat(crate::platform::fs::CWD, real, access, crate::platform::fs::AtFlags::EACCESS)
            .is_ok()
    };
    let rights = [(Access::READ_OK, 0o400), (Access::WRITE_OK, 0o200), (Access::EXEC_OK, 0o100)];
    let own = rights.into_iter().filter(|(access, _)| may(*access)).fold(0, |own, (_, bit)| own | bit);
    Permissions::from_mode(seen.mode & !0o700 | own)
}

#[cfg(target_os = "linux")]
fn content(real: &Path, copy: &Path, seen: &Seen) -> io::Result<()> {
    let file = File::options().write(true).create_new(true).open(copy)?;
    filled(&File::open(real)?, &file, seen.length)
}

#[cfg(not(target_os = "linux"))]
fn content(real: &Path, copy: &Path, _: &Seen) -> io::Result<()> {
    std::fs::copy(real, copy).map(drop)
}
