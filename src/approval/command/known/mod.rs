//! What is known at one point of a line: directories, variables, functions, and what words become with them.

mod environment;
mod expand;
mod revisions;
mod state;
mod value;

pub(super) use environment::{
    is_harmless_variable, is_number_variable, is_secret_name, secret_variable, variable_matters,
};
pub(super) use revisions::names_revisions;
pub(super) use state::{MOST_VALUES, State, was_read};
pub use value::PathPattern;
pub(crate) use value::Step;
pub(super) use value::{Chunk, Origin, Value};
