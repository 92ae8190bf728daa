//! What a copying program is told to leave out, as far as that is plain: names without a path.

use std::ffi::OsStr;
use std::path::Path;

use super::judgement::Judged;
use crate::approval::glob::Glob;

/// Programs whose first pattern that fits a name decides (rsync(1), FILTER RULES; tar(1) has only `--exclude`).
const FILTERING: &[&str] = &["rsync", "tar", "gtar"];
/// Options by which they are told more, or told it in another way.
const UNREAD: &[&str] = &[
    "-f",
    "-F",
    "-C",
    "-X",
    "--filter",
    "--include-from",
    "--exclude-from",
    "--files-from",
    "--anchored",
    "--no-",
    "--ignore-case",
];

/// The patterns of a part, in their order.
#[derive(Debug, Default)]
pub(super) struct Filters(Vec<Pattern>);

#[derive(Debug)]
struct Pattern {
    leaves_out: bool,
    names: Glob,
    /// A path is taken to fit all that it lets through.
    is_path: bool,
    directories_only: bool,
}

impl Filters {
    /// Reads them off a part; nothing is left out where one is not understood.
    pub(super) fn of(part: &Judged) -> Self {
        let words: Option<Vec<&str>> = part.words().iter().map(Option::as_deref).collect();
        let Some((program, rest)) = words.as_deref().and_then(<[&str]>::split_first) else {
            return Self::default();
        };
        let unread = |word: &&str| UNREAD.iter().any(|option| word.starts_with(option));
        if !FILTERING.contains(&program.rsplit('/').next().unwrap_or(program)) || rest.iter().any(unread) {
            return Self::default();
        }
        let mut patterns = Vec::new();
        for (at, word) in rest.iter().enumerate() {
            for (option, leaves_out) in [("--exclude", true), ("--include", false)] {
                let text = match word.strip_prefix(option) {
                    Some("") => rest.get(at + 1).copied(),
                    Some(value) => value.strip_prefix('='),
                    None => None,
                };
                patterns.extend(text.map(|text| Pattern::of(text, leaves_out)));
            }
        }
        Self(patterns)
    }

    /// Tells whether there are none.
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Tells whether a file below a directory is left out, or a directory around it is.
    pub(super) fn leave_out(&self, directory: &Path, file: &Path) -> bool {
        let Ok(below) = file.strip_prefix(directory) else { return false };
        let count = below.components().count();
        let names = below.iter().map(OsStr::to_string_lossy).enumerate();
        names.into_iter().any(|(at, name)| {
            let first = self.0.iter().find(|pattern| pattern.fits(&name, at + 1 < count));
            first.is_some_and(|pattern| pattern.leaves_out)
        })
    }
}

impl Pattern {
    fn of(text: &str, leaves_out: bool) -> Self {
        let (name, directories_only) = text.strip_suffix('/').map_or((text, false), |name| (name, true));
        Self { leaves_out, names: Glob::parse(name), is_path: name.contains('/'), directories_only }
    }

    fn fits(&self, name: &str, is_directory: bool) -> bool {
        if self.is_path {
            return !self.leaves_out;
        }
        (is_directory || !self.directories_only) && self.names.fits(name)
    }
}
