//! Where a secret is kept: in a file that only the person can read, or in the keychain, and never in both.

use std::io;
use std::path::{Path, PathBuf};

use super::super::answers::{Keychain, KeychainError, SYSTEM};
use super::super::kept::KeptError;
use super::keyfile::{self, Entry};

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
        Self { file, keychain: SYSTEM }
    }

    pub(in crate::app) fn file(&self) -> Result<&Path, KeptError> {
        self.file.as_deref().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound).into())
    }

    fn of_file(&self, account: &str) -> Result<Option<Entry>, KeptError> {
        self.file.as_deref().map_or(Ok(None), |file| keyfile::find(file, account))
    }

    /// Tells whether the file has it, and not a note of where it is.
    ///
    /// # Errors
    /// [`KeptError`].
    pub(in crate::app) fn is_in_file(&self, account: &str) -> Result<bool, KeptError> {
        Ok(matches!(self.of_file(account)?, Some(Entry::Key(_))))
    }

    /// Finds it: in the file first, because who asked for that has no keychain that answers.
    pub(in crate::app) fn find(&self, account: &str) -> Option<String> {
        let of_file = self.of_file(account).unwrap_or_else(|error| {
            tracing::warn!(%error, "the file of keys cannot be read");
            None
        });
        of_file.and_then(Entry::into_key).or_else(|| {
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
        keyfile::store(self.file()?, account, Entry::Key(text.to_owned()))?;
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
        let of_file = self.of_file(account)?;
        (self.keychain.store)(account, text)?;
        if of_file.is_some() {
            keyfile::remove(self.file()?, account)?;
        }
        Ok(())
    }

    /// Keeps it in the keychain, and notes that in the file, where the note replaces an older one. For some accounts the
    /// keychain is asked only because of such a note.
    ///
    /// # Errors
    /// [`KeyStoreError`].
    pub(in crate::app) fn keep_noted_in_keychain(&self, account: &str, text: &str) -> Result<(), KeyStoreError> {
        // A file that cannot be read takes no note.
        self.of_file(account)?;
        (self.keychain.store)(account, text)?;
        Ok(keyfile::store(self.file()?, account, Entry::InKeychain)?)
    }

    /// Forgets it, wherever it is. A note of where it is goes with it.
    ///
    /// # Errors
    /// [`KeyStoreError`]; nothing that was found is forgotten then.
    pub(in crate::app) fn forget(&self, account: &str) -> Result<Forgotten, KeyStoreError> {
        let of_file = self.of_file(account)?;
        if matches!(of_file, Some(Entry::Key(_))) {
            keyfile::remove(self.file()?, account)?;
            return Ok((self.keychain.remove)(account).map_or_else(Forgotten::OfFile, |_| Forgotten::All));
        }
        let is_gone = (self.keychain.remove)(account)?;
        if of_file.is_some()
            && let Err(error) = keyfile::remove(self.file()?, account)
        {
            tracing::warn!(%error, "a note of a key that is gone stays in the file of keys");
        }
        Ok(if is_gone { Forgotten::All } else { Forgotten::Nothing })
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
    fn a_note_stands_for_a_key_in_the_keychain_and_goes_with_it() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("keys.json");
        let store = KeyStore { file: Some(file.clone()), keychain: ANSWERING };
        let written = || std::fs::read_to_string(&file).unwrap();
        store.keep_in_file("far", "1").unwrap();
        store.keep_noted_in_keychain("far", "2").unwrap();
        assert!(!store.is_in_file("far").unwrap() && !written().contains('1') && !written().contains('2'));
        assert_eq!(store.find("far").as_deref(), Some("2"));
        store.keep_in_file("far", "3").unwrap();
        assert_eq!(store.find("far").as_deref(), Some("3"), "the note is replaced");
        store.keep_noted_in_keychain("far", "4").unwrap();
        assert_eq!((store.forget("far").unwrap(), written()), (Forgotten::All, "{}".to_owned()));
        store.keep_noted_in_keychain("far", "5").unwrap();
        store.keep_in_keychain("far", "6").unwrap();
        assert_eq!((store.find("far").as_deref(), written()), (Some("6"), "{}".to_owned()));
    }

    #[test]
    fn a_note_is_not_taken_for_the_key_where_the_keychain_does_not_answer_and_stays() {
        let home = tempfile::tempdir().unwrap();
        let file = Some(home.path().join("keys.json"));
        let answering = KeyStore { file: file.clone(), keychain: ANSWERING };
        answering.keep_noted_in_keychain("far", "1").unwrap();
        let silent = KeyStore { file, keychain: SILENT };
        assert!(matches!(silent.forget("far"), Err(KeyStoreError::Keychain(KeychainError::Silent))));
        // The key is still found once the keychain answers again.
        assert!(matches!(answering.of_file("far"), Ok(Some(Entry::InKeychain))));
        assert_eq!(answering.forget("far").unwrap(), Forgotten::All);
    }

    #[test]
    fn no_note_is_written_where_the_keychain_took_no_key() {
        let home = tempfile::tempdir().unwrap();
        let file = Some(home.path().join("keys.json"));
        let store = KeyStore { file, keychain: SILENT };
        store.keep_in_file("far", "1").unwrap();
        assert!(store.keep_noted_in_keychain("far", "2").is_err());
        assert_eq!(store.find("far").as_deref(), Some("1"));
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
