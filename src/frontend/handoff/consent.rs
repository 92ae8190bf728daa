//! The directories in which the output of the last command is sent, or the command run again to see it, without a
//! question: the person's own list, in their own state directory, never in a project.

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
    /// Roots of workspaces where the command is run again without a question.
    #[serde(default)]
    again: Vec<PathBuf>,
    /// Roots of workspaces where it is never run again, without a question.
    #[serde(default)]
    never_again: Vec<PathBuf>,
}

/// What the person agrees to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matter {
    /// What a command printed is sent.
    Output,
    /// A command is run again, so that it changes nothing.
    Again,
}

impl List {
    /// The workspaces with a yes, and those with a no.
    const fn of(&mut self, matter: Matter) -> (&mut Vec<PathBuf>, &mut Vec<PathBuf>) {
        match matter {
            Matter::Output => (&mut self.always, &mut self.never),
            Matter::Again => (&mut self.again, &mut self.never_again),
        }
    }
}

impl OutputConsent {
    /// Knows the list in `path`, which need not exist.
    #[must_use]
    pub const fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Tells whether nobody is asked in this workspace, because of a yes; false if the list cannot be read.
    #[must_use]
    pub fn is_given(&self, matter: Matter, workspace: &Path) -> bool {
        self.read().of(matter).0.iter().any(|known| known == workspace)
    }

    /// Tells whether nobody is asked in this workspace, because of a no.
    #[must_use]
    pub fn is_refused(&self, matter: Matter, workspace: &Path) -> bool {
        self.read().of(matter).1.iter().any(|known| known == workspace)
    }

    /// Remembers a yes for good.
    ///
    /// # Errors
    /// What the system said.
    pub fn give(&self, matter: Matter, workspace: &Path) -> std::io::Result<()> {
        let mut list = self.read();
        let (always, _) = list.of(matter);
        if always.iter().any(|known| known == workspace) {
            return Ok(());
        }
        always.push(workspace.to_owned());
        self.write(&list)
    }

    /// Remembers a no for good.
    ///
    /// # Errors
    /// What the system said.
    pub fn refuse(&self, matter: Matter, workspace: &Path) -> std::io::Result<()> {
        let mut list = self.read();
        let (always, never) = list.of(matter);
        always.retain(|known| known != workspace);
        if !never.iter().any(|known| known == workspace) {
            never.push(workspace.to_owned());
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
    use crate::platform::os::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_yes_is_for_its_workspace_only_and_stays() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("state/output-consent.json");
        let consent = OutputConsent::new(path.clone());
        let out = Matter::Output;
        assert!(!consent.is_given(out, Path::new("/a")));
        consent.give(out, Path::new("/a")).unwrap();
        consent.give(out, Path::new("/a")).unwrap();
        consent.give(out, Path::new("/b")).unwrap();
        let consent = OutputConsent::new(path.clone());
        assert_eq!(
            ["/a", "/b", "/a/b", "/"].map(|at| consent.is_given(out, Path::new(at))),
            [true, true, false, false]
        );
        consent.refuse(out, Path::new("/b")).unwrap();
        assert_eq!(
            [consent.is_given(out, Path::new("/b")), consent.is_refused(out, Path::new("/b"))],
            [false, true]
        );
        assert!(consent.is_given(out, Path::new("/a")) && !consent.is_refused(out, Path::new("/a")));
        // One yes is not another.
        assert!(!consent.is_given(Matter::Again, Path::new("/a")));
        consent.give(Matter::Again, Path::new("/b")).unwrap();
        assert!(consent.is_given(Matter::Again, Path::new("/b")) && !consent.is_given(out, Path::new("/b")));
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(&path, "broken").unwrap();
        assert!(!consent.is_given(out, Path::new("/a")));
    }
}
