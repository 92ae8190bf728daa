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
    /// A directory of another owner or group: the kernel writes none of those into the layer of an ordinary user (`EOVERFLOW`).
    #[error("{0} has another owner or group")]
    Foreign(PathBuf),
    /// A copy of it would be larger than is made unasked.
    #[error("a copy would have {files} files and {bytes} bytes, or more")]
    TooBig {
        /// How many files were counted.
        files: u64,
        /// How many bytes they have.
        bytes: u64,
    },
    /// Git keeps the repository's data in this directory, outside of the workspace: commands in a copy would change it.
    #[error("git keeps it in {0}")]
    Apart(PathBuf),
    /// Nothing would keep a command in a copy from writing elsewhere.
    #[error("no sandbox holds a command to a copy")]
    NoSandbox,
    /// Neither a layer nor a copy.
    #[error("{layer}; {copy}")]
    Neither {
        /// Why no layer.
        layer: Box<Self>,
        /// Why no copy.
        copy: Box<Self>,
    },
    /// The system allows no namespaces or no layers here; the reason in its words.
    #[error("{0}")]
    Denied(String),
}

impl Refused {
    /// Tells whether a copy may do where a layer was refused.
    #[must_use]
    pub const fn leaves_copy(&self) -> bool {
        match self {
            Self::Unsupported | Self::Mounted(_) | Self::Foreign(_) | Self::NoPlace | Self::Denied(_) => true,
            Self::TooMuch(_)
            | Self::Unusable { .. }
            | Self::TooBig { .. }
            | Self::Apart(_)
            | Self::NoSandbox
            | Self::Neither { .. } => false,
        }
    }

    /// Tells whether it was refused for its size alone.
    #[must_use]
    pub const fn is_for_size(&self) -> bool {
        match self {
            Self::TooBig { .. } => true,
            Self::Neither { copy, .. } => copy.is_for_size(),
            Self::Unsupported
            | Self::Mounted(_)
            | Self::Foreign(_)
            | Self::NoPlace
            | Self::Denied(_)
            | Self::TooMuch(_)
            | Self::Unusable { .. }
            | Self::Apart(_)
            | Self::NoSandbox => false,
        }
    }
}
