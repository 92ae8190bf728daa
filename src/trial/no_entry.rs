//! What enters a trial where there are none: nothing.

use std::ffi::OsString;

/// An entry that nobody can make: [`super::Trial::new`] refuses on this system.
#[derive(Debug)]
pub struct Entry;

impl Entry {
    /// Converts it into arguments for the helper process.
    #[must_use]
    pub const fn to_arguments(&self) -> Vec<OsString> {
        Vec::new()
    }
}
