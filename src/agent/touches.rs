//! Predicts what a call will change, for the journal: the paths of a file tool, and as much as can be known of a
//! shell line beforehand. Reads the disk, changes nothing.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use crate::approval::command::{Action, GitChanges, Judged, LineJudgement, Part};
use crate::approval::{Class, Glob, IndexContent, Tracked, each_index_entry};
use crate::conversation::Effect;
use crate::file::tree;
use crate::journal::{How, Touch};
use crate::platform::os::ffi::OsStrExt as _;

use super::aliases::{self, end_of_link, is_follower};
use super::found;

/// Looks up no more matches of one pattern than this.
const MOST_MATCHES: usize = 5_000;
/// Copies no more files that git does not keep than this.
const MOST_UNKEPT: usize = 50_000;
/// Looks at no more entries of a repository than this.
const MOST_WALKED: usize = 200_000;

/// A directory with more entries or more bytes below it is not copied for a command that may change only some of
/// them.
const FEW_ENTRIES: usize = 2_000;
/// As above (bytes).
const FEW_BYTES: u64 = 64 * 1024 * 1024;

/// The changes expected of a line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Expected {
    pub(super) touches: Vec<Touch>,
    /// Whether it may change more than the touches name.
    pub(super) unseen: bool,
    /// Whether it has git throw away files that git does not keep.
    pub(super) git: bool,
    /// Whether that includes ignored files.
    pub(super) ignored: bool,
    /// Whether it certainly removes files that are not among the touches: too many, or too hard to tell.
    pub(super) lost: bool,
}

/// Returns the touches of a file tool: it changes the paths it names, and nothing else.
pub(super) fn of_paths(effect: Effect, paths: &[PathBuf]) -> Vec<Touch> {
    let how = if effect == Effect::Delete { How::Removed } else { How::Any };
    paths.iter().map(|path| Touch { path: path.clone(), tree: true, how }).collect()
}

/// Returns the changes that can be known of a line that starts in `begun_in`.
pub(super) fn of_line(judgement: &LineJudgement, begun_in: &Path) -> Expected {
    let mut expected = Expected { unseen: !judgement.unparsed.is_empty(), ..Expected::default() };
    for part in &judgement.parts {
        if part.class == Class::ReadOnly {
            continue;
        }
        expected.unseen |= match part.class {
            Class::ReadOnly | Class::Write => false,
            Class::Network => !part.only_asks(),
            Class::Execute => true,
            Class::Destructive => judgement.targets.is_empty(),
        };
        expected.unseen |= part.unpacks();
        if let Some(GitChanges::Files { ignored }) = part.git_changes() {
            expected.git = true;
            expected.ignored |= ignored;
            expected.unseen = true;
        }
    }
    let removed = only_removes(&judgement.parts);
    let aliases = aliases::of_parts(&judgement.parts, begun_in);
    for target in &judgement.targets {
        if target.pattern.is_unresolved() {
            expected.unseen = true;
            continue;
        }
        let how = match target.action {
            Action::Attributes => How::Attributes,
            Action::Remove if removed => How::Removed,
            Action::Remove | Action::Move | Action::Overwrite | Action::Change => How::Any,
        };
        let Some((root, globs)) = target.pattern.walk() else { continue };
        let led_to = aliases::led_to(&aliases, &judgement.parts, target);
        expected.unseen |= led_to.is_none();
        let roots = std::iter::once(root).chain(led_to.into_iter().flatten());
        for path in roots.flat_map(|root| matches(root, &globs)) {
            // Which files git throws away below a directory is asked elsewhere: see `unkept_by_git`.
            if expected.git && path.is_dir() {
                continue;
            }
            let real = end_of_link(&path).filter(|_| is_follower(target));
            if target.filtered && !is_small(real.as_ref().unwrap_or(&path)) {
                let removed = target.action == Action::Remove;
                let found = found::below(target, real.as_ref().unwrap_or(&path));
                let found = found.filter(|_| removed);
                expected.unseen |= found.is_none();
                expected.lost |= removed && found.is_none();
                let found = found.unwrap_or_default().into_iter();
                expected.touches.extend(found.map(|path| Touch { path, tree: false, how }));
                continue;
            }
            if target.filtered {
                // The command may mean any of the files in there.
                expected.touches.push(Touch { path: real.unwrap_or(path), tree: true, how });
                continue;
            }
            add(&mut expected, judgement, target.action, how, (path, real));
        }
    }
    expected
}

/// Tells whether the line removes files before any part of it could write them or give them another name.
fn only_removes(parts: &[Judged]) -> bool {
    let removes = |part: &&Judged| part.class == Class::ReadOnly || part.only_unlinks();
    let first = parts.iter().take_while(removes).count();
    first > 0 && !parts[first..].iter().any(Judged::renames)
}

/// Adds a path, and the path a link at its end leads to if that is changed with it.
fn add(
    expected: &mut Expected,
    judgement: &LineJudgement,
    action: Action,
    how: How,
    (path, real): (PathBuf, Option<PathBuf>),
) {
    let writes = match action {
        Action::Overwrite | Action::Change => true,
        Action::Remove | Action::Move | Action::Attributes => false,
    };
    let into = real.as_ref().unwrap_or(&path);
    if writes && into.is_dir() {
        if judgement.parts.iter().any(gives_contents) {
            // The contents of the given directories go there, and replace what has the same names.
            expected.unseen |= !is_small(into);
            expected.touches.extend(is_small(into).then(|| Touch { path: into.clone(), tree: true, how }));
        }
        // Files go into a directory, under the names that the programs were given.
        for name in judgement.parts.iter().flat_map(given_names) {
            expected.touches.push(Touch { path: into.join(name), tree: true, how });
        }
        expected.touches.push(Touch { path, tree: false, how });
        return;
    }
    expected.touches.extend(real.map(|path| Touch { path, tree: true, how }));
    expected.touches.push(Touch { path, tree: true, how });
}

/// Tells whether so little lies below a path that all of it can be copied, although only some of it may change.
fn is_small(path: &Path) -> bool {
    let mut bytes = 0_u64;
    for (before, (_, metadata)) in tree(path).enumerate() {
        bytes = bytes.saturating_add(metadata.len());
        if before >= FEW_ENTRIES || bytes > FEW_BYTES {
            return false;
        }
    }
    true
}

/// Tells whether a program that copies is given a directory in order to copy its contents: `cp -a from/. to`.
fn gives_contents(part: &Judged) -> bool {
    let Part::Command { words, .. } = &part.part else { return false };
    let is_inside = |word: &String| {
        matches!(word.as_str(), "." | "..") || word.ends_with("/.") || word.ends_with("/..") || word == "-T"
    };
    part.renames() && words.iter().skip(1).flatten().any(is_inside)
}

/// Returns the last components of the paths that a program copies or moves.
fn given_names(part: &Judged) -> Vec<PathBuf> {
    let Part::Command { words, .. } = &part.part else { return Vec::new() };
    if !part.renames() {
        return Vec::new();
    }
    let given = words.iter().skip(1).flatten().filter(|word| !word.starts_with('-'));
    let named = given.filter_map(|word| Path::new(word).file_name().map(PathBuf::from));
    // The judgement already looked up the files that a pattern matches.
    named.chain(part.paths.iter().filter_map(|(path, _)| path.file_name().map(PathBuf::from))).collect()
}

/// Lists the paths that a chain of globs matches below a directory: one glob for each component.
fn matches(root: PathBuf, globs: &[Glob]) -> Vec<PathBuf> {
    let mut paths = vec![root];
    for glob in globs {
        let mut next = Vec::new();
        for directory in paths {
            let entries = directory.read_dir().into_iter().flatten().flatten();
            let names = entries.map(|entry| entry.file_name());
            let fits = |name: &std::ffi::OsString| glob.names(&name.to_string_lossy());
            next.extend(names.filter(fits).map(|name| directory.join(name)));
        }
        next.truncate(MOST_MATCHES);
        paths = next;
    }
    paths
}

/// Lists the files that git does not keep as they are: changed, added but not committed, or untracked. They are
/// read from git's index and from the disk: `git status` would run the filters and the file system monitor that the
/// repository names.
pub(super) fn unkept_by_git(directory: &Path, ignored: bool) -> Vec<Touch> {
    // Without a repository, git does nothing either.
    let Some(top) = directory.ancestors().find(|folder| folder.join(".git").exists()) else { return Vec::new() };
    let tracked = Tracked::read(top).unwrap_or_default();
    let (mut known, mut found) = (HashSet::new(), Vec::new());
    // If the index cannot be read, all files count as new.
    let _ = each_index_entry(top, |entry| {
        let name = Path::new(std::ffi::OsStr::from_bytes(entry.path));
        // Only an attacker's index names a file outside the repository.
        let is_below = name.components().all(|part| matches!(part, Component::Normal(_)));
        let path = top.join(name);
        if is_below && entry.kept != IndexContent::Folder {
            if !tracked.keeps(&path) {
                found.push(path.clone());
            }
            known.insert(path);
        }
    });
    found.extend(added(top));
    // Removing a directory loses its mode and its time.
    found.extend(below(top, ignored).filter(|path| !known.contains(path) && !tracked.keeps(path)));
    found.truncate(MOST_UNKEPT);
    found.into_iter().map(|path| Touch { path, tree: false, how: How::Any }).collect()
}

/// Lists the files whose content is in the index, but in no commit. It compares git's own records: git reads no
/// file of the workspace, so no filter runs, and it fetches nothing.
fn added(top: &Path) -> Vec<PathBuf> {
    let plain = ["core.fsmonitor=false", "core.hooksPath=/dev/null", "protocol.allow=never"];
    let mut command = std::process::Command::new("git");
    command.args(plain.iter().flat_map(|setting| ["-c", setting])).arg("--no-optional-locks");
    command.args(["diff-index", "--cached", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"]);
    command.args(["--ignore-submodules", "HEAD", "--"]).env("GIT_NO_LAZY_FETCH", "1").current_dir(top);
    let Ok(output) = command.stdin(std::process::Stdio::null()).output() else { return Vec::new() };
    let names = output.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| top.join(std::ffi::OsStr::from_bytes(name))).collect()
}

/// Walks through a repository, leaving out repositories inside it, and, unless `ignored`, the files that git
/// ignores.
fn below(top: &Path, ignored: bool) -> impl Iterator<Item = PathBuf> {
    let is_own = |entry: &ignore::DirEntry| {
        entry.depth() == 0 || entry.file_name() != ".git" && !entry.path().join(".git").exists()
    };
    let walk = ignore::WalkBuilder::new(top)
        .standard_filters(false)
        .git_ignore(!ignored)
        .git_exclude(!ignored)
        .git_global(!ignored)
        .filter_entry(is_own)
        .build();
    let entries = walk.flatten().take(MOST_WALKED);
    entries.filter(|entry| entry.depth() > 0).map(ignore::DirEntry::into_path)
}

#[cfg(test)]
#[path = "touches_tests.rs"]
mod tests;
