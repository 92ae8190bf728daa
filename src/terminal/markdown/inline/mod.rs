//! Reads the text of a block into tokens, styles them and passes them on to the rows.

mod autolink;
mod brackets;
mod delimiter;
mod emit;
mod emphasis;
mod entity;
mod links;
mod maths;
mod parse;
mod reader;
mod tokens;

pub(super) use delimiter::REACH;
pub(super) use emit::{Emitter, overlay};
pub(super) use links::{Definitions, LABEL, definition, unescape};
pub(super) use maths::in_one_row as formula_in_one_row;
pub(super) use parse::{is_plain, read};
pub(super) use tokens::{Ending, Parsed};
