//! Developer tools of this machine: which are known, which are here, what each can do; and the scripts of a project.
//!
//! From the bottom: `template`, `table`; `find`, `scripts`; `action_tool`,
//! `fitting`; `dev_tools`. Knows no words for people but names and commands.

mod action_tool;
mod cache;
mod dev_tools;
mod find;
mod fitting;
mod scripts;
mod table;
mod template;

pub use action_tool::{ActionTool, actions, is_action};
pub use cache::KnownVersions;
pub use dev_tools::DevTools;
pub(in crate::tool) use dev_tools::Offered;
pub use find::{Found, Machine, Search, find, here};
pub use scripts::{Script, scripts};
pub use table::{Action, Category, DevTool, TABLE};
pub use template::{Parameter, ParameterKind, TemplateError};
