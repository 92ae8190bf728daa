//! Keys in a file that only the person can read, if they asked for one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::kept::{self, Holds, KeptError};
use crate::config::Paths;
use crate::provider::{self, Environment, ProviderSettings};

/// Returns the name under which a key is stored: the provider's name, with the address if that is not the usual
/// one. So a key for one server is never sent to another.
pub(in crate::app) fn account(settings: &ProviderSettings) -> String {
    let at_home = provider::find(&settings.name).is_some_and(|row| row.base_url == settings.base_url);
    if at_home { settings.name.clone() } else { format!("{} {}", settings.name, settings.base_url) }
}

/// Where the file is.
pub(in crate::app) fn path(environment: &Environment<'_>) -> Option<PathBuf> {
    let paths = Paths::new(environment, environment("HOME").map(PathBuf::from));
    paths.state.map(|state| state.join("keys.json"))
}

/// Accounts and their keys.
type Stored = BTreeMap<String, String>;

/// Finds a key.
///
/// # Errors
/// [`KeptError`].
pub(in crate::app) fn find(path: &Path, account: &str) -> Result<Option<String>, KeptError> {
    Ok(kept::read::<Stored>(path, Holds::Secrets)?.remove(account))
}

/// Stores a key in a file that only its owner can read.
///
/// # Errors
/// [`KeptError`].
pub(in crate::app) fn store(path: &Path, account: &str, key: &str) -> Result<(), KeptError> {
    kept::change(path, Holds::Secrets, |keys: &mut Stored| drop(keys.insert(account.to_owned(), key.to_owned())))
}

/// Removes a key; returns whether there was one.
///
/// # Errors
/// [`KeptError`].
pub(in crate::app) fn remove(path: &Path, account: &str) -> Result<bool, KeptError> {
    kept::change(path, Holds::Secrets, |keys: &mut Stored| keys.remove(account).is_some())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_file_keeps_keys_for_their_owner_alone_and_one_that_is_open_is_neither_read_nor_written() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("state/keys.json");
        let found = |account: &str| find(&path, account).unwrap();
        store(&path, "openai", "k1").unwrap();
        store(&path, "lab http://x", "k2").unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!((found("openai").as_deref(), found("lab http://y")), (Some("k1"), None));
        assert!(remove(&path, "openai").unwrap() && !remove(&path, "openai").unwrap());
        assert_eq!(found("lab http://x").as_deref(), Some("k2"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(find(&path, "lab http://x"), Err(KeptError::Open)));
        assert!(matches!(store(&path, "openai", "k3"), Err(KeptError::Open)));
        assert!(matches!(remove(&path, "lab http://x"), Err(KeptError::Open)));
    }

    #[test]
    fn a_key_belongs_to_the_address_it_was_stored_for() {
        let openai = provider::find("openai").unwrap();
        let home = openai.settings("m", None, &|_: &str| None);
        let elsewhere = |name: &str| (name == "OPENAI_BASE_URL").then(|| "http://evil/v1".to_owned());
        assert_eq!(account(&home), "openai");
        assert_eq!(account(&openai.settings("m", None, &elsewhere)), "openai http://evil/v1");
    }
}
