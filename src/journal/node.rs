//! Which file something is.

use serde::{Deserialize, Serialize};

/// Which file something is: names with the same device and number are names of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Node {
    pub(super) device: u64,
    pub(super) number: u64,
    /// How many names it has.
    pub(super) names: u64,
    /// When anything of it was last changed: seconds since 1970 and nanoseconds. Nobody can set this back.
    pub(super) changed: (i64, i64),
}

impl Node {
    /// Tells whether nothing became of its names since.
    pub(super) const fn has_names_of(&self, other: &Self) -> bool {
        self.device == other.device && self.number == other.number && self.names == other.names
    }

    pub(super) const fn id(&self) -> (u64, u64) {
        (self.device, self.number)
    }
}
