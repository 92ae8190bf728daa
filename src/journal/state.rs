//! The state of a path: kind, mode, time, and enough of the content to recognise it.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::attributes::{self, Attribute};
use super::node::Node;
use super::path_text::{read_path, write_path};
use crate::fingerprint::fingerprint;
use crate::platform::os::fs::{MetadataExt as _, OpenOptionsExt as _};

/// Larger files are recognised by length and time alone (bytes).
const HASHED: u64 = 8 * 1024 * 1024;

/// The state of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// What it is.
    #[serde(flatten)]
    pub kind: Kind,
    /// Permission bits.
    pub mode: u32,
    /// Owner and group.
    pub owner: (u32, u32),
    /// When it was last changed: seconds since 1970 and nanoseconds.
    pub modified: (i64, i64),
    /// Which file it is; `None` if there is none, and in old journals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) node: Option<Node>,
    /// Its extended attributes, where they can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) attributes: Option<Vec<Attribute>>,
}

/// What something is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Kind {
    /// Nothing is there.
    Missing,
    /// A file.
    File {
        /// Bytes.
        length: u64,
        /// A 64-bit hash of the bytes, if they were worth reading.
        hash: Option<u64>,
    },
    /// A symbolic link.
    Link {
        /// The path it leads to, as written.
        #[serde(serialize_with = "write_path", deserialize_with = "read_path")]
        target: PathBuf,
    },
    /// A directory.
    Directory,
    /// A device, a socket, a pipe.
    Other,
}

impl State {
    pub(super) const MISSING: Self =
        Self { kind: Kind::Missing, mode: 0, owner: (0, 0), modified: (0, 0), node: None, attributes: None };

    /// Looks at a path, without reading content. Only a path that does not exist counts as missing.
    ///
    /// # Errors
    /// The system's error, unless the path does not exist.
    pub(super) fn look(path: &Path) -> io::Result<Self> {
        let metadata = match path.symlink_metadata() {
            Ok(metadata) => metadata,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(Self::MISSING);
            }
            Err(error) => return Err(error),
        };
        let kind = if metadata.is_file() {
            Kind::File { length: metadata.len(), hash: None }
        } else if metadata.is_dir() {
            Kind::Directory
        } else if metadata.is_symlink() {
            Kind::Link { target: path.read_link()? }
        } else {
            Kind::Other
        };
        let attributes = match kind {
            Kind::File { .. } | Kind::Directory => attributes::look(path),
            Kind::Missing | Kind::Link { .. } | Kind::Other => None,
        };
        Ok(Self { attributes, ..Self::of(&metadata, kind) })
    }

    /// Looks at a path, and reads a file that is not too large.
    pub(super) fn look_closely(path: &Path) -> io::Result<Self> {
        let mut state = Self::look(path)?;
        if let Kind::File { length, hash } = &mut state.kind
            && *length <= HASHED
        {
            // A file that cannot be read is recognised by its length and time.
            *hash = read(path).ok().map(fingerprint);
        }
        Ok(state)
    }

    fn of(metadata: &Metadata, kind: Kind) -> Self {
        let node = metadata.is_file().then(|| Node {
            device: metadata.dev(),
            number: metadata.ino(),
            names: metadata.nlink(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        });
        Self {
            kind,
            mode: metadata.mode() & 0o7777,
            owner: (metadata.uid(), metadata.gid()),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            node,
            attributes: None,
        }
    }

    pub(super) const fn is_file(&self) -> bool {
        matches!(self.kind, Kind::File { .. })
    }

    /// Returns the identity of the file.
    pub(super) fn id(&self) -> Option<(u64, u64)> {
        self.node.map(|node| node.id())
    }

    /// Tells whether nothing of a file was changed since, not even what a program can set back.
    pub(super) fn is_untouched(&self, now: &Self) -> bool {
        self.node.is_some() && self.node == now.node && self.is_restored(now)
    }

    pub(super) fn is_missing(&self) -> bool {
        self.kind == Kind::Missing
    }

    pub(super) fn is_directory(&self) -> bool {
        self.kind == Kind::Directory
    }

    /// Tells whether `now`, which was looked at closely, has the same content and mode as then; a file that was
    /// only touched has.
    pub(super) fn is_same(&self, now: &Self) -> bool {
        match (&self.kind, &now.kind) {
            (Kind::Missing, Kind::Missing) => true,
            (Kind::File { length: then, hash: known }, Kind::File { length, hash }) => {
                let content = match (known, hash) {
                    (Some(known), Some(hash)) => known == hash,
                    (None, _) | (_, None) => self.modified == now.modified,
                };
                then == length && content && self.mode == now.mode
            }
            // The entries of a directory have states of their own.
            (Kind::Directory, Kind::Directory) | (Kind::Other, Kind::Other) => self.mode == now.mode,
            (Kind::Link { target: then }, Kind::Link { target }) => then == target,
            _ => false,
        }
    }

    /// Returns this content, with the mode and owner that an earlier look at the same file saw.
    pub(super) fn with_attributes_of(&self, earlier: &Self) -> Self {
        match self.kind {
            Kind::File { .. } => Self {
                mode: earlier.mode,
                owner: earlier.owner,
                attributes: earlier.attributes.clone(),
                ..self.clone()
            },
            Kind::Missing | Kind::Link { .. } | Kind::Directory | Kind::Other => self.clone(),
        }
    }

    /// Tells whether mode, owner and extended attributes are the same, as far as they are known.
    pub(super) fn has_attributes_of(&self, now: &Self) -> bool {
        let known = self.attributes.as_ref().zip(now.attributes.as_ref());
        self.mode == now.mode && self.owner == now.owner && known.is_none_or(|(then, now)| then == now)
    }

    /// Tells whether both are files of the same length.
    pub(super) fn has_length_of(&self, other: &Self) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::File { length, .. }, Kind::File { length: other, .. }) => length == other,
            _ => false,
        }
    }

    /// Tells whether `now` needs no change to become this state, as far as that can be told without reading.
    pub(super) fn is_restored(&self, now: &Self) -> bool {
        let bare = |kind: &Kind| match kind {
            Kind::File { length, .. } => Kind::File { length: *length, hash: None },
            Kind::Missing | Kind::Link { .. } | Kind::Directory | Kind::Other => kind.clone(),
        };
        self.is_missing() && now.is_missing()
            || bare(&self.kind) == bare(&now.kind) && self.modified == now.modified && self.has_attributes_of(now)
    }
}

/// Lists what stands where a path has a directory and is none: a link there leads elsewhere than it did.
pub(super) fn not_below_directories(path: &Path) -> impl Iterator<Item = &Path> {
    path.ancestors().skip(1).filter(|above| above.symlink_metadata().is_ok_and(|found| !found.is_dir()))
}

/// Opens a plain file for reading: a pipe cannot block it, and a link cannot lead it elsewhere.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let flags = (crate::platform::fs::OFlags::NOFOLLOW | crate::platform::fs::OFlags::NONBLOCK).bits();
    let flags = i32::try_from(flags).map_err(io::Error::other)?;
    File::options().read(true).custom_flags(flags).open(path)
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(HASHED + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
