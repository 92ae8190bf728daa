//! The `list` tool: what is in a directory.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use ignore::WalkBuilder;
use serde_json::{Value, json};

use crate::conversation::{Effect, Preview, Subject, ToolFacts, ToolIdentity, ToolKind, ToolSpec, ToolVerb};
use crate::tool::arguments::{Arguments, Field, PATH, plain};
use crate::tool::work::{self, Stop};
use crate::tool::{Before, Request, Roots, Tool, ToolContext, ToolOutput, Unread, paths, text_file};

/// Entries told to the model.
const LIMIT: u64 = 500;
/// Levels shown when the model does not say.
const DEFAULT_DEPTH: u64 = 2;
/// Levels shown at most.
const DEPTH_LIMIT: u64 = 20;

const FIELDS: &[Field] = &[Field { name: PATH.name, aliases: &["directory", "dir", "file_path"] }, plain("depth")];

/// Lists a directory.
#[derive(Debug, Default)]
pub struct ListTool;

#[derive(Debug)]
struct Input {
    path: PathBuf,
    depth: usize,
}

impl Input {
    fn parse(input: &Value, roots: &Roots) -> Result<Self, String> {
        let arguments = Arguments::parse("list", input, FIELDS)?;
        let depth = arguments.number("depth")?.unwrap_or(DEFAULT_DEPTH).clamp(1, DEPTH_LIMIT);
        Ok(Self {
            path: roots.resolve(arguments.optional_text("path")?.unwrap_or(".")),
            depth: usize::try_from(depth).unwrap_or(1),
        })
    }
}

fn list(request: &Input, roots: &Roots, stop: &Stop) -> Result<(String, u64), String> {
    text_file::listed(roots, &request.path)?;
    let walk = WalkBuilder::new(&request.path)
        .hidden(false)
        .max_depth(Some(request.depth))
        .sort_by_file_name(std::ffi::OsStr::cmp)
        .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git")
        .build();
    let mut text = String::new();
    let mut count = 0;
    for entry in walk.flatten().filter(|entry| entry.depth() > 0) {
        if stop.is_set() {
            break;
        }
        count += 1;
        if count > LIMIT {
            continue;
        }
        let name = paths::escaped(std::path::Path::new(entry.file_name()));
        let indent = "  ".repeat(entry.depth() - 1);
        let mark = if entry.path_is_symlink() {
            let target = entry.path().read_link().unwrap_or_default();
            format!(" -> {}", paths::escaped(&target))
        } else if entry.file_type().is_some_and(|kind| kind.is_dir()) {
            "/".to_owned()
        } else {
            String::new()
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{indent}{name}{mark}");
    }
    if count == 0 {
        text.push_str("(Nothing here that is not ignored.)\n");
    } else if count > LIMIT {
        let _ = writeln!(
            text,
            "(the first {LIMIT} of {count} entries; list a directory below, or use a smaller depth)"
        );
    }
    Ok((text, count))
}

impl Tool for ListTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "list".to_owned(),
            description: "Lists a directory as a tree, without what .gitignore names.".to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "depth": {"type": "integer", "description": "Levels, default 2"}
                }
            }),
            identity: ToolIdentity {
                kind: ToolKind::Reader,
                verb: ToolVerb::List,
                for_sub_agents: true,
                ..ToolIdentity::default()
            },
        }
    }

    fn read(&self, input: &Value, roots: &Roots) -> Arc<dyn Request> {
        Unread::or(Effect::Read, Input::parse(input, roots))
    }
}

impl Request for Input {
    fn effect(&self) -> Effect {
        Effect::Read
    }

    fn subject(&self) -> Subject {
        paths::subject_of(self.path.clone())
    }

    fn check(&self, before: &Before<'_>) -> Result<Preview, String> {
        text_file::listed(before.roots, &self.path)?;
        Ok(Preview::Text { text: paths::shown(before.roots, &self.path) })
    }

    fn run(self: Arc<Self>, context: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            let path = self.path.clone();
            let roots = context.roots.clone();
            match work::blocking(context.cancel, move |stop| list(&self, &roots, stop)).await {
                Err(stopped) => stopped,
                Ok(Err(problem)) => ToolOutput::failed(problem),
                Ok(Ok((text, count))) => {
                    ToolOutput::ok(text, ToolFacts { path: Some(path), lines: Some(count), ..ToolFacts::default() })
                }
            }
        })
    }
}
