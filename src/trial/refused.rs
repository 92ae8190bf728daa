//! Why there can be no trial.

use std::io;
use std::path::PathBuf;

/// Why there can be no trial.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// This system has no layers.
    #[error("this system has no overlay file system")]
    Unsupported,
    /// It would cover the whole file system.
    #[error("{0} is too much for a trial")]
    TooMuch(PathBuf),
    /// Another file system is mounted inside, which a layer would hide.
    #[error("another file system is mounted at {0}")]
    Mounted(PathBuf),
    /// A directory cannot be used.
    #[error("{path}: {cause}")]
    Unusable {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// There is no place for the layer outside of what it covers, on a file system that can hold one.
    #[error("no place for the layer")]
    NoPlace,
    /// The system allows no namespaces or no layers here; the reason in its words.
    #[error("{0}")]
    Denied(String),
}
