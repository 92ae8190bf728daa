//! Where tokens of MCP servers are kept: in the keychain, or in the file of keys where the person asked for that.

use std::path::{Path, PathBuf};

use super::kept::KeptError;
use super::models::{find_in_file, find_key, remove_from_file, remove_key, store_in_file, store_key};
use crate::mcp::TokenStore;

/// Where a token that is new is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeping {
    /// Where the one before is.
    AsBefore,
    /// In the keychain.
    Keychain,
    /// In the file.
    File,
}

/// The tokens.
pub(super) struct Tokens {
    file: Option<PathBuf>,
    keeping: Keeping,
}

impl Tokens {
    pub(super) const fn new(file: Option<PathBuf>, keeping: Keeping) -> Self {
        Self { file, keeping }
    }

    fn in_file(&self, account: &str) -> Result<Option<String>, KeptError> {
        self.file.as_deref().map_or(Ok(None), |file| find_in_file(file, account))
    }

    fn file(&self) -> Result<&Path, String> {
        self.file.as_deref().ok_or_else(|| std::io::Error::from(std::io::ErrorKind::NotFound).to_string())
    }
}

impl TokenStore for Tokens {
    /// The file first: who asked for it has no keychain that answers.
    fn find(&self, account: &str) -> Option<String> {
        let in_file = self.in_file(account).unwrap_or_else(|error| {
            tracing::warn!(%error, "the file of keys cannot be read");
            None
        });
        in_file.or_else(|| {
            find_key(account).unwrap_or_else(|error| {
                tracing::info!(%error, "the keychain has no answer");
                None
            })
        })
    }

    fn keep(&self, account: &str, text: &str) -> Result<(), String> {
        let in_file = match self.keeping {
            Keeping::AsBefore => self.in_file(account).map_err(|error| error.to_string())?.is_some(),
            Keeping::Keychain => false,
            Keeping::File => true,
        };
        if in_file {
            return store_in_file(self.file()?, account, text).map_err(|error| error.to_string());
        }
        store_key(account, text).map_err(|error| error.to_string())?;
        // An older one in the file would be found first.
        self.file().map_or(Ok(false), |file| remove_from_file(file, account)).map_err(|error| error.to_string())?;
        Ok(())
    }

    fn forget(&self, account: &str) -> Result<bool, String> {
        let of_file = self.file().map_or(Ok(false), |file| remove_from_file(file, account));
        let of_file = of_file.map_err(|error| error.to_string())?;
        match remove_key(account) {
            Ok(was) => Ok(was || of_file),
            Err(_) if of_file => Ok(true),
            Err(error) => Err(error.to_string()),
        }
    }

    fn alone(&self) -> Option<std::fs::File> {
        use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
        let path = self.file.as_deref()?.with_extension("lock");
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path.parent()?).ok()?;
        let file =
            std::fs::OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path).ok()?;
        file.lock().ok()?;
        Some(file)
    }
}
