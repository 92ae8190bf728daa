//! What servers that were asked for their models said of the windows: it corrects what is known from elsewhere.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::facts::Listed;

/// The windows of listed models, in tokens, by `PROVIDER/MODEL`. Clones are the same: lists are made on other threads.
#[derive(Debug, Clone, Default)]
pub(in crate::app) struct Windows(Arc<Mutex<BTreeMap<String, u64>>>);

impl Windows {
    /// Keeps what these say.
    pub(in crate::app) fn keep(&self, listed: &[Listed]) {
        let said = listed.iter().filter_map(|listed| Some((listed.id.clone(), listed.said_window?)));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(said);
    }

    /// Returns what was said of a model.
    pub(in crate::app) fn of(&self, id: &str) -> Option<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(id).copied()
    }
}
