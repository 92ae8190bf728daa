//! Directories that a command has for itself, below the system's place for temporary files. Each is locked as long as
//! it is used, so that those of an axi that was killed can be told from all others, and go.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::platform::os::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};

/// How those are named that go with axi.
const OURS: &str = "axi-run-";
/// How those are named that stay with a command which goes on by itself.
const STAYING: &str = "axi-job-";
/// A younger one may not be locked yet.
const YOUNG: Duration = Duration::from_mins(1);

/// A directory; dropped, it is removed.
pub(super) struct OwnDirectory {
    directory: TempDir,
    _lock: File,
}

impl OwnDirectory {
    pub(super) fn new(place: &Path) -> io::Result<Self> {
        Self::named(OURS, place)
    }

    /// One that may stay when axi ends.
    pub(super) fn staying(place: &Path) -> io::Result<Self> {
        Self::named(STAYING, place)
    }

    fn named(prefix: &str, place: &Path) -> io::Result<Self> {
        let permissions = std::fs::Permissions::from_mode(0o700);
        let directory = tempfile::Builder::new().prefix(prefix).permissions(permissions).tempdir_in(place)?;
        let lock = File::open(directory.path())?;
        // Where nothing can be locked, nothing is removed either.
        drop(lock.try_lock_shared());
        Ok(Self { directory, _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Leaves it: the system cleans such places.
    pub(super) fn stay(self) {
        drop(self.directory.keep());
    }
}

/// Removes those that an axi of this user left which was killed; tells how many.
pub(crate) fn sweep_own_directories(place: &Path, now: SystemTime) -> usize {
    let entries = place.read_dir().into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(OURS.as_bytes()));
    ours.filter(|entry| is_left(&entry.path(), now) && std::fs::remove_dir_all(entry.path()).is_ok()).count()
}

fn is_left(path: &Path, now: SystemTime) -> bool {
    let user = crate::platform::process::geteuid().as_raw();
    let is_own = path.symlink_metadata().is_ok_and(|metadata| {
        let age = metadata.modified().ok().and_then(|changed| now.duration_since(changed).ok());
        metadata.is_dir()
            && metadata.uid() == user
            // Nobody else may look into it.
            && metadata.mode().trailing_zeros() >= 6
            && age.is_some_and(|age| age > YOUNG)
    });
    let flags = crate::platform::fs::OFlags::NOFOLLOW | crate::platform::fs::OFlags::DIRECTORY;
    let Ok(flags) = i32::try_from(flags.bits()) else { return false };
    is_own && File::options().read(true).custom_flags(flags).open(path).is_ok_and(|it| it.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_axi_left_goes_and_what_is_used_or_somebody_elses_stays() {
        let place = tempfile::tempdir().unwrap();
        let used = OwnDirectory::new(place.path()).unwrap();
        let left = OwnDirectory::new(place.path()).unwrap();
        std::fs::write(left.path().join("x"), "x").unwrap();
        let staying = OwnDirectory::staying(place.path()).unwrap();
        let [left, staying] = [left, staying].map(|own| {
            let path = own.path().to_owned();
            // As when axi is killed: nobody holds the lock.
            own.stay();
            path
        });
        let foreign = place.path().join("axi-run-mine");
        std::fs::create_dir(&foreign).unwrap();
        std::fs::set_permissions(&foreign, std::fs::Permissions::from_mode(0o755)).unwrap();
        crate::platform::os::fs::symlink(&foreign, place.path().join("axi-run-link")).unwrap();
        assert_eq!(sweep_own_directories(place.path(), SystemTime::now()), 0);
        assert_eq!(sweep_own_directories(place.path(), SystemTime::now() + YOUNG * 2), 1);
        assert!(!left.exists() && used.path().exists() && staying.exists() && foreign.exists());
        assert_eq!(sweep_own_directories(&place.path().join("none"), SystemTime::now()), 0);
    }
}
