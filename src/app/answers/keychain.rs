//! Keys in the OS keychain, behind a time limit: a locked or missing service must not hold anything up.

use std::sync::mpsc;
use std::time::Duration;

use crate::locale::{Locale, word};

/// How long the keychain may take; a locked one waits for a window nobody sees.
const LIMIT: Duration = Duration::from_secs(3);

/// Why the keychain did not do it, in English.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::app) enum KeychainError {
    /// This build has none.
    #[cfg_attr(feature = "keychain", expect(dead_code, reason = "said only where it was left out"))]
    #[error("this build has no keychain support")]
    Off,
    /// No keychain service answers here.
    #[error("no keychain: {0}")]
    #[cfg_attr(not(feature = "keychain"), expect(dead_code, reason = "no keychain is asked"))]
    Missing(String),
    /// It is locked, or the person did not unlock it.
    #[error("locked: {0}")]
    #[cfg_attr(not(feature = "keychain"), expect(dead_code, reason = "no keychain is asked"))]
    Locked(String),
    /// It refuses this entry, or has something else under its name.
    #[error("{0}")]
    Refused(String),
    /// It did not answer.
    #[error("it did not answer within 3 s")]
    Silent,
}

/// Says why the keychain failed.
pub(in crate::app) fn keychain_cause(locale: &Locale, error: &KeychainError) -> String {
    match error {
        KeychainError::Off => locale.text(word::said::KEYCHAIN_NONE).to_owned(),
        KeychainError::Silent => locale.text(word::said::KEYCHAIN_SILENT).to_owned(),
        KeychainError::Missing(_) => locale.text(word::said::KEYCHAIN_MISSING).to_owned(),
        KeychainError::Locked(_) => locale.text(word::said::KEYCHAIN_LOCKED).to_owned(),
        KeychainError::Refused(_) => locale.text(word::said::KEYCHAIN_REFUSED).to_owned(),
    }
}

/// What a keychain does.
#[derive(Clone, Copy)]
pub(in crate::app) struct Keychain {
    pub(in crate::app) find: fn(&str) -> Result<Option<String>, KeychainError>,
    pub(in crate::app) store: fn(&str, &str) -> Result<(), KeychainError>,
    pub(in crate::app) remove: fn(&str) -> Result<bool, KeychainError>,
}

/// The system's.
pub(in crate::app) const SYSTEM: Keychain = Keychain { find, store, remove };

/// Finds a provider's key; `None` when there is none.
///
/// # Errors
/// [`KeychainError`].
pub(in crate::app) fn find(provider: &str) -> Result<Option<String>, KeychainError> {
    let provider = provider.to_owned();
    limited(move || backend::find(&provider))
}

/// Tells for which of these the keychain has a key. One limit holds for all of them, and the first refusal ends it: a
/// keychain that is locked or missing is not asked twenty times.
pub(in crate::app) fn kept(accounts: Vec<String>) -> Vec<bool> {
    let none = vec![false; accounts.len()];
    let found = limited(move || accounts.iter().map(|account| Ok(backend::find(account)?.is_some())).collect());
    found.unwrap_or_else(|error| {
        tracing::info!(%error, "the keychain has no answer");
        none
    })
}

/// Stores a provider's key, replacing an earlier one.
///
/// # Errors
/// [`KeychainError`].
fn store(provider: &str, key: &str) -> Result<(), KeychainError> {
    let (provider, key) = (provider.to_owned(), key.to_owned());
    limited(move || backend::store(&provider, &key))
}

/// Removes a provider's key; tells whether there was one.
///
/// # Errors
/// [`KeychainError`].
fn remove(provider: &str) -> Result<bool, KeychainError> {
    let provider = provider.to_owned();
    limited(move || backend::remove(&provider))
}

/// Runs on a thread of its own, which ends with the process if it never answers.
fn limited<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, KeychainError> + Send + 'static,
) -> Result<T, KeychainError> {
    let (sender, receiver) = mpsc::channel();
    let spawned = std::thread::Builder::new().name("keychain".into()).spawn(move || drop(sender.send(work())));
    if let Err(error) = spawned {
        return Err(KeychainError::Refused(error.to_string()));
    }
    receiver.recv_timeout(LIMIT).unwrap_or(Err(KeychainError::Silent))
}

#[cfg(feature = "keychain")]
mod backend {
    use keyring::{Entry, Error};

    use super::KeychainError;

    /// One entry a provider, so that one damaged entry costs one key (anthropics/claude-code 2.1.225).
    const SERVICE: &str = "axi";

    fn entry(provider: &str) -> Result<Entry, KeychainError> {
        Entry::new(SERVICE, provider).map_err(|error| refused(&error))
    }

    pub(in crate::app) fn find(provider: &str) -> Result<Option<String>, KeychainError> {
        match entry(provider)?.get_password() {
            Ok(key) => Ok(Some(key)),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(refused(&error)),
        }
    }

    pub(in crate::app) fn store(provider: &str, key: &str) -> Result<(), KeychainError> {
        entry(provider)?.set_password(key).map_err(|error| refused(&error))
    }

    pub(in crate::app) fn remove(provider: &str) -> Result<bool, KeychainError> {
        match entry(provider)?.delete_credential() {
            Ok(()) => Ok(true),
            Err(Error::NoEntry) => Ok(false),
            Err(error) => Err(refused(&error)),
        }
    }

    fn refused(error: &Error) -> KeychainError {
        // What the library says goes into the log; a person reads words of axi's.
        let said = error.to_string();
        tracing::info!(said, "the keychain refuses");
        match error {
            Error::PlatformFailure(_) | Error::NoDefaultStore => KeychainError::Missing(said),
            Error::NoStorageAccess(_) => KeychainError::Locked(said),
            // `Error` is non-exhaustive: the others are about one entry.
            _ => KeychainError::Refused(said),
        }
    }
}

#[cfg(not(feature = "keychain"))]
mod backend {
    use super::KeychainError;

    pub(in crate::app) fn find(_: &str) -> Result<Option<String>, KeychainError> {
        Err(KeychainError::Off)
    }

    pub(in crate::app) fn store(_: &str, _: &str) -> Result<(), KeychainError> {
        Err(KeychainError::Off)
    }

    pub(in crate::app) fn remove(_: &str) -> Result<bool, KeychainError> {
        Err(KeychainError::Off)
    }
}
