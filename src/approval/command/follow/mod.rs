//! Follows the tree in the order it would run: each command is opened where it runs another one, else judged and kept.

mod env;
mod find;
mod flow;
mod invoke;
mod redirect;
mod report;
mod simple;
mod walk;
mod wrapper;

pub(super) use flow::Around;
pub(super) use walk::Walker;
