//! The `glob` tool: files by name, newest first.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use futures_util::future::BoxFuture;
use globset::{GlobBuilder, GlobMatcher};
use ignore::{WalkBuilder, WalkState};
use serde_json::{Value, json};

use crate::conversation::{About, Effect, Preview, Subject, ToolFacts, ToolIdentity, ToolKind, ToolSpec, ToolVerb};
use crate::tool::arguments::{Arguments, Field, PATH};
use crate::tool::work::{self, Stop};
use crate::tool::{Before, Request, Roots, Tool, ToolContext, ToolOutput, Unread, memory, paths, text_file};

/// Files told to the model.
const LIMIT: usize = 200;
/// Files remembered while walking; of more than these the newest may be missed.
const KEPT: u64 = 200_000;

const FIELDS: &[Field] = &[
    Field { name: "pattern", aliases: &["glob", "query"] },
    Field { name: PATH.name, aliases: &["directory", "dir", "root", "cwd", "file_path"] },
];

/// Finds files by name.
#[derive(Debug, Default)]
pub struct GlobTool;

#[derive(Debug, Clone)]
struct Input {
    /// As the model wrote it.
    said: String,
    pattern: GlobMatcher,
    /// A pattern that names a hidden part wants hidden files.
    hidden: bool,
    /// A pattern without `/` is matched against the name alone, at any depth.
    name_only: bool,
    root: PathBuf,
}

impl Input {
    fn parse(arguments: &Arguments<'_>, roots: &Roots) -> Result<Self, String> {
        let said = arguments.filled_text("pattern")?.to_owned();
        let mut pattern = said.clone();
        let mut root = roots.resolve(arguments.optional_text("path")?.unwrap_or("."));
        // An absolute pattern: its fixed parts are the root.
        if pattern.starts_with('/') || pattern.starts_with("~/") {
            let (fixed, rest) = split_fixed(&pattern);
            root = roots.resolve(&fixed);
            pattern = rest;
        }
        let pattern = pattern.strip_prefix("./").unwrap_or(&pattern);
        let matcher = GlobBuilder::new(pattern)
            .literal_separator(true)
            .build()
            .map_err(|error| format!("glob: argument `pattern` is not a valid glob: {}", error.kind()))?
            .compile_matcher();
        Ok(Self {
            said,
            pattern: matcher,
            hidden: pattern.split(['/', ',', '{']).any(|part| part.starts_with('.')),
            name_only: !pattern.contains('/'),
            root,
        })
    }

    fn matches(&self, path: &Path) -> bool {
        if self.name_only {
            path.file_name().is_some_and(|name| self.pattern.is_match(name))
        } else {
            path.strip_prefix(&self.root).is_ok_and(|path| self.pattern.is_match(path))
        }
    }
}

/// Splits an absolute pattern before its first part with a wildcard; the last part always stays.
fn split_fixed(pattern: &str) -> (String, String) {
    let parts: Vec<&str> = pattern.split('/').collect();
    let wild = |part: &&str| part.contains(['*', '?', '[', '{']);
    let first = parts.iter().position(wild).unwrap_or(parts.len() - 1).min(parts.len() - 1);
    let fixed = parts[..first].join("/");
    (if fixed.is_empty() { "/".to_owned() } else { fixed }, parts[first..].join("/"))
}

fn find(request: &Input, roots: &Roots, stop: &Stop) -> Result<(Vec<PathBuf>, u64), String> {
    text_file::listed(roots, &request.root)?;
    let found: Mutex<Vec<(Option<SystemTime>, PathBuf)>> = Mutex::default();
    let count = AtomicU64::new(0);
    let mut walk = WalkBuilder::new(&request.root);
    walk.hidden(!request.hidden).add_custom_ignore_filename(".rgignore");
    let wanted = request.clone();
    // Here, as a file that is left out later has already gone through the walk's queue. As ripgrep: no links, which
    // may lead anywhere, and nothing that is no file.
    walk.filter_entry(move |entry| {
        entry.file_name() != ".git"
            && entry.file_type().is_some_and(|kind| kind.is_dir() || kind.is_file() && wanted.matches(entry.path()))
    });
    // On as many threads as ripgrep takes.
    walk.build_parallel().run(|| {
        Box::new(|entry| {
            if stop.is_set() {
                return WalkState::Quit;
            }
            let Ok(entry) = entry else { return WalkState::Continue };
            if entry.file_type().is_some_and(|kind| kind.is_dir()) {
                return WalkState::Continue;
            }
            if count.fetch_add(1, Ordering::Relaxed) < KEPT {
                let modified = entry.metadata().ok().and_then(|metadata| metadata.modified().ok());
                memory::lock(&found).push((modified, entry.into_path()));
            }
            WalkState::Continue
        })
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by(|(a, first), (b, second)| b.cmp(a).then_with(|| first.cmp(second)));
    Ok((found.into_iter().take(LIMIT).map(|(_, path)| path).collect(), count.into_inner()))
}

fn about(arguments: &Arguments<'_>) -> About {
    let pattern = arguments.filled_text("pattern");
    pattern.map_or(About::Subject, |pattern| About::Pattern { pattern: pattern.to_owned(), quoted: false })
}

impl Tool for GlobTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "glob".to_owned(),
            description: "Finds files by name, newest first, as `**/*.rs` or `src/{a,b}/*.ts`; none that are \
                          ignored or hidden."
                .to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "pattern": {"type": "string"},
                    "path": {"type": "string", "description": "Directory to search"}
                },
                "required": ["pattern"]
            }),
            identity: ToolIdentity {
                kind: ToolKind::Reader,
                verb: ToolVerb::FindFiles,
                for_sub_agents: true,
                ..ToolIdentity::default()
            },
        }
    }

    fn read(&self, input: &Value, roots: &Roots) -> Arc<dyn Request> {
        let arguments = Arguments::parse("glob", input, FIELDS);
        Unread::or_about(Effect::Read, arguments, about, |arguments| Input::parse(arguments, roots))
    }
}

impl Request for Input {
    fn effect(&self) -> Effect {
        Effect::Read
    }

    fn subject(&self) -> Subject {
        paths::subject_of(self.root.clone())
    }

    fn about(&self) -> About {
        About::Pattern { pattern: self.said.clone(), quoted: false }
    }

    fn check(&self, before: &Before<'_>) -> Result<Preview, String> {
        text_file::listed(before.roots, &self.root)?;
        let pattern = self.pattern.glob().glob();
        Ok(Preview::Text { text: format!("{pattern} in {}", paths::shown(before.roots, &self.root)) })
    }

    fn run(self: Arc<Self>, context: ToolContext<'_>) -> BoxFuture<'_, ToolOutput> {
        Box::pin(async move {
            let root = self.root.clone();
            let roots = context.roots.clone();
            let found = work::blocking(context.cancel, move |stop| find(&self, &roots, stop)).await;
            match found {
                Err(stopped) => stopped,
                Ok(Err(problem)) => ToolOutput::failed(problem),
                Ok(Ok((files, count))) => {
                    let mut text = String::new();
                    for file in &files {
                        text.push_str(&paths::shown(context.roots, file));
                        text.push('\n');
                    }
                    if count == 0 {
                        text.push_str("No files match.");
                    } else if count > files.len() as u64 {
                        // Writing to a String cannot fail.
                        let _ =
                            writeln!(text, "({} of {count} files, the newest; narrow the pattern)", files.len());
                    }
                    ToolOutput::ok(text, ToolFacts { path: Some(root), lines: Some(count), ..ToolFacts::default() })
                }
            }
        })
    }
}
