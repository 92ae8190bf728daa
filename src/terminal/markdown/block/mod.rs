//! Blocks: paragraphs, lists, quotes, code and tables, line by line.

mod blocks;
mod container;
mod cursor;
mod fence;
mod growing;
mod page;
mod starts;
mod table;
mod table_layout;
mod text;

pub(super) use blocks::Blocks;
pub(super) use growing::is_worth_showing;
pub(super) use text::abridged;
