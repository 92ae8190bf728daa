//! The tools every run has, one line each. The trait's file does not know them.

use std::path::PathBuf;
use std::sync::Arc;

use crate::conversation::ToolKind;

use super::devtool::is_action;
use super::edit::{ApplyPatchTool, DeleteTool, EditTool, MakeDirectoryTool, MoveTool, MultiEditTool, WriteTool};
use super::read::{GlobTool, GrepTool, ListTool, ReadTool};
use super::shell::{ShellJobTool, ShellTool};
use super::web::{WebFetchTool, WebSearchTool};
use super::{AskUserTool, TerminalTool, TodoTool, Tool};

/// Makes the standard tools; `helper` is the axi program itself, see [`ShellTool::new`], `trusted` a file of certificates
/// that are trusted beside those of the system.
#[must_use]
pub fn standard(helper: Option<PathBuf>, trusted: Option<PathBuf>) -> Vec<Arc<dyn Tool>> {
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
        Arc::new(WebFetchTool::trusting(trusted)),
        Arc::new(TodoTool),
        Arc::new(AskUserTool),
    ]
}

/// Tells what the rules of the tool of this name are about.
#[must_use]
pub fn kind_of(name: &str) -> ToolKind {
    let tools = standard(None, None).into_iter();
    let tools = tools.chain([Arc::new(WebSearchTool::default()) as Arc<dyn Tool>]);
    let specs = tools.map(|tool| tool.spec());
    let own = specs.filter(|spec| spec.name == name).map(|spec| spec.identity.kind).next();
    own.unwrap_or(if is_action(name) { ToolKind::Command } else { ToolKind::default() })
}
