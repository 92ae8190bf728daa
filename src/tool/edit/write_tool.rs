//! The `write` tool: a whole file; and what all changing tools share, the guarded change itself.

use std::path::{Path, PathBuf};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::conversation::{Brief, Effect, Preview, Subject, ToolFacts, ToolIdentity, ToolKind, ToolSpec, ToolVerb};
use crate::tool::arguments::{Arguments, Field, PATH};
use crate::tool::file_memory::{FileState, Freshness};
use crate::tool::text_file::{self, Encoding};
use crate::tool::{Place, Tool, ToolContext, ToolOutput, atomic, paths, work};

use super::matching;

/// The diff in an error is at most this long (bytes).
const DIFF_LIMIT: usize = 4000;

const FIELDS: &[Field] = &[PATH, Field { name: "content", aliases: &["contents", "text", "file_text"] }];

/// Writes a file.
#[derive(Debug, Default)]
pub struct WriteTool;

/// A change that is worked out but not made.
pub(crate) struct Change {
    /// Where it goes: the file itself, links resolved.
    pub(crate) real: PathBuf,
    /// The text now; `None` when there is no file.
    pub(crate) old: Option<String>,
    /// The state the text was loaded in.
    pub(crate) before: Option<FileState>,
    /// The text afterwards.
    pub(crate) new: String,
    /// How it is stored.
    pub(crate) encoding: Encoding,
    /// What the model is told when it is done, without the counts.
    pub(crate) says: String,
}

/// Makes a change, unless the model does not know the file as it is.
pub(crate) async fn carry_out(path: PathBuf, change: Change, context: ToolContext<'_>) -> ToolOutput {
    let shown = paths::shown(context.place, &path);
    if let (Some(before), Some(old)) = (&change.before, &change.old) {
        match context.memory.files.freshness(&change.real, before) {
            Freshness::Fresh => {}
            // Nothing is lost with an empty file.
            Freshness::Unread if old.is_empty() => {}
            Freshness::Unread => {
                return ToolOutput::failed(format!("{shown} exists and you have not read it. Read it first."));
            }
            Freshness::Changed(known) => {
                return ToolOutput::failed(changed(&shown, known.as_deref(), old));
            }
        }
    }
    let bytes = match change.encoding.encode(&change.new) {
        Ok(bytes) => bytes,
        Err(letter) => {
            return ToolOutput::failed(format!(
                "{shown} is Latin-1, which has no {letter:?}; use other characters."
            ));
        }
    };
    let (added, removed) = matching::counts(change.old.as_deref().unwrap_or(""), &change.new);
    let facts = ToolFacts { path: Some(path), added: Some(added), removed: Some(removed), ..ToolFacts::default() };
    let (real, before) = (change.real.clone(), change.before.clone());
    let written = work::to_the_end(move || write_checked(&real, before.as_ref(), &bytes)).await;
    match written {
        Err(broken) => broken,
        Ok(Err(Refused::Raced)) => {
            ToolOutput::failed(format!("{shown} was changed this moment by something else. Read it again."))
        }
        Ok(Err(Refused::Failed(error))) => {
            ToolOutput::failed(text_file::problem(context.place, &change.real, &error))
        }
        Ok(Ok(seen)) => {
            context.memory.files.remember_written(&change.real, seen, &change.new);
            ToolOutput::ok(format!("{} (+{added} -{removed})", change.says), facts)
        }
    }
}

/// Words that a file is not as the model knows it; with what changed, where that is known.
pub(crate) fn changed(shown: &str, known: Option<&str>, now: &str) -> String {
    let diff = known.map(|known| matching::diff(known, now, DIFF_LIMIT)).unwrap_or_default();
    format!("{shown} was changed since you last read it. Read it again, then repeat.\n{diff}").trim_end().to_owned()
}

enum Refused {
    Raced,
    Failed(std::io::Error),
}

/// Writes, after a last look: the file was loaded a moment ago and a person may have saved it in between.
fn write_checked(real: &Path, before: Option<&FileState>, bytes: &[u8]) -> Result<FileState, Refused> {
    let now = real.symlink_metadata().ok().map(|metadata| (metadata.len(), metadata.modified().ok()));
    if now != before.map(|seen| (seen.length, seen.modified)) {
        return Err(Refused::Raced);
    }
    atomic::write(real, bytes).map_err(Refused::Failed)?;
    Ok(FileState::of(bytes, real.metadata().ok().and_then(|metadata| metadata.modified().ok())))
}

/// Works out the writing of a whole file. Looks at the disk.
///
/// # Errors
/// The text for the model.
fn plan(input: &Value, place: &Place) -> Result<(PathBuf, Change), String> {
    let arguments = Arguments::parse("write", input, FIELDS)?;
    let path = place.resolve(arguments.filled_text("path")?);
    let new = arguments.text("content")?.to_owned();
    let real = paths::real(&path).map_err(|error| text_file::problem(place, &path, &error))?;
    let shown = paths::shown(place, &path);
    if real.symlink_metadata().is_err() {
        if let Some(file) =
            real.ancestors().skip(1).find(|parent| parent.exists()).filter(|parent| !parent.is_dir())
        {
            return Err(format!("{} is a file, not a directory.", paths::shown(place, file)));
        }
        let says = format!("Made {shown}.");
        return Ok((path, Change { real, old: None, before: None, new, encoding: Encoding::Utf8, says }));
    }
    let file = text_file::load(place, &real)?;
    // UTF-16 and marked files stay what they are; Latin-1 becomes UTF-8 only if the new text needs it.
    let encoding = match file.encoding {
        Encoding::Latin1 if file.encoding.encode(&new).is_err() => Encoding::Utf8,
        kept => kept,
    };
    // A mark the model wrote itself would be doubled.
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

    fn effect(&self, _input: &Value, _place: &Place) -> Effect {
        Effect::Write
    }

    fn subject(&self, input: &Value, place: &Place) -> Subject {
        Arguments::parse("write", input, FIELDS)
            .and_then(|arguments| arguments.filled_text("path"))
            .map_or(Subject::Whole, |path| paths::subject(place, [path]))
    }

    fn preview(&self, input: &Value, place: &Place) -> Result<Preview, String> {
        let (path, change) = plan(input, place)?;
        Ok(Preview::Diff { path, old: change.old, new: Some(change.new) })
    }

    fn run<'a>(&'a self, input: Value, context: ToolContext<'a>) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            let place = context.place.clone();
            match work::blocking(context.cancel, move |_| plan(&input, &place)).await {
                Err(stopped) => stopped,
                Ok(Err(problem)) => ToolOutput::failed(problem),
                Ok(Ok((path, change))) => carry_out(path, change, context).await,
            }
        })
    }
}
