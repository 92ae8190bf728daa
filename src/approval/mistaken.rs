//! Names that a program takes for something else than a file of that name.

use std::path::Path;

use super::blast::{BlastRadius, Entry};
use super::command::{Action, PathPattern, Target};

impl BlastRadius {
    /// Has the numbers say that they are not exact where a file may be taken for something else: its name, given by a
    /// glob, for flags; a link with a slash behind it for what it leads to.
    pub(super) fn mistaken(&mut self, target: &Target, pattern: &PathPattern, (path, entry): (&Path, Entry)) {
        let shown = pattern.shown();
        let flag = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"-"));
        let goes = matches!(target.action, Action::Remove | Action::Move);
        if flag && shown.contains(['*', '?', '[', '{']) || goes && !entry.is_directory && shown.ends_with('/') {
            (self.filtered, self.more) = (true, true);
        }
    }
}
