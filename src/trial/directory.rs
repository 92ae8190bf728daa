//! The directory of one trial, the lock that says whether somebody still needs it, and what killed ones left.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use crate::platform::fs::OFlags;
use crate::platform::os::ffi::OsStrExt as _;
use crate::platform::os::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};

use super::content::beside_of;

/// How the name of a trial's lock ends.
const LOCK: &str = "lock";
/// The name of the file that says in which directories something is applied.
const RECORD: &str = "applied";
/// Another name is tried so often.
const TRIES: u32 = 100;

/// The directory of one trial. Dropped, it is removed with everything in it.
#[derive(Debug)]
pub(super) struct TrialDirectory {
    directory: PathBuf,
    lock: PathBuf,
    /// The lock is held as long as this is open; a killed process holds none.
    held: File,
}

impl TrialDirectory {
    /// Makes a directory for a trial below `trials`.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn new(trials: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(trials)?;
        if !is_own(trials) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let process = std::process::id();
        for number in 0..TRIES {
            let directory = trials.join(format!("{process}-{number}"));
            let lock = directory.with_extension(LOCK);
            let held = match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&lock) {
                Ok(held) => held,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            };
            // Between these two lines it could be taken for one that was left.
            if held.try_lock().is_err() || !is_at(&held, &lock) || directory.symlink_metadata().is_ok() {
                continue;
            }
            DirBuilder::new().mode(0o700).create(&directory)?;
            return Ok(Self { directory, lock, held });
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    pub(super) fn path(&self) -> &Path {
        &self.directory
    }

    /// Where it is noted in which directories something is applied.
    pub(super) fn record(&self) -> PathBuf {
        self.directory.join(RECORD)
    }
}

impl Drop for TrialDirectory {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.directory) {
            // The next start finds it: nobody holds its lock then.
            tracing::warn!(%error, "a trial was not removed whole");
            return;
        }
        drop(std::fs::remove_file(&self.lock));
        drop(self.held.unlock());
    }
}

/// Tells whether a directory is this user's, and nobody else can put names into it: it may lie where everybody can.
fn is_own(trials: &Path) -> bool {
    let about = trials.symlink_metadata();
    about.is_ok_and(|about| {
        about.is_dir() && about.uid() == crate::platform::process::geteuid().as_raw() && about.mode() & 0o022 == 0
    })
}

fn is_at(file: &File, path: &Path) -> bool {
    let id = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    file.metadata().ok().map(id) == path.symlink_metadata().ok().map(id)
}

/// Notes in which directories something is about to be applied.
pub(super) fn note<'a>(record: &Path, directories: impl IntoIterator<Item = &'a Path>) -> io::Result<()> {
    let all: Vec<&[u8]> = directories.into_iter().map(|directory| directory.as_os_str().as_bytes()).collect();
    // No path has a zero byte in it.
    std::fs::write(record, all.join(&0))
}

/// Removes what a killed process left beside the files that it was applying.
fn tidy(trial: &Path) {
    let noted = std::fs::read(trial.join(RECORD)).unwrap_or_default();
    let name = trial.file_name().unwrap_or_default().to_string_lossy();
    let Some((process, _)) = name.split_once('-') else { return };
    let own = beside_of(process);
    for directory in noted.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
        let entries = Path::new(OsStr::from_bytes(directory)).read_dir().into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_name().as_bytes().starts_with(own.as_bytes())) {
            drop(std::fs::remove_file(entry.path()));
        }
    }
}

/// Removes the trials below `trials` that nobody holds any more; returns how many.
pub(super) fn sweep(trials: &Path) -> usize {
    // Another's would have files removed that it names.
    if !is_own(trials) {
        return 0;
    }
    let Ok(entries) = trials.read_dir() else { return 0 };
    let mut swept = 0;
    for lock in entries.flatten().map(|entry| entry.path()) {
        if lock.extension().is_none_or(|extension| extension != LOCK) {
            continue;
        }
        // Neither what a link leads to, nor a pipe that nobody writes to.
        let plain = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let Ok(file) = OpenOptions::new().read(true).custom_flags(plain).open(&lock) else { continue };
        let is_file = file.metadata().is_ok_and(|about| about.is_file());
        if !is_file || file.try_lock().is_err() || !is_at(&file, &lock) {
            continue;
        }
        tidy(&lock.with_extension(""));
        let removed = remove(&lock.with_extension(""));
        if removed.is_ok() && std::fs::remove_file(&lock).is_ok() {
            swept += 1;
        }
    }
    swept
}

/// Removes what is there: a directory with everything in it, also what is closed to its owner.
pub(super) fn remove(directory: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => std::fs::remove_file(directory),
        Err(_) => {
            open_all(directory);
            std::fs::remove_dir_all(directory)
        }
        done => done,
    }
}

fn open_all(directory: &Path) {
    if !directory.symlink_metadata().is_ok_and(|about| about.is_dir()) {
        return;
    }
    drop(std::fs::set_permissions(directory, Permissions::from_mode(0o700)));
    for entry in directory.read_dir().into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_all(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_living_hold_stays_and_what_the_killed_left_goes_however_closed_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let living = TrialDirectory::new(folder.path()).unwrap();
        let killed = TrialDirectory::new(folder.path()).unwrap();
        let closed = killed.path().join("a/b");
        std::fs::create_dir_all(&closed).unwrap();
        std::fs::write(closed.join("file"), "kept").unwrap();
        std::fs::set_permissions(&closed, Permissions::from_mode(0o0)).unwrap();
        let (left, lock) = (killed.directory.clone(), killed.lock.clone());
        let half = folder.path().join(format!("{}0", beside_of(&std::process::id().to_string())));
        let theirs = folder.path().join(".axi-trial-1-0");
        for file in [&half, &theirs] {
            std::fs::write(file, "half").unwrap();
        }
        note(&killed.record(), [folder.path()]).unwrap();
        // As a killed process leaves it: nothing is removed, and the lock goes with its last descriptor.
        killed.held.unlock().unwrap();
        std::mem::forget(killed);
        assert_eq!(sweep(folder.path()), 1);
        assert!(!left.exists() && !lock.exists() && living.path().is_dir());
        assert!(!half.exists() && theirs.exists());
        std::fs::remove_file(theirs).unwrap();
        assert_eq!(sweep(folder.path()), 0);
        drop(living);
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn where_others_can_put_names_nothing_is_swept_and_no_trial_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let left = TrialDirectory::new(folder.path()).unwrap();
        left.held.unlock().unwrap();
        let lock = left.lock.clone();
        std::mem::forget(left);
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        assert_eq!(sweep(folder.path()), 0);
        assert!(lock.exists() && TrialDirectory::new(folder.path()).is_err());
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
        // A link to another's lock, and a pipe, are nobody's trials.
        let other = tempfile::tempdir().unwrap();
        std::fs::write(other.path().join("x"), "").unwrap();
        crate::platform::os::fs::symlink(other.path().join("x"), folder.path().join("9-0.lock")).unwrap();
        crate::platform::os::fs::symlink(other.path(), folder.path().join("9-0")).unwrap();
        crate::platform::fs::mknodat(
            crate::platform::fs::CWD,
            folder.path().join("9-1.lock"),
            crate::platform::fs::FileType::Fifo,
            crate::platform::fs::Mode::RWXU,
            0,
        )
        .unwrap();
        assert_eq!(sweep(folder.path()), 1);
        assert!(other.path().join("x").exists() && !lock.exists());
    }
}
