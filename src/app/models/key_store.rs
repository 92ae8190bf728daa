//! Where a secret is kept: in a file that only the person can read, or in the keychain, and never in both.

use std::io;
use std::path::{Path, PathBuf};

use super::super::kept::KeptError;
use super::keychain::{self, Keychain, KeychainError};
use super::keyfile;

/// Keeps secrets.
pub(in crate::app) struct KeyStore {
    file: Option<PathBuf>,
    keychain: Keychain,
}

/// Why something could not be kept or forgotten.
#[derive(Debug, thiserror::Error)]
pub(in crate::app) enum KeyStoreError {
    /// The file.
    #[error("{0}")]
    File(#[from] KeptError),
    /// The keychain.
    #[error("{0}")]
    Keychain(#[from] KeychainError),
}

/// What was forgotten.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::app) enum Forgotten {
    /// There was nothing.
    Nothing,
    /// All there was.
    All,
    /// What the file had; the keychain did not say whether it has something.
    OfFile(KeychainError),
}

impl KeyStore {
    pub(in crate::app) const fn new(file: Option<PathBuf>) -> Self {
        Self { file, keychain: keychain::SYSTEM }
    }

    pub(in crate::app) fn file(&self) -> Result<&Path, KeptError> {
        self.file.as_deref().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound).into())
    }

    fn of_file(&self, account: &str) -> Result<Option<String>, KeptError> {
        self.file.as_deref().map_or(Ok(None), |file| keyfile::find(file, account))
    }

    /// Tells whether the file has it.
    ///
    /// # Errors
    /// [`KeptError`].
    pub(in crate::app) fn is_in_file(&self, account: &str) -> Result<bool, KeptError> {
        Ok(self.of_file(account)?.is_some())
    }

    /// Finds it: in the file first, because who asked for that has no keychain that answers.
    pub(in crate::app) fn find(&self, account: &str) -> Option<String> {
        let of_file = self.of_file(account).unwrap_or_else(|error| {
            tracing::warn!(%error, "the file of keys cannot be read");
            None
        });
        of_file.or_else(|| {
            (self.keychain.find)(account).unwrap_or_else(|error| {
                tracing::info!(%error, "the keychain has no answer");
                None
            })
        })
    }

    /// Keeps it in the file. An older one leaves the keychain, where that answers; else the file's is found first.
    ///
    /// # Errors
    /// [`KeptError`].
    pub(in crate::app) fn keep_in_file(&self, account: &str, text: &str) -> Result<(), KeptError> {
        keyfile::store(self.file()?, account, text)?;
        if let Err(error) = (self.keychain.remove)(account) {
            tracing::info!(%error, "an older entry may still be in the keychain");
        }
        Ok(())
    }

    /// Keeps it in the keychain. An older one leaves the file, where it would be found first.
    ///
    /// # Errors
    /// [`KeyStoreError`].
    pub(in crate::app) fn keep_in_keychain(&self, account: &str, text: &str) -> Result<(), KeyStoreError> {
        let was_in_file = self.is_in_file(account)?;
        (self.keychain.store)(account, text)?;
        if was_in_file {
            keyfile::remove(self.file()?, account)?;
        }
        Ok(())
    }

    /// Forgets it, wherever it is.
    ///
    /// # Errors
    /// [`KeyStoreError`]; nothing that was found is forgotten then.
    pub(in crate::app) fn forget(&self, account: &str) -> Result<Forgotten, KeyStoreError> {
        let of_file = self.file.as_deref().map_or(Ok(false), |file| keyfile::remove(file, account))?;
        match (self.keychain.remove)(account) {
            Ok(of_keychain) if of_keychain || of_file => Ok(Forgotten::All),
            Ok(_) => Ok(Forgotten::Nothing),
            Err(error) if of_file => Ok(Forgotten::OfFile(error)),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    thread_local! {
        static ENTRY: RefCell<Option<String>> = const { RefCell::new(None) };
    }

    /// A keychain with one entry.
    const ANSWERING: Keychain = Keychain {
        find: |_| Ok(ENTRY.with_borrow(Clone::clone)),
        store: |_, text| {
            ENTRY.set(Some(text.to_owned()));
            Ok(())
        },
        remove: |_| Ok(ENTRY.take().is_some()),
    };
    const SILENT: Keychain = Keychain {
        find: |_| Err(KeychainError::Silent),
        store: |_, _| Err(KeychainError::Silent),
        remove: |_| Err(KeychainError::Silent),
    };

    #[test]
    fn what_is_kept_anew_is_found_and_what_is_forgotten_is_in_neither_place() {
        let home = tempfile::tempdir().unwrap();
        let file = Some(home.path().join("keys.json"));
        let store = KeyStore { file, keychain: ANSWERING };
        store.keep_in_keychain("far", "1").unwrap();
        store.keep_in_file("far", "2").unwrap();
        assert_eq!(ENTRY.with_borrow(Clone::clone), None, "the older one left the keychain");
        assert_eq!(store.find("far").as_deref(), Some("2"));
        store.keep_in_keychain("far", "3").unwrap();
        assert!(!store.is_in_file("far").unwrap());
        assert_eq!(store.find("far").as_deref(), Some("3"));
        assert_eq!(store.forget("far").unwrap(), Forgotten::All);
        assert_eq!((store.find("far"), store.forget("far").unwrap()), (None, Forgotten::Nothing));
    }

    #[test]
    fn all_is_not_said_to_be_gone_where_the_keychain_does_not_answer() {
        let home = tempfile::tempdir().unwrap();
        let file = Some(home.path().join("keys.json"));
        let store = KeyStore { file, keychain: SILENT };
        store.keep_in_file("far", "1").unwrap();
        assert_eq!(store.forget("far").unwrap(), Forgotten::OfFile(KeychainError::Silent));
        assert!(matches!(store.forget("far"), Err(KeyStoreError::Keychain(KeychainError::Silent))));
    }
}
