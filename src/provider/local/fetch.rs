//! Brings weights to this machine, from the first of their sources that has them.
//!
//! Where the bytes come from need not be trusted: the hash decides, and nothing that was fetched is run. What has
//! arrived is kept, so that a broken or stopped fetch goes on where it was. Two fetches of one file take turns.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use tokio_util::sync::CancellationToken;

use super::sources::{Missed, NotThere, Progress, Source, Sources, from_address, from_index};
use super::weights::{Weights, check, leavings, lock_file, partial};
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

/// Fetches weights into a folder and returns the file.
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
    cancel: &CancellationToken,
) -> Result<PathBuf, FetchError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |cause| FetchError::Io { path, cause }
    };
    fs::create_dir_all(folder).map_err(failed(folder))?;
    let (lock, whole) = (lock_file(folder, weights), folder.join(weights.file));
    let held = OpenOptions::new().create(true).truncate(false).write(true).open(&lock).map_err(failed(&lock))?;
    let waited = turn(&held, progress, cancel).await.map_err(failed(&lock))?;
    if cancel.is_cancelled() {
        return Err(FetchError::Stopped);
    }
    // Whoever had the lock has brought and checked it.
    if waited && fs::metadata(&whole).is_ok_and(|found| found.len() == weights.size) {
        return Ok(whole);
    }
    let part = partial(folder, weights);
    let here = fs::metadata(&part).map_or(0, |metadata| metadata.len());
    let needed = weights.size.saturating_sub(here) + SPARE;
    let room = rustix::fs::statvfs(folder).map_err(|error| failed(folder)(error.into()))?;
    let free = room.f_bavail.saturating_mul(room.f_frsize);
    if free < needed {
        return Err(FetchError::NoRoom { free, needed });
    }
    if here < weights.size {
        let brought = bring(weights, folder, &part, sources, client, progress);
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(FetchError::Stopped),
            done = brought => done?,
        }
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
    // What another way had begun is of no more use; it may not be there. Who waits for the lock finds the file.
    for path in leavings(folder, weights).into_iter().chain([lock]) {
        drop(fs::remove_file(path));
    }
    Ok(whole)
}

/// Waits until nobody else fetches into the same file; tells whether somebody did.
async fn turn(
    held: &File,
    progress: &mut dyn FnMut(Progress),
    cancel: &CancellationToken,
) -> std::io::Result<bool> {
    let mut waited = false;
    loop {
        match flock(held, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(waited),
            Err(error) if error == rustix::io::Errno::WOULDBLOCK => {}
            Err(error) => return Err(error.into()),
        }
        if !std::mem::replace(&mut waited, true) {
            progress(Progress::Waiting);
        }
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Ok(waited),
            () = tokio::time::sleep(TURN) => {}
        }
    }
}

/// Asks one source after the other.
async fn bring(
    weights: &Weights,
    folder: &Path,
    part: &Path,
    sources: &Sources,
    client: &Client,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), FetchError> {
    let mut tried = Vec::new();
    for source in sources.of(weights) {
        progress(Progress::From(source.clone()));
        let brought = match &source {
            Source::Mirror(url) | Source::Hub(url) => from_address(weights, part, url, client, progress).await,
            Source::Index { .. } => from_index(weights, folder, part, &sources.python, progress).await,
        };
        match brought {
            Ok(()) => return Ok(()),
            Err(Missed::Io(cause)) => return Err(FetchError::Io { path: part.to_owned(), cause }),
            Err(Missed::Source(why)) => tried.push((source, why)),
        }
    }
    Err(FetchError::Unreachable { tried })
}

#[cfg(test)]
#[path = "fetch_tests.rs"]
mod tests;
