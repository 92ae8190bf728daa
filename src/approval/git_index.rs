//! Reads git's index without git: a repository's configuration can make git run programs.
//!
//! Format: <https://git-scm.com/docs/index-format>, versions 2 to 4, with hashes of either length.

use std::path::{Path, PathBuf};

/// A larger index is not read, in bytes: this is enough for about a million files.
const LARGEST: u64 = 128 * 1024 * 1024;
/// Bytes of an entry before its hash.
const STAT: usize = 40;

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexContent {
    /// A file with content.
    Content,
    /// A folder of a sparse checkout: it stands for everything below.
    Folder,
    /// A file without content yet (`git add --intent-to-add`).
    Nothing,
}

/// An entry of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexEntry<'a> {
    /// The path, relative to the top of the repository; it may have any bytes.
    pub path: &'a [u8],
    /// When the file was last changed, in seconds since 1970; only the low 32 bits.
    pub seconds: u32,
    /// The nanoseconds of that time; zero if the file system, or this port of git, does not record them.
    pub nanoseconds: u32,
    /// The file's size in bytes; only the low 32 bits.
    pub bytes: u32,
    /// The hash of its content, as git counts it: 20 bytes of SHA-1 or 32 of SHA-256.
    pub hash: &'a [u8],
    /// The kind of the entry.
    pub kept: IndexContent,
}

/// Reads the index of the repository with the top directory `top`, entry by entry. Returns whether it could be read
/// to its end: the entries before a damaged one count. `None` if there is no repository.
pub fn each_index_entry(top: &Path, each: impl FnMut(&IndexEntry<'_>)) -> Option<bool> {
    let folder = git_directory(top)?;
    let path = folder.join("index");
    if std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() > LARGEST) {
        return Some(false);
    }
    let Ok(bytes) = std::fs::read(&path) else { return Some(false) };
    let shared = std::fs::read_to_string(folder.join("commondir"))
        .map_or_else(|_| folder.clone(), |common| folder.join(common.trim()));
    let config = std::fs::read_to_string(shared.join("config")).unwrap_or_default();
    let hash = if config.to_ascii_lowercase().contains("sha256") { 32 } else { 20 };
    Some(parse(&bytes, hash, each).is_some())
}

/// Returns the repository's own directory: `.git`, or the directory that a file with this name points to
/// (worktrees, submodules).
fn git_directory(top: &Path) -> Option<PathBuf> {
    let path = top.join(".git");
    let metadata = std::fs::metadata(&path).ok()?;
    if metadata.is_dir() {
        return Some(path);
    }
    let text = std::fs::read_to_string(path).ok().filter(|_| metadata.len() < 4096)?;
    Some(top.join(text.strip_prefix("gitdir:")?.trim()))
}

/// Passes on each entry; `None` if the index ends too early.
fn parse(bytes: &[u8], hash: usize, mut each: impl FnMut(&IndexEntry<'_>)) -> Option<()> {
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let (version, count) = (number(bytes, 4)?, number(bytes, 8)?);
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut at = 12;
    let mut name: Vec<u8> = Vec::new();
    for _ in 0..count {
        let begin = at;
        let is_folder = number(bytes, begin + 24)? & 0o170_000 == 0o040_000;
        at = begin + STAT + hash;
        let flags = u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]);
        at += 2;
        let mut promised = false;
        if version >= 3 && flags & 0x4000 != 0 {
            promised = bytes.get(at)? & 0x20 != 0;
            at += 2;
        }
        if version >= 4 {
            // The path is the one before, shortened by `cut` bytes, plus the bytes that follow.
            let (cut, next) = offset(bytes, at)?;
            at = next;
            name.truncate(name.len().checked_sub(cut)?);
        } else {
            name.clear();
        }
        let end = at + bytes.get(at..)?.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(&bytes[at..end]);
        // Entries of the old versions are padded to eight bytes, with at least one NUL.
        at = if version >= 4 { end + 1 } else { begin + ((end - begin) / 8 + 1) * 8 };
        each(&IndexEntry {
            path: &name,
            seconds: number(bytes, begin + 8)?,
            nanoseconds: number(bytes, begin + 12)?,
            bytes: number(bytes, begin + 36)?,
            hash: bytes.get(begin + STAT..begin + STAT + hash)?,
            kept: match (is_folder, promised) {
                (true, _) => IndexContent::Folder,
                (false, true) => IndexContent::Nothing,
                (false, false) => IndexContent::Content,
            },
        });
    }
    Some(())
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes(four.try_into().ok()?))
}

/// Reads a number of variable length, as in a pack's offsets; returns it and its end.
fn offset(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
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
    use super::*;

    #[test]
    fn a_damaged_index_breaks_nothing() {
        let entry = [&[0; 62][..], b"a\0"].concat();
        let good = [b"DIRC", &[0, 0, 0, 2, 0, 0, 0, 1][..], &entry].concat();
        let mut paths = Vec::new();
        assert_eq!(parse(&good, 20, |entry| paths.push(entry.path.to_vec())), Some(()));
        assert_eq!(paths, [b"a".to_vec()]);
        for end in 0..good.len() {
            assert_eq!(parse(&good[..end], 20, |_| {}), None, "{end}");
            let _ = parse(&good[..end], 32, |_| {});
        }
        let cut = [b"DIRC", &[0, 0, 0, 4, 0, 0, 0, 9][..], &[0; 62], &[0xff; 30]].concat();
        assert_eq!(parse(&cut, 20, |_| {}), None);
        for bytes in [&b""[..], b"XXXX\0\0\0\x02\0\0\0\0", b"DIRC\0\0\0\x09\0\0\0\x01"] {
            assert_eq!(parse(bytes, 20, |_| {}), None);
        }
    }
}
