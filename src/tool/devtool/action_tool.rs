//! An action of a developer tool as a tool of its own: `git_status`, `cargo_test`.
//!
//! It runs as a program with arguments, which no shell reads. It is judged as the equivalent shell line: what the
//! table declares about it loosens nothing.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use super::find::Found;
use super::table::{Action, TABLE};
use super::template::{Parameter, ParameterKind};
use crate::conversation::{Effect, Preview, Subject, ToolIdentity, ToolKind, ToolSpec, ToolVerb};
use crate::tool::shell::{self, Program};
use crate::tool::{Before, Request, Roots, Tool, ToolContext, ToolOutput, Unread};

/// Seconds an action may take.
const LIMIT: u64 = 600;

/// Where it runs, beside what the row says.
const DIRECTORY: &str = "cwd";

/// An action of a tool that is here.
#[derive(Debug, Clone)]
pub struct ActionTool {
    name: String,
    action: &'static Action,
    program: PathBuf,
    helper: Option<PathBuf>,
}

/// What a call comes to.
struct Call {
    arguments: Vec<String>,
    line: String,
    /// The equivalent shell line, with the directory: relative paths mean something else there.
    whole: String,
    directory: PathBuf,
    program: PathBuf,
    helper: Option<PathBuf>,
}

/// Makes a tool of each action of a tool that was found; `helper` is as of [`crate::tool::ShellTool::new`].
pub fn actions<'a>(found: &'a Found, helper: Option<&'a PathBuf>) -> impl Iterator<Item = Arc<ActionTool>> {
    let program = found.path.iter();
    program.flat_map(move |program| {
        found.tool.actions.iter().map(move |action| {
            let name = action_name(found.tool.id, action);
            Arc::new(ActionTool { name, action, program: program.clone(), helper: helper.cloned() })
        })
    })
}

/// Tells whether a tool of this name is an action of the table.
#[must_use]
pub fn is_action(name: &str) -> bool {
    TABLE.iter().any(|tool| tool.actions.iter().any(|action| action_name(tool.id, action) == name))
}

/// What the tool of an action is called.
fn action_name(tool: &str, action: &Action) -> String {
    format!("{tool}_{}", action.name)
}

impl ActionTool {
    /// What the table declares that it would touch.
    #[must_use]
    pub const fn declared(&self) -> Effect {
        self.action.effect
    }

    fn call(&self, input: &Value, roots: &Roots) -> Result<Call, String> {
        let mut fields = match input {
            Value::Object(fields) => fields.clone(),
            Value::Null => Map::new(),
            _ => return Err(format!("{}: the arguments must be an object", self.name)),
        };
        let directory = match fields.remove(DIRECTORY) {
            None | Some(Value::Null) => roots.cwd.clone(),
            Some(Value::String(path)) if !path.contains('\0') => roots.resolve(&path),
            Some(_) => return Err(format!("{}: `{DIRECTORY}` must be a directory", self.name)),
        };
        let words = self.action.arguments(&fields).map_err(|error| format!("{}: {error}", self.name))?;
        let program = self.program.file_name().unwrap_or_default().to_string_lossy();
        let arguments: Vec<String> = words.into_iter().skip(1).collect();
        let words = std::iter::once(program.as_ref()).chain(arguments.iter().map(String::as_str));
        // Only a NUL cannot be quoted, and the table's kinds let none through.
        let line = shlex::try_join(words).map_err(|error| format!("{}: {error}", self.name))?;
        let whole = shell::line_in(&directory, &line, roots);
        Ok(Call { arguments, line, whole, directory, program: self.program.clone(), helper: self.helper.clone() })
    }
}

impl Tool for ActionTool {
    fn spec(&self) -> ToolSpec {
        let parameters = self.action.parameters();
        let required: Vec<&str> =
            parameters.iter().filter(|parameter| parameter.required).map(|parameter| parameter.name).collect();
        let mut properties: Map<String, Value> =
            parameters.iter().map(|parameter| (parameter.name.to_owned(), schema(parameter))).collect();
        properties.insert(DIRECTORY.to_owned(), json!({"type": "string"}));
        ToolSpec {
            name: self.name.clone(),
            description: format!("Runs `{}`.", self.action.shown()),
            input_schema: json!({"type": "object", "properties": properties, "required": required}),
            identity: ToolIdentity { kind: ToolKind::Command, verb: ToolVerb::Run, ..ToolIdentity::default() },
        }
    }

    fn read(&self, input: &Value, roots: &Roots) -> Arc<dyn Request> {
        Unread::or(Effect::Execute, self.call(input, roots))
    }
}

impl Request for Call {
    fn effect(&self) -> Effect {
        Effect::Execute
    }

    fn subject(&self) -> Subject {
        Subject::Command { line: self.whole.clone() }
    }

    fn check(&self, _before: &Before<'_>) -> Result<Preview, String> {
        Ok(Preview::Command { line: self.whole.clone() })
    }

    fn run(self: Arc<Self>, context: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            let program = Program { path: &self.program, arguments: &self.arguments };
            let helper = self.helper.as_deref();
            shell::run_program(helper, program, &self.line, &self.directory, LIMIT, &context).await
        })
    }
}

fn schema(parameter: &Parameter) -> Value {
    let kind = match parameter.kind {
        ParameterKind::Text | ParameterKind::File | ParameterKind::Directory => "string",
        ParameterKind::Number => "integer",
        ParameterKind::Boolean => "boolean",
    };
    let mut schema = json!({"type": kind});
    if let Some(default) = parameter.default {
        schema["default"] = match (parameter.kind, default.parse::<i64>()) {
            (ParameterKind::Number, Ok(number)) => number.into(),
            _ => default.into(),
        };
    }
    schema
}

#[cfg(test)]
#[path = "action_tests.rs"]
mod tests;
