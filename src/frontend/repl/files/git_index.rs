//! What git's index says of the files of a directory: which are not as they were when git last looked.

use std::collections::HashMap;
use std::path::Path;

use crate::approval::each_index_entry;

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
        let top = directory.ancestors().find(|folder| folder.join(".git").exists())?;
        let below = directory.strip_prefix(top).ok()?.to_str()?;
        let prefix = if below.is_empty() { String::new() } else { format!("{below}/") };
        let mut stamps = HashMap::new();
        let whole = each_index_entry(top, |entry| {
            if let Some(path) = std::str::from_utf8(entry.path).ok().and_then(|path| path.strip_prefix(&prefix)) {
                stamps.insert(path.into(), Stamp { changed: entry.seconds, size: entry.bytes });
            }
        })?;
        whole.then_some(Self { stamps })
    }

    /// Tells whether a file is new to git, or not as git knows it.
    pub(super) fn is_changed(&self, path: &str, stamp: Stamp) -> bool {
        self.stamps.get(path).is_none_or(|known| *known != stamp)
    }
}

#[cfg(test)]
mod tests {
    use crate::platform::os::fs::MetadataExt as _;
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
}
