//! The `read` tool: a page of a text file, or a picture.

use std::io::{BufReader, Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::conversation::{Brief, Effect, Preview, Subject, ToolFacts, ToolIdentity, ToolKind, ToolSpec, ToolVerb};
use crate::tool::arguments::{Arguments, Field, PATH};
use crate::tool::file_memory::FileState;
use crate::tool::kind::{self, Kind, SAMPLE};
use crate::tool::picture::{self, Fitted, Scaled};
use crate::tool::text_file::{self, Encoding, WHOLE_LIMIT};
use crate::tool::work::{self, Stop};
use crate::tool::{Before, Request, Roots, Tool, ToolContext, ToolOutput, Unread, output, paths};

use super::page::{self, Page, Range};

/// Lines of a page when the model does not say.
const DEFAULT_LINES: u64 = 2000;
/// Larger pictures are refused (bytes); Anthropic's limit, the smallest of the providers'.
const PICTURE_LIMIT: u64 = 20 * 1024 * 1024;
/// What is hashed of each end of a file too large to be loaded (bytes).
const LARGE_SAMPLE: u64 = 1024 * 1024;

const FIELDS: &[Field] = &[
    PATH,
    Field { name: "offset", aliases: &["start_line", "line_start"] },
    Field { name: "limit", aliases: &["max_lines", "line_count"] },
];

/// Reads a file.
#[derive(Debug, Default)]
pub struct ReadTool;

#[derive(Debug, Clone)]
struct Input {
    path: PathBuf,
    offset: u64,
    limit: u64,
}

/// What a file turned out to be.
enum Found {
    Text { real: PathBuf, page: Page, encoding: Encoding, seen: FileState, text: Option<String>, size: u64 },
    Picture(Fitted),
}

impl Tool for ReadTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "read".to_owned(),
            description: "Reads a file: text with line numbers, or a picture. Long files come in pages.".to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "offset": {"type": "integer", "description": "First line, default 1"},
                    "limit": {"type": "integer", "description": "Lines, default 2000"}
                },
                "required": ["path"]
            }),
            identity: ToolIdentity {
                kind: ToolKind::Reader,
                verb: ToolVerb::Read,
                for_sub_agents: true,
                brief: Some(Brief { description: "Read a file", arguments: &["path*"], alone: false, order: 1 }),
            },
        }
    }

    fn read(&self, input: &Value, roots: &Roots) -> Arc<dyn Request> {
        let arguments = Arguments::parse("read", input, FIELDS);
        Unread::or_on_path(Effect::Read, arguments, roots, |arguments, path, _| {
            Ok(Input {
                path: roots.resolve(path),
                offset: arguments.number("offset")?.unwrap_or(1).max(1),
                limit: arguments.number("limit")?.filter(|limit| *limit > 0).unwrap_or(DEFAULT_LINES),
            })
        })
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
        look(before.roots, self, &Stop::default())?;
        Ok(Preview::Text { text: paths::shown(before.roots, &self.path) })
    }

    fn run(self: Arc<Self>, context: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            let Self { path, offset, limit } = (*self).clone();
            let roots = context.roots.clone();
            let found = work::blocking(context.cancel, move |stop| look(&roots, &self, stop)).await;
            let facts = |lines| ToolFacts { path: Some(path.clone()), lines, ..ToolFacts::default() };
            match found {
                Err(stopped) => stopped,
                Ok(Err(problem)) => ToolOutput::failed(problem),
                Ok(Ok(Found::Picture(Fitted { image, bytes, scaled }))) => {
                    let scaled = scaled.map_or_else(String::new, |Scaled { from, to }| {
                        format!(", scaled down from {} × {} to {} × {} pixels", from.0, from.1, to.0, to.1)
                    });
                    let says = format!("A picture ({}, {}{scaled}).", image.media_type, output::size(bytes));
                    ToolOutput { images: vec![image], ..ToolOutput::ok(says, facts(None)) }
                }
                Ok(Ok(Found::Text { real, page, encoding, seen, text, size })) => {
                    let range = (offset, limit);
                    if page.lines > 0 && context.memory.files.was_shown(&real, &seen, range) {
                        let says = format!(
                            "Unchanged since you last read it: lines {offset}-{} are in the conversation above.",
                            offset + page.lines - 1
                        );
                        // None were read: of a file without lines it would be told the same.
                        return ToolOutput::ok(says, facts(None));
                    }
                    context.memory.files.remember_read(&real, seen, range, text.as_deref());
                    ToolOutput::ok(worded(&page, encoding, offset, size), facts(Some(page.lines)))
                }
            }
        })
    }
}

fn worded(page: &Page, encoding: Encoding, offset: u64, size: u64) -> String {
    if page.lines == 0 {
        return "(The file is empty.)".to_owned();
    }
    let mut remarks: Vec<String> = Vec::new();
    let last = offset + page.lines - 1;
    match page.total {
        Some(total) if total > last => {
            remarks.push(format!("lines {offset}-{last} of {total}; go on with offset {}", last + 1));
        }
        Some(_) => {}
        None => remarks.push(format!(
            "lines {offset}-{last} of a file of {}; go on with offset {}",
            output::size(size),
            last + 1
        )),
    }
    if page.cut > 0 {
        remarks.push(format!("{} lines cut at {} characters", page.cut, page::LINE_LENGTH));
    }
    remarks.extend(encoding.remark().map(str::to_owned));
    if page.carriage_returns {
        remarks.push("CRLF line ends".to_owned());
    }
    if page.lossy {
        remarks.push("some bytes are no UTF-8".to_owned());
    }
    if remarks.is_empty() { page.text.clone() } else { format!("{}({})\n", page.text, remarks.join("; ")) }
}

fn look(roots: &Roots, request: &Input, stop: &Stop) -> Result<Found, String> {
    let path = &request.path;
    let (mut file, metadata) = text_file::open(roots, path)?;
    let real = paths::real(path).unwrap_or_else(|_| path.clone());
    let problem = |error: std::io::Error| text_file::problem(roots, path, &error);
    let size = metadata.len();
    let mut bytes = Vec::new();
    (&mut file).take(SAMPLE as u64).read_to_end(&mut bytes).map_err(problem)?;
    let binary = |what: &str| {
        format!("{} is a binary file ({what}, {}); it is not shown.", paths::shown(roots, path), output::size(size))
    };
    match kind::kind(&bytes) {
        Kind::Picture(media_type) => {
            if size > PICTURE_LIMIT {
                return Err(format!(
                    "{} is a picture ({media_type}) of {}; at most {} can be shown.",
                    paths::shown(roots, path),
                    output::size(size),
                    output::size(PICTURE_LIMIT)
                ));
            }
            file.take(PICTURE_LIMIT).read_to_end(&mut bytes).map_err(problem)?;
            let fitted = picture::fit(media_type, &bytes)
                .map_err(|unfit| format!("{} is a picture {unfit}.", paths::shown(roots, path)))?;
            return Ok(Found::Picture(fitted));
        }
        Kind::Binary(what) => return Err(binary(what)),
        Kind::Text => {}
    }
    let mut range = Range { offset: request.offset, limit: request.limit, count_all: true };
    if size > WHOLE_LIMIT {
        if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
            return Err(format!(
                "{} is UTF-16 text of {}, too large to be shown.",
                paths::shown(roots, path),
                output::size(size)
            ));
        }
        range.count_all = false;
        let seen = large_seen(&mut file, &metadata).map_err(problem)?;
        let mark = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        file.seek(SeekFrom::Start(mark)).map_err(problem)?;
        let page = page::page(BufReader::with_capacity(64 * 1024, file), range, stop).map_err(problem)?;
        past_the_end(request, &page)?;
        return Ok(Found::Text { real, page, encoding: Encoding::Utf8, seen, text: None, size });
    }
    // Files that grow while they are read, and those in /proc with size 0, stop at the limit.
    file.take(WHOLE_LIMIT).read_to_end(&mut bytes).map_err(problem)?;
    let seen = FileState::of(&bytes, metadata.modified().ok());
    let (text, encoding) = text_file::decode(bytes).map_err(binary)?;
    let page = page::page(text.as_bytes(), range, stop).map_err(problem)?;
    past_the_end(request, &page)?;
    Ok(Found::Text { real, page, encoding, seen, text: Some(text), size })
}

/// Refuses a page that begins behind the last line.
fn past_the_end(request: &Input, page: &Page) -> Result<(), String> {
    match page.total {
        Some(total) if page.lines == 0 && total > 0 => {
            Err(format!("Line {} is past the end: the file has {total} lines.", request.offset))
        }
        Some(_) | None => Ok(()),
    }
}

/// Makes the state of a file too large to be hashed whole.
fn large_seen(file: &mut std::fs::File, metadata: &std::fs::Metadata) -> std::io::Result<FileState> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(LARGE_SAMPLE).read_to_end(&mut bytes)?;
    file.seek(SeekFrom::Start(metadata.len().saturating_sub(LARGE_SAMPLE)))?;
    file.take(LARGE_SAMPLE).read_to_end(&mut bytes)?;
    // The time replaces the middle, which is not hashed.
    let modified = metadata.modified().ok();
    bytes.extend(format!("{modified:?}").bytes());
    Ok(FileState { length: metadata.len(), ..FileState::of(&bytes, modified) })
}
