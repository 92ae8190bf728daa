//! Where tokens of MCP servers are kept: in the keychain, or in the file of keys where the person asked for that.

use std::path::PathBuf;

use super::models::{Forgotten, KeyStore, KeyStoreError};
use crate::mcp::{self, TokenStore};

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
    store: KeyStore,
    keeping: Keeping,
}

impl Tokens {
    pub(super) const fn new(file: Option<PathBuf>, keeping: Keeping) -> Self {
        Self { store: KeyStore::new(file), keeping }
    }

    fn try_to_keep(&self, account: &str, text: &str) -> Result<(), KeyStoreError> {
        let in_file = match self.keeping {
            Keeping::AsBefore => self.store.is_in_file(account)?,
            Keeping::Keychain => false,
            Keeping::File => true,
        };
        if in_file {
            return Ok(self.store.keep_in_file(account, text)?);
        }
        self.store.keep_in_keychain(account, text)
    }
}

impl TokenStore for Tokens {
    fn find(&self, account: &str) -> Option<String> {
        self.store.find(account)
    }

    fn keep(&self, account: &str, text: &str) -> Result<(), String> {
        self.try_to_keep(account, text).map_err(|error| error.to_string())
    }

    fn forget(&self, account: &str) -> Result<mcp::Forgotten, String> {
        match self.store.forget(account) {
            Ok(Forgotten::Nothing) => Ok(mcp::Forgotten::Nothing),
            Ok(Forgotten::All) => Ok(mcp::Forgotten::All),
            Ok(Forgotten::OfFile(cause)) => Ok(mcp::Forgotten::Perhaps { cause: cause.to_string() }),
            Err(error) => Err(error.to_string()),
        }
    }

    fn alone(&self) -> Option<std::fs::File> {
        use crate::platform::os::fs::{DirBuilderExt as _, OpenOptionsExt as _};
        let path = self.store.file().ok()?.with_extension("lock");
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path.parent()?).ok()?;
        let file =
            std::fs::OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path).ok()?;
        file.lock().ok()?;
        Some(file)
    }
}
