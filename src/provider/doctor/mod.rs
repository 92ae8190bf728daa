//! The wire doctor: asks a model some twenty short questions and finds out what its server does with them.
//!
//! Each question goes the way of any other, by the wire that is used anyway: what a server refuses and the wire can
//! leave out is learnt on the way, and kept as the profile with which the wire begins from then on.

mod ask;
mod finding;
mod judge;
mod probes;
mod tools;

use super::http::Client;
use super::settings::ProviderSettings;
pub use finding::{Examination, Finding, Probe, Verdict};

/// Asks everything; `told` hears of each finding as it is made. Some twenty requests of a few hundred tokens each.
///
/// # Cancel safety
/// Dropping the future closes the connection.
pub async fn examine(settings: &ProviderSettings, client: &Client, told: &mut dyn FnMut(&Finding)) -> Examination {
    probes::all(settings, client, told).await
}
