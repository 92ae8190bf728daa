//! What goes wrong with a file of settings.

use std::path::PathBuf;

use super::finding::Finding;

/// Why the settings could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The system said no.
    #[error("{path}: {cause}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's word.
        cause: std::io::Error,
    },
    /// Not TOML.
    #[error("{}:{}:{}", .0.spot.file.display(), .0.spot.line, .0.spot.column)]
    Wrong(Box<Finding>),
    /// The key that is to be written lies in something that is no table.
    #[error("{path}: {key} holds something else")]
    Occupied {
        /// The file.
        path: PathBuf,
        /// The dotted key.
        key: String,
    },
}
