//! Programs on terminals of their own, which the model types into and looks at.

mod keys;
mod terminal_tool;

pub use terminal_tool::TerminalTool;
