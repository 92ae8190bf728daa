//! Decides which targets are never changed without a person's approval.

use super::effect::Touched;
use super::known::PathPattern;
use crate::approval::path;
use crate::approval::program::Action;
use crate::approval::{Class, NeverAuto, Surroundings};

pub(super) fn in_danger(
    class: Class,
    touched: &Touched,
    pattern: &PathPattern,
    place: &Surroundings,
) -> Option<NeverAuto> {
    let destroys = class == Class::Destructive || matches!(touched.action, Action::Remove | Action::Move);
    let at_or_above =
        |directory: Option<&std::path::Path>| directory.is_some_and(|directory| pattern.covers(directory));
    let over_home = at_or_above(place.home.as_deref()) || pattern.covers(std::path::Path::new("/"));
    if touched.filtered {
        let whole = over_home || at_or_above(place.workspace.parent()) || pattern.is_unresolved();
        return whole.then(|| danger(pattern, place, false)).flatten();
    }
    let whole_tree = touched.recursive && touched.action == Action::Attributes;
    // Overwriting home is dangerous even without recursion.
    let over_itself = touched.action == Action::Overwrite && over_home;
    if destroys || whole_tree || over_itself {
        return danger(pattern, place, touched.value.had_empty);
    }
    if touched.action == Action::Attributes {
        return attributes_danger(pattern, place);
    }
    if touched.action == Action::Overwrite && (pattern.is_unresolved() || touched.value.had_empty) {
        return Some(NeverAuto::Unresolved { word: pattern.shown().to_owned() });
    }
    if class == Class::Network { None } else { system_danger(pattern, place) }
}

/// Returns why a destructive command on this target always needs a person's approval.
pub(crate) fn danger(pattern: &PathPattern, place: &Surroundings, had_empty: bool) -> Option<NeverAuto> {
    let target = pattern.shown().to_owned();
    if let Some(home) = &place.home
        && pattern.covers(home)
    {
        return Some(NeverAuto::HomeOrAbove { target });
    }
    if pattern.is_unresolved() || had_empty {
        return Some(NeverAuto::Unresolved { word: target });
    }
    if pattern.covers(&place.workspace) || place.workspace.parent().is_some_and(|parent| pattern.covers(parent)) {
        return Some(NeverAuto::WorkspaceOrAbove { target });
    }
    system_danger(pattern, place)
}

/// Returns why changing the mode or owner of this target itself always needs a person's approval: a directory that
/// is closed also closes everything in it.
pub(crate) fn attributes_danger(pattern: &PathPattern, place: &Surroundings) -> Option<NeverAuto> {
    let above = |directory: Option<&std::path::Path>| directory.is_some_and(|directory| pattern.covers(directory));
    let itself =
        !place.workspace.as_os_str().is_empty() && pattern.path().as_deref() == Some(place.workspace.as_path());
    if above(place.home.as_deref()) || above(place.workspace.parent()) || itself {
        return danger(pattern, place, false);
    }
    if pattern.is_unresolved() { None } else { system_danger(pattern, place) }
}

fn system_danger(pattern: &PathPattern, place: &Surroundings) -> Option<NeverAuto> {
    let rough = pattern.rough_path()?;
    let own =
        rough.starts_with(&place.workspace) || place.home.as_ref().is_some_and(|home| rough.starts_with(home));
    let target = pattern.shown().to_owned();
    if path::is_harmless_device(&rough.to_string_lossy()) || own {
        return None;
    }
    if rough.starts_with("/dev") && !path::is_scratch(&rough) {
        return Some(NeverAuto::Device { target });
    }
    (path::is_system(&rough) || rough.components().count() <= 2).then_some(NeverAuto::System { target })
}
