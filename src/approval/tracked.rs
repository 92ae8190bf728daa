//! What git keeps, read from its index; no process is started.
//!
//! Format: <https://git-scm.com/docs/index-format>, versions 2 to 4. What cannot be read is not tracked: that only
//! ever makes a question sound worse than it is.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// A larger index is not read, in bytes: about a million files.
const LARGEST: u64 = 128 * 1024 * 1024;
/// Bytes of an entry before its hash.
const STAT: usize = 40;

/// The files of one repository that git keeps, as they were when it looked last.
#[derive(Debug, Default)]
pub struct Tracked {
    root: PathBuf,
    files: HashMap<Vec<u8>, Stat>,
    /// Directories of a sparse checkout: everything below is kept.
    folders: Vec<Vec<u8>>,
}

/// What the index knows of a file: git takes a file for unchanged when these are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    seconds: u32,
    nanoseconds: u32,
    bytes: u32,
}

impl Tracked {
    /// Reads the index of the repository at `root`; `None` when there is no repository.
    #[must_use]
    pub fn read(root: &Path) -> Option<Self> {
        let folder = git_directory(root)?;
        let shared = std::fs::read_to_string(folder.join("commondir"))
            .map_or_else(|_| folder.clone(), |common| folder.join(common.trim()));
        let config = std::fs::read_to_string(shared.join("config")).unwrap_or_default();
        let hash = if config.to_ascii_lowercase().contains("sha256") { 32 } else { 20 };
        let path = folder.join("index");
        let mut tracked = Self { root: root.to_owned(), ..Self::default() };
        let fits = std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() <= LARGEST);
        if fits && let Ok(bytes) = std::fs::read(&path) {
            // Entries before a damaged one stand.
            let _ = tracked.parse(&bytes, hash);
        }
        Some(tracked)
    }

    /// Tells whether git has the content the file has now: it is in the index, and not changed since.
    #[must_use]
    pub fn keeps(&self, path: &Path) -> bool {
        let Ok(below) = path.strip_prefix(&self.root) else { return false };
        let name = below.as_os_str().as_encoded_bytes();
        let Some(known) = self.files.get(name) else {
            return self.folders.iter().any(|folder| name.starts_with(folder));
        };
        let Ok(metadata) = std::fs::symlink_metadata(path) else { return false };
        // The index holds the low 32 bits.
        let low = |value: u64| u32::try_from(value & u64::from(u32::MAX)).unwrap_or(u32::MAX);
        let is = Stat {
            seconds: low(metadata.mtime().cast_unsigned()),
            nanoseconds: low(metadata.mtime_nsec().cast_unsigned()),
            bytes: low(metadata.len()),
        };
        // Some file systems and ports of git keep whole seconds only.
        is == *known || (known.nanoseconds == 0 && Stat { nanoseconds: 0, ..is } == *known)
    }

    /// Takes the entries of an index; `None` where it ends early.
    fn parse(&mut self, bytes: &[u8], hash: usize) -> Option<()> {
        if bytes.get(..4)? != b"DIRC" {
            return None;
        }
        let (version, count) = (number(bytes, 4)?, number(bytes, 8)?);
        let mut at = 12;
        let mut name: Vec<u8> = Vec::new();
        for _ in 0..count {
            let begin = at;
            let stat = Stat {
                seconds: number(bytes, begin + 8)?,
                nanoseconds: number(bytes, begin + 12)?,
                bytes: number(bytes, begin + 36)?,
            };
            let is_folder = number(bytes, begin + 24)? & 0o170_000 == 0o040_000;
            at = begin + STAT + hash;
            let flags = u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]);
            at += 2;
            let mut promised = false;
            if version >= 3 && flags & 0x4000 != 0 {
                // `git add --intent-to-add` keeps nothing of the file.
                promised = bytes.get(at)? & 0x20 != 0;
                at += 2;
            }
            if version >= 4 {
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
            if is_folder {
                self.folders.push(name.clone());
            } else if !promised {
                self.files.insert(name.clone(), stat);
            }
        }
        Some(())
    }
}

/// The repository's own directory: `.git`, or where the file of that name leads (worktrees, submodules).
fn git_directory(root: &Path) -> Option<PathBuf> {
    let path = root.join(".git");
    if path.is_dir() {
        return Some(path);
    }
    let text = std::fs::read_to_string(path).ok()?;
    Some(root.join(text.strip_prefix("gitdir:")?.trim()))
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes(four.try_into().ok()?))
}

/// A number of variable length, as in a pack's offsets; and where it ends.
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
    use std::process::Command;

    fn git(directory: &Path, arguments: &[&str]) {
        let mut command = Command::new("git");
        command.current_dir(directory).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.env("HOME", directory).args(["-c", "user.name=u", "-c", "user.email=u@localhost"]);
        let output = command.args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    #[test]
    fn git_keeps_what_it_knows_and_nobody_changed() {
        for arguments in [&["init", "-q"][..], &["init", "-q", "--object-format=sha256"][..]] {
            for version in ["2", "4"] {
                let place = tempfile::tempdir().unwrap();
                let root = place.path();
                let write = |name: &str, text: &str| std::fs::write(root.join(name), text).unwrap();
                git(root, arguments);
                std::fs::create_dir_all(root.join("src/deep")).unwrap();
                for name in ["a.txt", "src/a-much-longer-name.rs", "src/b.rs", "src/deep/c.rs", "changed"] {
                    write(name, name);
                }
                git(root, &["add", "."]);
                write("promised", "x");
                git(root, &["add", "-N", "promised"]);
                git(root, &["update-index", "--index-version", version]);
                write("changed", "longer than it was");
                write("new", "new");
                let tracked = Tracked::read(root).unwrap();
                let kept: Vec<&str> = [
                    "a.txt",
                    "src/a-much-longer-name.rs",
                    "src/b.rs",
                    "src/deep/c.rs",
                    "changed",
                    "new",
                    "promised",
                ]
                .into_iter()
                .filter(|name| tracked.keeps(&root.join(name)))
                .collect();
                assert_eq!(kept, ["a.txt", "src/a-much-longer-name.rs", "src/b.rs", "src/deep/c.rs"], "{version}");
            }
        }
    }

    #[test]
    fn a_worktree_has_its_own_index() {
        let place = tempfile::tempdir().unwrap();
        let (main, other) = (place.path().join("main"), place.path().join("other"));
        std::fs::create_dir(&main).unwrap();
        git(&main, &["init", "-q"]);
        std::fs::write(main.join("a"), "a").unwrap();
        git(&main, &["add", "a"]);
        git(&main, &["commit", "-qm", "a"]);
        git(&main, &["worktree", "add", "-q", "../other"]);
        assert!(Tracked::read(&other).unwrap().keeps(&other.join("a")));
        assert!(Tracked::read(place.path()).is_none());
    }

    #[test]
    fn a_damaged_index_breaks_nothing() {
        let entry = [&[0; 62][..], b"a\0"].concat();
        let good = [b"DIRC", &[0, 0, 0, 2, 0, 0, 0, 9][..], &entry].concat();
        for end in 0..good.len() {
            let _ = Tracked::default().parse(&good[..end], 20);
            let _ = Tracked::default().parse(&good[..end], 32);
        }
        let cut = [b"DIRC", &[0, 0, 0, 4, 0, 0, 0, 9][..], &[0; 62], &[0xff; 30]].concat();
        assert_eq!(Tracked::default().parse(&cut, 20), None);
    }
}
