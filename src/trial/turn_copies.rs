//! Trials of whole turns where the system allows no layers: the agent works in a copy of the workspace, which is made again
//! what the workspace is before each turn.

use std::io;
use std::path::{Path, PathBuf};

use super::copies::Most;
use super::{ChangeSet, Met, Refused, Trial};

/// Makes the trials of the turns of one axi, in one copy.
#[derive(Debug)]
pub struct TurnCopies {
    trial: Trial,
    is_running: bool,
    /// Whether nothing has happened since it was copied.
    is_new: bool,
}

impl TurnCopies {
    /// Copies a workspace, as [`Trial::copied`].
    ///
    /// # Errors
    /// [`Refused`].
    pub fn new(workspace: &Path, places: &[PathBuf], most: Option<Most>) -> Result<Self, Refused> {
        let trial = Trial::copied(workspace, places, most)?;
        Ok(Self { trial, is_running: false, is_new: true })
    }

    /// Returns where the agent works that would work in this directory.
    #[must_use]
    pub fn inside(&self, directory: &Path) -> PathBuf {
        self.trial.inside(directory)
    }

    /// Returns the directory for temporary files beside the copy.
    #[must_use]
    pub fn temporary(&self) -> PathBuf {
        let [_, temporary] = self.trial.writable();
        temporary
    }

    /// Makes the copy again what the workspace is now: somebody may have worked there since.
    ///
    /// # Errors
    /// [`Refused`]: no turn must work in it.
    pub fn begin_turn(&mut self) -> Result<(), Refused> {
        if !std::mem::take(&mut self.is_new) {
            self.trial.renew()?;
        }
        Ok(())
    }

    /// Notes that the turn writes.
    pub const fn begin(&mut self) {
        self.is_running = true;
    }

    /// Tells whether a turn that writes runs.
    #[must_use]
    pub const fn is_running(&self) -> bool {
        self.is_running
    }

    /// Tells whether what is written there is held.
    #[must_use]
    pub fn holds(&self, path: &Path) -> bool {
        path.starts_with(self.inside(self.trial.workspace()))
    }

    /// Reads what the turn changed, if it wrote anything.
    ///
    /// # Errors
    /// The system's error.
    pub fn end(&mut self) -> io::Result<Option<ChangeSet>> {
        if !std::mem::take(&mut self.is_running) {
            return Ok(None);
        }
        let set = self.trial.changes()?;
        // Agreed to, commands wrote elsewhere, too.
        Ok(Some(ChangeSet { in_copy: false, met: vec![Met::InCopy], ..set }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_begins_with_what_is_there_and_without_what_the_last_one_left() {
        let (folder, places) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let real = |name: &str| folder.path().join(name);
        for name in ["a", "d/b", "d/e/c"] {
            std::fs::create_dir_all(real(name).parent().unwrap()).unwrap();
            std::fs::write(real(name), name).unwrap();
        }
        std::fs::hard_link(real("a"), real("one")).unwrap();
        let mut turns = TurnCopies::new(folder.path(), &[places.path().to_owned()], None).unwrap();
        let copy = turns.inside(folder.path());
        turns.begin_turn().unwrap();
        turns.begin();
        std::fs::write(copy.join("a"), "changed").unwrap();
        std::fs::remove_dir_all(copy.join("d")).unwrap();
        std::fs::create_dir(copy.join("new")).unwrap();
        let set = turns.end().unwrap().unwrap();
        assert!(set.changes.iter().any(|change| change.path.ends_with("d/e/c")), "{set:?}");
        // Somebody works there meanwhile.
        std::fs::write(real("d/b"), "mine").unwrap();
        std::fs::remove_dir_all(real("d/e")).unwrap();
        std::fs::write(real("d/e"), "a file now").unwrap();
        std::fs::write(real("made"), "").unwrap();
        turns.begin_turn().unwrap();
        turns.begin();
        assert_eq!(turns.end().unwrap().unwrap().changes, Vec::new());
        let text = |name: &str| std::fs::read_to_string(copy.join(name)).unwrap();
        assert_eq!(["a", "one", "d/b", "d/e", "made"].map(text), ["a", "a", "mine", "a file now", ""]);
        assert!(!copy.join("new").exists());
        std::fs::write(copy.join("one"), "1").unwrap();
        assert_eq!(text("a"), "1", "two names are one file in it, too");
        assert!(turns.holds(&copy.join("x")) && !turns.holds(&real("x")));
    }
}
