//! The `multi_edit` tool: several replacements in one file, in order, all or none.

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::conversation::{Effect, Preview, Subject, ToolIdentity, ToolKind, ToolSpec, ToolVerb};
use crate::tool::arguments::{Arguments, Field, PATH};
use crate::tool::{Before, Roots, Tool, ToolContext, ToolOutput, paths, work};

use super::edit_tool::{self, ALL, NEW, OLD};
use super::matching::Replacement;

const FIELDS: &[Field] = &[PATH, Field { name: "edits", aliases: &["changes", "replacements"] }];
const EDIT_FIELDS: &[Field] = &[OLD, NEW, ALL];

/// Changes a file in several places.
#[derive(Debug, Default)]
pub struct MultiEditTool;

fn request(input: &Value) -> Result<(String, Vec<Replacement>), String> {
    let arguments = Arguments::parse("multi_edit", input, FIELDS)?;
    let path = arguments.filled_text("path")?.to_owned();
    let expected = "a non-empty array of {old_string, new_string, replace_all?}";
    let edits = match arguments.value("edits") {
        None => return Err(arguments.missing("edits", expected)),
        Some(Value::Array(edits)) if !edits.is_empty() => edits,
        Some(Value::Array(_)) => {
            return Err(format!("multi_edit: argument `edits` must be {expected}, got an empty one"));
        }
        Some(other) => return Err(arguments.wrong("edits", expected, other)),
    };
    let replacements = edits
        .iter()
        .enumerate()
        .map(|(index, edit)| {
            Arguments::parse("multi_edit", edit, EDIT_FIELDS)
                .and_then(|arguments| edit_tool::replacement(&arguments))
                .map_err(|problem| format!("{problem} (edit {} of {})", index + 1, edits.len()))
        })
        .collect::<Result<_, _>>()?;
    Ok((path, replacements))
}

impl Tool for MultiEditTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "multi_edit".to_owned(),
            description: "Several `edit`s of one file, in order, all or none.".to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "edits": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "old_string": {"type": "string"},
                                "new_string": {"type": "string"},
                                "replace_all": {"type": "boolean"}
                            },
                            "required": ["old_string", "new_string"]
                        }
                    }
                },
                "required": ["path", "edits"]
            }),
            identity: ToolIdentity { kind: ToolKind::Writer, verb: ToolVerb::Edit, ..ToolIdentity::default() },
        }
    }

    fn effect(&self, _input: &Value, _place: &Roots) -> Effect {
        Effect::Write
    }

    fn subject(&self, input: &Value, roots: &Roots) -> Subject {
        Arguments::parse("multi_edit", input, FIELDS)
            .and_then(|arguments| arguments.filled_text("path"))
            .map_or(Subject::Whole, |path| paths::subject(roots, [path]))
    }

    fn check(&self, input: &Value, before: &Before<'_>) -> Result<Preview, String> {
        let (path, replacements) = request(input)?;
        let (path, change) = edit_tool::plan(before.roots, &path, &replacements)?;
        change.checked(&path, before)
    }

    fn run<'a>(&'a self, input: Value, context: ToolContext<'a>) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            let (path, replacements) = match request(&input) {
                Ok(request) => request,
                Err(problem) => return ToolOutput::failed(problem),
            };
            let roots = context.roots.clone();
            match work::blocking(context.cancel, move |_| edit_tool::plan(&roots, &path, &replacements)).await {
                Err(stopped) => stopped,
                Ok(Err(problem)) => ToolOutput::failed(problem),
                Ok(Ok((path, change))) => change.make(path, context).await,
            }
        })
    }
}
