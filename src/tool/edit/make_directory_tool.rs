//! The `mkdir` tool: a directory with its parents.

use std::path::{Path, PathBuf};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::conversation::{Effect, Preview, Subject, ToolFacts, ToolIdentity, ToolKind, ToolSpec, ToolVerb};
use crate::tool::arguments::{Arguments, Field, PATH};
use crate::tool::{Before, Roots, Settled, Tool, ToolContext, ToolMemory, ToolOutput, paths, text_file, work};

const FIELDS: &[Field] = &[Field { name: PATH.name, aliases: &["directory", "dir", "file_path"] }];

/// Makes directories.
#[derive(Debug, Default)]
pub struct MakeDirectoryTool;

fn request(input: &Value, roots: &Roots) -> Result<PathBuf, String> {
    Ok(roots.resolve(Arguments::parse("mkdir", input, FIELDS)?.filled_text("path")?))
}

/// Says why it could not be made. Looks at the disk.
fn refused(roots: &Roots, path: &Path) -> Option<String> {
    if path.symlink_metadata().is_ok() {
        let shown = paths::shown(roots, path);
        return (!path.is_dir()).then(|| format!("{shown} exists and is no directory."));
    }
    if let Some(file) = path.ancestors().skip(1).find(|above| above.exists()).filter(|above| !above.is_dir()) {
        return Some(format!("{} is a file, not a directory.", paths::shown(roots, file)));
    }
    paths::may_make(path).err().map(|error| text_file::problem(roots, path, &error))
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

    fn effect(&self, _input: &Value, _place: &Roots) -> Effect {
        Effect::Write
    }

    fn subject(&self, input: &Value, roots: &Roots) -> Subject {
        request(input, roots).map_or(Subject::Whole, paths::subject_of)
    }

    fn settle(&self, input: &Value, roots: &Roots, _memory: &ToolMemory) -> Settled {
        match request(input, roots) {
            Ok(path) if path.is_dir() => {
                let says = format!("{} exists already.", paths::shown(roots, &path));
                let facts = ToolFacts { path: Some(path), ..ToolFacts::default() };
                Settled::Answer(Box::new(ToolOutput::ok(says, facts)))
            }
            Ok(_) | Err(_) => Settled::AsIs,
        }
    }

    fn check(&self, input: &Value, before: &Before<'_>) -> Result<Preview, String> {
        let roots = before.roots;
        let path = request(input, roots)?;
        refused(roots, &path).map_or(Ok(()), Err)?;
        Ok(Preview::Text { text: format!("mkdir {}", paths::shown(roots, &path)) })
    }

    fn run<'a>(&'a self, input: Value, context: ToolContext<'a>) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            let path = match request(&input, context.roots) {
                Ok(path) => path,
                Err(problem) => return ToolOutput::failed(problem),
            };
            if context.cancel.is_cancelled() {
                return work::interrupted("Interrupted by the user before it started.", ToolFacts::default());
            }
            let shown = paths::shown(context.roots, &path);
            let target = path.clone();
            let made = work::to_the_end(move || {
                let existed = target.is_dir();
                std::fs::create_dir_all(&target).map(|()| existed)
            });
            match made.await {
                Err(broken) => broken,
                Ok(Err(error)) => ToolOutput::failed(text_file::problem(context.roots, &path, &error)),
                Ok(Ok(existed)) => {
                    let says = if existed { format!("{shown} exists already.") } else { format!("Made {shown}.") };
                    ToolOutput::ok(says, ToolFacts { path: Some(path), ..ToolFacts::default() })
                }
            }
        })
    }
}
