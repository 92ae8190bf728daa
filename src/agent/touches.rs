//! What a call is about to change, for the journal: the places of a file tool, and of a shell line what can be known
//! of it beforehand. Looks at the disk, changes nothing.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use crate::approval::command::{Action, GitChanges, Judged, LineJudgement, Part};
use crate::approval::{Class, Glob, IndexContent, Tracked, each_index_entry};
use crate::conversation::Effect;
use crate::journal::{How, Touch};

use super::aliases::{self, end_of_link, is_follower};
use super::found;

/// More places of one pattern are not looked up.
const MOST_MATCHES: usize = 5_000;
/// More of what git does not keep is not kept here either.
const MOST_UNKEPT: usize = 50_000;
/// More entries of a repository are not looked at.
const MOST_WALKED: usize = 200_000;

/// More entries below, or more bytes, are not kept for a command that means only some of them.
const FEW_ENTRIES: usize = 2_000;
/// As above (bytes).
const FEW_BYTES: u64 = 64 * 1024 * 1024;

/// What a line is about to change.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Expected {
    pub(super) touches: Vec<Touch>,
    /// Whether it may change more than that.
    pub(super) unseen: bool,
    /// Whether git may throw away what it does not keep.
    pub(super) git: bool,
    /// Whether that is also what it is told to ignore.
    pub(super) ignored: bool,
    /// Whether it is known to remove what is not among the touches: too much, or too hard to tell.
    pub(super) lost: bool,
}

/// The places a file tool changes: what it names is all it touches.
pub(super) fn of_paths(effect: Effect, paths: &[PathBuf]) -> Vec<Touch> {
    let how = if effect == Effect::Delete { How::Removed } else { How::Any };
    paths.iter().map(|path| Touch { path: path.clone(), tree: true, how }).collect()
}

/// What is known of a line that begins in a directory.
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
            // What git throws away below a directory it is asked for itself: see `unkept_by_git`.
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
                // Any of what lies there may be meant.
                expected.touches.push(Touch { path: real.unwrap_or(path), tree: true, how });
                continue;
            }
            add(&mut expected, judgement, target.action, how, (path, real));
        }
    }
    expected
}

/// Tells whether what is removed is removed before anything could write it or give it another name.
fn only_removes(parts: &[Judged]) -> bool {
    let removes = |part: &&Judged| part.class == Class::ReadOnly || part.only_unlinks();
    let first = parts.iter().take_while(removes).count();
    first > 0 && !parts[first..].iter().any(Judged::renames)
}

/// Adds a place, and what it leads to where that is changed with it.
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
            // What lies in the given directories goes there, over what has the same names.
            expected.unseen |= !is_small(into);
            expected.touches.extend(is_small(into).then(|| Touch { path: into.clone(), tree: true, how }));
        }
        // Something is put into a directory: under the names of what the programs were given.
        for name in judgement.parts.iter().flat_map(given_names) {
            expected.touches.push(Touch { path: into.join(name), tree: true, how });
        }
        expected.touches.push(Touch { path, tree: false, how });
        return;
    }
    expected.touches.extend(real.map(|path| Touch { path, tree: true, how }));
    expected.touches.push(Touch { path, tree: true, how });
}

/// Tells whether so little lies below that all of it can be kept for the sake of some.
fn is_small(path: &Path) -> bool {
    let (mut entries, mut bytes) = (0, 0_u64);
    let mut waiting = vec![path.to_path_buf()];
    while let Some(path) = waiting.pop() {
        let Ok(metadata) = path.symlink_metadata() else { continue };
        entries += 1;
        bytes = bytes.saturating_add(metadata.len());
        if entries > FEW_ENTRIES || bytes > FEW_BYTES {
            return false;
        }
        if metadata.is_dir() {
            waiting.extend(path.read_dir().into_iter().flatten().flatten().map(|entry| entry.path()));
        }
    }
    true
}

/// Tells whether a program that copies is given a directory for what lies in it: `cp -a from/. to`.
fn gives_contents(part: &Judged) -> bool {
    let Part::Command { words, .. } = &part.part else { return false };
    let is_inside = |word: &String| {
        matches!(word.as_str(), "." | "..") || word.ends_with("/.") || word.ends_with("/..") || word == "-T"
    };
    part.renames() && words.iter().skip(1).flatten().any(is_inside)
}

/// The last names of what a program that copies or moves was given.
fn given_names(part: &Judged) -> Vec<PathBuf> {
    let Part::Command { words, .. } = &part.part else { return Vec::new() };
    if !part.renames() {
        return Vec::new();
    }
    let given = words.iter().skip(1).flatten().filter(|word| !word.starts_with('-'));
    let named = given.filter_map(|word| Path::new(word).file_name().map(PathBuf::from));
    // The files a pattern stands for are among those the judgement found.
    named.chain(part.paths.iter().filter_map(|(path, _)| path.file_name().map(PathBuf::from))).collect()
}

/// The places that globs stand for on this disk below a directory, one a component.
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

/// The files git does not keep as they are: changed, added and not committed, or not known to it. Read from its index
/// and off the disk: `git status` would run the filters and the monitor a repository names.
pub(super) fn unkept_by_git(directory: &Path, ignored: bool) -> Vec<Touch> {
    // Where there is no repository, git will not do anything either.
    let Some(top) = directory.ancestors().find(|folder| folder.join(".git").exists()) else { return Vec::new() };
    let tracked = Tracked::read(top).unwrap_or_default();
    let (mut known, mut found) = (HashSet::new(), Vec::new());
    // Of an index that cannot be read all files are new.
    let _ = each_index_entry(top, |entry| {
        let name = Path::new(std::ffi::OsStr::from_bytes(entry.path));
        // Nobody but an attacker names a file outside.
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
    // With a directory that goes, its mode and time go.
    found.extend(below(top, ignored).filter(|path| !known.contains(path) && !tracked.keeps(path)));
    found.truncate(MOST_UNKEPT);
    found.into_iter().map(|path| Touch { path, tree: false, how: How::Any }).collect()
}

/// The files whose content is in the index and in no commit. Compares what git itself keeps: no file of the workspace
/// is looked at, so that no filter runs, and nothing is fetched.
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

/// What lies in a repository, without other repositories inside, and without what git ignores where that stays.
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
