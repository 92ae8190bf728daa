//! Keys in a file that only the person can read, if they asked for one, and notes of keys that the keychain has.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::kept::{self, Holds, KeptError};
use crate::config::Paths;
use crate::provider::{self, Environment, ProviderSettings};

/// What the file has for an account. It cannot be printed, because it may be a key.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(from = "String", into = "String")]
pub(super) enum Entry {
    /// The key.
    Key(String),
    /// A note that the key is in the keychain. For some accounts the keychain is asked only because of it.
    InKeychain,
}

/// In the file the note is an empty text, because no key is empty.
impl From<String> for Entry {
    fn from(text: String) -> Self {
        if text.is_empty() { Self::InKeychain } else { Self::Key(text) }
    }
}

impl From<Entry> for String {
    fn from(entry: Entry) -> Self {
        match entry {
            Entry::Key(key) => key,
            Entry::InKeychain => Self::new(),
        }
    }
}

impl Entry {
    /// Returns the key, if it is here.
    pub(super) fn into_key(self) -> Option<String> {
        match self {
            Self::Key(key) => Some(key),
            Self::InKeychain => None,
        }
    }
}

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

/// What the file has for each account.
type Stored = BTreeMap<String, Entry>;

/// Finds what the file has for an account.
///
/// # Errors
/// [`KeptError`].
pub(super) fn find(path: &Path, account: &str) -> Result<Option<Entry>, KeptError> {
    Ok(kept::read::<Stored>(path, Holds::Secrets)?.remove(account))
}

/// Stores it in a file that only its owner can read.
///
/// # Errors
/// [`KeptError`].
pub(super) fn store(path: &Path, account: &str, entry: Entry) -> Result<(), KeptError> {
    kept::change(path, Holds::Secrets, |entries: &mut Stored| drop(entries.insert(account.to_owned(), entry)))
}

/// Removes what the file has for an account.
///
/// # Errors
/// [`KeptError`].
pub(super) fn remove(path: &Path, account: &str) -> Result<(), KeptError> {
    kept::change(path, Holds::Secrets, |entries: &mut Stored| drop(entries.remove(account)))
}

#[cfg(test)]
mod tests {
    use crate::platform::os::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_file_keeps_keys_for_their_owner_alone_and_one_that_is_open_is_neither_read_nor_written() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("state/keys.json");
        let found = |account: &str| find(&path, account).unwrap().and_then(Entry::into_key);
        let key = |key: &str| Entry::Key(key.to_owned());
        store(&path, "openai", key("k1")).unwrap();
        store(&path, "lab http://x", key("k2")).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!((found("openai").as_deref(), found("lab http://y")), (Some("k1"), None));
        remove(&path, "openai").unwrap();
        assert_eq!(found("openai"), None);
        assert_eq!(found("lab http://x").as_deref(), Some("k2"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(find(&path, "lab http://x"), Err(KeptError::Open)));
        assert!(matches!(store(&path, "openai", key("k3")), Err(KeptError::Open)));
        assert!(matches!(remove(&path, "lab http://x"), Err(KeptError::Open)));
    }

    #[test]
    fn a_note_that_the_key_is_elsewhere_is_no_key() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("keys.json");
        store(&path, "lab http://x", Entry::InKeychain).unwrap();
        assert!(find(&path, "lab http://x").unwrap() == Some(Entry::InKeychain));
        assert_eq!(Entry::InKeychain.into_key(), None);
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
