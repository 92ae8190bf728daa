//! A change to one file that is planned and not yet made. All reasons to refuse it are found before a person is
//! asked, and are checked again when it is made.

use std::path::{Path, PathBuf};

use crate::conversation::{Preview, ToolFacts};
use crate::tool::file_memory::{FileMemory, FileState, Freshness};
use crate::tool::text_file::{self, Encoding};
use crate::tool::{Before, Roots, ToolContext, ToolOutput, atomic, paths, work};

use super::matching;

/// The diff in an error is at most this long (bytes).
const DIFF_LIMIT: usize = 4000;

/// A change that is worked out but not made.
pub(super) struct Change {
    /// Where it goes: the file itself, links resolved.
    pub(super) real: PathBuf,
    /// The text now; `None` when there is no file.
    pub(super) old: Option<String>,
    /// The state the text was loaded in.
    pub(super) before: Option<FileState>,
    /// The text afterwards.
    pub(super) new: String,
    /// How it is stored.
    pub(super) encoding: Encoding,
    /// What the model is told when it is done, without the counts.
    pub(super) says: String,
}

impl Change {
    /// Makes what a person sees of it. Looks at the disk.
    ///
    /// # Errors
    /// The text for the model if the change is refused.
    pub(super) fn checked(self, path: &Path, before: &Before<'_>) -> Result<Preview, String> {
        self.bytes(path, before.roots, &before.memory.files)?;
        paths::may_write(&self.real).map_err(|error| text_file::problem(before.roots, path, &error))?;
        Ok(self.shown(path.to_owned()))
    }

    /// The bytes to write.
    ///
    /// # Errors
    /// The text for the model when it does not know the file as it is, or the file cannot hold the text.
    fn bytes(&self, path: &Path, roots: &Roots, files: &FileMemory) -> Result<Vec<u8>, String> {
        let shown = paths::shown(roots, path);
        if let (Some(before), Some(old)) = (&self.before, &self.old) {
            match files.freshness(&self.real, before) {
                Freshness::Fresh => {}
                // Nothing is lost with an empty file.
                Freshness::Unread if old.is_empty() => {}
                Freshness::Unread => {
                    return Err(format!("{shown} exists and you have not read it. Read it first."));
                }
                Freshness::Changed(known) => return Err(changed(&shown, known.as_deref(), old)),
            }
        }
        self.encoding
            .encode(&self.new)
            .map_err(|letter| format!("{shown} is Latin-1, which has no {letter:?}; use other characters."))
    }

    fn shown(self, path: PathBuf) -> Preview {
        Preview::Diff { path, old: self.old, new: Some(self.new) }
    }

    /// Makes it, unless the model does not know the file as it is.
    pub(super) async fn make(self, path: PathBuf, context: ToolContext<'_>) -> ToolOutput {
        let bytes = match self.bytes(&path, context.roots, &context.memory.files) {
            Ok(bytes) => bytes,
            Err(problem) => return ToolOutput::failed(problem),
        };
        let (added, removed) = matching::counts(self.old.as_deref().unwrap_or(""), &self.new);
        let facts = ToolFacts {
            path: Some(path.clone()),
            added: Some(added),
            removed: Some(removed),
            ..ToolFacts::default()
        };
        let (real, before, roots, named) =
            (self.real.clone(), self.before.clone(), context.roots.clone(), path.clone());
        let written = work::to_the_end(move || write_checked(&roots, &named, &real, before.as_ref(), &bytes)).await;
        match written {
            Err(broken) => broken,
            Ok(Err(problem)) => ToolOutput::failed(problem),
            Ok(Ok(state)) => {
                context.memory.files.remember_written(&self.real, state, &self.new);
                let says = format!("{} (+{added} -{removed})", self.says);
                ToolOutput { change: Some(self.shown(path)), ..ToolOutput::ok(says, facts) }
            }
        }
    }
}

/// Says that a file is not as the model knows it; and what changed, if that is known.
pub(super) fn changed(shown: &str, known: Option<&str>, now: &str) -> String {
    let diff = known.map(|known| matching::diff(known, now, DIFF_LIMIT)).unwrap_or_default();
    format!("{shown} was changed since you last read it. Read it again, then repeat.\n{diff}").trim_end().to_owned()
}

/// Writes after a last check: the file was loaded a moment ago, and a person may have saved it in between.
fn write_checked(
    roots: &Roots,
    path: &Path,
    real: &Path,
    before: Option<&FileState>,
    bytes: &[u8],
) -> Result<FileState, String> {
    let now = real.symlink_metadata().ok().map(|metadata| (metadata.len(), metadata.modified().ok()));
    if now != before.map(|state| (state.length, state.modified)) {
        let shown = paths::shown(roots, path);
        return Err(format!("{shown} was changed this moment by something else. Read it again."));
    }
    atomic::write(real, bytes).map_err(|error| text_file::problem(roots, path, &error))?;
    Ok(FileState::of(bytes, real.metadata().ok().and_then(|metadata| metadata.modified().ok())))
}
