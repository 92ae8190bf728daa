//! Programs on terminals of their own, which the model types into and looks at.

mod cap;
mod keys;
mod programs;
mod state;
mod terminal_tool;

pub(crate) use programs::Programs;
pub use terminal_tool::TerminalTool;
