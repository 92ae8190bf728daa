//! What one look at a path saw: kind, rights, times, attributes, and which file it is.

use std::fs::{File, Metadata, Permissions};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::platform::fs::{lgetxattr, lgetxattr_query, llistxattr, llistxattr_query};
use crate::platform::os::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};

/// How the names of the overlay's own attributes begin (Documentation/filesystems/overlayfs.rst of the kernel).
pub(super) const OVERLAY: &str = "user.overlay.";

/// What something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    File,
    Directory,
    /// A symbolic link, and where it leads.
    Link(PathBuf),
    Pipe,
    /// What says in a layer that the name below is gone.
    Whiteout,
    /// A socket or a device: nothing that can be made again.
    Other,
}

/// What one look saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) what: What,
    pub(super) mode: u32,
    pub(super) owner: (u32, u32),
    /// Bytes.
    pub(super) length: u64,
    pub(super) modified: (i64, i64),
    pub(super) changed: (i64, i64),
    /// Device and number.
    pub(super) id: (u64, u64),
    pub(super) names: u64,
    /// Without those of the overlay and of the system.
    pub(super) attributes: Vec<(String, Vec<u8>)>,
    /// Whether nothing of the directory below shows through.
    pub(super) opaque: bool,
}

impl Seen {
    /// Looks at a path; `None` if nothing is there.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn look(path: &Path) -> io::Result<Option<Self>> {
        match path.symlink_metadata() {
            Ok(metadata) => Self::of(path, &metadata).map(Some),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn of(path: &Path, metadata: &Metadata) -> io::Result<Self> {
        let kind = metadata.file_type();
        let all = if kind.is_symlink() { Vec::new() } else { attributes(path) };
        let own = |name: &str| all.iter().find(|(known, _)| known.strip_prefix(OVERLAY) == Some(name));
        let gone = kind.is_char_device() && metadata.rdev() == 0
            || kind.is_file() && metadata.len() == 0 && own("whiteout").is_some();
        let what = if gone {
            What::Whiteout
        } else if kind.is_file() {
            What::File
        } else if kind.is_dir() {
            What::Directory
        } else if kind.is_symlink() {
            What::Link(path.read_link()?)
        } else if kind.is_fifo() {
            What::Pipe
        } else {
            What::Other
        };
        Ok(Self {
            what,
            mode: metadata.mode() & 0o7777,
            owner: (metadata.uid(), metadata.gid()),
            length: if kind.is_dir() { 0 } else { metadata.len() },
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            id: (metadata.dev(), metadata.ino()),
            names: metadata.nlink(),
            opaque: own("opaque").is_some_and(|(_, value)| value == b"y"),
            attributes: all.into_iter().filter(|(name, _)| !name.starts_with(OVERLAY)).collect(),
        })
    }

    pub(super) fn is_directory(&self) -> bool {
        self.what == What::Directory
    }

    /// Tells whether it belongs to this user.
    pub(super) fn is_own(&self) -> bool {
        self.owner.0 == crate::platform::process::geteuid().as_raw()
    }

    /// Tells whether rights, owner and attributes are the same.
    pub(super) fn has_rights_of(&self, other: &Self) -> bool {
        self.mode == other.mode && self.owner == other.owner && self.attributes == other.attributes
    }

    /// Tells whether nobody has changed it since: neither content nor name nor, but for its names, anything else.
    pub(super) fn is_still(&self, now: &Self) -> bool {
        self.id == now.id && self.what == now.what && (self.is_directory() || self.has_content_of(now))
    }

    pub(super) fn has_content_of(&self, now: &Self) -> bool {
        self.length == now.length && self.modified == now.modified && self.mode == now.mode
    }
}

/// Lists the extended attributes that belong to the file or to the overlay.
fn attributes(path: &Path) -> Vec<(String, Vec<u8>)> {
    let read = || {
        let length = llistxattr_query(path).ok().filter(|length| *length > 0)?;
        let mut names = vec![0; length];
        let length = llistxattr(path, &mut names[..]).ok()?;
        names.truncate(length);
        let names = names.split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok());
        let kept = names.filter(|name| {
            let security = name.starts_with("security.") && *name != "security.capability";
            !name.is_empty() && !name.starts_with("trusted.") && !security
        });
        let mut found = Vec::new();
        for name in kept {
            let mut value = vec![0; lgetxattr_query(path, name).ok()?];
            let length = lgetxattr(path, name, &mut value[..]).ok()?;
            value.truncate(length);
            found.push((name.to_owned(), value));
        }
        found.sort();
        Some(found)
    };
    read().unwrap_or_default()
}

/// Tells whether two files have the same bytes; one that cannot be read is equal to none.
pub(super) fn is_equal(one: &Path, other: &Path) -> bool {
    let (Ok(mut one), Ok(mut other)) = (File::open(one), File::open(other)) else { return false };
    let (mut first, mut second) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    loop {
        let Ok(length) = one.read(&mut first) else { return false };
        if length == 0 {
            return other.read(&mut second).is_ok_and(|rest| rest == 0);
        }
        if other.read_exact(&mut second[..length]).is_err() || first[..length] != second[..length] {
            return false;
        }
    }
}

/// Keeps something of ours that is closed to its owner open for as long as it lives.
#[derive(Debug)]
pub(super) struct Ajar(Option<(PathBuf, u32)>);

impl Ajar {
    /// Opens a directory or a file for its owner, if it is closed.
    pub(super) fn open(path: &Path, mode: u32, bits: u32) -> Self {
        if mode & bits == bits || crate::platform::process::geteuid().is_root() {
            return Self(None);
        }
        let opened = std::fs::set_permissions(path, Permissions::from_mode(mode | bits));
        Self(opened.ok().map(|()| (path.to_owned(), mode)))
    }
}

impl Drop for Ajar {
    fn drop(&mut self) {
        if let Some((path, mode)) = self.0.take() {
            // What is gone needs no mode.
            drop(std::fs::set_permissions(path, Permissions::from_mode(mode)));
        }
    }
}
