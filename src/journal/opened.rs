//! Opens files and directories that are closed to their owner, for as long as they are looked at or restored. Where the
//! user may read them anyway, as root may, nothing is changed; and what belongs to somebody else stays closed.

use std::collections::BTreeSet;
use std::fs::{File, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use crate::platform::fs::{Access, AtFlags, CWD, accessat};
use crate::platform::os::fs::{MetadataExt as _, PermissionsExt as _};

use super::{State, state};

/// What was closed. Dropped, it closes it again.
#[derive(Debug, Default)]
pub(super) struct Opened(Vec<Closed>);

#[derive(Debug)]
struct Closed {
    path: PathBuf,
    mode: u32,
    id: (u64, u64),
    /// A file with several names: it may lose this one while it is open.
    held: Option<File>,
}

impl Opened {
    /// Opens a file for reading and a directory for looking and changing names, if it is closed.
    pub(super) fn open(&mut self, path: &Path) {
        let Ok(metadata) = path.symlink_metadata() else { return };
        let (access, bits) = if metadata.is_dir() {
            (Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK, 0o700)
        } else if metadata.is_file() {
            (Access::READ_OK, 0o400)
        } else {
            return;
        };
        let mode = metadata.mode() & 0o7777;
        if mode & bits == bits || accessat(CWD, path, access, AtFlags::EACCESS).is_ok() {
            return;
        }
        if std::fs::set_permissions(path, Permissions::from_mode(mode | bits)).is_ok() {
            let held = if metadata.is_file() && metadata.nlink() > 1 { state::open(path).ok() } else { None };
            self.0.push(Closed { path: path.to_owned(), mode, id: (metadata.dev(), metadata.ino()), held });
        }
    }

    /// Looks at a path as [`State::look`] does, in closed directories too; it has the mode that it had before.
    ///
    /// # Errors
    /// The system's error, unless the path does not exist.
    pub(super) fn look(&mut self, path: &Path) -> io::Result<State> {
        let mut state = State::look(path);
        if state.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied) {
            let outer: Vec<&Path> = path.ancestors().skip(1).collect();
            for directory in outer.into_iter().rev() {
                self.open(directory);
            }
            state = State::look(path);
        }
        if state.as_ref().is_ok_and(|state| state.is_file() && state.mode & 0o400 == 0) {
            self.open(path);
            state = State::look(path);
        }
        Ok(self.as_it_was(path, state?))
    }

    /// Looks as [`State::look_closely`] does.
    ///
    /// # Errors
    /// As [`Opened::look`].
    pub(super) fn look_closely(&mut self, path: &Path) -> io::Result<State> {
        self.look(path)?;
        Ok(self.as_it_was(path, State::look_closely(path)?))
    }

    fn as_it_was(&self, path: &Path, state: State) -> State {
        let is_it = |closed: &&Closed| closed.path == path || state.id() == Some(closed.id);
        let before = self.0.iter().find(is_it).map(|closed| closed.mode);
        State { mode: before.unwrap_or(state.mode), ..state }
    }

    /// Leaves as it is what is at these paths now, and the files at `moded` under all their names: they have their own
    /// mode.
    pub(super) fn leave<'a>(&mut self, done: &[PathBuf], moded: impl Iterator<Item = &'a Path>) {
        if self.0.is_empty() {
            return;
        }
        let now: BTreeSet<(u64, u64)> = moded.filter_map(|path| State::look(path).ok()?.id()).collect();
        self.0.retain(|closed| {
            // What has more names may have been restored by another one, or have lost this one.
            if closed.held.is_some() { !now.contains(&closed.id) } else { !done.contains(&closed.path) }
        });
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        for closed in self.0.iter().rev() {
            let mode = Permissions::from_mode(closed.mode);
            // One that is gone needs no mode.
            drop(match &closed.held {
                Some(file) => file.set_permissions(mode),
                None => std::fs::set_permissions(&closed.path, mode),
            });
        }
    }
}
