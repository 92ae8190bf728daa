//! Parses text into a tree: `guard` refuses what deceives, the rest is read as bash, zsh and POSIX shells all read
//! it. Knows no program, and nothing that is only known while a line runs.

mod compound;
mod cursor;
mod guard;
mod lexer;
mod looks;
mod parser;
mod redirect;
mod syntax;

pub(super) use guard::{LONGEST, odd_character};
pub(super) use looks::{is_destructive_name, looks_destructive};
pub(super) use parser::parse;
pub(super) use syntax::{Assignment, Node, Operator, Redirect, RedirectKind, Simple, Word, WordPart};
