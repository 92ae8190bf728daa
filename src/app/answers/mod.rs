//! What was answered in this run, and may be asked no second time: by commands and keychains that were asked for keys, and
//! by servers that were asked for their models. Knows no `App`.

mod asked;
mod facts;
mod keychain;
mod said;

pub(super) use asked::{Asked, CommandFailed};
pub(super) use facts::{Facts, Listed};
pub(super) use keychain::{Keychain, KeychainError, SYSTEM, find, keychain_cause};
pub(super) use said::Said;
