//! Whether somebody has a session's file open.

use std::fs::{File, TryLockError};
use std::path::Path;

/// Tells whether an axi has the session of this file open: two must not write to the same conversation.
#[must_use]
pub fn is_held(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}
