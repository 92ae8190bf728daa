//! What the `shell` tool decides before anybody is asked: the project's directory, and that nothing is set up twice.

use std::path::{Path, PathBuf};

use crate::conversation::ToolFacts;
use crate::tool::{Roots, ToolMemory, ToolOutput, memory, paths};

use crate::tool::project::{self, Belongs, Known, Made};

/// Projects the model may mean are looked for among so many files that it has seen, and no more.
const MOST_SEEN: usize = 10_000;

/// Where a call runs.
pub(super) enum Place {
    /// Where it says.
    AsIs,
    /// In another directory; the note says why.
    There { directory: PathBuf, note: String },
    /// Nowhere: this is its result.
    Answer(Box<ToolOutput>),
}

/// Settles a call that says nothing of a directory, or something (`said`).
pub(super) fn settle(
    lines: &[String],
    (directory, said): (&Path, bool),
    roots: &Roots,
    memory: &ToolMemory,
) -> Place {
    let exists = |path: &Path| path.exists();
    let made = memory::lock(&memory.made).clone();
    let seen = seen(memory);
    let known = Known { directory, workspace: &roots.workspace, made: &made, seen: &seen, exists: &exists };
    if let Some((before, whole)) = project::already(lines, &known) {
        return Place::Answer(Box::new(answered(before, whole, roots)));
    }
    if said {
        return Place::AsIs;
    }
    let shown = |path: &Path| paths::shown(roots, path);
    match project::belongs(lines, &known) {
        Belongs::Here => Place::AsIs,
        Belongs::There { directory, marker } => {
            let note =
                format!("[it ran in {}: {marker} is there and not in the working directory]", shown(&directory));
            Place::There { directory, note }
        }
        Belongs::OneOf { directories, marker } => {
            let list: Vec<String> = directories.iter().map(|directory| shown(directory)).collect();
            Place::Answer(Box::new(ToolOutput::failed(format!(
                "shell: not run: there is no {marker} here or above, but in {}. Say with `cwd` which one is meant.",
                list.join(", ")
            ))))
        }
    }
}

/// Remembers what lines that went well have set up. Looks at the disk.
pub(super) fn remember(lines: &[String], directory: &Path, memory: &ToolMemory) {
    let new = project::made(lines, directory, &|path| path.exists());
    memory::lock(&memory.made).extend(new);
}

fn answered(before: &Made, whole: bool, roots: &Roots) -> ToolOutput {
    let at = paths::shown(roots, &before.directory);
    if whole {
        let facts = ToolFacts { path: Some(before.directory.clone()), ..ToolFacts::default() };
        return ToolOutput::ok(format!("Already done in this session, at {at}: not run again."), facts);
    }
    let line = before.line();
    ToolOutput::failed(format!("shell: not run: `{line}` was already done in this session, at {at}. Leave it out."))
}

/// The directories of files that the model has read or written.
fn seen(memory: &ToolMemory) -> Vec<PathBuf> {
    let files = memory.files.paths(MOST_SEEN);
    files
        .iter()
        .filter(|path| project::is_marker(path))
        .filter_map(|path| path.parent())
        .map(PathBuf::from)
        .collect()
}
