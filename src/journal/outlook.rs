//! What could be kept of a change, and of what lies around a command: where that is little, all of it, for nobody can
//! read off a command all that it does. Changes nothing that lasts.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::around::is_named_part;
use super::keep::{Limits, clone_file, create};
use super::state;
use super::touch::{How, Touch, settled};

/// More entries are not looked at: a number of them is not the number of all.
const MOST_ENTRIES: usize = 50_000;

/// More entries are not kept for the sake of what a command may do.
const MOST_AROUND: usize = 2_000;
/// More bytes are not.
const MOST_BYTES_AROUND: u64 = 16 * 1024 * 1024;

/// What the journal has room for.
#[derive(Debug, Clone)]
pub struct Outlook {
    directory: PathBuf,
    copied: Arc<AtomicU64>,
    limits: Limits,
}

impl Outlook {
    pub(super) const fn new(directory: PathBuf, copied: Arc<AtomicU64>, limits: Limits) -> Self {
        Self { directory, copied, limits }
    }

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

/// All that lies around a command that runs here; `None` where it is too much.
#[must_use]
pub fn around(directory: &Path) -> Option<Touch> {
    let (mut entries, mut bytes) = (0, 0_u64);
    let mut waiting = vec![directory.to_path_buf()];
    while let Some(directory) = waiting.pop() {
        for entry in directory.read_dir().ok()?.flatten().filter(|entry| is_named_part(&entry.file_name())) {
            let Ok(metadata) = entry.metadata() else { continue };
            entries += 1;
            bytes = bytes.saturating_add(if metadata.is_file() { metadata.len() } else { 0 });
            if entries > MOST_AROUND || bytes > MOST_BYTES_AROUND {
                return None;
            }
            if metadata.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    Some(Touch { path: directory.to_owned(), tree: true, how: How::Around })
}
