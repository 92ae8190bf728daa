//! What is kept of a conversation: an append-only file a session, one line an entry.
//!
//! Knows the nouns of a conversation and files; knows no agent, provider or terminal. Time and randomness come
//! in as parameters.

mod entry;
mod error;
mod id;
mod load;
mod partial;
mod redact;
mod store;
mod tie;
mod transcript;

pub use entry::{Entry, EntryKind};
pub use error::SessionError;
pub use id::SessionId;
pub use load::{Loaded, load};
pub use redact::Redactor;
pub use store::{SessionStore, Summary};
pub use tie::{ShellTie, Tied};
pub use transcript::{Session, is_held};
