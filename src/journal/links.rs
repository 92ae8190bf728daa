//! Decides which names get back their file. Everything written through one name of a file shows under its other
//! names, so content must never be written into a file that is a different one now. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::node::Node;

/// How a path gets its content back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Way {
    /// The content is right: only attributes and time are set.
    Attributes,
    /// As a new file that takes over the name.
    New,
    /// In the existing file: its other names, which nobody looked at, show the content as well.
    InPlace,
    /// As one more name of the file that has this name by then.
    Name(PathBuf),
}

/// What is known of one path of a plan.
#[derive(Debug)]
pub(super) struct Seen {
    /// Whether it was a file then.
    pub(super) was_file: bool,
    /// Which file it was then, and is now.
    pub(super) then: Option<Node>,
    pub(super) now: Option<Node>,
    /// Whether our changes may have put another file there, or added or removed a name of the file.
    pub(super) is_regrouped: bool,
    /// Whether content, attributes and time are those of then.
    pub(super) is_restored: bool,
    /// Whether the content is that of then.
    pub(super) has_content: bool,
}

/// What is to be done with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) way: Way,
    /// Whether nothing has to be done.
    pub(super) is_done: bool,
    /// Whether the file had other names that nobody looked at, and that will not get it back.
    pub(super) parted: bool,
}

type Id = (u64, u64);
type Names<'a> = BTreeMap<Id, BTreeSet<&'a Path>>;

/// Decides about every path that was a file.
pub(super) fn decide<'a>(seen: &BTreeMap<&'a Path, Seen>) -> BTreeMap<&'a Path, Verdict> {
    let names = |of: &dyn Fn(&Seen) -> Option<Id>| -> Names<'a> {
        let mut names = Names::new();
        for (path, seen) in seen {
            if let Some(id) = of(seen) {
                names.entry(id).or_default().insert(path);
            }
        }
        names
    };
    let then = names(&|seen| seen.then.map(|node| node.id()));
    let now = names(&|seen| seen.now.map(|node| node.id()));
    let mut verdicts = BTreeMap::new();
    for (path, one) in seen.iter().filter(|(_, seen)| seen.was_file) {
        // An old journal does not record which names belong to one file.
        let alone = || BTreeSet::from([*path]);
        let group = one.then.map(|node| node.id()).and_then(|id| then.get(&id).cloned()).unwrap_or_else(alone);
        let shared = one.now.map(|node| node.id()).and_then(|id| now.get(&id).cloned()).unwrap_or_default();
        let is_old = |path: &&Path| seen.get(path).is_some_and(|seen| seen.was_file);
        let unseen_then = unseen(one.then, &group);
        let unseen_now = unseen(one.now, &shared);
        let is_right = group == shared.iter().copied().filter(is_old).collect()
            && (unseen_then == unseen_now || one.then.is_none());
        // A name that somebody else has added or removed since is left to them.
        let by_us = || group.iter().chain(&shared).any(|path| seen.get(path).is_some_and(|seen| seen.is_regrouped));
        let is_right = is_right || !by_us();
        // The file itself may still exist, under any of its names.
        let itself = group.iter().copied().find(|path| {
            seen.get(path).is_some_and(|seen| {
                seen.now.map(|node| node.id()).is_some()
                    && seen.now.map(|node| node.id()) == one.then.map(|node| node.id())
            })
        });
        let kept = itself.filter(|path| {
            seen.get(path)
                .is_some_and(|seen| seen.is_restored && (unseen(seen.now, &of(&now, seen)) == unseen_then))
        });
        let first = group.iter().next().copied().unwrap_or(path);
        let verdict = if is_right && one.is_restored {
            Verdict { way: Way::Attributes, is_done: true, parted: false }
        } else if let Some(kept) = kept {
            let is_done = one.is_restored && one.now.map(|node| node.id()) == one.then.map(|node| node.id());
            let way = if is_done { Way::Attributes } else { Way::Name(kept.to_owned()) };
            Verdict { way, is_done, parted: false }
        } else if is_right && one.has_content {
            Verdict { way: Way::Attributes, is_done: false, parted: false }
        } else if unseen_then > 0
            && let Some(itself) = itself
        {
            let way = if *path == itself { Way::InPlace } else { Way::Name(itself.to_owned()) };
            Verdict { way, is_done: false, parted: false }
        } else {
            let way = if *path == first { Way::New } else { Way::Name(first.to_owned()) };
            Verdict { way, is_done: false, parted: unseen_then > 0 }
        };
        verdicts.insert(*path, verdict);
    }
    verdicts
}

fn of<'a>(names: &Names<'a>, seen: &Seen) -> BTreeSet<&'a Path> {
    seen.now.map(|node| node.id()).and_then(|id| names.get(&id).cloned()).unwrap_or_default()
}

/// Counts the names of a file that are not among these.
fn unseen(node: Option<Node>, names: &BTreeSet<&Path>) -> u64 {
    node.map_or(0, |node| node.names.saturating_sub(names.len() as u64))
}
