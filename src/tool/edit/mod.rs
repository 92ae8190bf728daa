//! Changing files: the tools, and the patches and replacements they share.

mod change;
mod delete_tool;
mod edit_tool;
mod make_directory_tool;
mod matching;
mod move_tool;
mod multi_edit_tool;
mod patch;
mod patch_apply;
mod patch_tool;
mod patch_unified;
mod write_tool;

pub use delete_tool::DeleteTool;
pub use edit_tool::EditTool;
pub use make_directory_tool::MakeDirectoryTool;
pub use move_tool::MoveTool;
pub use multi_edit_tool::MultiEditTool;
pub use patch_tool::ApplyPatchTool;
pub use write_tool::WriteTool;
