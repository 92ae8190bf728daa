//! The models that stand by for one whose provider has no room.

use std::sync::Arc;

use crate::provider::{Provider, RetryPlan};

/// How often a provider that has no room is asked where others stand by: one that was overloaded three times is so for
/// minutes (Claude Code gives up after as many).
const REQUESTS: u32 = 3;

/// The models that stand by, and what they stand by for.
#[derive(Clone, Default)]
pub(super) struct Fallbacks {
    standing_by: Arc<[Arc<dyn Provider>]>,
    /// How many of them were asked in this turn.
    asked: usize,
    /// Whom the person chose, while another is asked.
    chosen: Option<Arc<dyn Provider>>,
}

impl Fallbacks {
    pub(super) fn new(standing_by: Vec<Arc<dyn Provider>>) -> Self {
        Self { standing_by: standing_by.into(), ..Self::default() }
    }

    /// The same models, none of them asked.
    pub(super) fn unused(&self) -> Self {
        Self { standing_by: Arc::clone(&self.standing_by), ..Self::default() }
    }

    /// The next one that is not `model` itself.
    pub(super) fn next(&mut self, model: &str) -> Option<Arc<dyn Provider>> {
        loop {
            let next = self.standing_by.get(self.asked)?;
            self.asked += 1;
            if next.model().id() != model {
                return Some(Arc::clone(next));
            }
        }
    }

    /// Remembers whom the person chose; who asked instead of another that stood in is none.
    pub(super) fn remember(&mut self, asked: &Arc<dyn Provider>) -> Arc<dyn Provider> {
        Arc::clone(self.chosen.get_or_insert_with(|| Arc::clone(asked)))
    }

    /// Begins anew; returns whom the person chose, where another was asked.
    pub(super) fn begin(&mut self) -> Option<Arc<dyn Provider>> {
        self.asked = 0;
        self.chosen.take()
    }

    /// How often a request is repeated: less where another model can be asked.
    pub(super) fn plan(&self, retry: RetryPlan) -> RetryPlan {
        let other = self.standing_by.len() > self.asked;
        RetryPlan { requests: if other { retry.requests.min(REQUESTS) } else { retry.requests }, ..retry }
    }
}
