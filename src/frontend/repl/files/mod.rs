//! The files a line names: found for `@`, dropped on the terminal, taken from the clipboard, read for the model.

mod attachments;
mod clipboard;
mod dropped;
mod git_index;
mod index;
mod ranking;

pub use attachments::{AttachFact, AttachOptions, Attachments, Refusal, attach};
pub use clipboard::{Clipboard, NoPicture};
pub(super) use dropped::{dropped_mentions, picture_mention};
pub(super) use index::{FileIndex, KEY_WAIT};
