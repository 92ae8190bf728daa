//! What is done where no model is there.

/// What becomes of a start without any model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Missing {
    /// The person is asked whether to fetch axi's own.
    Offer,
    /// That is told, and nobody is asked here.
    Tell,
}
