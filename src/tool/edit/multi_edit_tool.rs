//! The `multi_edit` tool: several replacements in one file, in order, all or none.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::conversation::{ToolIdentity, ToolKind, ToolSpec, ToolVerb};
use crate::tool::arguments::{Arguments, Field, PATH};
use crate::tool::{Request, Roots, Tool};

use super::edit_tool::{self, ALL, Edits, NEW, OLD};
use super::matching::Replacement;

const FIELDS: &[Field] = &[PATH, Field { name: "edits", aliases: &["changes", "replacements"] }];
const EDIT_FIELDS: &[Field] = &[OLD, NEW, ALL];

/// Changes a file in several places.
#[derive(Debug, Default)]
pub struct MultiEditTool;

fn replacements(arguments: &Arguments<'_>) -> Result<Vec<Replacement>, String> {
    let expected = "a non-empty array of {old_string, new_string, replace_all?}";
    let edits = match arguments.value("edits") {
        None => return Err(arguments.missing("edits", expected)),
        Some(Value::Array(edits)) if !edits.is_empty() => edits,
        Some(Value::Array(_)) => {
            return Err(format!("multi_edit: argument `edits` must be {expected}, got an empty one"));
        }
        Some(other) => return Err(arguments.wrong("edits", expected, other)),
    };
    edits
        .iter()
        .enumerate()
        .map(|(index, edit)| {
            Arguments::parse("multi_edit", edit, EDIT_FIELDS)
                .and_then(|arguments| edit_tool::replacement(&arguments))
                .map_err(|problem| format!("{problem} (edit {} of {})", index + 1, edits.len()))
        })
        .collect()
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

    fn read(&self, input: &Value, roots: &Roots) -> Arc<dyn Request> {
        Edits::read(Arguments::parse("multi_edit", input, FIELDS), replacements, roots)
    }
}
