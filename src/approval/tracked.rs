//! What git has a copy of, read from its index; no process is started. A file that cannot be looked up counts as
//! not tracked: this only makes a question sound worse than it is.

use std::cell::Cell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256};

use crate::platform::os::ffi::OsStrExt as _;
use crate::platform::os::fs::MetadataExt as _;

use super::git_index::{IndexContent, each_index_entry};

/// The files of one repository of which git has a copy, as they were when git last looked.
#[derive(Debug, Default)]
pub struct Tracked {
    root: PathBuf,
    files: HashMap<Vec<u8>, (Stat, Hash)>,
    /// Folders of a sparse checkout: git has a copy of everything below.
    folders: Vec<Vec<u8>>,
    /// Whether the repository counts in SHA-256.
    is_long: bool,
    /// Bytes that were read for [`Tracked::holds`].
    read: Cell<u64>,
}

/// The first bytes of a content's hash: as many as the shorter kind has.
type Hash = [u8; 20];

/// So many bytes are read at most to compare contents: it is done before a question.
const MOST_READ: u64 = 64 * 1024 * 1024;

/// What the index records about a file: if these values are equal, git takes the file for unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    seconds: u32,
    nanoseconds: u32,
    bytes: u32,
}

impl Tracked {
    /// Reads the index of the repository at `root`; `None` if there is no repository.
    #[must_use]
    pub fn read(root: &Path) -> Option<Self> {
        let mut tracked = Self { root: root.to_owned(), ..Self::default() };
        // The entries before a damaged one count.
        each_index_entry(root, |entry| match entry.kept {
            IndexContent::Content => {
                let stat = Stat { seconds: entry.seconds, nanoseconds: entry.nanoseconds, bytes: entry.bytes };
                tracked.is_long = entry.hash.len() > 20;
                if let Some(hash) = entry.hash.first_chunk() {
                    tracked.files.insert(entry.path.to_owned(), (stat, *hash));
                }
            }
            IndexContent::Folder => tracked.folders.push(entry.path.to_owned()),
            IndexContent::Nothing => {}
        })?;
        Some(tracked)
    }

    /// Tells whether git has a copy of the file's present content: as [`Tracked::keeps`], and where only its time differs
    /// (it was written again with the same words) its content is compared. Reads at most 64 MiB in all; what lies behind
    /// that is taken for changed.
    #[must_use]
    pub fn holds(&self, path: &Path) -> bool {
        self.keeps(path) || self.has_same_content(path).unwrap_or(false)
    }

    fn has_same_content(&self, path: &Path) -> Option<bool> {
        let (known, hash) = self.files.get(path.strip_prefix(&self.root).ok()?.as_os_str().as_encoded_bytes())?;
        let metadata = std::fs::symlink_metadata(path).ok()?;
        let read = self.read.get().checked_add(metadata.len()).filter(|read| *read <= MOST_READ)?;
        if u32::try_from(metadata.len()) != Ok(known.bytes) {
            return Some(false);
        }
        let content = if metadata.is_symlink() {
            std::fs::read_link(path).ok()?.as_os_str().as_bytes().to_vec()
        } else if metadata.is_file() {
            self.read.set(read);
            std::fs::read(path).ok()?
        } else {
            return Some(false);
        };
        let mut hashed = Context::new(if self.is_long { &SHA256 } else { &SHA1_FOR_LEGACY_USE_ONLY });
        hashed.update(format!("blob {}\0", content.len()).as_bytes());
        hashed.update(&content);
        Some(hashed.finish().as_ref().starts_with(hash))
    }

    /// Tells whether git has a copy of the file's present content: it is in the index, and not changed since.
    #[must_use]
    pub fn keeps(&self, path: &Path) -> bool {
        let Ok(below) = path.strip_prefix(&self.root) else { return false };
        let name = below.as_os_str().as_encoded_bytes();
        let Some((known, _)) = self.files.get(name) else {
            return self.folders.iter().any(|folder| name.starts_with(folder));
        };
        let Ok(metadata) = std::fs::symlink_metadata(path) else { return false };
        // The index has only the low 32 bits.
        let low = |value: u64| u32::try_from(value & u64::from(u32::MAX)).unwrap_or(u32::MAX);
        let is = Stat {
            seconds: low(metadata.mtime().cast_unsigned()),
            nanoseconds: low(metadata.mtime_nsec().cast_unsigned()),
            bytes: low(metadata.len()),
        };
        // Some file systems, and some ports of git, record whole seconds only.
        is == *known || (known.nanoseconds == 0 && Stat { nanoseconds: 0, ..is } == *known)
    }
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
    fn what_was_written_again_with_the_same_words_git_has_and_with_others_it_has_not() {
        for format in ["sha1", "sha256"] {
            let place = tempfile::tempdir().unwrap();
            let root = place.path();
            let write = |name: &str, text: &str| {
                // A file of its own, with a time of its own.
                let _ = std::fs::remove_file(root.join(name));
                std::fs::write(root.join(name), text).unwrap();
                let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
                std::fs::File::options().write(true).open(root.join(name)).unwrap().set_modified(time).unwrap();
            };
            git(root, &["init", "-q", &format!("--object-format={format}")]);
            for name in ["same", "other", "empty"] {
                std::fs::write(root.join(name), if name == "empty" { "" } else { name }).unwrap();
            }
            crate::platform::os::fs::symlink("same", root.join("link")).unwrap();
            git(root, &["add", "."]);
            write("same", "same");
            write("other", "OTHER");
            write("empty", "");
            std::fs::remove_file(root.join("link")).unwrap();
            crate::platform::os::fs::symlink("same", root.join("link")).unwrap();
            let tracked = Tracked::read(root).unwrap();
            let held: Vec<&str> = ["same", "other", "empty", "link", "new"]
                .into_iter()
                .filter(|name| tracked.holds(&root.join(name)))
                .collect();
            assert_eq!(held, ["same", "empty", "link"], "{format}");
            assert!(!tracked.keeps(&root.join("same")));
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
}
