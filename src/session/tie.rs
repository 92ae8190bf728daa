//! Ties a shell to the session of its hand-offs: one small file for each shell, locked while an axi of that shell
//! runs.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{SessionError, SessionId, SessionStore};
use crate::fingerprint::fingerprint;
use crate::platform::os::fs::{DirBuilderExt as _, OpenOptionsExt as _};

/// A conversation without activity for this long is over: a question on the next morning is about something else.
const EXPIRES: Duration = Duration::from_hours(12);

/// The file of a shell that was not used for this long is deleted.
const FORGOTTEN: Duration = Duration::from_hours(30 * 24);

/// The longest name a shell's file gets, in bytes.
const LONGEST_NAME: usize = 64;

/// The file that ties a shell to its session; nobody else can open it until this is dropped.
#[derive(Debug)]
pub struct ShellTie {
    path: PathBuf,
    file: File,
}

/// The result of opening a shell's file.
#[derive(Debug)]
pub enum Tied {
    /// It is ours.
    Free(ShellTie),
    /// Another axi of this shell runs, or is stopped: two must not write to the same session.
    Busy,
}

impl ShellTie {
    /// Opens the file of `shell`, an opaque text, in `directory`.
    ///
    /// # Errors
    /// [`SessionError::Io`].
    pub fn open(directory: &Path, shell: &str, now: SystemTime) -> Result<Tied, SessionError> {
        let path = directory.join(file_name(shell));
        let failed = |cause| SessionError::Io { path: path.clone(), cause };
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(failed)?;
        let is_new = !path.exists();
        let mut options = OpenOptions::new();
        let file =
            options.create(true).read(true).write(true).truncate(false).mode(0o600).open(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(Tied::Busy),
            Err(TryLockError::Error(cause)) => return Err(failed(cause)),
        }
        if is_new {
            forget(directory, &path, now);
        }
        Ok(Tied::Free(Self { path, file }))
    }

    /// Finds the session's file, unless it is gone or was inactive for too long.
    pub fn session(&mut self, store: &SessionStore, now: SystemTime) -> Option<PathBuf> {
        let mut text = String::new();
        self.file.rewind().ok()?;
        (&self.file).take(256).read_to_string(&mut text).ok()?;
        let id = SessionId::parse(text.trim())?;
        let (_, path) = store.find(id.as_str()).ok()?;
        let written = path.metadata().and_then(|metadata| metadata.modified()).ok()?;
        let is_over = now.duration_since(written).is_ok_and(|rested| rested > EXPIRES);
        (!is_over).then_some(path)
    }

    /// Ties the shell to a session.
    ///
    /// # Errors
    /// [`SessionError::Io`].
    pub fn set(&mut self, session: &SessionId) -> Result<(), SessionError> {
        let mut write = || {
            self.file.rewind()?;
            self.file.set_len(0)?;
            self.file.write_all(session.as_str().as_bytes())
        };
        write().map_err(|cause| SessionError::Io { path: self.path.clone(), cause })
    }
}

/// Returns a shell's name if it can be a file name, otherwise a hash of it.
fn file_name(shell: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    if !shell.starts_with('.') && !shell.is_empty() && shell.len() <= LONGEST_NAME && shell.chars().all(plain) {
        return shell.to_owned();
    }
    format!("{:016x}", fingerprint(shell.bytes()))
}

/// Deletes the files of shells that are long gone. A file that cannot be deleted does no harm.
fn forget(directory: &Path, own: &Path, now: SystemTime) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let is_old = modified.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > FORGOTTEN));
        if is_old && entry.path() != own {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Message;
    use crate::session::{Redactor, Session};

    fn open(directory: &Path, shell: &str) -> Option<ShellTie> {
        match ShellTie::open(directory, shell, SystemTime::now()).unwrap() {
            Tied::Free(tie) => Some(tie),
            Tied::Busy => None,
        }
    }

    fn kept(store: &SessionStore) -> SessionId {
        let id = SessionId::new(SystemTime::now(), Path::new("/w"), 7);
        let mut session = Session::new(id.clone(), "/w".into(), Some(store.directory()), Redactor::default());
        session.append_message("a/b", &Message::user("hi"), SystemTime::now()).unwrap();
        id
    }

    #[test]
    fn a_shell_goes_on_with_its_session_until_it_has_rested_too_long_or_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let store = SessionStore::new(folder.path().join("sessions"));
        let shells = folder.path().join("shells");
        let id = kept(&store);
        let now = SystemTime::now();
        let mut tie = open(&shells, "zsh-1").unwrap();
        assert_eq!(tie.session(&store, now), None);
        tie.set(&id).unwrap();
        drop(tie);
        let mut tie = open(&shells, "zsh-1").unwrap();
        let path = store.directory().join(format!("{id}.jsonl"));
        assert_eq!(tie.session(&store, now), Some(path));
        assert_eq!(open(&shells, "bash-2").unwrap().session(&store, now), None);
        assert_eq!(tie.session(&store, now + EXPIRES + Duration::from_mins(1)), None);
        store.delete(id.as_str()).unwrap();
        assert_eq!(tie.session(&store, now), None);
    }

    #[test]
    fn two_at_once_do_not_share_a_session() {
        let folder = tempfile::tempdir().unwrap();
        let first = open(folder.path(), "a").unwrap();
        assert!(open(folder.path(), "a").is_none());
        assert!(open(folder.path(), "b").is_some());
        drop(first);
        assert!(open(folder.path(), "a").is_some());
    }

    #[test]
    fn any_text_names_a_shell_and_no_other_file() {
        let folder = tempfile::tempdir().unwrap();
        for shell in ["zsh-1.5", "../../x", "", ".", "..", "a/b", "a b", "中", &"x".repeat(999)] {
            drop(open(folder.path(), shell).unwrap());
            assert!(file_name(shell).bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)));
        }
        assert_eq!(folder.path().read_dir().unwrap().count(), 9);
    }

    #[test]
    fn shells_that_are_long_gone_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        drop(open(folder.path(), "old").unwrap());
        let later = SystemTime::now() + FORGOTTEN + Duration::from_mins(1);
        assert!(matches!(ShellTie::open(folder.path(), "new", later), Ok(Tied::Free(_))));
        let names: Vec<_> = folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["new"]);
    }
}
