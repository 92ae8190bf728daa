//! The `write` tool: a whole file.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::conversation::{Brief, Effect, Preview, Subject, ToolIdentity, ToolKind, ToolSpec, ToolVerb};
use crate::tool::arguments::{Arguments, Field, PATH};
use crate::tool::text_file::{self, Encoding};
use crate::tool::{Before, Request, Roots, Tool, ToolContext, ToolOutput, Unread, paths, work};

use super::change::Change;
use super::matching;

const FIELDS: &[Field] = &[PATH, Field { name: "content", aliases: &["contents", "text", "file_text"] }];

/// Writes a file.
#[derive(Debug, Default)]
pub struct WriteTool;

struct Input {
    path: String,
    content: String,
    subject: Subject,
}

/// Works out the writing of a whole file. Looks at the disk.
///
/// # Errors
/// The text for the model.
fn plan(request: &Input, roots: &Roots) -> Result<(PathBuf, Change), String> {
    let (path, new) = (roots.resolve(&request.path), request.content.clone());
    let real = paths::real(&path).map_err(|error| text_file::problem(roots, &path, &error))?;
    let shown = paths::shown(roots, &path);
    if real.symlink_metadata().is_err() {
        if let Some(file) =
            real.ancestors().skip(1).find(|parent| parent.exists()).filter(|parent| !parent.is_dir())
        {
            return Err(format!("{} is a file, not a directory.", paths::shown(roots, file)));
        }
        let says = format!("Made {shown}.");
        return Ok((path, Change { real, old: None, before: None, new, encoding: Encoding::Utf8, says }));
    }
    let file = text_file::load(roots, &real)?;
    // UTF-16 and marked files stay what they are; Latin-1 becomes UTF-8 only if the new text needs it.
    let encoding = match file.encoding {
        Encoding::Latin1 if file.encoding.encode(&new).is_err() => Encoding::Utf8,
        kept => kept,
    };
    // If the model wrote a byte order mark itself, it would be there twice.
    let new = match encoding {
        Encoding::Utf8 | Encoding::Latin1 => new,
        Encoding::Utf8Mark | Encoding::Utf16Little | Encoding::Utf16Big => {
            new.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(new)
        }
    };
    let new = matching::with_ends_of(&file.text, new);
    let says = format!("Wrote {shown}.");
    Ok((path, Change { real, old: Some(file.text), before: Some(file.seen), new, encoding, says }))
}

impl Tool for WriteTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "write".to_owned(),
            description: "Writes a whole file, with its directories. One that exists must have been read \
                          before; prefer `edit`."
                .to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "content": {"type": "string"}
                },
                "required": ["path", "content"]
            }),
            identity: ToolIdentity {
                kind: ToolKind::Writer,
                verb: ToolVerb::Write,
                brief: Some(Brief {
                    description: "Create a file or replace all of its content",
                    arguments: &["path*", "content*"],
                    alone: false,
                    order: 3,
                }),
                ..ToolIdentity::default()
            },
        }
    }

    fn read(&self, input: &Value, roots: &Roots) -> Arc<dyn Request> {
        let arguments = Arguments::parse("write", input, FIELDS);
        Unread::or_on_path(Effect::Write, arguments, roots, |arguments, path, subject| {
            Ok(Input { path: path.to_owned(), content: arguments.text("content")?.to_owned(), subject })
        })
    }
}

impl Request for Input {
    fn effect(&self) -> Effect {
        Effect::Write
    }

    fn subject(&self) -> Subject {
        self.subject.clone()
    }

    fn check(&self, before: &Before<'_>) -> Result<Preview, String> {
        let (path, change) = plan(self, before.roots)?;
        change.checked(&path, before)
    }

    fn run(self: Arc<Self>, context: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            let roots = context.roots.clone();
            match work::blocking(context.cancel, move |_| plan(&self, &roots)).await {
                Err(stopped) => stopped,
                Ok(Err(problem)) => ToolOutput::failed(problem),
                Ok(Ok((path, change))) => change.make(path, context).await,
            }
        })
    }
}
