//! The `mkdir` tool: a directory with its parents.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::conversation::{Effect, Preview, Subject, ToolFacts, ToolIdentity, ToolKind, ToolSpec, ToolVerb};
use crate::tool::arguments::{Arguments, Field, PATH};
use crate::tool::{
    Before, Request, Roots, Settled, Tool, ToolContext, ToolMemory, ToolOutput, Unread, paths, text_file, work,
};

const FIELDS: &[Field] = &[Field { name: PATH.name, aliases: &["directory", "dir", "file_path"] }];

/// Makes directories.
#[derive(Debug, Default)]
pub struct MakeDirectoryTool;

/// The directory that is to be there.
struct Input(PathBuf);

fn parse(input: &Value, roots: &Roots) -> Result<Input, String> {
    Ok(Input(roots.resolve(Arguments::parse("mkdir", input, FIELDS)?.filled_text("path")?)))
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

    fn read(&self, input: &Value, roots: &Roots) -> Arc<dyn Request> {
        Unread::or(Effect::Write, parse(input, roots))
    }
}

impl Request for Input {
    fn effect(&self) -> Effect {
        Effect::Write
    }

    fn subject(&self) -> Subject {
        paths::subject_of(self.0.clone())
    }

    fn settle(&self, roots: &Roots, _memory: &ToolMemory) -> Settled {
        if !self.0.is_dir() {
            return Settled::AsIs;
        }
        let says = format!("{} exists already.", paths::shown(roots, &self.0));
        let facts = ToolFacts { path: Some(self.0.clone()), ..ToolFacts::default() };
        Settled::Answer(Box::new(ToolOutput::ok(says, facts)))
    }

    fn check(&self, before: &Before<'_>) -> Result<Preview, String> {
        let roots = before.roots;
        refused(roots, &self.0).map_or(Ok(()), Err)?;
        Ok(Preview::Text { text: format!("mkdir {}", paths::shown(roots, &self.0)) })
    }

    fn run(self: Arc<Self>, context: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            if context.cancel.is_cancelled() {
                return work::interrupted("Interrupted by the user before it started.", ToolFacts::default());
            }
            let path = self.0.clone();
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
