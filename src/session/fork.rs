//! A session that begins as another one: a pointer to that one's file, no copy of it.

use super::entry::EntryKind;
use super::{Loaded, SessionId};

/// The beginning that a session has from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fork {
    from: SessionId,
    bytes: u64,
    title: String,
    /// How many messages of it stay.
    messages: u64,
}

impl Fork {
    /// Begins with all of a session as it was loaded, without what may have arrived since.
    #[must_use]
    pub fn of(loaded: &Loaded) -> Self {
        let said = loaded.conversation.opening();
        let title = loaded.title.clone().unwrap_or_else(|| said.lines().next().unwrap_or_default().to_owned());
        let title = title.chars().take(80).collect();
        Self { from: loaded.id.clone(), bytes: loaded.bytes, title, messages: u64::MAX }
    }

    /// Begins with so many messages of it only: up to before something the person said.
    #[must_use]
    pub const fn before(mut self, messages: usize) -> Self {
        self.messages = messages as u64;
        self
    }

    /// The lines that say so.
    pub(super) fn lines(self) -> Vec<EntryKind> {
        let Self { from, bytes, title, messages } = self;
        let mut lines = vec![EntryKind::Forked { from, bytes, title }];
        if messages != u64::MAX {
            lines.push(EntryKind::Rewound { messages });
        }
        lines
    }
}
