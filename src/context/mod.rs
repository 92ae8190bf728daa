//! What of a conversation is sent: a view of it that fits the model's window. Pure, no I/O.
//!
//! The conversation and its file keep everything. A `Cut` says from where on messages are sent, and what stands for
//! those before; `view` makes the messages of a request from the two. Until the next cut each request begins with
//! the bytes of the one before: prompt caches live on that.

mod anchors;
mod beside;
mod frame;
mod plan;
mod quotes;
mod recall;
mod shares;
mod tells;
mod text;
mod thin;
mod turns;
mod view;

pub use beside::Beside;
pub use plan::{Limits, Need, need, plan, sent_tokens};
pub use quotes::{LOOKED_AT, quotes};
pub use recall::{Found, PASSAGES, Said, each_word, recall, recall_of, stem, wanted};
pub use shares::Shares;
pub use turns::turns;
pub use view::{view, with_pins};

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;
