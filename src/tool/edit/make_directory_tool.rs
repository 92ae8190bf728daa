//! The `mkdir` tool: a directory with its parents.

use std::path::PathBuf;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::conversation::{Effect, Preview, Subject, ToolFacts, ToolIdentity, ToolKind, ToolSpec, ToolVerb};
use crate::tool::arguments::{Arguments, Field, PATH};
use crate::tool::{Place, Tool, ToolContext, ToolOutput, paths, text_file, work};

const FIELDS: &[Field] = &[Field { name: PATH.name, aliases: &["directory", "dir", "file_path"] }];

/// Makes directories.
#[derive(Debug, Default)]
pub struct MakeDirectoryTool;

fn request(input: &Value, place: &Place) -> Result<PathBuf, String> {
    Ok(place.resolve(Arguments::parse("mkdir", input, FIELDS)?.filled_text("path")?))
}

impl Tool for MakeDirectoryTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "mkdir".to_owned(),
            description: "Makes a directory and its parents.".to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {"path": {"type": "string"}},
                "required": ["path"]
            }),
            identity: ToolIdentity {
                kind: ToolKind::Writer,
                verb: ToolVerb::MakeDirectory,
                ..ToolIdentity::default()
            },
        }
    }

    fn effect(&self, _input: &Value, _place: &Place) -> Effect {
        Effect::Write
    }

    fn subject(&self, input: &Value, place: &Place) -> Subject {
        request(input, place).map_or(Subject::Whole, |path| paths::subject_of(&path))
    }

    fn preview(&self, input: &Value, place: &Place) -> Result<Preview, String> {
        let path = request(input, place)?;
        if path.exists() && !path.is_dir() {
            return Err(format!("{} exists and is no directory.", paths::shown(place, &path)));
        }
        Ok(Preview::Text { text: format!("mkdir {}", paths::shown(place, &path)) })
    }

    fn run<'a>(&'a self, input: Value, context: ToolContext<'a>) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            let path = match request(&input, context.place) {
                Ok(path) => path,
                Err(problem) => return ToolOutput::failed(problem),
            };
            if context.cancel.is_cancelled() {
                return work::interrupted("Interrupted by the user before it started.", ToolFacts::default());
            }
            let shown = paths::shown(context.place, &path);
            let target = path.clone();
            let made = work::to_the_end(move || {
                let existed = target.is_dir();
                std::fs::create_dir_all(&target).map(|()| existed)
            });
            match made.await {
                Err(broken) => broken,
                Ok(Err(error)) => ToolOutput::failed(text_file::problem(context.place, &path, &error)),
                Ok(Ok(existed)) => {
                    let says = if existed { format!("{shown} exists already.") } else { format!("Made {shown}.") };
                    ToolOutput::ok(says, ToolFacts { path: Some(path), ..ToolFacts::default() })
                }
            }
        })
    }
}
