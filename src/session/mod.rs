//! What is kept of a conversation: an append-only file a session, one line an entry.
//!
//! Knows the nouns of a conversation and files; knows no agent, provider or terminal. Time and randomness come
//! in as parameters.

mod entry;
mod error;
mod fork;
mod frame;
mod held;
mod holder;
mod id;
mod import;
mod load;
mod mentions;
mod outline;
mod outputs;
mod overview;
mod partial;
mod parts;
mod read_ahead;
mod redact;
mod search;
mod seek;
mod sought;
mod spending;
mod store;
mod tie;
mod transcript;

pub use entry::{Changed, Entry, EntryKind, Origin};
pub use error::SessionError;
pub use fork::Fork;
pub use held::is_held;
pub use id::SessionId;
pub use import::{Foreign, ImportError, Imported, import};
pub use load::{LeftOver, Loaded, load, load_lines, open};
pub use mentions::{Mention, mentions};
pub use partial::PartialKeeper;
pub use redact::Redactor;
pub use seek::{Matches, seek};
pub use spending::Spending;
pub use store::{SessionStore, Summary};
pub use tie::{ShellTie, Tied};
pub use transcript::Session;
