//! A new session of a directory, for a conversation or a command.

use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::time::SystemTime;

use super::context::App;
use crate::session::{Session, SessionId};

/// Makes a session of a directory; it has a file if it is to be kept.
pub(super) fn session_in(app: &App, directory: PathBuf, keep: bool) -> Session {
    let id = SessionId::new(SystemTime::now(), &directory, random_number());
    let sessions = app.paths.sessions().filter(|_| keep);
    Session::new(id, directory, sessions.as_deref(), app.redactor())
}

/// Makes a number that spreads retries and tells sessions of one second apart. Somebody may guess it.
pub(super) fn random_number() -> u16 {
    let hash = RandomState::new().hash_one(std::process::id());
    u16::try_from(hash & 0xffff).unwrap_or(0)
}
