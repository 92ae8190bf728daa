//! Counts what lies below a directory: what a search finds there, and what is replaced by others that arrive in it.

use std::path::{Path, PathBuf};

use super::Glob;
use super::blast::{Counter, DEEPEST, Entry, Limits, MOST_ENTRIES, MOST_NAMED};
use super::command::{Judged, Search, Target};

impl Counter<'_> {
    /// Counts what a search finds and its target removes.
    pub(super) fn found(&mut self, search: &Search, target: &Target, limits: &Limits<'_>) {
        for root in &search.roots {
            for mut path in self.expand(root.path.clone(), &root.globs) {
                let Some(mut entry) = self.files.entry(&path) else { continue };
                let is_led = !entry.is_directory && root.means_what_lies_behind();
                if is_led {
                    let Some(real) = self.files.real_path(&path) else { continue };
                    let Some(followed) = self.files.entry(&real).filter(|entry| entry.is_directory) else {
                        continue;
                    };
                    (path, entry) = (real, followed);
                }
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                let depth = Depth { levels: 0, stays: is_led || root.own_name().is_some() };
                let name = root.own_name().unwrap_or(name);
                self.search((search, target), (&path, &name, entry), depth, limits);
            }
        }
    }

    /// Searches below one path, deepest entries first; returns whether the path itself is removed by that.
    fn search(
        &mut self,
        (search, target): (&Search, &Target),
        (path, name, entry): (&Path, &str, Entry),
        depth: Depth,
        limits: &Limits<'_>,
    ) -> bool {
        self.looked += 1;
        let levels = depth.levels;
        if self.looked > MOST_ENTRIES || levels > DEEPEST || (limits.enough)() {
            self.radius.truncated = true;
            return false;
        }
        let mut left = 0;
        if entry.is_directory {
            for name in if levels < search.depths.1 || search.deletes { self.files.names(path) } else { Vec::new() }
            {
                let child = path.join(&name);
                let Some(entry) = self.files.entry(&child) else { continue };
                let gone = levels < search.depths.1
                    && self.search(
                        (search, target),
                        (&child, &name.to_string_lossy(), entry),
                        Depth { levels: levels + 1, stays: false },
                        limits,
                    );
                left += u64::from(!gone);
            }
        }
        if name.contains('\u{fffd}') && search.asks_for_names() {
            // Whether a name that is no text fits a pattern depends on the language that is set.
            (self.radius.filtered, self.radius.more) = (true, true);
        }
        let fits = levels >= search.depths.0 && search.finds(name, entry.is_directory, entry.is_file);
        if !fits {
            return false;
        }
        if !search.hands_on(&path.to_string_lossy()) {
            (self.radius.filtered, self.radius.more) = (true, true);
        }
        let goes = match (entry.is_directory, search.deletes) {
            (false, _) => true,
            (true, true) => left == 0 && !depth.stays,
            (true, false) => target.recursive,
        };
        if goes {
            if self.radius.existing.len() < MOST_NAMED && !self.radius.existing.contains(&path.to_path_buf()) {
                self.radius.existing.push(path.to_path_buf());
            }
            let whole = Target { recursive: target.recursive && !search.deletes, ..target.clone() };
            let before = self.radius.directories;
            self.count(path, entry, &whole, limits);
            if search.deletes {
                self.radius.removed_directories += self.radius.directories - before;
            }
        }
        goes
    }
    /// Counts what those parts of the line replace that were given this directory.
    pub(super) fn arrived(&mut self, (named, directory): (&Path, &Path), target: &Target, limits: &Limits<'_>) {
        let is_given = |path: &(PathBuf, bool)| path.0 == named && !path.1;
        let parts = limits.parts.iter().filter(|part| part.renames() && part.paths.iter().any(is_given));
        for arriving in parts.map(|part| Arriving::of(part, named)) {
            let there = self.files.names(directory);
            let mut paths: Vec<PathBuf> = Vec::new();
            if arriving.more {
                // They may have any of the names that are there.
                self.radius.filtered |= !there.is_empty();
                paths.extend(there.iter().map(|name| directory.join(name)));
            }
            if arriving.in_its_place {
                // All that arrives lies below it under the same names.
                self.radius.filtered = true;
                paths.push(directory.to_owned());
            }
            for name in &arriving.names {
                match name.as_str() {
                    "." | ".." => paths.push(directory.to_owned()),
                    name if name.contains(['*', '?', '[']) => {
                        let glob = Glob::parse(name);
                        let same = there.iter().filter(|name| glob.names(&name.to_string_lossy()));
                        let before = paths.len();
                        paths.extend(same.map(|name| directory.join(name)));
                        // Some of them, perhaps.
                        self.radius.filtered |= paths.len() > before;
                    }
                    name => paths.push(directory.join(name)),
                }
            }
            for path in paths {
                let Some(entry) = self.files.entry(&path) else { continue };
                if entry.is_directory && !arriving.with_all_below {
                    continue;
                }
                self.radius.filtered |= arriving.asks || entry.is_directory && !there.is_empty();
                self.count(&path, entry, &Target { recursive: true, ..target.clone() }, limits);
            }
        }
    }
}

/// How far below its beginning a search is.
#[derive(Clone, Copy)]
struct Depth {
    levels: usize,
    /// Whether it is the beginning, and written so that it cannot be removed.
    stays: bool,
}

/// What a part puts into a directory.
struct Arriving {
    names: Vec<String>,
    /// Whether there are others, whose names are not known.
    more: bool,
    /// Whether directories arrive with what lies below them.
    with_all_below: bool,
    /// Whether what is there may stay.
    asks: bool,
    /// Whether a directory is put over the directory, not into it.
    in_its_place: bool,
}

impl Arriving {
    fn of(part: &Judged, directory: &Path) -> Self {
        let has = |letters: &str, long: &[&str]| {
            part.as_run().iter().skip(1).flatten().any(|word| {
                let cluster = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
                cluster.is_some_and(|cluster| cluster.contains(|letter| letters.contains(letter)))
                    || long.contains(&word.as_str())
            })
        };
        let words = part.as_run().get(1..).unwrap_or_default();
        let is_operand = |word: &&Option<String>| word.as_ref().is_none_or(|word| !word.starts_with('-'));
        let operands: Vec<&Option<String>> = words.iter().filter(is_operand).collect();
        // The directory itself, too, where it stands behind a flag: nothing of its name lies in it as a rule.
        let sources = if has("t", &["--target-directory"]) || operands.is_empty() {
            operands.as_slice()
        } else {
            &operands[..operands.len() - 1]
        };
        let mut names: Vec<String> = sources.iter().copied().flatten().map(|word| last_name(word)).collect();
        let moved: Vec<&PathBuf> = part
            .paths
            .iter()
            .filter(|(path, only_read)| !only_read && path != directory)
            .map(|(path, _)| path)
            .collect();
        names.extend(moved.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned())));
        Self {
            names,
            more: moved.is_empty() && sources.iter().any(|word| word.is_none()),
            with_all_below: has("rRa", &["--recursive", "--archive"]),
            asks: has("niu", &["--interactive", "--no-clobber", "--update"]),
            in_its_place: has("T", &["--no-target-directory"]),
        }
    }
}

/// Returns the last component of a path as it is written.
fn last_name(word: &str) -> String {
    word.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned()
}
