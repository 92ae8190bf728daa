//! What git's index says of the files of a directory: which are not as they were when git last looked.
//!
//! Only the index file is read (its format: Documentation/gitformat-index.txt of git); no git is started, which
//! would run what a repository's configuration names.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A larger index is not read, in bytes: half a million files.
const LARGEST: u64 = 64 * 1024 * 1024;
/// Bytes of an entry before its path, without and with extended flags.
const FIXED: usize = 62;
/// The end of each entry of versions 2 and 3 is padded to this.
const ALIGNMENT: usize = 8;
const EXTENDED: u16 = 0x4000;

/// When a file was changed, in seconds since 1970, and its size, both as git keeps them: in 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) changed: u32,
    pub(super) size: u32,
}

/// The files git knows of, relative to one directory.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct GitIndex {
    stamps: HashMap<Box<str>, Stamp>,
}

impl GitIndex {
    /// Reads the index of the repository that `directory` is in; `None` where there is none that can be read.
    pub(super) fn read(directory: &Path) -> Option<Self> {
        let (top, index) = directory.ancestors().find_map(|folder| Some((folder, index_path(folder)?)))?;
        let below = directory.strip_prefix(top).ok()?.to_str()?;
        let prefix = if below.is_empty() { String::new() } else { format!("{below}/") };
        if std::fs::metadata(&index).ok()?.len() > LARGEST {
            return None;
        }
        Some(Self { stamps: parse(&std::fs::read(index).ok()?, &prefix)? })
    }

    /// Tells whether a file is new to git, or not as git knows it.
    pub(super) fn is_changed(&self, path: &str, stamp: Stamp) -> bool {
        self.stamps.get(path).is_none_or(|known| *known != stamp)
    }
}

/// The index of the working tree whose top is `folder`.
fn index_path(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    let metadata = std::fs::metadata(&git).ok()?;
    if metadata.is_dir() {
        return Some(git.join("index"));
    }
    // A linked working tree or a submodule: the file names the directory.
    let text = std::fs::read_to_string(&git).ok().filter(|_| metadata.len() < 4096)?;
    Some(folder.join(text.strip_prefix("gitdir:")?.trim()).join("index"))
}

fn parse(bytes: &[u8], prefix: &str) -> Option<HashMap<Box<str>, Stamp>> {
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let version = number(4)?;
    let count = number(8)?;
    let mut stamps = HashMap::new();
    let mut at = 12;
    let mut path: Vec<u8> = Vec::new();
    for _ in 0..count {
        let stamp = Stamp { changed: number(at + 8)?, size: number(at + 36)? };
        let flags = u16::from_be_bytes(bytes.get(at + 60..at + 62)?.try_into().ok()?);
        let name_at = at + FIXED + if flags & EXTENDED == 0 { 0 } else { 2 };
        let from = match version {
            2 | 3 => {
                path.clear();
                name_at
            }
            // The path is what is left of the last one when some bytes are cut off, and what follows.
            4 => {
                let (cut, from) = variable_number(bytes, name_at)?;
                path.truncate(path.len().checked_sub(cut)?);
                from
            }
            _ => return None,
        };
        let length = bytes.get(from..)?.iter().position(|&byte| byte == 0)?;
        path.extend_from_slice(&bytes[from..from + length]);
        at = match version {
            4 => from + length + 1,
            // One to eight NULs, so that the entry's length is a multiple of eight.
            _ => at + (from - at + length + ALIGNMENT) / ALIGNMENT * ALIGNMENT,
        };
        if let Some(below) = std::str::from_utf8(&path).ok().and_then(|path| path.strip_prefix(prefix)) {
            stamps.insert(below.into(), stamp);
        }
    }
    Some(stamps)
}

/// Reads the variable-width number of version 4; returns it and where it ends.
fn variable_number(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut byte = *bytes.get(at)?;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        at += 1;
        byte = *bytes.get(at)?;
        value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
    }
    Some((value, at + 1))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;
    use std::process::Command;

    use super::*;

    fn stamp(path: &Path) -> Stamp {
        let metadata = std::fs::metadata(path).unwrap();
        Stamp { changed: u32::try_from(metadata.mtime()).unwrap(), size: u32::try_from(metadata.size()).unwrap() }
    }

    #[test]
    fn files_that_are_not_as_git_knows_them_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| {
            let mut run = Command::new("git");
            run.args(arguments).current_dir(folder.path()).env("GIT_CONFIG_GLOBAL", "/dev/null");
            run.output().is_ok_and(|output| output.status.success())
        };
        if !git(&["init", "-q"]) {
            return;
        }
        std::fs::create_dir(folder.path().join("src")).unwrap();
        let names = ["a.rs", "src/lib.rs", "src/library.rs", "src/文件.rs"];
        for name in names {
            std::fs::write(folder.path().join(name), name).unwrap();
        }
        assert!(git(&["add", "."]));
        for version in ["2", "4"] {
            assert!(git(&["update-index", "--index-version", version]));
            std::fs::write(folder.path().join("src/lib.rs"), "src/lib.rs").unwrap();
            assert!(git(&["add", "."]));
            std::fs::write(folder.path().join("src/lib.rs"), "changed").unwrap();
            std::fs::write(folder.path().join("src/new.rs"), "new").unwrap();
            let index = GitIndex::read(folder.path()).unwrap();
            let changed = |name: &str| index.is_changed(name, stamp(&folder.path().join(name)));
            assert_eq!(names.map(changed), [false, true, false, false], "version {version}");
            assert!(changed("src/new.rs"));
            let below = GitIndex::read(&folder.path().join("src")).unwrap();
            assert!(!below.is_changed("library.rs", stamp(&folder.path().join("src/library.rs"))));
            std::fs::remove_file(folder.path().join("src/new.rs")).unwrap();
        }
    }

    #[test]
    fn a_broken_index_is_none() {
        for bytes in [
            &b""[..],
            b"DIRC",
            b"DIRC\0\0\0\x02\0\0\0\x05\0\0",
            b"XXXX\0\0\0\x02\0\0\0\0",
            b"DIRC\0\0\0\x09\0\0\0\x01",
        ] {
            assert_eq!(parse(bytes, ""), None);
        }
        let mut bytes = b"DIRC\0\0\0\x04\0\0\0\x01".to_vec();
        bytes.extend([0; 62]);
        bytes.extend([0xff; 20]);
        assert_eq!(parse(&bytes, ""), None);
    }
}
