//! The names of sessions.

use std::fmt;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

/// Names a session: `YYYYMMDD-HHMMSS-DDDDRRRR` in UTC, where D is a hash of the directory and R is random.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(String);

impl SessionId {
    /// Makes an id for a session that starts `now` in `directory`.
    #[must_use]
    pub fn new(now: SystemTime, directory: &std::path::Path, random: u16) -> Self {
        let format = time::macros::format_description!("[year][month][day]-[hour][minute][second]");
        let stamp = time::UtcDateTime::from(now).format(format).unwrap_or_else(|_| "0".to_owned());
        Self(format!("{stamp}-{}{random:04x}", directory_mark(directory)))
    }

    /// Reads an id that a person or a file name gave; `None` when it could not be one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let plain = |character: char| character.is_ascii_alphanumeric() || character == '-';
        (!text.is_empty() && text.len() <= 64 && text.chars().all(plain)).then(|| Self(text.to_owned()))
    }

    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Four hex digits of a directory's name, so that the sessions of a directory are found by file name alone.
pub(super) fn directory_mark(directory: &std::path::Path) -> String {
    use crate::platform::os::ffi::OsStrExt;
    // FNV-1a, 32 bit: stable across versions, unlike the standard library's hasher.
    let hash = directory
        .as_os_str()
        .as_bytes()
        .iter()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    format!("{:04x}", (hash >> 16) ^ (hash & 0xffff))
}
