//! The identity of a file.

use serde::{Deserialize, Serialize};

/// The identity of a file: paths with the same device and inode are names of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Node {
    pub(super) device: u64,
    pub(super) number: u64,
    /// How many names it has.
    pub(super) names: u64,
    /// When anything about it was last changed (ctime): seconds since 1970 and nanoseconds. No program can set this
    /// back.
    pub(super) changed: (i64, i64),
}

impl Node {
    /// Tells whether no name was added or removed since.
    pub(super) const fn has_names_of(&self, other: &Self) -> bool {
        self.device == other.device && self.number == other.number && self.names == other.names
    }

    pub(super) const fn id(&self) -> (u64, u64) {
        (self.device, self.number)
    }
}
