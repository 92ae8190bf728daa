//! What is done where no model is there.

use crate::agent::Beginning;

/// Says what the first request will begin with, where that is known: a model that is fetched reads it meanwhile.
pub(in crate::app) type FirstRequest<'a> = &'a dyn Fn() -> Option<Beginning>;

/// What becomes of a start without any model.
#[derive(Clone, Copy)]
pub(in crate::app) enum Missing<'a> {
    /// The person is asked whether to fetch axi's own.
    Offer(
        #[cfg_attr(not(feature = "local"), expect(dead_code, reason = "nothing is fetched without it"))]
        FirstRequest<'a>,
    ),
    /// That is told, and nobody is asked here.
    Tell,
}
