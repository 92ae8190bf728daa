//! Finds the new names that a shell line gives to existing files: by making links, or by moving or copying links. A
//! later change through the new name changes the old file, so undo has to know both. Reads the disk, changes
//! nothing.

use std::path::{Component, Path, PathBuf};

use crate::approval::command::{Action, Judged, NewNames, Target};
use crate::platform::RealPath as _;

/// Longer chains of links are not followed.
const LONGEST_CHAIN: usize = 40;

/// A new name that one part of a line gives to an existing file.
#[derive(Debug)]
pub(super) struct Alias {
    /// The index of the part that gives the name.
    part: usize,
    /// The new name; `None` where it is not known.
    name: Option<PathBuf>,
    /// The path that the new name leads to; `None` where that is not known.
    old: Option<PathBuf>,
    /// Whether the alias exists only where `old` is a link now: any other file is copied or moved and shares
    /// nothing with it.
    only_links: bool,
}

/// Collects the aliases made by the parts of a line that starts in `begun_in`.
pub(super) fn of_parts(parts: &[Judged], begun_in: &Path) -> Vec<Alias> {
    let stays = !parts.iter().any(Judged::changes_directory);
    let begun_in = stays.then_some(begun_in);
    let named = parts.iter().enumerate().filter_map(|(index, part)| Some((index, part, part.new_names()?)));
    named.flat_map(|(index, part, naming)| of_part(index, part, naming, begun_in)).collect()
}

/// Follows a target through the names that other parts of its line give, and returns the paths it may lead to.
/// `None` where that cannot be known.
pub(super) fn led_to(aliases: &[Alias], parts: &[Judged], target: &Target) -> Option<Vec<PathBuf>> {
    let Some((root, globs)) = target.pattern.walk() else { return Some(Vec::new()) };
    let is_whole = globs.is_empty();
    let mut found: Vec<PathBuf> = Vec::new();
    let mut waiting = vec![(root, is_follower(target))];
    while let Some((path, follows)) = waiting.pop() {
        for alias in aliases.iter().filter(|alias| is_used(alias, parts, target)) {
            let Some(name) = &alias.name else { return None };
            let Ok(rest) = path.strip_prefix(name) else {
                // The pattern may also match the new name.
                if !is_whole && name.starts_with(&path) && (follows || globs.len() > 1) {
                    return None;
                }
                continue;
            };
            if rest.as_os_str().is_empty() && is_whole && !follows {
                continue;
            }
            let old = alias.old.as_ref()?;
            let led = if rest.as_os_str().is_empty() { old.clone() } else { old.join(rest) };
            let led = if alias.only_links { through_links(old, &led) } else { Some(led) };
            if let Some(led) = led.filter(|led| !found.contains(led)) {
                if found.len() >= LONGEST_CHAIN {
                    return None;
                }
                waiting.push((led.clone(), true));
                found.push(led);
            }
        }
    }
    Some(found)
}

/// Tells whether a change to a target that is a link reaches the file behind the link. Removing or moving a link
/// affects the link itself, unless its name ends with a slash; the value of a variable may end with one, too.
pub(super) fn is_follower(target: &Target) -> bool {
    let shown = target.pattern.shown();
    match target.action {
        Action::Overwrite | Action::Change | Action::Attributes => true,
        Action::Remove | Action::Move => shown.ends_with('/') || shown.ends_with("/.") || shown.contains('$'),
    }
}

/// Returns the path at the end of a chain of links, whether it exists or not; `None` if `path` is no link.
pub(super) fn end_of_link(path: &Path) -> Option<PathBuf> {
    if !path.is_symlink() {
        return None;
    }
    if let Ok(real) = path.real_path() {
        return Some(real);
    }
    let mut at = path.to_owned();
    for _ in 0..LONGEST_CHAIN {
        match at.read_link() {
            Ok(says) => at = tidy(&at.parent()?.join(says)),
            Err(_) => return Some(at),
        }
    }
    None
}

fn of_part(index: usize, part: &Judged, naming: NewNames, begun_in: Option<&Path>) -> Vec<Alias> {
    let only_links = naming == NewNames::OnlyLinks;
    let alias = |name, old| Alias { part: index, name, old, only_links };
    // A target that is not known is reported elsewhere.
    let Some((target, _)) = part.paths.iter().rev().find(|(_, only_read)| !only_read) else { return Vec::new() };
    let Some((sources, last)) = part.old_names() else {
        // A pattern rarely matches links: a warning each time would help nobody.
        return if only_links { Vec::new() } else { vec![alias(Some(target.clone()), None)] };
    };
    let directory = last.and_then(|word| ran_in(word, target)).or_else(|| begun_in.map(Path::to_owned));
    if let (true, Some(only)) = (sources.is_empty() && !only_links, last) {
        // A single word gets its own file name in the directory the program runs in.
        let name = directory.and_then(|directory| Some(directory.join(Path::new(only).file_name()?)));
        return vec![alias(name, Some(target.clone()))];
    }
    let itself = (target.is_symlink() || !target.is_dir()).then(|| target.clone());
    let mut found = Vec::new();
    for source in sources.into_iter().map(Path::new) {
        let inside = source.file_name().map(|name| target.join(name));
        // The new name is the target, or lies inside it if the target is a directory by then: nobody knows yet, so
        // both count.
        for name in itself.clone().into_iter().chain(inside) {
            let base = match naming {
                _ if source.is_absolute() => Some(PathBuf::new()),
                NewNames::Symbolic => name.parent().map(Path::to_owned),
                NewNames::Plain | NewNames::OnlyLinks => directory.clone(),
            };
            let old = base.map(|base| tidy(&base.join(source)));
            let leads = old.as_ref().is_none_or(|old| !only_links || old.is_symlink() || old.is_dir());
            found.extend(leads.then(|| alias(Some(name), old)));
        }
    }
    found
}

/// Returns the directory a program runs in, if `word` names `path` there; `None` where the word does not tell.
fn ran_in(word: &str, path: &Path) -> Option<PathBuf> {
    let mut up = 0;
    for component in Path::new(word).components() {
        match component {
            Component::Normal(_) => up += 1,
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    path.ancestors().nth(up).map(Path::to_owned)
}

/// Tells whether a part other than the one that gives the name changes the target.
fn is_used(alias: &Alias, parts: &[Judged], target: &Target) -> bool {
    let path = target.pattern.rough_path();
    let others = parts.iter().enumerate().filter(|(index, _)| *index != alias.part);
    // A part that only removes the file does not write it.
    let fits = |part: &&Judged| target.action != Action::Change || !part.only_unlinks();
    let mut written =
        others.map(|(_, part)| part).filter(fits).flat_map(|part| &part.paths).filter(|(_, only_read)| !only_read);
    written.any(|(written, _)| Some(written) == path.as_ref())
}

/// Returns the real path of something below an old name, if a link leads elsewhere.
fn through_links(old: &Path, path: &Path) -> Option<PathBuf> {
    let real = end_of_link(path).or_else(|| path.real_path().ok())?;
    let parent = old.parent()?.real_path().ok()?;
    let plain = parent.join(path.strip_prefix(old.parent()?).ok()?);
    (real != plain).then_some(real)
}

/// Removes `..` from a path: by the disk where the directory exists, by the text otherwise.
fn tidy(path: &Path) -> PathBuf {
    let is_plain = path.components().all(|component| component != Component::ParentDir);
    let parent = path.parent().filter(|_| !is_plain).and_then(|parent| parent.real_path().ok());
    if let (Some(parent), Some(name)) = (parent, path.file_name()) {
        return parent.join(name);
    }
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(clean.pop()),
            Component::CurDir => {}
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => clean.push(component),
        }
    }
    clean
}
