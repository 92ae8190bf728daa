//! The `move` tool: a file or directory gets another name.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::conversation::{About, Effect, Preview, Subject, ToolFacts, ToolIdentity, ToolKind, ToolSpec, ToolVerb};
use crate::platform::os::fs::MetadataExt as _;
use crate::tool::arguments::{Arguments, Field};
use crate::tool::{
    Before, Request, Roots, Settled, Tool, ToolContext, ToolMemory, ToolOutput, Unread, paths, text_file, work,
};

use super::delete_tool;

const FIELDS: &[Field] = &[
    Field { name: "from", aliases: &["source", "src", "path", "old_path"] },
    Field { name: "to", aliases: &["destination", "dest", "target", "new_path"] },
];

/// Moves files and directories.
#[derive(Debug, Default)]
pub struct MoveTool;

struct Input {
    from: PathBuf,
    to: PathBuf,
}

impl Input {
    fn parse(input: &Value, roots: &Roots) -> Result<Self, String> {
        let arguments = Arguments::parse("move", input, FIELDS)?;
        let from = roots.resolve(arguments.filled_text("from")?);
        Ok(Self { from, to: roots.resolve(arguments.filled_text("to")?) })
    }
}

/// The new name: into an existing directory, as mv does. Looks at the disk.
fn destination(from: &Path, to: PathBuf) -> PathBuf {
    match from.file_name() {
        Some(name) if to.is_dir() && from != to => to.join(name),
        Some(_) | None => to,
    }
}

fn check(roots: &Roots, from: &Path, to: &Path) -> Result<(), String> {
    delete_tool::not_the_base(roots, from)?;
    if let Err(error) = from.symlink_metadata() {
        return Err(text_file::problem(roots, from, &error));
    }
    if to.starts_with(from) {
        return Err(format!(
            "{} is {} itself or lies below it.",
            paths::shown(roots, to),
            paths::shown(roots, from)
        ));
    }
    if to.symlink_metadata().is_ok() {
        return Err(format!("{} exists already; delete it first.", paths::shown(roots, to)));
    }
    let above = to.ancestors().skip(1).find_map(|above| above.metadata().ok());
    if above.is_some_and(|above| from.symlink_metadata().is_ok_and(|own| own.dev() != above.dev())) {
        return Err(elsewhere(roots, to));
    }
    let problem = |path: &Path, error: std::io::Error| text_file::problem(roots, path, &error);
    paths::may_change(from).map_err(|error| problem(from, error))?;
    paths::may_make(to).map_err(|error| problem(to, error))
}

fn elsewhere(roots: &Roots, to: &Path) -> String {
    format!("{} is on another file system; use the shell (mv).", paths::shown(roots, to))
}

fn rename(roots: &Roots, from: &Path, to: &Path) -> Result<(), String> {
    // `settle` completed the name before it was judged.
    check(roots, from, to)?;
    let problem = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::CrossesDevices => elsewhere(roots, to),
        _ => text_file::problem(roots, from, &error),
    };
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent).map_err(problem)?;
    }
    std::fs::rename(from, to).map_err(problem)
}

impl Tool for MoveTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "move".to_owned(),
            description: "Moves or renames a file or directory; never over an existing one.".to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "from": {"type": "string"},
                    "to": {"type": "string", "description": "New name, or an existing directory"}
                },
                "required": ["from", "to"]
            }),
            identity: ToolIdentity { kind: ToolKind::Writer, verb: ToolVerb::Move, ..ToolIdentity::default() },
        }
    }

    fn read(&self, input: &Value, roots: &Roots) -> Arc<dyn Request> {
        Unread::or(Effect::Write, Input::parse(input, roots))
    }
}

impl Request for Input {
    fn effect(&self) -> Effect {
        Effect::Write
    }

    fn subject(&self) -> Subject {
        Subject::Paths { paths: vec![self.from.clone(), self.to.clone()] }
    }

    fn about(&self) -> About {
        About::FromTo
    }

    fn settle(&self, _roots: &Roots, _memory: &ToolMemory) -> Settled {
        let whole = destination(&self.from, self.to.clone());
        match (whole != self.to, self.from.to_str(), whole.to_str()) {
            (true, Some(from), Some(to)) => Settled::Instead {
                input: json!({"from": from, "to": to}),
                request: Arc::new(Self { from: self.from.clone(), to: whole }),
                note: String::new(),
            },
            (true | false, _, _) => Settled::AsIs,
        }
    }

    fn check(&self, before: &Before<'_>) -> Result<Preview, String> {
        let roots = before.roots;
        check(roots, &self.from, &self.to)?;
        Ok(Preview::Text {
            text: format!("{} -> {}", paths::shown(roots, &self.from), paths::shown(roots, &self.to)),
        })
    }

    fn run(self: Arc<Self>, context: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            if context.cancel.is_cancelled() {
                return work::interrupted("Interrupted by the user before it started.", ToolFacts::default());
            }
            let (from, to) = (&self.from, &self.to);
            let says =
                format!("Moved {} to {}.", paths::shown(context.roots, from), paths::shown(context.roots, to));
            let facts = ToolFacts { path: Some(to.clone()), ..ToolFacts::default() };
            let roots = context.roots.clone();
            match work::to_the_end(move || rename(&roots, &self.from, &self.to)).await {
                Err(broken) => broken,
                Ok(Err(problem)) => ToolOutput::failed(problem),
                Ok(Ok(())) => ToolOutput::ok(says, facts),
            }
        })
    }
}
