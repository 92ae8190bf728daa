//! What servers that were asked for their models said of them: it corrects what is known from elsewhere.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::facts::{Facts, Listed};

/// What was said of listed models, by `PROVIDER/MODEL`. Clones are the same: lists are made on other threads.
#[derive(Debug, Clone, Default)]
pub(in crate::app) struct Said(Arc<Mutex<BTreeMap<String, Facts>>>);

impl Said {
    /// Keeps what these say.
    pub(in crate::app) fn keep(&self, listed: &[Listed]) {
        let said = listed.iter().map(|listed| (listed.id.clone(), listed.said));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(said);
    }

    /// Returns what was said of a model.
    pub(in crate::app) fn of(&self, id: &str) -> Facts {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(id).copied().unwrap_or_default()
    }
}
