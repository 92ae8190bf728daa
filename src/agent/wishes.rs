//! The person's settings for all requests, until they change them.

use super::window::Shortening;
use crate::conversation::Money;
use crate::provider::Effort;

/// The person's settings for all requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wishes {
    /// Whether the conversation is shortened automatically.
    pub shortening: Shortening,
    /// Whether further turns are likely: else no summary is paid for at the end of one.
    pub goes_on: bool,
    /// How much the model should think; `None` leaves it to the provider.
    pub effort: Option<Effort>,
    /// The budget of the session: a request that would certainly exceed it is not sent.
    pub budget: Option<Money>,
    /// From which likely cost on the person is told before a message is sent.
    pub tell_price: Option<Money>,
    /// The most requests a turn may make, where that has changed since the start.
    pub max_steps: Option<u32>,
}

impl Wishes {
    /// Sets nothing, and has the conversation shortened automatically.
    pub(super) const fn new() -> Self {
        let shortening = Shortening::On;
        Self { shortening, goes_on: true, effort: None, budget: None, tell_price: None, max_steps: None }
    }
}
