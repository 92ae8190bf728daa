//! Decides which secrets a model sees only as stand-ins: values that are known, and what looks like a secret.

use std::io::{ErrorKind, Write as _};
use std::path::Path;

use ring::rand::{SecureRandom as _, SystemRandom};
use tempfile::NamedTempFile;

use super::super::context::App;
use crate::config::OnOff;
use crate::secret::{Kinds, StandIns};

/// Makes the stand-ins for a conversation; `keep` says that their key may be saved for later ones.
pub(super) fn stand_ins(app: &App, keep: bool) -> StandIns {
    let settings = &app.config().secrets;
    let kinds = Kinds { known: settings.values == OnOff::On, shapes: settings.shapes == OnOff::On };
    let path = app.paths.state.as_ref().filter(|_| keep).map(|state| state.join("secret-key"));
    StandIns::new(app.known_secrets(), kinds, Box::new(move || key(path.as_deref())))
}

/// Returns the key that makes the stand-ins: the same for all sessions, so that a resumed one recognises its own.
fn key(path: Option<&Path>) -> [u8; 32] {
    let Some(path) = path else { return random() };
    kept_key(path, random).unwrap_or_else(|error| {
        tracing::warn!(%error, "the key of stand-ins for secrets is not kept");
        random()
    })
}

fn random() -> [u8; 32] {
    let mut key = [0; 32];
    if SystemRandom::new().fill(&mut key).is_err() {
        tracing::warn!("the system has no random numbers: stand-ins for secrets are the same everywhere");
    }
    key
}

/// Reads the key, or makes it and keeps it. Of two axi that do so at once both return the one that is kept.
fn kept_key(path: &Path, make: impl FnOnce() -> [u8; 32]) -> std::io::Result<[u8; 32]> {
    let kept = || std::fs::read(path).map(<[u8; 32]>::try_from);
    match kept() {
        Ok(Ok(key)) => return Ok(key),
        // Half a key makes no stand-in.
        Ok(Err(_)) => std::fs::remove_file(path)?,
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let key = make();
    let mut file = NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))?;
    file.write_all(&key)?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(key),
        Err(lost) if lost.error.kind() == ErrorKind::AlreadyExists => {
            kept()?.map_err(|_| ErrorKind::InvalidData.into())
        }
        Err(error) => Err(error.error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_that_start_at_once_both_have_the_key_that_is_kept() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("secret-key");
        let late = kept_key(&path, || {
            assert_eq!(kept_key(&path, || [1; 32]).unwrap(), [1; 32]);
            [2; 32]
        });
        assert_eq!(late.unwrap(), [1; 32]);
        assert_eq!(std::fs::read(&path).unwrap(), [1; 32]);
        std::fs::write(&path, [3; 7]).unwrap();
        assert_eq!(kept_key(&path, || [4; 32]).unwrap(), [4; 32], "half a key is none");
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1, "nothing is left beside it");
    }
}
