//! What is kept where a target really lies, once the links in its path are followed.

use std::path::{Path, PathBuf};

use super::command::{Action, PathPattern, Target, later};
use super::{NeverAuto, Surroundings};

/// Follows all links in a path; `None` if nothing is there.
type Follow<'a> = &'a dyn Fn(&Path) -> Option<PathBuf>;

/// Why no yes in advance covers a change of what is kept there; the names alone are judged elsewhere.
pub(super) fn led_later(
    target: &Target,
    pattern: &PathPattern,
    place: &Surroundings,
    follow: Follow<'_>,
) -> Option<NeverAuto> {
    let (root, globs) = pattern.walk()?;
    let removed = matches!(target.action, Action::Remove | Action::Move);
    let real = Surroundings {
        home: place.home.as_deref().map(|home| real_place(home, follow)),
        workspace: real_place(&place.workspace, follow),
        ..place.clone()
    };
    let itself = match (root.parent(), root.file_name()) {
        (Some(parent), Some(name)) if globs.is_empty() => real_place(parent, follow).join(name),
        _ => real_place(&root, follow),
    };
    // What goes is the link; what is written is what it leads to.
    let followed = (!removed).then(|| real_place(&root, follow));
    [Some(itself), followed].into_iter().flatten().find_map(|root| {
        let path = pattern.rebased(&root).rough_path()?;
        later(&path, pattern.shown(), removed, &real)
    })
}

/// Follows all links in a path as far as it exists.
fn real_place(path: &Path, follow: Follow<'_>) -> PathBuf {
    let existing = path.ancestors().find_map(|above| Some((follow(above)?, path.strip_prefix(above).ok()?)));
    existing.map_or_else(|| path.to_owned(), |(real, rest)| real.join(rest))
}
