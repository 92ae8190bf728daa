//! The tools every run has, one line each. The trait's file does not know them.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::conversation::ToolSpec;

use super::propose_command_tool::NAME as PROPOSE_COMMAND;
use super::{
    ApplyPatchTool, AskUserTool, DeleteTool, EditTool, GlobTool, GrepTool, ListTool, MakeDirectoryTool, MoveTool,
    MultiEditTool, ReadTool, ShellJobTool, ShellTool, TerminalTool, TodoTool, Tool, WebFetchTool, WriteTool,
};

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

/// The tools a small model is told about, in as few words as it understands: the name, what it does, and its
/// arguments, the required ones marked with a star.
const TERSE: &[(&str, &str, &[&str])] = &[
    ("shell", "Run a shell command (ls, find, grep, git, mv, …) and get its output", &["command*"]),
    ("read", "Read a file", &["path*"]),
    ("edit", "Replace one piece of text in a file", &["path*", "old_string*", "new_string*"]),
    ("write", "Create a file or replace all of its content", &["path*", "content*"]),
];

/// The same where a command for the prompt line is wanted: with a shell such a model runs it first, and the person
/// waits twice.
const TERSE_LINE: &[(&str, &str, &[&str])] =
    &[("propose_command", "Put a command on the user's prompt line, for the user to run", &["command*", "why*"])];

/// Makes the specifications a small model gets of these tools: few, and short.
#[must_use]
pub fn terse(specs: &[ToolSpec]) -> Vec<ToolSpec> {
    let is_there = |name: &str| specs.iter().any(|spec| spec.name == name);
    let wanted = if is_there(PROPOSE_COMMAND) { TERSE_LINE } else { TERSE };
    let known = wanted.iter().filter(|(name, ..)| is_there(name));
    let make = |(name, description, arguments): &(&str, &str, &[&str])| {
        let names = arguments.iter().map(|argument| argument.trim_end_matches('*'));
        let properties: Map<String, Value> =
            names.map(|argument| (argument.to_owned(), json!({"type": "string"}))).collect();
        let required: Vec<&str> = arguments.iter().filter_map(|argument| argument.strip_suffix('*')).collect();
        ToolSpec {
            name: (*name).to_owned(),
            description: (*description).to_owned(),
            input_schema: json!({"type": "object", "properties": properties, "required": required}),
        }
    };
    known.map(make).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_small_model_is_told_are_arguments_the_tools_have() {
        let all = standard(None).into_iter().chain([Arc::new(crate::tool::ProposeCommandTool) as Arc<dyn Tool>]);
        let all: Vec<ToolSpec> = all.map(|tool| tool.spec()).collect();
        let work: Vec<ToolSpec> = all.iter().filter(|spec| spec.name != PROPOSE_COMMAND).cloned().collect();
        assert_eq!((terse(&work).len(), terse(&all).len()), (TERSE.len(), TERSE_LINE.len()));
        for spec in terse(&work).into_iter().chain(terse(&all)) {
            let whole = all.iter().find(|whole| whole.name == spec.name).unwrap();
            let known = whole.input_schema["properties"].as_object().unwrap();
            for name in spec.input_schema["properties"].as_object().unwrap().keys() {
                assert!(known.contains_key(name), "{} has no {name}", spec.name);
            }
            for name in whole.input_schema["required"].as_array().into_iter().flatten() {
                let required = spec.input_schema["required"].as_array().unwrap();
                // What a command touches is found out by axi itself.
                assert!(required.contains(name) || name == "touches", "{} needs {name}", spec.name);
            }
        }
    }
}
