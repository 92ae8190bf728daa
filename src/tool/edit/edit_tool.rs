//! The `edit` tool: one replacement in a file; and the planning of several for `multi_edit`.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::conversation::{Brief, Effect, Preview, Subject, ToolIdentity, ToolKind, ToolSpec, ToolVerb};
use crate::tool::arguments::{Arguments, Field, PATH, plain};
use crate::tool::{Before, Request, Roots, Tool, ToolContext, ToolOutput, Unread, paths, text_file, work};

use super::change::Change;
use super::matching::{self, Replacement};

/// The fields of one replacement, also inside `multi_edit`.
pub(crate) const OLD: Field = Field { name: "old_string", aliases: &["old_str", "old_text", "oldString"] };
/// See [`OLD`].
pub(crate) const NEW: Field = Field { name: "new_string", aliases: &["new_str", "new_text", "newString"] };
/// See [`OLD`].
pub(crate) const ALL: Field = Field { name: "replace_all", aliases: &["replaceAll", "all"] };

const FIELDS: &[Field] = &[PATH, OLD, NEW, ALL, plain("description")];

/// Changes a file in one place.
#[derive(Debug, Default)]
pub struct EditTool;

/// Takes one replacement out of its arguments.
///
/// # Errors
/// The text for the model.
pub(crate) fn replacement(arguments: &Arguments<'_>) -> Result<Replacement, String> {
    Ok(Replacement {
        old: arguments.text("old_string")?.to_owned(),
        new: arguments.text("new_string")?.to_owned(),
        all: arguments.flag("replace_all")?,
    })
}

/// Works out replacements, in order, all or none. Looks at the disk.
///
/// # Errors
/// The text for the model; with several replacements it names the one that failed.
pub(crate) fn plan(roots: &Roots, path: &str, replacements: &[Replacement]) -> Result<(PathBuf, Change), String> {
    let path = roots.resolve(path);
    let real = paths::real(&path).map_err(|error| text_file::problem(roots, &path, &error))?;
    // Opened by its own name, so that an error names what the model wrote.
    let file = text_file::load(roots, &path)?;
    let mut text = file.text.clone();
    let mut places = Vec::new();
    let mut count = 0;
    for (index, replacement) in replacements.iter().enumerate() {
        let replaced = matching::replace(&text, replacement).map_err(|problem| {
            if replacements.len() == 1 {
                problem
            } else {
                format!("Edit {} of {}: {problem}\nNothing was changed.", index + 1, replacements.len())
            }
        })?;
        text = replaced.text;
        count += replaced.count;
        places.push(replaced.line.to_string());
    }
    let says = format!(
        "Edited {}: {count} replacement{} from line {}.",
        paths::shown(roots, &path),
        if count == 1 { "" } else { "s" },
        places.join(", ")
    );
    let change =
        Change { real, old: Some(file.text), before: Some(file.seen), new: text, encoding: file.encoding, says };
    Ok((path, change))
}

/// Replacements in one file.
pub(crate) struct Edits {
    path: String,
    replacements: Vec<Replacement>,
    subject: Subject,
}

impl Edits {
    /// Reads the arguments of a call; what is wrong with its replacements is told later, and its path is known all the
    /// same.
    pub(crate) fn read(
        arguments: Result<Arguments<'_>, String>,
        replacements: impl FnOnce(&Arguments<'_>) -> Result<Vec<Replacement>, String>,
        roots: &Roots,
    ) -> Arc<dyn Request> {
        Unread::or_on_path(Effect::Write, arguments, roots, |arguments, path, subject| {
            Ok(Self { path: path.to_owned(), replacements: replacements(arguments)?, subject })
        })
    }
}

impl Request for Edits {
    fn effect(&self) -> Effect {
        Effect::Write
    }

    fn subject(&self) -> Subject {
        self.subject.clone()
    }

    fn check(&self, before: &Before<'_>) -> Result<Preview, String> {
        let (path, change) = plan(before.roots, &self.path, &self.replacements)?;
        change.checked(&path, before)
    }

    fn wanted(&self) -> Option<(String, String)> {
        match self.replacements.as_slice() {
            [Replacement { old, new, .. }] => Some((old.clone(), new.clone())),
            _ => None,
        }
    }

    fn run(self: Arc<Self>, context: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            let roots = context.roots.clone();
            match work::blocking(context.cancel, move |_| plan(&roots, &self.path, &self.replacements)).await {
                Err(stopped) => stopped,
                Ok(Err(problem)) => ToolOutput::failed(problem),
                Ok(Ok((path, change))) => change.make(path, context).await,
            }
        })
    }
}

impl Tool for EditTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "edit".to_owned(),
            description: "Replaces text in a file you have read. old_string must be there exactly once, with its \
                          white space and without line numbers; or set replace_all."
                .to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "old_string": {"type": "string"},
                    "new_string": {"type": "string"},
                    "replace_all": {"type": "boolean"}
                },
                "required": ["path", "old_string", "new_string"]
            }),
            identity: ToolIdentity {
                kind: ToolKind::Writer,
                verb: ToolVerb::Edit,
                brief: Some(Brief {
                    description: "Replace one piece of text in a file",
                    arguments: &["path*", "old_string*", "new_string*"],
                    alone: false,
                    order: 2,
                }),
                ..ToolIdentity::default()
            },
        }
    }

    fn read(&self, input: &Value, roots: &Roots) -> Arc<dyn Request> {
        let one = |arguments: &Arguments<'_>| Ok(vec![replacement(arguments)?]);
        Edits::read(Arguments::parse("edit", input, FIELDS), one, roots)
    }
}
