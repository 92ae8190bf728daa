//! What one call of a program does: by its row, and by a file for each grammar that a row can name. Does not follow
//! lines.

mod after;
mod awk;
mod builtin;
mod call;
mod changes;
mod classify;
mod compiler;
mod git;
mod grammar;
mod help;
mod inline;
mod output;
mod reads;
mod sed;
mod special;
mod text;
mod unknown;

pub(super) use after::{After, after_call, arrive, exported, links, makes_physical};
pub(super) use call::{Call, Field, Finding, Input, Touched, may_have};
pub(super) use classify::{classify_call, printed_by};
pub(super) use git::{git_command_at, is_git_command};
