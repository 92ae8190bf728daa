//! What is typed and not yet sent, kept on the disk: it survives a crash and a closed terminal.

mod file;
mod keeper;

pub use keeper::Drafts;
pub(crate) use keeper::LineView;
