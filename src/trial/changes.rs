//! What a trial changed, as facts.

use std::path::{Path, PathBuf};

use super::met::Met;
use super::repository::GitState;
use super::seen::{Seen, What};

/// Why a content is not shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotShown {
    /// It is no text.
    NoText,
    /// It is longer than asked for.
    TooLong,
    /// It cannot be read, and why.
    Unreadable(String),
}

/// What became of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// It goes.
    Deleted,
    /// It was not there.
    Added,
    /// Its content is another.
    Changed,
    /// Only its rights, times or attributes are others.
    Mode,
    /// It leads elsewhere, or is one file with another name.
    Link,
}

impl Kind {
    /// The name in machine-readable output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Deleted => "deleted",
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Mode => "mode",
            Self::Link => "link",
        }
    }
}

/// What became of one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where, absolute.
    pub path: PathBuf,
    /// What became of it.
    pub kind: Kind,
    /// Its size in bytes: of a deleted file the old one.
    pub bytes: u64,
    /// Whether the real one was changed since the trial began, so that it is not applied.
    pub meanwhile: bool,
    /// Whether the real file has other names, which keep the old content: in a trial it became a file of its own.
    pub parted: bool,
    /// Whether it belongs to another user or group, so that this one can put nothing in its place: it is not applied.
    pub foreign: bool,
    /// Whether the path of the copy stands in it, which is gone with the trial; in files of up to 4 MB.
    pub names_copy: bool,
    pub(super) before: Option<Seen>,
    pub(super) after: Option<Seen>,
    /// Where the new one lies in the layer.
    pub(super) layer: PathBuf,
    /// The name of the same file that this one becomes another name of.
    pub(super) same_as: Option<PathBuf>,
}

impl Change {
    /// Tells whether it is about a directory itself.
    #[must_use]
    pub fn is_directory(&self) -> bool {
        let seen = if self.kind == Kind::Deleted { &self.before } else { &self.after };
        seen.as_ref().is_some_and(Seen::is_directory)
    }

    /// The rights before and after, if these are what changed.
    #[must_use]
    pub fn modes(&self) -> Option<(u32, u32)> {
        let (before, after) = (self.before.as_ref()?, self.after.as_ref()?);
        (before.mode != after.mode).then_some((before.mode, after.mode))
    }

    /// The modes before and after as git knows them; `None` where nothing is, or what git does not keep.
    #[must_use]
    pub fn git_modes(&self) -> (Option<&'static str>, Option<&'static str>) {
        let mode = |seen: &Seen| match seen.what {
            What::File if seen.mode & 0o100 == 0 => Some("100644"),
            What::File => Some("100755"),
            What::Link(_) => Some("120000"),
            What::Directory | What::Pipe | What::Whiteout | What::Other => None,
        };
        (self.before.as_ref().and_then(mode), self.after.as_ref().and_then(mode))
    }

    /// Where a link leads: the path as written, or the other name of the same file.
    #[must_use]
    pub fn leads_to(&self) -> Option<&Path> {
        match (&self.same_as, &self.after) {
            (Some(same), _) => Some(same),
            (None, Some(Seen { what: What::Link(target), .. })) => Some(target),
            (None, _) => None,
        }
    }

    /// Reads the old and the new content; what is not there is empty.
    ///
    /// # Errors
    /// If one of the two is no text, has more than `most` bytes, or cannot be read.
    pub fn texts(&self, most: u64) -> Result<(String, String), NotShown> {
        let read = |seen: Option<&Seen>, path: &Path| match seen {
            None => Ok(String::new()),
            Some(Seen { what: What::Link(target), .. }) => {
                target.to_str().map(str::to_owned).ok_or(NotShown::NoText)
            }
            Some(seen) if seen.what != What::File => Err(NotShown::NoText),
            Some(seen) if seen.length > most => Err(NotShown::TooLong),
            Some(_) => {
                let bytes = std::fs::read(path).map_err(|error| NotShown::Unreadable(error.to_string()))?;
                String::from_utf8(bytes).ok().filter(|text| !text.contains('\0')).ok_or(NotShown::NoText)
            }
        };
        if self.kind == Kind::Mode {
            return Err(NotShown::NoText);
        }
        Ok((read(self.before.as_ref(), &self.path)?, read(self.after.as_ref(), &self.layer)?))
    }
}

/// Everything that a trial changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChangeSet {
    /// The real path of the workspace.
    pub workspace: PathBuf,
    /// What can be applied: deletions first, then by path.
    pub changes: Vec<Change>,
    /// What was written where it is never applied: the directory, files, bytes.
    pub lent: Vec<(PathBuf, u64, u64)>,
    /// What cannot be made again: sockets and devices.
    pub unmade: Vec<PathBuf>,
    /// Whether it was tried in a copy, beside which nothing could be written.
    pub in_copy: bool,
    /// Whom the commands reached for outside, at least: what they asked there is done.
    pub met: Vec<Met>,
    /// Some of what no command could change in a layer, for it belongs to other users or groups; where somebody looked.
    pub foreign: Vec<PathBuf>,
    /// What the workspace's repository was like before, and what it is like in the trial, where somebody looked.
    pub repository: Option<(GitState, GitState)>,
    /// The file in which an axi that applies the changes notes the directories that it writes in. If it is killed, the next
    /// one finds by these notes what it left beside its files.
    pub(super) record: PathBuf,
    /// Directories that were looked into, with the times that they have in the trial.
    pub(super) touched: Vec<(PathBuf, Seen, Seen)>,
}

impl ChangeSet {
    pub(super) fn new(workspace: PathBuf, record: PathBuf) -> Self {
        Self { workspace, record, ..Self::default() }
    }

    /// Returns a path as people and programs are told it: relative to the workspace if it lies there.
    #[must_use]
    pub fn shown<'a>(&self, path: &'a Path) -> &'a Path {
        match path.strip_prefix(&self.workspace) {
            Ok(rest) if rest.as_os_str().is_empty() => Path::new("."),
            Ok(rest) => rest,
            Err(_) => path,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_shown_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let told = |bytes: &[u8], most| {
            let path = folder.path().join("it");
            std::fs::write(&path, bytes).unwrap();
            let after = Seen::look(&path).unwrap();
            let change = Change { after, layer: path.clone(), ..added(path) };
            change.texts(most)
        };
        assert_eq!(told(b"one", 3), Ok((String::new(), "one".to_owned())));
        assert_eq!(told(b"four", 3), Err(NotShown::TooLong));
        assert_eq!(told(b"\xff", 3), Err(NotShown::NoText));
        assert_eq!(told(b"\0", 3), Err(NotShown::NoText));
        let after = Seen::look(&folder.path().join("it")).unwrap();
        let gone = Change { after, ..added(folder.path().join("gone")) };
        assert!(matches!(gone.texts(3), Err(NotShown::Unreadable(cause)) if cause.contains("os error 2")));
    }

    fn added(path: PathBuf) -> Change {
        let (layer, kind) = (path.clone(), Kind::Added);
        let (before, after, same_as) = (None, None, None);
        Change {
            path,
            kind,
            bytes: 0,
            meanwhile: false,
            parted: false,
            foreign: false,
            names_copy: false,
            before,
            after,
            layer,
            same_as,
        }
    }
}
