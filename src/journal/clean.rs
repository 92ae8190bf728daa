//! Removes old journals: by age, then by size, never one in use.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::platform::os::fs::MetadataExt as _;

/// A journal to which nothing was written for this long is of no use any more.
const OLDEST: Duration = Duration::from_hours(30 * 24);

/// Removes old journals, and the oldest ones while all together take more than `most` bytes on the disk. A journal
/// that cannot be removed is tried again the next time.
pub(super) fn clean(root: &Path, own: &Path, most: u64) {
    let Ok(entries) = root.read_dir() else { return };
    let mut journals: Vec<(SystemTime, PathBuf)> = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| path != own) {
        // Only journals are removed: whatever else lies here is not ours.
        let written = path.join("journal.jsonl").metadata().and_then(|metadata| metadata.modified());
        if let Ok(written) = written {
            journals.push((written, path));
        }
    }
    journals.sort_by_key(|(written, _)| std::cmp::Reverse(*written));
    let mut total = size(own);
    for (written, path) in journals {
        total = total.saturating_add(size(&path));
        let old = written.elapsed().is_ok_and(|age| age > OLDEST);
        if (old || total > most) && !is_in_use(&path) {
            drop(std::fs::remove_dir_all(path));
        }
    }
}

/// Removes the journal of one session; a missing one is no error.
///
/// # Errors
/// The system's error, or `InvalidInput` if `session` is no plain file name.
pub fn forget(root: &Path, session: &str) -> std::io::Result<()> {
    let mut parts = Path::new(session).components();
    let (Some(std::path::Component::Normal(_)), None) = (parts.next(), parts.next()) else {
        return Err(std::io::ErrorKind::InvalidInput.into());
    };
    match std::fs::remove_dir_all(root.join(session)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Tells whether another axi has this journal open.
fn is_in_use(journal: &Path) -> bool {
    let file = File::open(journal.join("journal.jsonl"));
    file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Returns its size on the disk, in bytes.
fn size(journal: &Path) -> u64 {
    let places = [journal.to_owned(), journal.join("objects"), journal.join("aside")];
    let files = places.iter().flat_map(|place| place.read_dir().into_iter().flatten().flatten());
    files.filter_map(|file| file.metadata().ok()).map(|metadata| metadata.blocks() * 512).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_journal_goes_alone_and_no_name_leads_elsewhere() {
        let root = tempfile::tempdir().unwrap();
        for name in ["one/objects", "two/objects"] {
            std::fs::create_dir_all(root.path().join(name)).unwrap();
        }
        forget(root.path(), "one").unwrap();
        forget(root.path(), "one").unwrap();
        for odd in ["", ".", "..", "two/..", "/", "../x", "two/objects"] {
            assert!(forget(root.path(), odd).is_err(), "{odd}");
        }
        assert!(!root.path().join("one").exists() && root.path().join("two/objects").exists());
    }

    #[test]
    fn old_journals_go_and_what_is_no_journal_stays() {
        let root = tempfile::tempdir().unwrap();
        let journal = |name: &str, age: Duration| {
            let place = root.path().join(name);
            std::fs::create_dir(&place).unwrap();
            let file = std::fs::File::create(place.join("journal.jsonl")).unwrap();
            file.set_modified(SystemTime::now() - age).unwrap();
            file
        };
        let day = Duration::from_hours(24);
        journal("own", 90 * day);
        journal("new", day);
        journal("old", 31 * day);
        let running = journal("running", 31 * day);
        running.lock_shared().unwrap();
        std::fs::create_dir(root.path().join("other")).unwrap();
        clean(root.path(), &root.path().join("own"), u64::MAX);
        let mut left: Vec<_> = root.path().read_dir().unwrap().flatten().map(|entry| entry.file_name()).collect();
        left.sort();
        assert_eq!(left, ["new", "other", "own", "running"]);
    }

    #[test]
    fn of_too_much_the_oldest_journals_go() {
        let root = tempfile::tempdir().unwrap();
        for (name, days) in [("own", 5), ("new", 1), ("older", 2), ("oldest", 3)] {
            let place = root.path().join(name);
            std::fs::create_dir_all(place.join("objects")).unwrap();
            std::fs::write(place.join("objects/1"), "x".repeat(64 * 1024)).unwrap();
            // Blocks on the disk are counted, and a file system may allocate them late.
            File::open(place.join("objects/1")).unwrap().sync_all().unwrap();
            let file = File::create(place.join("journal.jsonl")).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_hours(24 * days)).unwrap();
        }
        let own = root.path().join("own");
        let one = size(&own);
        assert!(one > 0);
        // Our own journal counts towards the limit, but is never removed.
        clean(root.path(), &own, 2 * one + one / 2);
        let mut left: Vec<_> = root.path().read_dir().unwrap().flatten().map(|entry| entry.file_name()).collect();
        left.sort();
        assert_eq!(left, ["new", "own"]);
    }
}
