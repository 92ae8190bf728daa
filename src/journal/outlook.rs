//! What of a change could not be kept, told before anybody agrees to it. Changes nothing that lasts.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::keep::{Limits, clone_file, create};
use super::{How, Journal, Touch, settled, state};

/// More entries are not looked at: a number of them is not the number of all.
const MOST_ENTRIES: usize = 50_000;

/// What the journal has room for.
#[derive(Debug, Clone)]
pub struct Outlook {
    directory: PathBuf,
    copied: Arc<AtomicU64>,
    limits: Limits,
}

impl Journal {
    /// Tells what it has room for.
    #[must_use]
    pub fn outlook(&self) -> Outlook {
        Outlook { directory: self.log.directory().to_owned(), copied: self.copied.clone(), limits: self.limits }
    }
}

impl Outlook {
    /// Counts the files below these places that would not be kept.
    #[must_use]
    pub fn unkept(&self, touches: &[Touch]) -> u64 {
        let room = self.limits.copied.saturating_sub(self.copied.load(Ordering::Relaxed)).min(self.free());
        let (mut taken, mut unkept, mut entries) = (0_u64, 0, 0);
        for touch in touches {
            let mut waiting = vec![settled(&touch.path)];
            while let Some(path) = waiting.pop() {
                entries += 1;
                if entries > MOST_ENTRIES {
                    return unkept + 1;
                }
                let Ok(metadata) = path.symlink_metadata() else { continue };
                if metadata.is_dir() && touch.tree {
                    waiting.extend(path.read_dir().into_iter().flatten().flatten().map(|entry| entry.path()));
                }
                let linked = touch.how == How::Removed && metadata.nlink() == 1 && self.is_near(metadata.dev());
                if !metadata.is_file() || touch.how == How::Attributes || linked {
                    continue;
                }
                let fits = metadata.len() <= self.limits.file && taken.saturating_add(metadata.len()) <= room;
                if fits {
                    taken += metadata.len();
                } else if !self.clones(&path) {
                    unkept += 1;
                }
            }
        }
        unkept
    }

    /// The nearest directory that is there: the journal's own is made when it is first written.
    fn place(&self) -> &Path {
        self.directory.ancestors().find(|place| place.is_dir()).unwrap_or(&self.directory)
    }

    /// Whether something is on the file system of the journal.
    fn is_near(&self, device: u64) -> bool {
        self.place().metadata().is_ok_and(|metadata| metadata.dev() == device)
    }

    /// Bytes that are free there; where nobody says, it is tried.
    fn free(&self) -> u64 {
        rustix::fs::statvfs(self.place()).map_or(u64::MAX, |room| room.f_bavail.saturating_mul(room.f_frsize))
    }

    /// Whether a file can be kept without taking room.
    fn clones(&self, path: &Path) -> bool {
        let target = self.place().join(".axi-clone");
        // One that was killed may have left it.
        drop(std::fs::remove_file(&target));
        let cloned = state::open(path).and_then(|source| Ok(clone_file(&source, &create(&target)?)));
        drop(std::fs::remove_file(&target));
        cloned.unwrap_or(false)
    }
}
