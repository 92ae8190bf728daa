//! What the model may do: one trait, one file for each tool (`*_tool.rs`), one line for each tool in the table.
//!
//! This room knows no terminal, locale, approval or session: a tool declares facts, and others judge and show them.
//! This file is only the room's face. Inside, the order is: leaves (arguments, output, paths, …), then what goes on
//! beside the conversation (jobs, programs), then the session's memory, then the trait, then the tools, then the table.

mod arguments;
mod ask_user_tool;
mod atomic;
pub mod base64;
mod brief;
mod contract;
pub mod devtool;
mod edit;
mod file_memory;
mod jobs;
pub mod kind;
mod mcp;
mod memory;
pub mod output;
mod output_file;
mod paths;
mod person;
pub mod picture;
mod programs;
mod project;
mod project_table;
mod propose_command_tool;
mod read;
mod roots;
mod shell;
mod sweep;
pub mod table;
mod terminal;
pub(crate) mod text_file;
mod todo_tool;
mod toolbox;
mod trash;
mod web;
mod work;

pub use crate::conversation::ToolFacts;
pub use ask_user_tool::AskUserTool;
pub use brief::brief;
pub use contract::{Access, Before, Request, Settled, Tool, ToolContext, ToolOutput, Unread, followed};
pub use edit::{ApplyPatchTool, DeleteTool, EditTool, MakeDirectoryTool, MoveTool, MultiEditTool, WriteTool};
pub use jobs::end_orphans;
pub use mcp::ServerTools;
pub use memory::{JobReport, ToolMemory};
pub use person::{Person, Wish};
pub use propose_command_tool::{Proposal, ProposeCommandTool, is_plain_line, proposed};
pub use read::{GlobTool, GrepTool, ListTool, ReadTool};
pub use roots::Roots;
pub use shell::{HANDOFF_VARIABLES, PersonShell, ShellJobTool, ShellRun, ShellState, ShellTool, Value};
pub use sweep::{ONCE, Swept, sweep, sweep_aside};
pub use terminal::TerminalTool;
pub use todo_tool::TodoTool;
pub use toolbox::{ReadCall, Toolbox};
pub use trash::SharedTrash;
pub use web::{WebFetchTool, WebSearchTool};
