//! The lines of the history that are in memory, each once.
//!
//! The order is one of preference, the best last: lines of other directories, lines of this directory, lines sent
//! since the start.

use std::collections::HashMap;

use super::file::Entry;

/// The lines, each once.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// By position; `None` where a newer line says the same.
    pub(super) lines: Vec<Option<Entry>>,
    /// Where in them a line is, by what makes it the same as another.
    pub(super) position: HashMap<String, usize>,
}

impl Lines {
    /// Orders what was read of the file. Takes its time: no key may wait for it.
    pub(super) fn read(entries: Vec<Entry>, directory: &str) -> Self {
        let mut lines = Self::default();
        let (here, elsewhere): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| entry.directory == directory);
        for entry in elsewhere.into_iter().chain(here) {
            lines.push(entry);
        }
        lines
    }

    /// Adds a line that is to be preferred to all.
    pub(super) fn push(&mut self, entry: Entry) {
        let key = key(&entry);
        if let Some(old) = self.position.insert(key, self.lines.len()) {
            self.lines[old] = None;
        }
        self.lines.push(Some(entry));
    }

    /// The lines, the best last.
    pub(super) fn iter(&self) -> std::slice::Iter<'_, Option<Entry>> {
        self.lines.iter()
    }
}

/// What makes two lines the same.
pub(super) fn key(entry: &Entry) -> String {
    if entry.pastes.is_empty() {
        return entry.line.clone();
    }
    format!("{}\u{0}{}", entry.line, entry.pastes.join("\u{0}"))
}
