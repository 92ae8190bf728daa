//! What `find … -delete` takes away below a place, as far as its words tell: the names they ask for. Looks at the
//! disk, changes nothing.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::approval::Class;
use crate::approval::command::{Judged, Part};

use super::touches::program;

/// More entries are not looked at.
const MOST_WALKED: usize = 100_000;
/// More files than that are not kept for one line.
const MOST_FOUND: usize = 40_000;

/// Tells whether a part is a `find` that only removes.
pub(super) fn is_delete(part: &Judged) -> bool {
    let Part::Command { words, .. } = &part.part else { return false };
    let does_more = |word: &str| ["-exec", "-ok", "-fprint", "-fls"].iter().any(|start| word.starts_with(start));
    matches!(program(part), "find" | "gfind")
        && words.iter().flatten().any(|word| word == "-delete")
        && words.iter().all(|word| word.as_deref().is_some_and(|word| !does_more(word)))
}

/// The entries below a place that such a line may remove; `None` where that cannot be told, or they are too many.
pub(super) fn below(parts: &[Judged], place: &Path) -> Option<Vec<PathBuf>> {
    let names = names(parts)?;
    let (mut found, mut walked) = (Vec::new(), 0);
    let mut waiting = vec![place.to_path_buf()];
    while let Some(path) = waiting.pop() {
        walked += 1;
        if walked > MOST_WALKED || found.len() > MOST_FOUND {
            return None;
        }
        if path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
            waiting.extend(path.read_dir().into_iter().flatten().flatten().map(|entry| entry.path()));
        }
        if path.file_name().is_some_and(|name| names.is_match(Path::new(name))) {
            found.push(path);
        }
    }
    Some(found)
}

/// The names the removing parts ask for, each on its own: what else they ask for only leaves some out.
fn names(parts: &[Judged]) -> Option<GlobSet> {
    let mut names = GlobSetBuilder::new();
    for part in parts.iter().filter(|part| part.class == Class::Destructive) {
        let Part::Command { words, .. } = &part.part else { return None };
        let words: Vec<&str> = words.iter().map(Option::as_deref).collect::<Option<_>>()?;
        // With these, other names may be meant, too.
        if !is_delete(part) || words.iter().any(|word| matches!(*word, "-o" | "-or" | "!" | "-not" | ",")) {
            return None;
        }
        let mut any = false;
        for pair in words.windows(2).filter(|pair| matches!(pair[0], "-name" | "-iname")) {
            let glob =
                GlobBuilder::new(pair[1]).case_insensitive(pair[0] == "-iname").backslash_escape(true).build();
            names.add(glob.ok()?);
            any = true;
        }
        if !any {
            return None;
        }
    }
    names.build().ok()
}
