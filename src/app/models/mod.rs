//! Who answers: from a model's name, or none, to a provider that can be asked.

mod choose;
mod client;
mod discover;
#[cfg(feature = "local")]
mod fetch;
mod key_store;
mod keyfile;
#[cfg(feature = "local")]
mod memory;
mod missing;
#[cfg(feature = "local")]
mod own;
#[cfg(not(feature = "local"))]
#[path = "no_own.rs"]
mod own;
#[cfg(feature = "local")]
mod pace;
mod profiles;
mod resolve;
mod size;

pub(super) use choose::{all, choose, connect, key_place, name, no_model, would_be};
pub(super) use client::{client, trusted};
#[cfg(feature = "local")]
pub(super) use fetch::{agreed, fetch, fetch_own};
pub(super) use key_store::{Forgotten, KeyStore, KeyStoreError};
pub(super) use keyfile::{account, path as key_file};
#[cfg(feature = "local")]
pub(super) use memory::{available, fitting, offered};
pub(super) use missing::Missing;
#[cfg(not(feature = "local"))]
pub(super) use own::fetch_own;
pub(super) use own::{LineConnector, line_connector, lister, models as own_models};
#[cfg(feature = "local")]
pub(super) use own::{missing, places, room};
#[cfg(feature = "local")]
pub(super) use pace::{pace, speed, tokens};
pub(super) use profiles::{keep as keep_profile, path as profile_file};
#[cfg(test)]
pub(super) use resolve::correct;
pub(super) use resolve::{
    inside, keep_in_keychain, keys, list, names, not_known, resolve, unreachable, without_key,
};
pub(super) use size::megabytes;
