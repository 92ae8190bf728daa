//! Command lines: run to their end, in the background, or detached from axi; the person's terminal lent to them; what
//! they remove kept.

mod capture;
mod detached_words;
mod environment;
mod job_tool;
mod loan;
mod own_directory;
mod person_shell;
mod run;
mod settle;
mod shell_tool;
mod start;
mod trash;
mod worded;

pub use environment::HANDOFF as HANDOFF_VARIABLES;
pub(crate) use environment::SET;
pub use job_tool::ShellJobTool;
pub(crate) use own_directory::sweep_own_directories;
pub use person_shell::{PersonShell, ShellRun, ShellState, Value};
pub use shell_tool::ShellTool;
pub(crate) use shell_tool::line_in;
pub(crate) use start::{Launch, Program, Resources};
pub(crate) use worded::run_program;
