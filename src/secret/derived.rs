//! What was made of secret files since axi started: a copy under another name, what a program packed or encoded.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Files and directories that are secret because a secret went into them; all who hold a copy of this know the same.
#[derive(Debug, Clone, Default)]
pub struct Derived(Arc<Mutex<BTreeSet<PathBuf>>>);

impl Derived {
    /// Takes a real path; a directory with all below it.
    pub fn learn(&self, path: PathBuf) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path);
    }

    /// Tells whether a real path is one of them, or lies below one.
    #[must_use]
    pub fn holds(&self, path: &Path) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        !known.is_empty() && path.ancestors().any(|path| known.contains(path))
    }

    /// Lists them.
    #[must_use]
    pub fn all(&self) -> Vec<PathBuf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

impl PartialEq for Derived {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.all() == other.all()
    }
}

impl Eq for Derived {}
