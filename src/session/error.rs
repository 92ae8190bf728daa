//! Why a session could not be used.

use std::path::PathBuf;

/// Why a session could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The operating system refused an operation.
    #[error("{path}: {cause}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The system's word.
        cause: std::io::Error,
    },
    /// No session has this id.
    #[error("no session {0}")]
    NotFound(String),
    /// Several sessions begin like this.
    #[error("{0} names several sessions")]
    Ambiguous(String),
    /// A fork of this session exists: the fork needs its file.
    #[error("{fork} begins with {id}")]
    Needed {
        /// The session.
        id: super::SessionId,
        /// The fork.
        fork: super::SessionId,
    },
    /// So short a part of an id may be another session's, or a word.
    #[error("{0} is too short for an id")]
    TooShort(String),
    /// Another axi has it open.
    #[error("another axi has {0} open")]
    Held(super::SessionId),
    /// The file holds not one readable entry.
    #[error("{0} is not a session file")]
    Unreadable(PathBuf),
}
