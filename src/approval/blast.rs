//! How much a command would hit: its targets looked up on the disk, counted up to a limit, nothing run.
//!
//! The one place of this room that looks at a disk, and only through [`FileSystem`].

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::command::{Action, Extent, LineJudgement, PathPattern, Search, Step, Target, attributes_danger, danger};
use super::path::{is_harmless_device, is_scratch};
use super::{Glob, NeverAuto, Surroundings};

/// More entries than this are not looked at: beyond it a person needs no exact number.
pub const MOST_ENTRIES: u64 = 100_000;
/// Nothing deeper is looked at.
const DEEPEST: usize = 200;
/// More targets than this are not named.
const MOST_NAMED: usize = 50;

/// What a look at one path tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Whether it is a directory itself, not a link to one.
    pub is_directory: bool,
    /// Whether it is a plain file.
    pub is_file: bool,
    /// Size in bytes; of a link, of the link itself.
    pub bytes: u64,
}

/// A look at the disk; follows no link but in `real_path`.
pub trait FileSystem {
    /// What lies at a path; `None` when nothing does, or it cannot be seen.
    fn entry(&self, path: &Path) -> Option<Entry>;

    /// Names in a directory, in any order; empty when it cannot be read.
    fn names(&self, directory: &Path) -> Vec<String>;

    /// The path with all links followed; `None` when nothing lies there.
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

    fn names(&self, directory: &Path) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
        // One more than is ever looked at, so that a larger directory is seen to be larger.
        let most = usize::try_from(MOST_ENTRIES).unwrap_or(usize::MAX).saturating_add(1);
        entries.flatten().take(most).map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    fn real_path(&self, path: &Path) -> Option<PathBuf> {
        std::fs::canonicalize(path).ok()
    }
}

/// How much a command would hit.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct BlastRadius {
    /// Files and links that exist now and would be gone or changed.
    pub files: u64,
    /// Directories among what would be gone or changed.
    pub directories: u64,
    /// Files among them that would be gone.
    pub removed: u64,
    /// Files among them that would be elsewhere.
    pub moved: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files among them that git does not keep: gone is gone.
    pub untracked: u64,
    /// Files among them outside the workspace.
    pub outside: u64,
    /// Where something new would be made outside the workspace and the places for temporary files.
    pub made_outside: Vec<PathBuf>,
    /// Whether counting stopped at [`MOST_ENTRIES`] or because it took too long; the numbers are then a lower bound.
    pub truncated: bool,
    /// Whether the disk did not answer in time; then there are no numbers.
    pub unanswered: bool,
    /// Whether only some of them are meant, by name or age; the numbers are then an upper bound.
    pub filtered: bool,
    /// Whether the line may change more than its targets; the numbers are then a lower bound.
    pub more: bool,
    /// What lies at the targets now, globs resolved; not what lies below them.
    pub existing: Vec<PathBuf>,
    /// Targets as written that are only known when the command runs.
    pub unresolved: Vec<String>,
    /// Why neither a rule nor `-y` can run it, links followed.
    pub never_auto: Option<NeverAuto>,
}

/// Counts what a line would hit. `tracked` tells whether git keeps a file as it is; `enough` whether counting has
/// taken too long and is to stop where it is.
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
        counter.target(target, &Limits { tracked, enough });
    }
    counter.radius
}

/// Tells why neither a rule nor `-y` can run a line, links on the disk followed. Counts nothing.
#[must_use]
pub fn forbidden_on_disk(
    line: &LineJudgement,
    surroundings: &Surroundings,
    files: &dyn FileSystem,
) -> Option<NeverAuto> {
    let mut counter = Counter::new(surroundings, files, line.never_auto.clone());
    for target in line.targets.iter().filter(|target| !target.pattern.is_unresolved()) {
        for pattern in counter.readings(target) {
            counter.follow_links(target, &pattern);
            for path in counter.resolve(&pattern) {
                counter.follow_links(target, &PathPattern::exact(&path));
            }
        }
    }
    counter.radius.never_auto
}

/// Tells where a line that stays in the workspace by its names leaves it by a link: what it is run in, or what it would
/// change. Rules are made for what names say.
#[must_use]
pub fn leads_outside(line: &LineJudgement, surroundings: &Surroundings, files: &dyn FileSystem) -> Option<PathBuf> {
    let mut counter = Counter::new(surroundings, files, None);
    let workspace = files.real_path(&surroundings.workspace).unwrap_or_else(|| surroundings.workspace.clone());
    let strays = |real: &PathBuf| !real.starts_with(&workspace) && !is_scratch(real);
    let by_name = |path: &&PathBuf| path.starts_with(&surroundings.workspace);
    let directories = line.directories.iter().filter(by_name).filter_map(|path| files.real_path(path));
    if let Some(real) = directories.into_iter().find(strays) {
        return Some(real);
    }
    for target in line.targets.iter().filter(|target| !target.pattern.is_unresolved()) {
        let follows = !matches!(target.action, Action::Remove | Action::Move);
        for (index, pattern) in counter.readings(target).into_iter().enumerate() {
            for path in counter.resolve(&pattern) {
                if !path.starts_with(&surroundings.workspace) {
                    // Outside by name is for the rules to say.
                    if index > 0 && strays(&path) {
                        return Some(path);
                    }
                    continue;
                }
                let itself = || Some(files.real_path(path.parent()?)?.join(path.file_name()?));
                let real = files.real_path(&path).filter(|_| follows).or_else(itself);
                if let Some(real) = real.filter(strays) {
                    return Some(real);
                }
            }
        }
    }
    None
}

/// Tells whether a shell would take the name for several where it is not quoted.
fn has_blank(path: &Path) -> bool {
    path.as_os_str().to_string_lossy().contains([' ', '\t', '\n'])
}

struct Limits<'a> {
    tracked: &'a dyn Fn(&Path) -> bool,
    enough: &'a dyn Fn() -> bool,
}

struct Counter<'a> {
    radius: BlastRadius,
    files: &'a dyn FileSystem,
    place: &'a Surroundings,
    looked: u64,
    /// What was counted already: two targets may overlap.
    seen: BTreeSet<PathBuf>,
}

impl<'a> Counter<'a> {
    fn new(place: &'a Surroundings, files: &'a dyn FileSystem, never_auto: Option<NeverAuto>) -> Self {
        let radius = BlastRadius { never_auto, ..BlastRadius::default() };
        Self { radius, files, place, looked: 0, seen: BTreeSet::new() }
    }

    fn target(&mut self, target: &Target, limits: &Limits<'_>) {
        if target.pattern.is_unresolved() {
            self.radius.unresolved.push(target.pattern.shown().to_owned());
            self.radius.more = true;
            return;
        }
        let mut search = None;
        match &target.extent {
            Extent::Found(found) if target.action == Action::Remove && !found.leaves_out => {
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
            // What is in danger is judged by names; what is counted is what is found.
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
            // Any of what lies there may be meant.
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
            self.radius.mistaken(target, pattern, (&path, entry));
            // A directory that is written into is not changed itself.
            if entry.is_directory && !target.recursive {
                continue;
            }
            self.count(&path, entry, target, limits);
        }
    }

    /// A target by name, and by where each `..` leads when the links in front of it are followed.
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

    /// Links, in what is named and in the names of home and workspace, may lead to where nothing may be touched.
    fn follow_links(&mut self, target: &Target, pattern: &PathPattern) {
        let destroys = match target.action {
            Action::Remove | Action::Move | Action::Attributes => true,
            Action::Overwrite | Action::Change => false,
        };
        let Some((root, globs)) = pattern.walk().filter(|_| destroys && self.radius.never_auto.is_none()) else {
            return;
        };
        // Home and workspace are compared by their real paths, too.
        let real_of = |path: &Path| self.files.real_path(path).unwrap_or_else(|| path.to_owned());
        let place = Surroundings {
            home: self.place.home.as_deref().map(real_of),
            workspace: real_of(&self.place.workspace),
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
        // A link goes and not what it leads to, but for a slash behind its name, which a variable may hide, and for
        // `chmod`.
        let shown = target.pattern.shown();
        let follows = target.action == Action::Attributes || shown.ends_with(['/', '.']) || shown.contains('$');
        if let Some(followed) = through.filter(|_| follows && self.radius.never_auto.is_none()) {
            self.never(target, &pattern.rebased(&followed), &place);
        }
    }

    fn never(&mut self, target: &Target, pattern: &PathPattern, place: &Surroundings) {
        let found = if target.action == Action::Attributes && !target.recursive {
            attributes_danger(pattern, place)
        } else {
            danger(pattern, place, false)
        };
        // What is picked by name or age may be picked in the whole workspace.
        let usual = target.filtered
            && matches!(found, Some(NeverAuto::WorkspaceOrAbove { .. }))
            && !place.workspace.parent().is_some_and(|parent| pattern.covers(parent));
        if !usual && self.radius.never_auto.is_none() {
            self.radius.never_auto = found;
        }
    }

    /// The paths a pattern stands for on this disk.
    fn resolve(&mut self, pattern: &PathPattern) -> Vec<PathBuf> {
        let Some((root, globs)) = pattern.walk() else { return Vec::new() };
        self.expand(root, &globs)
    }

    fn expand(&mut self, root: PathBuf, globs: &[Glob]) -> Vec<PathBuf> {
        let mut paths = vec![root];
        for glob in globs {
            paths = self.matching(&paths, glob);
        }
        paths
    }

    /// What fits a glob in these directories.
    fn matching(&mut self, directories: &[PathBuf], glob: &Glob) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for directory in directories {
            for name in self.files.names(directory) {
                self.looked += 1;
                if self.looked > MOST_ENTRIES {
                    self.radius.truncated = true;
                    return found;
                }
                if glob.names(&name) {
                    found.push(directory.join(name));
                }
            }
        }
        found.sort();
        found
    }

    /// Counts what a search finds and its target removes.
    fn found(&mut self, search: &Search, target: &Target, limits: &Limits<'_>) {
        for root in &search.roots {
            for path in self.expand(root.path.clone(), &root.globs) {
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                let Some(entry) = self.files.entry(&path) else { continue };
                self.search((search, target), (&path, &name, entry), 0, limits);
            }
        }
    }

    /// Goes on below one place, what lies below first; tells whether the place is gone afterwards.
    fn search(
        &mut self,
        (search, target): (&Search, &Target),
        (path, name, entry): (&Path, &str, Entry),
        depth: usize,
        limits: &Limits<'_>,
    ) -> bool {
        self.looked += 1;
        if self.looked > MOST_ENTRIES || depth > DEEPEST || (limits.enough)() {
            self.radius.truncated = true;
            return false;
        }
        let mut left = 0;
        if entry.is_directory {
            for name in if depth < search.depths.1 || search.deletes { self.files.names(path) } else { Vec::new() }
            {
                let child = path.join(&name);
                let Some(entry) = self.files.entry(&child) else { continue };
                let gone = depth < search.depths.1
                    && self.search((search, target), (&child, &name, entry), depth + 1, limits);
                left += u64::from(!gone);
            }
        }
        let fits = depth >= search.depths.0 && search.finds(name, entry.is_directory, entry.is_file);
        if !fits {
            return false;
        }
        if !search.hands_on(&path.to_string_lossy()) {
            self.radius.filtered = true;
            self.radius.more = true;
        }
        let goes = match (entry.is_directory, search.deletes) {
            (false, _) => true,
            // It never removes the place it was told to begin at by that name.
            (true, true) => left == 0 && !(depth == 0 && search.roots.iter().any(|root| root.written == ".")),
            (true, false) => target.recursive,
        };
        if goes {
            if self.radius.existing.len() < MOST_NAMED && !self.radius.existing.contains(&path.to_path_buf()) {
                self.radius.existing.push(path.to_path_buf());
            }
            let whole = Target { recursive: target.recursive && !search.deletes, ..target.clone() };
            self.count(path, entry, &whole, limits);
        }
        goes
    }

    fn count(&mut self, path: &Path, entry: Entry, target: &Target, limits: &Limits<'_>) {
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
            self.radius.untracked += u64::from(!(limits.tracked)(&path));
            self.radius.outside += u64::from(!path.starts_with(&self.place.workspace));
        }
    }
}
