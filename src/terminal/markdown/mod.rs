//! Renders markdown while it arrives, in rows that never change: push text, take the rows that are final.
//!
//! # How
//! Lines go through CommonMark's container algorithm (`block/`), which never looks back. The text of a paragraph is
//! read again whenever a word is complete, but only from the first construct that is still open; only what no later
//! text can change is laid out (`inline/`, `block/text.rs`). Rows are filled greedily (`rows/`), so a full row is
//! final. A fence is printed line by line, a table when it ends.
//!
//! So three laws hold: (a) however a text is cut into pieces, the same rows result; (b) the same rows result
//! whether it is streamed or laid out at once; (c) a printed row never changes.
//!
//! # Choices
//! Where CommonMark requires going back, or does not suit a terminal or a model's habits, axi deviates. Each
//! deviation is listed with its reason (`tests/it/markdown_deviations.rs`).

mod block;
mod highlight;
mod html;
mod inline;
mod layout;
mod rows;
mod source;
mod stream;

pub use highlight::Highlighter;
pub use layout::{Layout, Wrap};
pub use rows::in_rows;
pub use stream::{MarkdownStream, Reasoning};
