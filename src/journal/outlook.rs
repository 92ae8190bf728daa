//! Predicts what could be kept of a change, and of the surroundings of a command: if those are small, all of them
//! are kept, because nobody can foresee all that a command does. Leaves nothing on the disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::around::is_named_part;
use super::keep::Limits;
use super::state;
use super::touch::{How, Touch, settled};
use crate::file::tree;
use crate::platform::os::fs::MetadataExt as _;
use crate::platform::share_content;

/// Looks at no more entries than this: beyond it a count would not be complete anyway.
const MOST_ENTRIES: usize = 50_000;

/// Keeps no surroundings with more entries than this.
const MOST_AROUND: usize = 2_000;
/// Keeps no surroundings with more bytes than this.
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

    /// Counts the files at and below these paths that would not be kept.
    #[must_use]
    pub fn unkept(&self, touches: &[Touch]) -> u64 {
        let room = self.limits.copied.saturating_sub(self.copied.load(Ordering::Relaxed)).min(self.free());
        let (mut taken, mut unkept, mut entries) = (0_u64, 0, 0);
        for touch in touches {
            let all = if touch.tree { usize::MAX } else { 1 };
            for (path, metadata) in tree(&settled(&touch.path)).take(all) {
                entries += 1;
                if entries > MOST_ENTRIES {
                    return unkept + 1;
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

    /// Returns the nearest directory that exists: the journal's own directory is made at the first write.
    fn place(&self) -> &Path {
        self.directory.ancestors().find(|place| place.is_dir()).unwrap_or(&self.directory)
    }

    /// Tells whether a device is the one that holds the journal.
    fn is_near(&self, device: u64) -> bool {
        self.place().metadata().is_ok_and(|metadata| metadata.dev() == device)
    }

    /// Returns how many bytes are free there; as many as there can be if the system does not say, so that it is
    /// tried.
    fn free(&self) -> u64 {
        crate::platform::fs::statvfs(self.place())
            .map_or(u64::MAX, |room| room.f_bavail.saturating_mul(room.f_frsize))
    }

    /// Tells whether a file can be cloned, and so kept without taking room.
    fn clones(&self, path: &Path) -> bool {
        // It has no name: nobody else meets it, and it ends with axi.
        let cloned =
            state::open(path).and_then(|source| Ok(share_content(&source, &tempfile::tempfile_in(self.place())?)));
        cloned.unwrap_or(false)
    }
}

/// Returns the surroundings of a command that runs in `directory`; `None` if they are too large.
#[must_use]
pub fn around(directory: &Path) -> Option<Touch> {
    let (mut entries, mut bytes) = (0, 0_u64);
    let mut waiting = vec![directory.to_path_buf()];
    while let Some(directory) = waiting.pop() {
        // What is closed is looked into when it is kept.
        let listed = directory.read_dir().into_iter().flatten().flatten();
        for entry in listed.filter(|entry| is_named_part(&entry.file_name())) {
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
