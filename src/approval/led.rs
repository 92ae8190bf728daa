//! What is kept where a target really lies, once the links in its path are followed.

use std::path::{Path, PathBuf};

use super::blast::FileSystem;
use super::command::{Action, PathPattern, Target, later};
use super::{NeverAuto, Surroundings};

/// Why no yes in advance covers a change of what is kept there; the names alone are judged elsewhere.
pub(super) fn led_later(
    target: &Target,
    pattern: &PathPattern,
    place: &Surroundings,
    files: &dyn FileSystem,
) -> Option<NeverAuto> {
    let (root, globs) = pattern.walk()?;
    let removed = matches!(target.action, Action::Remove | Action::Move);
    let real = Surroundings {
        home: place.home.as_deref().map(|home| real_place(home, files)),
        workspace: real_place(&place.workspace, files),
        ..place.clone()
    };
    let itself = match (root.parent(), root.file_name()) {
        (Some(parent), Some(name)) if globs.is_empty() => real_place(parent, files).join(name),
        _ => real_place(&root, files),
    };
    // What goes is the link; what is written is what it leads to.
    let followed = (!removed).then(|| real_place(&root, files));
    [Some(itself), followed].into_iter().flatten().find_map(|root| {
        let path = pattern.rebased(&root).rough_path()?;
        later(&path, pattern.shown(), removed, &real)
    })
}

/// Follows all links in a path as far as it exists.
fn real_place(path: &Path, files: &dyn FileSystem) -> PathBuf {
    let existing =
        path.ancestors().find_map(|above| Some((files.real_path(above)?, path.strip_prefix(above).ok()?)));
    existing.map_or_else(|| path.to_owned(), |(real, rest)| real.join(rest))
}
