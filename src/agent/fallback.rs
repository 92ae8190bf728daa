//! The fallback models: they are asked when the chosen model's provider is overloaded.

use std::sync::Arc;

use crate::provider::{Provider, RetryPlan};

/// How often an overloaded provider is asked if there are fallback models: a provider that was overloaded three
/// times stays so for minutes (Claude Code gives up after as many).
const REQUESTS: u32 = 3;

/// The fallback models, and the model they replace.
#[derive(Clone, Default)]
pub(super) struct Fallbacks {
    standing_by: Arc<[Arc<dyn Provider>]>,
    /// How many of the fallback models were asked in this turn.
    asked: usize,
    /// The model that the person chose, while another one is asked in its place.
    chosen: Option<Arc<dyn Provider>>,
}

impl Fallbacks {
    pub(super) fn new(standing_by: Vec<Arc<dyn Provider>>) -> Self {
        Self { standing_by: standing_by.into(), ..Self::default() }
    }

    /// Returns the same fallback models, none of them asked yet.
    pub(super) fn unused(&self) -> Self {
        Self { standing_by: Arc::clone(&self.standing_by), ..Self::default() }
    }

    /// Returns the next fallback model that is not `model` itself.
    pub(super) fn next(&mut self, model: &str) -> Option<Arc<dyn Provider>> {
        loop {
            let next = self.standing_by.get(self.asked)?;
            self.asked += 1;
            if next.model().id() != model {
                return Some(Arc::clone(next));
            }
        }
    }

    /// Remembers `asked` as the person's choice, unless a choice is remembered already: then `asked` is itself a
    /// fallback.
    pub(super) fn remember(&mut self, asked: &Arc<dyn Provider>) -> Arc<dyn Provider> {
        Arc::clone(self.chosen.get_or_insert_with(|| Arc::clone(asked)))
    }

    /// Starts a new turn; returns the person's choice if another model was asked in its place.
    pub(super) fn begin(&mut self) -> Option<Arc<dyn Provider>> {
        self.asked = 0;
        self.chosen.take()
    }

    /// Returns how often a request is repeated: less often if another model can be asked.
    pub(super) fn plan(&self, retry: RetryPlan) -> RetryPlan {
        let other = self.standing_by.len() > self.asked;
        RetryPlan { requests: if other { retry.requests.min(REQUESTS) } else { retry.requests }, ..retry }
    }
}
