//! Counts how much a command would affect: looks up its targets on the disk, up to a limit, and runs nothing.
//!
//! This is the only part of the room that reads a disk, and it does so only through [`FileSystem`].

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::command::{Action, Extent, Judged, LineJudgement, PathPattern, Step, Target, attributes_danger, danger};
use super::led::{follows, led_later, lies, real_surroundings};
use super::path::{is_harmless_device, is_scratch};
use super::{Glob, NeverAuto, Surroundings};

/// Looks at no more entries than this: beyond it a person needs no exact number.
pub const MOST_ENTRIES: u64 = 100_000;
/// Looks at nothing deeper than this.
pub(super) const DEEPEST: usize = 200;
/// Names no more targets than this.
pub(super) const MOST_NAMED: usize = 50;

/// What the disk says about one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Whether it is a directory itself, not a link to one.
    pub is_directory: bool,
    /// Whether it is a plain file.
    pub is_file: bool,
    /// Size in bytes; for a link, of the link itself.
    pub bytes: u64,
}

/// Read access to a disk. Only `real_path` follows links.
pub trait FileSystem {
    /// Looks up a path; `None` if nothing is there, or it cannot be seen.
    fn entry(&self, path: &Path) -> Option<Entry>;

    /// Lists the names in a directory, in any order; empty if it cannot be read.
    fn names(&self, directory: &Path) -> Vec<OsString>;

    /// Follows all links in a path; `None` if nothing is there.
    fn real_path(&self, path: &Path) -> Option<PathBuf>;
}

/// The disk itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl FileSystem for Disk {
    fn entry(&self, path: &Path) -> Option<Entry> {
        let metadata = std::fs::symlink_metadata(path).ok()?;
        let (is_directory, is_file) = (metadata.is_dir(), metadata.is_file());
        Some(Entry { is_directory, is_file, bytes: if metadata.is_dir() { 0 } else { metadata.len() } })
    }

    fn names(&self, directory: &Path) -> Vec<OsString> {
        let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
        // One entry more than is ever looked at, so that a larger directory is recognised as such.
        let most = usize::try_from(MOST_ENTRIES).unwrap_or(usize::MAX).saturating_add(1);
        entries.flatten().take(most).map(|entry| entry.file_name()).collect()
    }

    fn real_path(&self, path: &Path) -> Option<PathBuf> {
        crate::platform::canonicalize(path).ok()
    }
}

/// How much a command would affect.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct BlastRadius {
    /// Existing files and links that would be removed or changed.
    pub files: u64,
    /// Directories that would be removed or changed.
    pub directories: u64,
    /// Those of the files that would be removed.
    pub removed: u64,
    /// Those of the directories that would be removed with what lies in them.
    pub removed_directories: u64,
    /// Those of the files that would be moved.
    pub moved: u64,
    /// Those of the files whose content would be replaced, and of which git has no copy.
    pub replaced: u64,
    /// The size of the files, in bytes.
    pub bytes: u64,
    /// Those of the files of which git has no copy: removed, they are lost.
    pub untracked: u64,
    /// Those of the files that lie outside the workspace.
    pub outside: u64,
    /// Where new files would be made outside the workspace and the directories for temporary files.
    pub made_outside: Vec<PathBuf>,
    /// Whether counting stopped at [`MOST_ENTRIES`] or after too long; the numbers are then a lower bound.
    pub truncated: bool,
    /// Whether the disk did not answer in time; there are no numbers then.
    pub unanswered: bool,
    /// Whether the command picks only some of them, by name or age; the numbers are then an upper bound.
    pub filtered: bool,
    /// Whether the line may change more than its targets; the numbers are then a lower bound.
    pub more: bool,
    /// What exists at the targets, with globs resolved; without what lies below.
    pub existing: Vec<PathBuf>,
    /// Targets, as written, that are only known when the command runs.
    pub unresolved: Vec<String>,
    /// Why neither a rule nor `-y` can allow it, after links were followed.
    pub never_auto: Option<NeverAuto>,
}

impl BlastRadius {
    /// Tells whether no more would be affected than was told, nor elsewhere. Sizes may differ: a log grows. Where the
    /// numbers could not be told, there is nothing to compare.
    #[must_use]
    pub fn is_as_told(&self, told: &Self) -> bool {
        let numbers =
            |of: &Self| [of.files, of.directories, of.removed, of.moved, of.replaced, of.untracked, of.outside];
        let is_more = || numbers(self).iter().zip(numbers(told)).any(|(now, then)| *now > then);
        let has_new = |now: &[PathBuf], then: &[PathBuf]| {
            then.len() < MOST_NAMED && now.iter().any(|place| !then.contains(place))
        };
        let is_elsewhere =
            || has_new(&self.made_outside, &told.made_outside) || has_new(&self.existing, &told.existing);
        let is_unknown = told.truncated || told.unanswered || self.truncated || self.unanswered;
        is_unknown
            || !is_more() && !is_elsewhere() && (self.never_auto.is_none() || self.never_auto == told.never_auto)
    }
}

/// Counts what a line would affect. `tracked` tells whether git has a file's present content; `enough` tells
/// whether counting has taken too long and must stop.
#[must_use]
pub fn blast_radius(
    line: &LineJudgement,
    surroundings: &Surroundings,
    files: &dyn FileSystem,
    tracked: &dyn Fn(&Path) -> bool,
    enough: &dyn Fn() -> bool,
) -> BlastRadius {
    let mut counter = Counter::new(surroundings, files, line.never_auto.clone());
    counter.radius.filtered = line.is_only_a_guess();
    counter.radius.more = line.changes_more || counter.radius.filtered;
    for target in &line.targets {
        counter.target(target, &Limits { tracked, enough, parts: &line.parts });
    }
    counter.radius
}

/// Returns why neither a rule nor `-y` can allow a line, after links on the disk were followed. Counts nothing.
#[must_use]
pub fn forbidden_on_disk(
    line: &LineJudgement,
    surroundings: &Surroundings,
    files: &dyn FileSystem,
) -> Option<NeverAuto> {
    let mut counter = Counter::new(surroundings, files, line.never_auto.clone());
    for target in line.targets.iter().filter(|target| !target.pattern.is_unresolved()) {
        for pattern in counter.readings(target) {
            let exact = counter.resolve(&pattern).into_iter().map(|path| PathPattern::exact(&path));
            for pattern in [pattern.clone()].into_iter().chain(exact) {
                counter.follow_links(target, &pattern);
            }
        }
    }
    counter.radius.never_auto
}

/// Returns the path at which a line leaves the workspace through a link, although its names stay inside: the
/// directory in which it runs, or a target. Rules are made for names, so they do not cover that.
#[must_use]
pub fn leads_outside(line: &LineJudgement, surroundings: &Surroundings, files: &dyn FileSystem) -> Option<PathBuf> {
    let mut counter = Counter::new(surroundings, files, None);
    let workspace = counter.real.workspace.clone();
    let by_name = |path: &&PathBuf| path.starts_with(&surroundings.workspace);
    let directories = line.directories.iter().filter(by_name).filter_map(|path| files.real_path(path));
    if let Some(real) = directories.into_iter().find(|real| !real.starts_with(&workspace) && !is_scratch(real)) {
        return Some(real);
    }
    let strays = |place: &PathBuf| !place.starts_with(&surroundings.workspace) && !is_scratch(place);
    for target in line.targets.iter().filter(|target| !target.pattern.is_unresolved()) {
        for (index, pattern) in counter.readings(target).into_iter().enumerate() {
            for path in counter.resolve(&pattern) {
                if !path.starts_with(&surroundings.workspace) {
                    // If the name itself lies outside, the rules decide.
                    if index > 0 && strays(&path) {
                        return Some(path);
                    }
                    continue;
                }
                if let Some(place) = Some(counter.lies(target, &path, &line.parts)).filter(strays) {
                    return Some(place);
                }
            }
        }
    }
    None
}

/// Tells whether a shell would split the name where it is not quoted.
fn has_blank(path: &Path) -> bool {
    path.as_os_str().to_string_lossy().contains([' ', '\t', '\n'])
}

pub(super) struct Limits<'a> {
    tracked: &'a dyn Fn(&Path) -> bool,
    pub(super) enough: &'a dyn Fn() -> bool,
    /// The commands of the line.
    pub(super) parts: &'a [Judged],
}

pub(super) struct Counter<'a> {
    pub(super) radius: BlastRadius,
    pub(super) files: &'a dyn FileSystem,
    place: &'a Surroundings,
    /// The same by their real names.
    real: Surroundings,
    pub(super) looked: u64,
    /// The files counted so far: two targets may overlap.
    seen: BTreeSet<PathBuf>,
}

impl<'a> Counter<'a> {
    fn new(place: &'a Surroundings, files: &'a dyn FileSystem, never_auto: Option<NeverAuto>) -> Self {
        let radius = BlastRadius { never_auto, ..BlastRadius::default() };
        let real = real_surroundings(place, &|path| files.real_path(path));
        Self { radius, files, place, real, looked: 0, seen: BTreeSet::new() }
    }

    /// Where a path of a target of these parts really lies.
    fn lies(&self, target: &Target, path: &Path, parts: &[Judged]) -> PathBuf {
        let follow = |path: &Path| self.files.real_path(path);
        let place = lies(target, path, self.place, &self.real.workspace, &follow);
        let puts = |part: &Judged| part.replaces_links() && part.paths.iter().any(|(given, _)| given == path);
        let is_directory = || self.files.entry(&place).is_some_and(|entry| entry.is_directory);
        if place == path || !parts.iter().any(puts) || is_directory() {
            return place;
        }
        let link = Target { action: Action::Move, ..target.clone() };
        lies(&link, path, self.place, &self.real.workspace, &follow)
    }

    fn target(&mut self, target: &Target, limits: &Limits<'_>) {
        if target.pattern.is_unresolved() {
            self.radius.unresolved.push(target.pattern.shown().to_owned());
            self.radius.more = true;
            return;
        }
        let mut search = None;
        match &target.extent {
            Extent::Found(found) if target.action == Action::Remove && !found.with_all_below => {
                self.radius.filtered |= found.leaves_out;
                search = Some(found);
            }
            Extent::Exact => self.radius.filtered |= target.filtered || target.pattern.has_any_depth(),
            Extent::Perhaps | Extent::Some | Extent::Found(_) => self.radius.filtered = true,
        }
        let readings = self.readings(target);
        if target.falls_apart
            && readings.iter().any(|pattern| self.resolve(pattern).iter().any(|path| has_blank(path)))
        {
            (self.radius.filtered, self.radius.more) = (true, true);
        }
        if let Some(search) = search {
            // Whether a target is dangerous is judged by the names; what is counted is what the search finds.
            for pattern in &readings {
                self.follow_links(target, pattern);
                for path in self.resolve(pattern) {
                    self.follow_links(target, &PathPattern::exact(&path));
                }
            }
            self.found(search, target, limits);
            return;
        }
        for pattern in readings {
            self.reading(target, &pattern, limits);
            // The command may mean any of the files in there.
            let some = matches!(target.extent, Extent::Some | Extent::Found(_)) && !target.filtered;
            if some || target.pattern.has_any_depth() {
                for path in self.resolve(&pattern.holder()) {
                    let target = Target { recursive: true, ..target.clone() };
                    let Some(entry) = self.files.entry(&path) else { continue };
                    self.count(&path, entry, &target, limits);
                }
            }
        }
    }

    fn reading(&mut self, target: &Target, pattern: &PathPattern, limits: &Limits<'_>) {
        self.follow_links(target, pattern);
        for path in self.resolve(pattern) {
            self.follow_links(target, &PathPattern::exact(&path));
            if let Some(named) = self.files.entry(&path) {
                self.radius.mistaken(target, pattern, (&path, named));
            }
            let named = path;
            let path = self.lies(target, &named, limits.parts);
            let entry = self.files.entry(&path);
            let into = entry.is_none_or(|entry| entry.is_directory && !target.recursive);
            let makes = matches!(target.action, Action::Overwrite | Action::Change);
            if makes && into && self.is_outside(&path) && !self.radius.made_outside.contains(&path) {
                self.radius.made_outside.push(path.clone());
            }
            let Some(entry) = entry else { continue };
            if self.radius.existing.len() < MOST_NAMED && !self.radius.existing.contains(&path) {
                self.radius.existing.push(path.clone());
            }
            // Writing into a directory does not change the directory itself.
            if entry.is_directory && !target.recursive {
                if makes {
                    self.arrived((&named, &path), target, limits);
                }
                continue;
            }
            self.count(&path, entry, target, limits);
        }
    }

    /// Reads a target in two ways: by its names, and by where each `..` leads if the links in front of it are
    /// followed.
    fn readings(&mut self, target: &Target) -> Vec<PathPattern> {
        let mut readings = vec![target.pattern.clone()];
        let mut roots = Vec::new();
        let steps = target.pattern.climb();
        if !steps.is_empty() {
            roots.push(PathBuf::from("/"));
        }
        for step in steps {
            roots = match step {
                Step::Down(name) => roots.into_iter().map(|root| root.join(&name)).collect(),
                Step::Glob(glob) => self.matching(&roots, &glob),
                Step::Up => {
                    let up = |root: PathBuf| {
                        let real = self.files.real_path(&root)?;
                        Some(real.parent().map_or_else(|| real.clone(), Path::to_owned))
                    };
                    roots.into_iter().filter_map(up).collect()
                }
            };
            roots.sort();
            roots.dedup();
        }
        for root in roots {
            let climbed = target.pattern.climbed(&root);
            if !climbed.is_said_by(&target.pattern) {
                self.never(target, &climbed, self.place);
                readings.push(climbed);
            }
        }
        readings
    }

    fn is_outside(&self, path: &Path) -> bool {
        let device = is_harmless_device(&path.to_string_lossy());
        !path.starts_with(&self.place.workspace)
            && !is_scratch(path)
            && !device
            && self.radius.made_outside.len() < MOST_NAMED
    }

    /// Checks whether links, in a target or in the names of home and workspace, lead to a protected place, or to
    /// something that runs later.
    fn follow_links(&mut self, target: &Target, pattern: &PathPattern) {
        self.follow_to_protected(target, pattern);
        if self.radius.never_auto.is_none() {
            let files = self.files;
            self.radius.never_auto = led_later(target, pattern, &self.real, &|path| files.real_path(path));
        }
    }

    fn follow_to_protected(&mut self, target: &Target, pattern: &PathPattern) {
        let destroys = match target.action {
            Action::Remove | Action::Move | Action::Attributes => true,
            Action::Overwrite | Action::Change => false,
        };
        let Some((root, globs)) = pattern.walk().filter(|_| destroys && self.radius.never_auto.is_none()) else {
            return;
        };
        // Home and workspace are also compared by their real paths.
        let place = Surroundings {
            home: self.real.home.clone(),
            workspace: self.real.workspace.clone(),
            ..Surroundings::default()
        };
        let elsewhere = place.home != self.place.home || place.workspace != self.place.workspace;
        let through = self.files.real_path(&root);
        if !globs.is_empty() {
            if let Some(real) = through.filter(|real| elsewhere || *real != root) {
                self.never(target, &pattern.rebased(&real), &place);
            }
            return;
        }
        let parent = root.parent().and_then(|parent| self.files.real_path(parent));
        let itself = parent.zip(root.file_name()).map(|(parent, name)| parent.join(name));
        if let Some(itself) = itself.as_ref().filter(|itself| elsewhere || **itself != root) {
            self.never(target, &pattern.rebased(itself), &place);
        }
        if let Some(followed) = through.filter(|_| follows(target) && self.radius.never_auto.is_none()) {
            self.never(target, &pattern.rebased(&followed), &place);
        }
    }

    fn never(&mut self, target: &Target, pattern: &PathPattern, place: &Surroundings) {
        let found = if target.action == Action::Attributes && !target.recursive {
            attributes_danger(pattern, place)
        } else {
            danger(pattern, place, false)
        };
        // A command that picks by name or age may pick in the whole workspace.
        let usual = target.filtered
            && matches!(found, Some(NeverAuto::WorkspaceOrAbove { .. }))
            && !place.workspace.parent().is_some_and(|parent| pattern.covers(parent));
        if !usual && self.radius.never_auto.is_none() {
            self.radius.never_auto = found;
        }
    }

    /// Lists the paths that a pattern matches on this disk.
    fn resolve(&mut self, pattern: &PathPattern) -> Vec<PathBuf> {
        let Some((root, globs)) = pattern.walk() else { return Vec::new() };
        self.expand(root, &globs)
    }

    pub(super) fn expand(&mut self, root: PathBuf, globs: &[Glob]) -> Vec<PathBuf> {
        let mut paths = vec![root];
        for glob in globs {
            paths = self.matching(&paths, glob);
        }
        paths
    }

    /// Lists what a glob matches in these directories.
    fn matching(&mut self, directories: &[PathBuf], glob: &Glob) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for directory in directories {
            for name in self.files.names(directory) {
                self.looked += 1;
                if self.looked > MOST_ENTRIES {
                    self.radius.truncated = true;
                    return found;
                }
                if name.to_str().is_none() {
                    // What is no text, each shell compares with a pattern in its own way.
                    (self.radius.filtered, self.radius.more) = (true, true);
                }
                if glob.names(&name.to_string_lossy()) {
                    found.push(directory.join(name));
                }
            }
        }
        found.sort();
        found
    }

    pub(super) fn count(&mut self, path: &Path, entry: Entry, target: &Target, limits: &Limits<'_>) {
        let mut waiting = vec![(path.to_owned(), entry)];
        while let Some((path, entry)) = waiting.pop() {
            self.looked += 1;
            if self.looked > MOST_ENTRIES || (limits.enough)() {
                self.radius.truncated = true;
                return;
            }
            if !self.seen.insert(path.clone()) {
                continue;
            }
            if entry.is_directory {
                self.radius.directories += 1;
                if target.recursive {
                    self.radius.removed_directories += u64::from(target.action == Action::Remove);
                    for name in self.files.names(&path) {
                        let child = path.join(name);
                        if let Some(entry) = self.files.entry(&child) {
                            waiting.push((child, entry));
                        }
                    }
                }
                continue;
            }
            self.radius.files += 1;
            self.radius.bytes = self.radius.bytes.saturating_add(entry.bytes);
            match target.action {
                Action::Remove => self.radius.removed += 1,
                Action::Move => self.radius.moved += 1,
                Action::Overwrite | Action::Change | Action::Attributes => {}
            }
            let is_untracked = !(limits.tracked)(&path);
            self.radius.untracked += u64::from(is_untracked);
            self.radius.replaced +=
                u64::from(target.action == Action::Overwrite && is_untracked && entry.bytes > 0);
            self.radius.outside += u64::from(!path.starts_with(&self.place.workspace));
        }
    }
}
