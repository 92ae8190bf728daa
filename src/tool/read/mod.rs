//! Looking at files: reading, listing, finding by name and by content.

mod glob_tool;
mod grep_search;
mod grep_tool;
mod list_tool;
mod page;
mod read_tool;

pub use glob_tool::GlobTool;
pub use grep_tool::GrepTool;
pub use list_tool::ListTool;
pub use read_tool::ReadTool;
