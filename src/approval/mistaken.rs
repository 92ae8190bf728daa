//! File names that a program takes for something else than a file.

use std::path::Path;

use super::blast::{BlastRadius, Entry};
use super::command::{Action, PathPattern, Target};

impl BlastRadius {
    /// Marks the numbers as not exact if a file may be taken for something else: a name that a glob matched may
    /// look like a flag, and a link with a slash behind it means what it leads to.
    pub(super) fn mistaken(&mut self, target: &Target, pattern: &PathPattern, (path, entry): (&Path, Entry)) {
        let shown = pattern.shown();
        let flag = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"-"));
        let goes = matches!(target.action, Action::Remove | Action::Move);
        if flag && shown.contains(['*', '?', '[', '{']) || goes && !entry.is_directory && shown.ends_with('/') {
            (self.filtered, self.more) = (true, true);
        }
    }
}
