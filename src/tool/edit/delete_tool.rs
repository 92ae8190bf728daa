//! The `delete` tool: a file, a link, or a directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::conversation::{Effect, Preview, Subject, ToolFacts, ToolIdentity, ToolKind, ToolSpec, ToolVerb};
use crate::file::tree;
use crate::tool::arguments::{Arguments, Field, PATH, plain};
use crate::tool::{Before, Request, Roots, Tool, ToolContext, ToolOutput, Unread, paths, text_file, work};

/// Entries counted for a person at most.
const COUNTED: usize = 10_000;

/// Entries of a directory named to a person.
const NAMED: usize = 20;

const FIELDS: &[Field] = &[PATH, plain("recursive")];

/// Deletes files and directories.
#[derive(Debug, Default)]
pub struct DeleteTool;

struct Input {
    path: PathBuf,
    recursive: bool,
}

impl Input {
    fn parse(input: &Value, roots: &Roots) -> Result<Self, String> {
        let arguments = Arguments::parse("delete", input, FIELDS)?;
        Ok(Self { path: roots.resolve(arguments.filled_text("path")?), recursive: arguments.flag("recursive")? })
    }
}

/// Refuses the workspace, the home, and whatever holds them (anthropics/claude-code#93099: a home was deleted).
pub(crate) fn not_the_base(roots: &Roots, path: &Path) -> Result<(), String> {
    let bases = [Some(&roots.cwd), Some(&roots.workspace), roots.home.as_ref()];
    let real = paths::real(path).unwrap_or_else(|_| path.to_path_buf());
    for base in bases.into_iter().flatten() {
        let real_base = paths::real(base).unwrap_or_else(|_| base.clone());
        // A link to a base directory is only a link.
        if base.starts_with(path) || !path.is_symlink() && real_base.starts_with(&real) {
            return Err(format!("{} holds the workspace or the home; it is not touched.", path.display()));
        }
    }
    Ok(())
}

/// Counts what is below a directory, without following links.
fn count(path: &Path) -> usize {
    tree(path).skip(1).take(COUNTED).count()
}

/// Names some of what is in a directory, directories with a `/`.
fn first_names(path: &Path) -> Vec<String> {
    if path.is_symlink() {
        return Vec::new();
    }
    let mut names: Vec<String> = path
        .read_dir()
        .into_iter()
        .flatten()
        .flatten()
        .take(COUNTED)
        .map(|entry| {
            let end = if entry.file_type().is_ok_and(|kind| kind.is_dir()) { "/" } else { "" };
            paths::escaped(Path::new(&entry.file_name())) + end
        })
        .collect();
    names.sort_unstable();
    if names.len() > NAMED {
        names.truncate(NAMED);
        names.push("…".to_owned());
    }
    names
}

/// Says what would go.
fn check(request: &Input, roots: &Roots) -> Result<String, String> {
    let path = &request.path;
    not_the_base(roots, path)?;
    let shown = paths::shown(roots, path);
    let metadata = path.symlink_metadata().map_err(|error| text_file::problem(roots, path, &error))?;
    if !metadata.is_dir() {
        return Ok(shown);
    }
    let count = count(path);
    if count > 0 && !request.recursive {
        return Err(format!("{shown} is a directory with {count} entries; set recursive to delete all of it."));
    }
    let more = if count >= COUNTED { " or more" } else { "" };
    Ok(format!("{shown} and {count}{more} entries in it"))
}

/// The whole text of a file that goes.
fn lost(request: &Input, roots: &Roots) -> Option<Preview> {
    let path = &request.path;
    let file = text_file::load(roots, path).ok().filter(|_| !path.is_symlink())?;
    Some(Preview::Diff { path: path.clone(), old: Some(file.text), new: None })
}

fn delete(request: &Input, roots: &Roots) -> Result<(String, Option<Preview>), String> {
    let says = check(request, roots)?;
    let path = &request.path;
    let lost = lost(request, roots);
    // `remove_dir_all` does not follow links, not even those that were put there meanwhile.
    let removed = match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() && request.recursive => std::fs::remove_dir_all(path),
        Ok(metadata) if metadata.is_dir() => std::fs::remove_dir(path),
        Ok(_) => std::fs::remove_file(path),
        Err(error) => Err(error),
    };
    removed.map_err(|error| text_file::problem(roots, path, &error))?;
    Ok((format!("Deleted {says}."), lost))
}

impl Tool for DeleteTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "delete".to_owned(),
            description: "Deletes a file, a link (not its target), or a directory.".to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "recursive": {"type": "boolean", "description": "With all in it"}
                },
                "required": ["path"]
            }),
            identity: ToolIdentity { kind: ToolKind::Writer, verb: ToolVerb::Delete, ..ToolIdentity::default() },
        }
    }

    fn read(&self, input: &Value, roots: &Roots) -> Arc<dyn Request> {
        Unread::or(Effect::Delete, Input::parse(input, roots))
    }
}

impl Request for Input {
    fn effect(&self) -> Effect {
        Effect::Delete
    }

    fn subject(&self) -> Subject {
        paths::subject_of(self.path.clone())
    }

    fn check(&self, before: &Before<'_>) -> Result<Preview, String> {
        let roots = before.roots;
        let says = check(self, roots)?;
        paths::may_change(&self.path).map_err(|error| text_file::problem(roots, &self.path, &error))?;
        // A text is shown as what would be lost.
        Ok(lost(self, roots).unwrap_or_else(|| {
            let mut text = format!("delete {says}");
            for name in first_names(&self.path) {
                text.push_str("\n  ");
                text.push_str(&name);
            }
            Preview::Text { text }
        }))
    }

    fn run(self: Arc<Self>, context: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            if context.cancel.is_cancelled() {
                return work::interrupted("Interrupted by the user before it started.", ToolFacts::default());
            }
            let facts = ToolFacts { path: Some(self.path.clone()), ..ToolFacts::default() };
            let roots = context.roots.clone();
            match work::to_the_end(move || delete(&self, &roots)).await {
                Err(broken) => broken,
                Ok(Err(problem)) => ToolOutput::failed(problem),
                Ok(Ok((says, change))) => ToolOutput { change, ..ToolOutput::ok(says, facts) },
            }
        })
    }
}
