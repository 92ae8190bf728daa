//! What one program does with its words: tables of all, and a file for each that has a grammar of its own. Follows no
//! line.

mod after;
mod awk;
mod call;
mod classify;
mod compiler;
mod effects;
mod git;
mod help;
mod inline;
mod output;
mod sed;
mod special;
mod table;

pub(super) use after::{After, after_call, arrive, exported, links, makes_physical};
pub(super) use call::{Call, Field, Finding, Input, Touched};
pub(super) use classify::{classify_call, only_looks, prints_files};
pub(super) use git::{git_command_at, is_git_command};
pub(super) use output::printed_by;
