//! The file with what one running axi has typed and not sent: a crash leaves it behind, and the next start finds
//! it.
//!
//! Each running axi has a file of its own, which is locked as long as axi lives: a file that can be locked belongs
//! to nobody any more. The file exists only while there is something in it.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::fingerprint::fingerprint;
use crate::platform::fs::{FlockOperation, flock};
use crate::platform::os::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _};

/// A draft that nobody wanted for this long is not offered any more.
const GOOD_FOR: Duration = Duration::from_hours(30 * 24);
/// Bytes of a file at most; a larger one is not ours.
const LARGEST: u64 = 4 * 1024 * 1024;

/// What is typed but not sent, as it is written down.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Draft {
    /// Lines that wait for the turn to end, oldest first.
    #[serde(default)]
    pub(super) queue: Vec<String>,
    /// The line under way.
    #[serde(default)]
    pub(super) draft: String,
}

impl Draft {
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.draft.trim().is_empty()
    }

    /// All of it, in its order.
    pub(super) fn lines(&self) -> Vec<String> {
        self.queue.iter().chain([&self.draft]).cloned().collect()
    }
}

#[derive(Serialize, Deserialize)]
struct Content {
    /// The working directory: the name of the file is only a hash of it.
    directory: PathBuf,
    #[serde(flatten)]
    draft: Draft,
}

/// Where the files of one working directory are.
#[derive(Debug, Clone)]
pub(super) struct DraftFolder {
    pub(super) folder: PathBuf,
    pub(super) directory: PathBuf,
}

/// A locked file. Closing it gives the lock back.
#[derive(Debug)]
pub(super) struct DraftFile {
    path: PathBuf,
    file: File,
}

impl DraftFolder {
    fn prefix(&self) -> String {
        let directory = self.directory.as_os_str().as_encoded_bytes();
        format!("{:016x}-", fingerprint(directory.iter().copied()))
    }

    /// Takes over the newest file of this directory whose axi is gone. Removes what is too old.
    pub(super) fn adopt(&self, now: SystemTime) -> Option<(DraftFile, Draft)> {
        let prefix = self.prefix();
        let entries = std::fs::read_dir(&self.folder).ok()?.flatten();
        let mut found: Vec<(SystemTime, PathBuf)> = entries
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix))
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        found.sort_by_key(|(changed, _)| std::cmp::Reverse(*changed));
        for (changed, path) in found {
            let Ok(file) = OpenOptions::new().read(true).write(true).open(&path) else { continue };
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
                continue;
            }
            let found = DraftFile { path, file };
            let old = now.duration_since(changed).is_ok_and(|age| age > GOOD_FOR);
            match found.read().filter(|content| !old && content.directory == self.directory) {
                Some(content) if !content.draft.is_empty() => return Some((found, content.draft)),
                Some(_) | None if old => found.remove(),
                Some(_) | None => {}
            }
        }
        None
    }

    /// Makes a file that nobody but this person can read.
    ///
    /// # Errors
    /// What the file system says.
    pub(super) fn create(&self) -> io::Result<DraftFile> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let nanos =
            SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
        let path = self.folder.join(format!("{}{}-{nanos:09}.json", self.prefix(), std::process::id()));
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(DraftFile { path, file })
    }
}

impl DraftFile {
    fn read(&self) -> Option<Content> {
        let mut bytes = Vec::new();
        (&self.file).take(LARGEST).read_to_end(&mut bytes).ok()?;
        // A write that was interrupted leaves the end of the older, longer text behind the new one.
        serde_json::Deserializer::from_slice(&bytes).into_iter().next()?.ok()
    }

    /// Replaces what is in it. One write: the process may be killed at any moment.
    ///
    /// # Errors
    /// What the file system says.
    pub(super) fn write(&self, directory: &Path, draft: &Draft) -> io::Result<()> {
        let content = Content { directory: directory.to_owned(), draft: draft.clone() };
        let mut bytes = serde_json::to_vec(&content)?;
        bytes.push(b'\n');
        self.file.write_all_at(&bytes, 0)?;
        self.file.set_len(bytes.len() as u64)
    }

    /// Removes it; what cannot be removed is emptied.
    pub(super) fn remove(self) {
        if std::fs::remove_file(&self.path).is_err()
            && let Err(error) = self.file.set_len(0)
        {
            tracing::warn!(%error, "a draft could not be removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::platform::os::fs::PermissionsExt as _;

    use super::*;

    fn unsent(draft: &str) -> Draft {
        Draft { queue: vec!["first".to_owned()], draft: draft.to_owned() }
    }

    /// Its owner ends. Closing alone is not enough here: until it is the program that it starts, a child of another
    /// test has the file open too.
    fn end(owned: &DraftFile) {
        flock(&owned.file, FlockOperation::Unlock).unwrap();
    }

    #[test]
    fn what_is_left_behind_is_found_once_its_owner_is_gone() {
        let place = tempfile::tempdir().unwrap();
        let folder = |directory: &str| DraftFolder { folder: place.path().join("d"), directory: directory.into() };
        let here = folder("/work/a");
        assert!(here.adopt(SystemTime::now()).is_none());
        let file = here.create().unwrap();
        file.write(&here.directory, &unsent("a longer draft")).unwrap();
        file.write(&here.directory, &unsent("draft")).unwrap();
        let mode = std::fs::metadata(&file.path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(here.adopt(SystemTime::now()).is_none(), "its owner lives");
        end(&file);
        drop(file);
        assert!(folder("/work/b").adopt(SystemTime::now()).is_none(), "another directory");
        let (file, found) = here.adopt(SystemTime::now()).unwrap();
        assert_eq!((found.lines(), found), (vec!["first".to_owned(), "draft".to_owned()], unsent("draft")));
        file.remove();
        assert!(here.adopt(SystemTime::now()).is_none());
        assert_eq!(std::fs::read_dir(&here.folder).unwrap().count(), 0);
    }

    #[test]
    fn the_newest_is_offered_the_oldest_go_and_rubbish_is_passed_over() {
        let place = tempfile::tempdir().unwrap();
        let here = DraftFolder { folder: place.path().to_owned(), directory: "/w".into() };
        for (draft, age) in [("old", 60), ("new", 0)] {
            let file = here.create().unwrap();
            file.write(&here.directory, &unsent(draft)).unwrap();
            file.file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
            end(&file);
        }
        std::fs::write(place.path().join(format!("{}rubbish.json", here.prefix())), b"{\"directory\":3").unwrap();
        let (_kept, found) = here.adopt(SystemTime::now()).unwrap();
        assert_eq!(found.draft, "new");
        let later = SystemTime::now() + GOOD_FOR + Duration::from_mins(1);
        assert!(here.adopt(later).is_none());
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1, "only the one in use is left");
    }
}
