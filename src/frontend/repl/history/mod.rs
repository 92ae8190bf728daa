//! The lines that were sent: kept in a file that all running axi share, searched from memory and from that file.

mod compact;
mod file;
mod lines;
mod older;
mod search;
mod store;

pub use file::{SentLine, recent_lines, sent_lines};
pub use store::HistoryOptions;
pub(crate) use store::{HistoryStore, LineHistory};
