//! Rows: words fill them, prefixes stand before them, finished rows are printed.

mod output;
mod own;
mod script;
mod wrapper;

pub(super) use output::Output;
pub use own::in_rows;
pub(super) use script::{cuts_between, is_ideographic};
pub(super) use wrapper::{Prefix, Spaces, Wrapper};
