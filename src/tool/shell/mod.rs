//! Command lines: run to their end, in the background, or detached from axi; the person's terminal lent to them; what
//! they remove kept.

mod capture;
mod detached;
mod detached_words;
mod environment;
mod group;
mod job_tool;
mod jobs;
mod loan;
mod own_directory;
mod person_shell;
mod project;
mod project_table;
mod run;
mod settle;
mod shell_tool;
mod start;
mod trash;
mod worded;

pub(crate) use detached::{DetachedJobs, is_in_use};
pub use environment::HANDOFF as HANDOFF_VARIABLES;
pub(crate) use environment::SET;
pub use group::end_orphans;
pub(crate) use group::{Group, Mark};
pub use job_tool::ShellJobTool;
pub(crate) use jobs::Jobs;
pub(crate) use own_directory::sweep_own_directories;
pub use person_shell::{PersonShell, ShellRun, ShellState, Value};
pub(crate) use project::Made;
pub(crate) use shell_tool::line_in;
pub use shell_tool::ShellTool;
pub(crate) use start::{Launch, Program, Resources};
pub(crate) use worded::run_program;
