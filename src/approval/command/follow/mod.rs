//! Follows the tree of a line in the order in which it would run: a command that runs another is opened, any other
//! is judged and recorded.

mod env;
mod find;
mod flags;
mod flow;
mod invoke;
mod persons;
mod redirect;
mod report;
mod simple;
mod walk;
mod wrapper;
mod xargs;

pub(super) use flow::Around;
pub(super) use report::Report;
pub(super) use walk::Walker;
