//! What a person wishes of all requests, until they say otherwise.

use super::window::Shortening;
use crate::conversation::Money;
use crate::provider::Effort;

/// What a person wishes of all requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wishes {
    /// Whether the conversation is shortened by itself.
    pub shortening: Shortening,
    /// How much the model is to think; `None` leaves it to the provider.
    pub effort: Option<Effort>,
    /// What the session may cost: a request that would surely cost more is not sent.
    pub budget: Option<Money>,
    /// From which likely price on a person is told before a message is sent.
    pub tell_price: Option<Money>,
}

impl Wishes {
    /// Nothing is wished, and the conversation is shortened by itself.
    pub(super) const fn new() -> Self {
        Self { shortening: Shortening::On, effort: None, budget: None, tell_price: None }
    }
}
