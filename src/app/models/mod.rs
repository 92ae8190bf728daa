//! Who answers: from a model's name, or none, to a provider that can be asked.

mod choose;
mod discover;
mod facts;
#[cfg(feature = "local")]
mod fetch;
mod keychain;
#[cfg(feature = "local")]
mod memory;
#[cfg(feature = "local")]
mod own;
#[cfg(not(feature = "local"))]
#[path = "no_own.rs"]
mod own;
mod resolve;

pub(super) use choose::{all, choose, connect};
pub(super) use facts::Listed;
#[cfg(feature = "local")]
pub(super) use fetch::{agreed, fetch, megabytes};
pub(super) use keychain::{KeychainError, find as find_key, remove as remove_key, store as store_key};
pub(super) use own::{LineConnector, line_connector, lister, models as own_models};
#[cfg(feature = "local")]
pub(super) use own::{missing, places};
pub(super) use resolve::{list, names, resolve};
