//! The `grep` tool: lines by content.

use std::fmt::Write as _;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use grep_regex::RegexMatcher;
use ignore::overrides::Override;
use serde_json::{Value, json};

use crate::conversation::{About, Effect, Preview, Subject, ToolFacts, ToolIdentity, ToolKind, ToolSpec, ToolVerb};
use crate::secret::files::SecretFiles;
use crate::tool::arguments::{Arguments, Field, PATH, plain};
use crate::tool::{Before, Request, Roots, Tool, ToolContext, ToolOutput, Unread, paths, text_file, work};

use super::grep_search::{self, FileHits, Found, Search, Wanted};

/// Lines or files told when the model does not say.
const DEFAULT_LIMIT: u64 = 100;
/// Lines or files told at most.
const LIMIT: u64 = 2000;
/// Lines of context at most.
const CONTEXT_LIMIT: u64 = 50;
/// The answer ends before this many bytes.
const BYTES: usize = 40 * 1024;

const FIELDS: &[Field] = &[
    Field { name: "pattern", aliases: &["regex", "query", "search"] },
    Field { name: PATH.name, aliases: &["directory", "dir", "file_path", "file", "root"] },
    Field { name: "glob", aliases: &["include", "file_pattern"] },
    Field { name: "ignore_case", aliases: &["-i", "case_insensitive"] },
    plain("literal"),
    Field { name: "context", aliases: &["-C", "context_lines"] },
    Field { name: "output", aliases: &["output_mode", "mode"] },
    Field { name: "limit", aliases: &["head_limit", "max_results"] },
];

/// Finds lines by content.
#[derive(Debug, Default)]
pub struct GrepTool;

/// Reads the arguments. Which files are secret is known when it runs.
fn parse(arguments: &Arguments<'_>, roots: &Roots) -> Result<Search, String> {
    let pattern = arguments.text("pattern")?;
    if pattern.is_empty() {
        return Err("grep: argument `pattern` is empty; it would match every line".to_owned());
    }
    let wanted = match arguments.optional_text("output")? {
        None | Some("content" | "lines") => Wanted::Lines,
        Some("files" | "files_with_matches") => Wanted::Files,
        Some("count" | "counts") => Wanted::Counts,
        Some(other) => {
            return Err(format!("grep: argument `output` must be content, files or count, got {other:?}"));
        }
    };
    let context = arguments.number("context")?.unwrap_or(0).min(CONTEXT_LIMIT);
    Ok(Search {
        pattern: pattern.to_owned(),
        literal: arguments.flag("literal")?,
        ignore_case: arguments.flag("ignore_case")?,
        root: roots.resolve(arguments.optional_text("path")?.unwrap_or(".")),
        cwd: roots.cwd.clone(),
        glob: arguments.optional_text("glob")?.filter(|glob| !glob.is_empty()).map(str::to_owned),
        context: usize::try_from(context).unwrap_or(0),
        wanted,
        limit: arguments.number("limit")?.filter(|limit| *limit > 0).unwrap_or(DEFAULT_LIMIT).min(LIMIT),
        secrets: SecretFiles::default(),
    })
}

/// Makes what a search needs. Looks at the disk.
fn prepared(search: &Search, roots: &Roots) -> Result<(RegexMatcher, Override), String> {
    let metadata = search.root.metadata().map_err(|error| text_file::problem(roots, &search.root, &error))?;
    if metadata.is_dir() {
        text_file::listed(roots, &search.root)?;
    } else {
        text_file::open(roots, &search.root)?;
    }
    let matcher = grep_search::matcher(search).map_err(|problem| {
        format!("grep: argument `pattern` is not valid; set literal for plain text.\n{problem}")
    })?;
    let only =
        grep_search::only(search).map_err(|problem| format!("grep: argument `glob` is not valid: {problem}"))?;
    Ok((matcher, only))
}

fn worded(found: &Found, search: &Search, roots: &Roots) -> String {
    let mut text = String::new();
    let mut left = search.limit;
    let mut told_files = 0;
    for (path, hits) in &found.files {
        if left == 0 || text.len() > BYTES {
            break;
        }
        told_files += 1;
        let name = paths::shown(roots, path);
        // Writing to a String cannot fail.
        match search.wanted {
            Wanted::Files => {
                let _ = writeln!(text, "{name}");
                left -= 1;
            }
            Wanted::Counts => {
                let _ = writeln!(text, "{name}:{}", hits.count);
                left -= 1;
            }
            Wanted::Lines => {
                let _ = writeln!(text, "{}{name}", if text.is_empty() { "" } else { "\n" });
                lines(&mut text, hits, &mut left);
            }
        }
    }
    let files = found.files.len();
    if files == 0 {
        text.push_str("No matches.");
    } else if search.wanted == Wanted::Lines {
        let told = search.limit - left;
        let context = search.context > 0;
        if told_files < files || !context && told < found.lines || context && left == 0 {
            let _ = writeln!(
                text,
                "\n(cut; {} matching lines in {files} files in all: narrow the search or raise limit)",
                found.lines
            );
        }
    } else if told_files < files {
        let _ = writeln!(text, "({told_files} of {files} files)");
    }
    if found.secret > 0 {
        let files = if found.secret == 1 { "file" } else { "files" };
        let _ = write!(text, "\n({} secret {files} not searched; name one to ask for it)", found.secret);
    }
    if found.unreadable > 0 {
        let _ = write!(text, "\n({} files or directories could not be read)", found.unreadable);
    }
    text
}

fn lines(text: &mut String, hits: &FileHits, left: &mut u64) {
    if hits.binary && hits.hits.is_empty() {
        text.push_str("(binary file matches)\n");
        *left = left.saturating_sub(1);
        return;
    }
    let mut before: Option<u64> = None;
    let with_context = hits.hits.iter().any(|hit| !hit.matches);
    for hit in &hits.hits {
        if *left == 0 || text.len() > BYTES {
            return;
        }
        if with_context && before.is_some_and(|before| hit.number > before + 1) {
            text.push_str("--\n");
        }
        before = Some(hit.number);
        let mark = if hit.matches { ':' } else { '-' };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}{mark}{}", hit.number, hit.text);
        *left -= 1;
    }
    if hits.binary {
        text.push_str("(binary from here on; not searched further)\n");
    }
}

fn about(arguments: &Arguments<'_>) -> About {
    arguments.text("pattern").map_or(About::Subject, about_pattern)
}

fn about_pattern(pattern: &str) -> About {
    if pattern.trim().is_empty() {
        return About::Subject;
    }
    About::Pattern { pattern: pattern.to_owned(), quoted: true }
}

impl Tool for GrepTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "grep".to_owned(),
            description: "Searches the lines of files for a regular expression (ripgrep's syntax); none that are \
                          ignored, hidden or binary."
                .to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "pattern": {"type": "string"},
                    "path": {"type": "string", "description": "File or directory"},
                    "glob": {"type": "string", "description": "Only these files, as *.rs or !*.min.js"},
                    "ignore_case": {"type": "boolean"},
                    "literal": {"type": "boolean", "description": "Plain text"},
                    "context": {"type": "integer", "description": "Lines around each match"},
                    "output": {"type": "string", "enum": ["content", "files", "count"], "description": "Default content"},
                    "limit": {"type": "integer", "description": "Default 100"}
                },
                "required": ["pattern"]
            }),
            identity: ToolIdentity {
                kind: ToolKind::Reader,
                verb: ToolVerb::Search,
                for_sub_agents: true,
                ..ToolIdentity::default()
            },
        }
    }

    fn read(&self, input: &Value, roots: &Roots) -> Arc<dyn Request> {
        let arguments = Arguments::parse("grep", input, FIELDS);
        Unread::or_about(Effect::Read, arguments, about, |arguments| parse(arguments, roots))
    }
}

impl Request for Search {
    fn effect(&self) -> Effect {
        Effect::Read
    }

    fn subject(&self) -> Subject {
        paths::subject_of(self.root.clone())
    }

    fn about(&self) -> About {
        about_pattern(&self.pattern)
    }

    fn check(&self, before: &Before<'_>) -> Result<Preview, String> {
        prepared(self, before.roots)?;
        Ok(Preview::Text { text: format!("{} in {}", self.pattern, paths::shown(before.roots, &self.root)) })
    }

    fn run(self: Arc<Self>, context: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            let search = Self { secrets: context.sandbox.secret_files(), ..(*self).clone() };
            let root = search.root.clone();
            let roots = context.roots.clone();
            let found = work::blocking(context.cancel, move |stop| {
                let (matcher, only) = prepared(&search, &roots)?;
                let found = grep_search::search(&search, &matcher, only, stop);
                Ok::<_, String>((worded(&found, &search, &roots), found.lines))
            })
            .await;
            match found {
                Err(stopped) => stopped,
                Ok(Err(problem)) => ToolOutput::failed(problem),
                Ok(Ok((text, lines))) => {
                    ToolOutput::ok(text, ToolFacts { path: Some(root), lines: Some(lines), ..ToolFacts::default() })
                }
            }
        })
    }
}
