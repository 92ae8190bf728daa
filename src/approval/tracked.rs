//! What git has a copy of, read from its index; no process is started. A file that cannot be looked up counts as
//! not tracked: this only makes a question sound worse than it is.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::git_index::{IndexContent, each_index_entry};

/// The files of one repository of which git has a copy, as they were when git last looked.
#[derive(Debug, Default)]
pub struct Tracked {
    root: PathBuf,
    files: HashMap<Vec<u8>, Stat>,
    /// Folders of a sparse checkout: git has a copy of everything below.
    folders: Vec<Vec<u8>>,
}

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
                tracked.files.insert(entry.path.to_owned(), stat);
            }
            IndexContent::Folder => tracked.folders.push(entry.path.to_owned()),
            IndexContent::Nothing => {}
        })?;
        Some(tracked)
    }

    /// Tells whether git has a copy of the file's present content: it is in the index, and not changed since.
    #[must_use]
    pub fn keeps(&self, path: &Path) -> bool {
        let Ok(below) = path.strip_prefix(&self.root) else { return false };
        let name = below.as_os_str().as_encoded_bytes();
        let Some(known) = self.files.get(name) else {
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
