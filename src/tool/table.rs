//! The tools every run has, one line each. The trait's file does not know them.

use std::path::PathBuf;
use std::sync::Arc;

use super::Tool;
use super::apply_patch::ApplyPatchTool;
use super::ask_user::AskUserTool;
use super::delete::DeleteTool;
use super::edit::EditTool;
use super::glob::GlobTool;
use super::grep::GrepTool;
use super::list::ListTool;
use super::make_directory::MakeDirectoryTool;
use super::move_path::MoveTool;
use super::multi_edit::MultiEditTool;
use super::read::ReadTool;
use super::shell::ShellTool;
use super::shell_job::ShellJobTool;
use super::terminal_tool::TerminalTool;
use super::todo::TodoTool;
use super::web_fetch::WebFetchTool;
use super::write::WriteTool;

/// Makes the standard tools; `helper` is the axi program itself, see [`ShellTool::new`].
#[must_use]
pub fn standard(helper: Option<PathBuf>) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(ReadTool),
        Arc::new(WriteTool),
        Arc::new(EditTool),
        Arc::new(MultiEditTool),
        Arc::new(ApplyPatchTool),
        Arc::new(MakeDirectoryTool),
        Arc::new(MoveTool),
        Arc::new(DeleteTool),
        Arc::new(GlobTool),
        Arc::new(GrepTool),
        Arc::new(ListTool),
        Arc::new(ShellTool::new(helper.clone())),
        Arc::new(ShellJobTool),
        Arc::new(TerminalTool::new(helper)),
        Arc::new(WebFetchTool),
        Arc::new(TodoTool),
        Arc::new(AskUserTool),
    ]
}
