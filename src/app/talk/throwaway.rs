//! Stores the outputs of a conversation that is not saved.

use std::path::{Path, PathBuf};

/// The directory for the complete outputs of a session that is not saved; dropping it deletes them. If axi is
/// killed, a later axi deletes them.
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
