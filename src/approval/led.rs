//! What is kept where a target really lies, once the links in its path are followed.

use std::path::{Path, PathBuf};

use super::command::{Action, PathPattern, Target, later};
use super::path::is_harmless_device;
use super::{NeverAuto, Surroundings};

/// Follows all links in a path; `None` if nothing is there.
type Follow<'a> = &'a dyn Fn(&Path) -> Option<PathBuf>;

/// The names that these surroundings really have.
pub(super) fn real_surroundings(place: &Surroundings, follow: Follow<'_>) -> Surroundings {
    Surroundings {
        home: place.home.as_deref().map(|home| real_place(home, follow)),
        workspace: real_place(&place.workspace, follow),
        ..place.clone()
    }
}

/// Where a path really lies that a target names: a link that goes, itself; what is written, where the link leads. What
/// lies in the workspace has the name that the person knows; `workspace` is its real one.
pub(super) fn lies(
    target: &Target,
    path: &Path,
    place: &Surroundings,
    workspace: &Path,
    follow: Follow<'_>,
) -> PathBuf {
    if is_harmless_device(&path.to_string_lossy()) {
        return path.to_owned();
    }
    let real = match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if !follows(target) => real_place(parent, follow).join(name),
        _ => real_place(path, follow),
    };
    match real.strip_prefix(workspace) {
        Ok(rest) if rest.as_os_str().is_empty() => place.workspace.clone(),
        Ok(rest) => place.workspace.join(rest),
        Err(_) => real,
    }
}

/// Tells whether a target means what a link leads to. Removing or moving a link affects only the link, unless its name
/// ends with a slash, as the value of a variable may.
pub(super) fn follows(target: &Target) -> bool {
    let shown = target.pattern.shown();
    !matches!(target.action, Action::Remove | Action::Move) || shown.ends_with(['/', '.']) || shown.contains('$')
}

/// Why no yes in advance covers a change of what is kept there; the names alone are judged elsewhere. `real` are the
/// surroundings by their real names.
pub(super) fn led_later(
    target: &Target,
    pattern: &PathPattern,
    real: &Surroundings,
    follow: Follow<'_>,
) -> Option<NeverAuto> {
    let (root, globs) = pattern.walk()?;
    let removed = matches!(target.action, Action::Remove | Action::Move);
    let itself = match (root.parent(), root.file_name()) {
        (Some(parent), Some(name)) if globs.is_empty() => real_place(parent, follow).join(name),
        _ => real_place(&root, follow),
    };
    // What goes is the link; what is written is what it leads to.
    let followed = follows(target).then(|| real_place(&root, follow));
    [Some(itself), followed].into_iter().flatten().find_map(|root| {
        let path = pattern.rebased(&root).rough_path()?;
        later(&path, pattern.shown(), removed, real)
    })
}

/// Follows all links in a path as far as it exists.
fn real_place(path: &Path, follow: Follow<'_>) -> PathBuf {
    let existing = path.ancestors().find_map(|above| Some((follow(above)?, path.strip_prefix(above).ok()?)));
    // Joined with nothing, a path ends with a slash and means a directory.
    let join = |(real, rest): (PathBuf, &Path)| if rest.as_os_str().is_empty() { real } else { real.join(rest) };
    existing.map_or_else(|| path.to_owned(), join)
}
