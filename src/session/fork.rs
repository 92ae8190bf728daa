//! A session that begins like another one: it points to that one's file, and copies nothing.

use super::entry::EntryKind;
use super::{Loaded, SessionId};

/// The part of another session's file that a fork begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fork {
    from: SessionId,
    bytes: u64,
    title: String,
    /// How many messages of that part are used.
    messages: u64,
}

impl Fork {
    /// Makes a fork of a session as it was loaded. What was appended to its file since is not in the fork.
    #[must_use]
    pub fn of(loaded: &Loaded) -> Self {
        let title = loaded.heading();
        Self { from: loaded.id.clone(), bytes: loaded.bytes, title, messages: u64::MAX }
    }

    /// Begins with only the first `messages` messages: up to a message of the person, not including it.
    #[must_use]
    pub const fn before(mut self, messages: usize) -> Self {
        self.messages = messages as u64;
        self
    }

    /// Returns the lines that record it.
    pub(super) fn lines(self) -> Vec<EntryKind> {
        let Self { from, bytes, title, messages } = self;
        let mut lines = vec![EntryKind::Forked { from, bytes, title }];
        if messages != u64::MAX {
            lines.push(EntryKind::Rewound { messages });
        }
        lines
    }
}
