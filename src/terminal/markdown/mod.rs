//! Markdown as it arrives, in rows that never change: push text, take the rows that are final.
//!
//! # How
//! Lines go through CommonMark's container algorithm (`block/`), which needs no look back. The text of a paragraph is
//! read again each time a word is complete, but only from the first construct that is still open, and only what no
//! later text can change is laid out (`inline/`, `block/text.rs`). Rows are filled greedily (`rows/`), so that a full row
//! is final. A fence goes out line by line, a table when it ends.
//!
//! So three laws hold: (a) however a text is cut into pieces, the same rows come out; (b) streamed or whole, the same
//! rows come out; (c) a row that is out never changes.
//!
//! # Choices
//! Where CommonMark cannot be known without going back, or serves a terminal or a model's habits badly, a choice was
//! made. Each stands in the list of deviations (`tests/it/markdown_deviations.rs`), with its reason.

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
