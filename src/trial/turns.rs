//! Trials of whole turns: axi itself works in namespaces whose mounts a keeper changes, a process before it that may. A turn
//! begins with the layers laid and ends with them lifted; between turns everything is as it is.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use super::enter::{Entry, MET};
use super::{ChangeSet, Met, Refused, Scope, Trial};

/// The variable with the descriptor of the socket to the keeper, for the axi that works in its namespaces; a word that is no
/// number says why there are none.
pub const KEEPER: &str = "AXI_TRIES";
/// More bytes are in no request and in no answer.
const MOST: u32 = 1024 * 1024;

/// Makes the trials of the turns of one axi.
#[derive(Debug)]
pub struct Turns {
    keeper: UnixStream,
    workspace: PathBuf,
    also: Vec<PathBuf>,
    directory: PathBuf,
    places: Vec<PathBuf>,
    running: Option<Trial>,
    /// The one that ended last, while what it changed is applied.
    ended: Option<Trial>,
}

impl Turns {
    /// Makes trials of this workspace and of what else belongs to it; `directory` is where axi works.
    #[must_use]
    pub fn new(
        keeper: OwnedFd,
        (workspace, also): (PathBuf, Vec<PathBuf>),
        directory: PathBuf,
        places: Vec<PathBuf>,
    ) -> Self {
        Self { keeper: keeper.into(), workspace, also, directory, places, running: None, ended: None }
    }

    /// Tells whether a trial runs.
    #[must_use]
    pub const fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Tells whether what is written there is held by the trial that runs.
    #[must_use]
    pub fn holds(&self, path: &Path) -> bool {
        self.running.as_ref().is_some_and(|trial| trial.roots.iter().any(|root| path.starts_with(&root.path)))
    }

    /// Begins a trial, if none runs: from now on everything in these namespaces sees its layers.
    ///
    /// # Errors
    /// [`Refused`]: nothing has changed then.
    pub fn begin(&mut self) -> Result<(), Refused> {
        if self.running.is_some() {
            return Ok(());
        }
        let scope = Scope { workspace: &self.workspace, also: &self.also, lent: &[], open: &[] };
        let trial = Trial::new(&scope, &self.places)?;
        let entry = trial.entry(&self.directory);
        let asked: Vec<Vec<u8>> = entry.to_arguments().iter().map(|word| word.as_bytes().to_vec()).collect();
        let denied = |error: io::Error| Refused::Denied(error.to_string());
        send(&mut self.keeper, &asked.join(&0)).map_err(denied)?;
        let answer = received(&mut self.keeper).map_err(denied)?.unwrap_or_default();
        if answer != LAID {
            return Err(Refused::Denied(String::from_utf8_lossy(&answer).into_owned()));
        }
        self.go_there().map_err(denied)?;
        self.running = Some(trial);
        Ok(())
    }

    /// Ends the trial that runs, and reads what it changed, which is there until [`Turns::done`].
    ///
    /// # Errors
    /// The system's error: a layer cannot be read, or the keeper is gone, and so is what would lift the layers.
    pub fn end(&mut self) -> io::Result<Option<ChangeSet>> {
        let Some(trial) = self.running.take() else { return Ok(None) };
        send(&mut self.keeper, b"")?;
        received(&mut self.keeper)?;
        self.go_there()?;
        // Whom they reached nobody saw; what nobody agreed to could reach nobody.
        let met = File::options().create(true).append(true).open(trial.directory.path().join(MET))?;
        Met::write([Met::Agreed], &met)?;
        self.ended.insert(trial).changes().map(Some)
    }

    /// Has nothing be left of the trial that ended.
    pub fn done(&mut self) {
        self.ended = None;
    }

    /// Goes to the working directory as it is now: the one before lies under a layer, or in one.
    fn go_there(&self) -> io::Result<()> {
        std::env::set_current_dir(&self.directory).or_else(|_| std::env::set_current_dir(&self.workspace))
    }
}

/// What the keeper answers.
const LAID: &[u8] = b"laid";

/// Serves an axi that works in this process's namespaces, until it has ended.
///
/// # Errors
/// The system's error.
pub fn keep(socket: &mut UnixStream) -> io::Result<()> {
    let mut laid: Option<Entry> = None;
    while let Some(asked) = received(socket)? {
        if let Some(entry) = laid.take() {
            entry.lift();
        }
        if asked.is_empty() {
            send(socket, b"lifted")?;
            continue;
        }
        let mut words = asked.split(|byte| *byte == 0).map(|word| std::ffi::OsStr::from_bytes(word).to_owned());
        let Some(entry) = Entry::from_arguments(&mut words) else {
            send(socket, b"not understood")?;
            continue;
        };
        match entry.lay() {
            Ok(()) => {
                laid = Some(entry);
                send(socket, LAID)?;
            }
            Err((what, cause)) => send(socket, format!("{what}: {cause}").as_bytes())?,
        }
    }
    Ok(())
}

fn send(socket: &mut UnixStream, text: &[u8]) -> io::Result<()> {
    let length = u32::try_from(text.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    socket.write_all(&[&length.to_ne_bytes(), text].concat())
}

/// Receives a message; `None` when the other end is gone.
fn received(socket: &mut UnixStream) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match socket.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let length = u32::from_ne_bytes(length);
    if length > MOST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut text = vec![0; usize::try_from(length).map_err(|_| io::ErrorKind::InvalidData)?];
    socket.read_exact(&mut text)?;
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_arrives_whole_and_the_end_is_known() {
        let (mut one, mut other) = UnixStream::pair().unwrap();
        send(&mut one, b"").unwrap();
        send(&mut one, b"two\0words").unwrap();
        drop(one);
        assert_eq!(received(&mut other).unwrap(), Some(Vec::new()));
        assert_eq!(received(&mut other).unwrap(), Some(b"two\0words".to_vec()));
        assert_eq!(received(&mut other).unwrap(), None);
    }
}
