//! Developer tools of this machine: which are known, which are here, what each can do; and the scripts of a project.
//!
//! From the bottom: `template`, `table`; `find`, `scripts`; `action_tool`. Knows no words for people but names and commands.

mod action_tool;
mod cache;
mod find;
mod scripts;
mod table;
mod template;

pub use action_tool::{ActionTool, actions};
pub use cache::Kept;
pub use find::{Found, Machine, Search, find, here};
pub use scripts::{Script, scripts};
pub use table::{Action, Category, DevTool, TABLE};
pub use template::{Parameter, ParameterKind, TemplateError};
