//! The directories in which the output of the last command is sent without a question: the person's own list, in
//! their own state directory, never in a project.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::file::{self, Outlives};

/// The list on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputConsent {
    path: PathBuf,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct List {
    /// Roots of workspaces where it is sent without a question.
    always: Vec<PathBuf>,
    /// Roots of workspaces where it is never sent, without a question.
    #[serde(default)]
    never: Vec<PathBuf>,
}

impl OutputConsent {
    /// Knows the list in `path`, which need not exist.
    #[must_use]
    pub const fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Tells whether the output may be sent without a question in this workspace; false if the list cannot be read.
    #[must_use]
    pub fn is_given(&self, workspace: &Path) -> bool {
        self.read().always.iter().any(|known| known == workspace)
    }

    /// Tells whether the output is never sent in this workspace, without a question.
    #[must_use]
    pub fn is_refused(&self, workspace: &Path) -> bool {
        self.read().never.iter().any(|known| known == workspace)
    }

    /// Remembers a yes for good.
    ///
    /// # Errors
    /// What the system said.
    pub fn give(&self, workspace: &Path) -> std::io::Result<()> {
        let mut list = self.read();
        if list.always.iter().any(|known| known == workspace) {
            return Ok(());
        }
        list.always.push(workspace.to_owned());
        self.write(&list)
    }

    /// Remembers a no for good.
    ///
    /// # Errors
    /// What the system said.
    pub fn refuse(&self, workspace: &Path) -> std::io::Result<()> {
        let mut list = self.read();
        list.always.retain(|known| known != workspace);
        if !list.never.iter().any(|known| known == workspace) {
            list.never.push(workspace.to_owned());
        }
        self.write(&list)
    }

    fn write(&self, list: &List) -> std::io::Result<()> {
        file::replace(&self.path, &serde_json::to_vec_pretty(list)?, Outlives::Kill)
    }

    fn read(&self) -> List {
        let bytes = std::fs::read(&self.path).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_yes_is_for_its_workspace_only_and_stays() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("state/output-consent.json");
        let consent = OutputConsent::new(path.clone());
        assert!(!consent.is_given(Path::new("/a")));
        consent.give(Path::new("/a")).unwrap();
        consent.give(Path::new("/a")).unwrap();
        consent.give(Path::new("/b")).unwrap();
        let consent = OutputConsent::new(path.clone());
        assert_eq!(["/a", "/b", "/a/b", "/"].map(|at| consent.is_given(Path::new(at))), [true, true, false, false]);
        consent.refuse(Path::new("/b")).unwrap();
        assert_eq!([consent.is_given(Path::new("/b")), consent.is_refused(Path::new("/b"))], [false, true]);
        assert!(consent.is_given(Path::new("/a")) && !consent.is_refused(Path::new("/a")));
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(&path, "broken").unwrap();
        assert!(!consent.is_given(Path::new("/a")));
    }
}
