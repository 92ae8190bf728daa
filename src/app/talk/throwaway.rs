//! Outputs of a conversation of which nothing is kept.

use std::path::{Path, PathBuf};

/// Where the whole outputs of a session go of which nothing is kept; dropped, they are gone. One that was killed is
/// swept later.
pub(super) struct Throwaway(pub(super) PathBuf);

impl Throwaway {
    pub(super) fn beside(outputs: &Path) -> Self {
        Self(outputs.join(format!("{}{}", crate::tool::ONCE, std::process::id())))
    }
}

impl Drop for Throwaway {
    fn drop(&mut self) {
        match std::fs::remove_dir_all(&self.0) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!(%error, path = %self.0.display(), "outputs were left behind");
            }
            Ok(()) | Err(_) => {}
        }
    }
}
