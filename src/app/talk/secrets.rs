//! Decides which secrets a model sees only as stand-ins: values of variables and of `.env` files, and what looks
//! like a secret.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use ring::rand::{SecureRandom as _, SystemRandom};

use super::super::context::App;
use crate::config::OnOff;
use crate::secret::{Kinds, StandIns, is_secret_name};

/// The files with variables that are read in a project; other `.env.*` files are not.
const FILES: &[&str] = &[".env", ".env.local"];
/// The largest such file that is read, in bytes.
const LARGEST: u64 = 64 * 1024;

/// Makes the stand-ins for a conversation; `keep` says that their key may be saved for later ones.
pub(super) fn stand_ins(app: &App, keep: bool) -> StandIns {
    let settings = &app.config.secrets;
    let kinds = Kinds { known: settings.values == OnOff::On, shapes: settings.shapes == OnOff::On };
    let path = app.paths.state.as_ref().filter(|_| keep).map(|state| state.join("secret-key"));
    let made = StandIns::new(app.known_secrets(), kinds, Box::new(move || key(path.as_deref())));
    if !kinds.known {
        return made;
    }
    let mut folders = vec![app.project.cwd.clone(), app.project.root.clone()];
    folders.dedup();
    made.with_later(Box::new(move || {
        folders.iter().flat_map(|folder| FILES.iter().flat_map(|name| values(&folder.join(name)))).collect()
    }))
}

/// Returns the values in such a file whose names say that they are secret.
fn values(path: &Path) -> Vec<String> {
    // Reading a pipe would block.
    if !std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= LARGEST) {
        return Vec::new();
    }
    let text = std::fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let value = |line: &str| {
        let (name, value) = line.trim().trim_start_matches("export ").split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        is_secret_name(name.trim()).then(|| value.to_owned())
    };
    text.lines().filter_map(value).collect()
}

/// Returns the key that makes the stand-ins: the same for all sessions, so that a resumed one recognises its own.
fn key(path: Option<&Path>) -> [u8; 32] {
    if let Some(kept) = path.and_then(|path| std::fs::read(path).ok()).and_then(|bytes| bytes.try_into().ok()) {
        return kept;
    }
    let mut key = [0; 32];
    if SystemRandom::new().fill(&mut key).is_err() {
        tracing::warn!("the system has no random numbers: stand-ins for secrets are the same everywhere");
    }
    if let Some(path) = path {
        let mut options = std::fs::OpenOptions::new();
        let written = options.write(true).create(true).truncate(true).mode(0o600).open(path);
        if let Err(error) = written.and_then(|mut file| file.write_all(&key)) {
            tracing::warn!(%error, "the key of stand-ins for secrets is not kept");
        }
    }
    key
}
