//! Applying what a trial changed: each file whole or not at all, and none that somebody changed meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{DirBuilder, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::changes::{Change, ChangeSet, Kind};
use super::content::{copied, give_attributes, give_rights, give_times, moved, whole};
use super::seen::{Ajar, Seen, What};
use crate::platform::RealPath as _;
use crate::platform::os::fs::{DirBuilderExt as _, PermissionsExt as _};
use crate::platform::sync_below;

/// Why a change was not applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The real one was changed since the trial began.
    Meanwhile,
    /// It belongs to somebody else.
    Foreign,
    /// The system refused; its words.
    Failed(String),
}

/// How a path is about to change, for whoever keeps what stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It loses its name.
    Removed,
    /// In any way.
    Any,
    /// Only its rights and times change.
    Attributes,
}

/// What can be applied, and what cannot.
#[derive(Debug)]
pub struct Ready<'a> {
    going: Vec<&'a Change>,
    /// What is not applied, and why.
    refused: Vec<(PathBuf, Why)>,
    /// Names that were to be of one file with another that is not wanted: they become files of their own.
    apart: BTreeSet<&'a Path>,
    /// Directories whose times are set: nobody else changed a name in them.
    timed: Vec<&'a (PathBuf, Seen, Seen)>,
    record: &'a Path,
}

/// What was applied.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Applied {
    /// How many changes were made.
    pub done: u64,
    /// What was not applied, and why.
    pub refused: Vec<(PathBuf, Why)>,
}

impl ChangeSet {
    /// Finds out which of the wanted changes can be applied now. Changes nothing.
    #[must_use]
    pub fn ready(&self, wanted: &dyn Fn(&Change) -> bool) -> Ready<'_> {
        let mut ready = Ready {
            going: Vec::new(),
            refused: Vec::new(),
            apart: BTreeSet::new(),
            timed: Vec::new(),
            record: &self.record,
        };
        let mut parents: BTreeMap<PathBuf, bool> = BTreeMap::new();
        let mut goes: BTreeSet<&Path> = BTreeSet::new();
        let mut made: BTreeSet<&Path> = BTreeSet::new();
        for change in self.changes.iter().filter(|change| wanted(change)) {
            let parent = change.path.parent().unwrap_or(Path::new("/"));
            let is_real = |parent: &Path| parent.real_path().is_ok_and(|real| real == parent);
            let settled = made.contains(parent)
                || goes.contains(parent)
                || *parents.entry(parent.to_owned()).or_insert_with(|| is_real(parent));
            let now = Seen::look(&change.path).ok().flatten();
            let is_still = match (&change.before, &now) {
                (None, None) => true,
                (None, Some(_)) => goes.contains(change.path.as_path()),
                (Some(before), Some(now)) => {
                    before.is_still(now) && (before.is_directory() || before.changed == now.changed)
                }
                (Some(_), None) => false,
            };
            let why = if change.meanwhile || !settled || !is_still {
                Some(Why::Meanwhile)
            } else {
                change.foreign.then_some(Why::Foreign)
            };
            if let Some(why) = why {
                ready.refused.push((change.path.clone(), why));
                continue;
            }
            if change.kind == Kind::Deleted {
                goes.insert(&change.path);
            } else if change.is_directory() {
                made.insert(&change.path);
            }
            ready.going.push(change);
        }
        self.lead(&mut ready, wanted);
        let same = |(path, real, _): &&(PathBuf, Seen, Seen)| {
            Seen::look(path).ok().flatten().is_some_and(|now| now.id == real.id && now.modified == real.modified)
        };
        if ready.refused.is_empty() && ready.going.len() == self.changes.len() {
            ready.timed = self.touched.iter().filter(same).collect();
        }
        ready
    }
}

impl ChangeSet {
    /// Refuses each name of a file that is not there as the trial saw it.
    fn lead<'a>(&'a self, ready: &mut Ready<'a>, wanted: &dyn Fn(&Change) -> bool) {
        let refused: BTreeSet<PathBuf> = ready.refused.iter().map(|(path, _)| path.clone()).collect();
        let mut left = Vec::new();
        let (apart, no_names) = (&mut ready.apart, &mut left);
        ready.going.retain(|change| {
            let Some(same) = &change.same_as else { return true };
            let stands = match self.changes.iter().find(|other| &other.path == same) {
                Some(leader) if !wanted(leader) => {
                    apart.insert(change.path.as_path());
                    true
                }
                Some(_) => !refused.contains(same),
                None => change.is_name_of(same),
            };
            if !stands {
                no_names.push((change.path.clone(), Why::Meanwhile));
            }
            stands
        });
        ready.refused.extend(left);
    }
}

impl Change {
    /// Tells whether the file at a path is still the one to which this change gives another name, as far as its type and
    /// content tell.
    fn is_name_of(&self, path: &Path) -> bool {
        let now = Seen::look(path).ok().flatten();
        now.zip(self.after.as_ref()).is_some_and(|(now, after)| now.what == What::File && now.has_content_of(after))
    }
}

impl Ready<'_> {
    /// Lists what is about to be written, for whoever keeps what stands there now.
    #[must_use]
    pub fn writes(&self) -> Vec<(PathBuf, How)> {
        let how = |change: &Change| match change.kind {
            Kind::Deleted => How::Removed,
            Kind::Mode => How::Attributes,
            Kind::Added | Kind::Changed | Kind::Link => How::Any,
        };
        self.going.iter().map(|change| (change.path.clone(), how(change))).collect()
    }

    /// Tells what is not applied, and why.
    #[must_use]
    pub fn refused(&self) -> &[(PathBuf, Why)] {
        &self.refused
    }

    /// Applies what can be: deletions first, then directories, files, links, and last what is only said of them.
    #[must_use]
    pub fn apply(self) -> Applied {
        let parents: BTreeSet<&Path> = self.going.iter().filter_map(|change| change.path.parent()).collect();
        if let Err(error) = super::directory::note(self.record, parents) {
            tracing::warn!(%error, "what a killed axi leaves beside files would not be found");
        }
        if self.going.iter().any(|change| change.after.as_ref().is_some_and(|after| after.what == What::File)) {
            // What gets a name in a moment is whole there after a power loss, too.
            sync_below(self.record.parent().unwrap_or(self.record));
        }
        let mut applied = Applied { done: 0, refused: self.refused };
        let mut tell = |change: &Change, done: io::Result<()>| match done {
            Ok(()) => applied.done += 1,
            Err(error) => applied.refused.push((change.path.clone(), Why::Failed(error.to_string()))),
        };
        // What lies below comes first.
        let gone = self.going.iter().rev().filter(|change| change.kind == Kind::Deleted);
        for change in gone {
            tell(change, again_open(&change.path, None, || removed(change)));
        }
        let of = |kinds: &'static [Kind]| self.going.iter().filter(|change| kinds.contains(&change.kind));
        let new = |change: &&&Change| change.is_directory();
        let mut directories: Vec<(&Path, &Seen, bool)> = Vec::new();
        for change in of(&[Kind::Added]).filter(new) {
            let Some(after) = &change.after else { continue };
            tell(change, again_open(&change.path, None, || DirBuilder::new().mode(0o700).create(&change.path)));
            directories.push((&change.path, after, true));
        }
        let is_file = |change: &&&Change| !change.is_directory() && change.same_as.is_none();
        for change in of(&[Kind::Added, Kind::Changed, Kind::Link]).filter(is_file) {
            tell(change, again_open(&change.path, Some(&change.layer), || written(change)));
        }
        for change in of(&[Kind::Mode]) {
            let Some(after) = &change.after else { continue };
            if change.is_directory() {
                directories.push((&change.path, after, true));
                tell(change, Ok(()));
            } else {
                tell(change, rights(&change.path, after));
            }
        }
        for change in of(&[Kind::Link]) {
            let Some(same) = &change.same_as else { continue };
            let linked = || {
                if self.apart.contains(change.path.as_path()) {
                    return written(change);
                }
                still(change)?;
                if !change.is_name_of(same) {
                    return Err(io::Error::other(format!("{} is not what it was in the trial", same.display())));
                }
                whole(&change.path, |beside| std::fs::hard_link(same, beside))
            };
            tell(change, again_open(&change.path, Some(&change.layer), linked));
        }
        directories.extend(self.timed.iter().map(|(path, _, after)| (path.as_path(), after, false)));
        directories.sort_by(|one, other| other.0.cmp(one.0));
        for (path, after, with_rights) in directories {
            // Each was told already, or only its time is another.
            let done = if with_rights { rights(path, after) } else { give_times(path, after) };
            if let Err(error) = done {
                tracing::warn!(%error, "a directory of a trial");
            }
        }
        applied
    }
}

/// Acts on a path; if a directory around it, or around its layer, is closed to its owner, opens it for the while.
fn again_open(path: &Path, layer: Option<&Path>, act: impl Fn() -> io::Result<()>) -> io::Result<()> {
    let done = act();
    if !done.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied) {
        return done;
    }
    let mut opened = Vec::new();
    for path in std::iter::once(path).chain(layer) {
        // Those around first: what is closed hides what is in it.
        let around: Vec<&Path> = path.ancestors().skip(1).collect();
        for directory in around.into_iter().rev() {
            if let Some(seen) = Seen::look(directory)?.filter(Seen::is_own) {
                opened.push(Ajar::open(directory, seen.mode, 0o700));
            }
        }
    }
    if let Some((layer, seen)) = layer.and_then(|layer| Some((layer, Seen::look(layer).ok()??)))
        && seen.what == What::File
    {
        opened.push(Ajar::open(layer, seen.mode, 0o600));
    }
    let done = act();
    // The innermost first: it could not be reached any more.
    while opened.pop().is_some() {}
    done
}

/// Removes what goes, if it is still the same: between the look and this somebody may have written it.
fn removed(change: &Change) -> io::Result<()> {
    still(change)?;
    if change.is_directory() { std::fs::remove_dir(&change.path) } else { std::fs::remove_file(&change.path) }
}

fn still(change: &Change) -> io::Result<()> {
    let now = Seen::look(&change.path)?;
    let is_still = match (&change.before, &now) {
        (Some(before), Some(now)) => before.is_still(now),
        (before, now) => before.is_none() && now.is_none(),
    };
    if is_still { Ok(()) } else { Err(io::Error::other("it was changed meanwhile")) }
}

fn written(change: &Change) -> io::Result<()> {
    still(change)?;
    let Some(after) = &change.after else { return Ok(()) };
    match &after.what {
        What::Link(target) => whole(&change.path, |beside| {
            crate::platform::os::fs::symlink(target, beside)?;
            give_rights(beside, after);
            give_times(beside, after)
        }),
        What::Pipe => whole(&change.path, |beside| pipe(beside, after)),
        What::File => {
            let parent = change.path.parent().unwrap_or(Path::new("/"));
            let is_near = parent.symlink_metadata().is_ok_and(|parent| {
                use crate::platform::os::fs::MetadataExt as _;
                parent.dev() == after.id.0
            });
            if is_near && moved(&change.layer, &change.path).is_ok() {
                // It may have been opened for the while.
                return std::fs::set_permissions(&change.path, Permissions::from_mode(after.mode));
            }
            copied(&change.layer, &change.path, after)
        }
        What::Directory | What::Whiteout | What::Other => Ok(()),
    }
}

pub(super) fn pipe(path: &Path, after: &Seen) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    crate::platform::fs::mknodat(
        crate::platform::fs::CWD,
        path,
        crate::platform::fs::FileType::Fifo,
        crate::platform::fs::Mode::from_raw_mode(after.mode),
        0,
    )?;
    rights(path, after)
}

/// Gives a path the rights, attributes and times that it has in the trial.
fn rights(path: &Path, after: &Seen) -> io::Result<()> {
    give_rights(path, after);
    give_attributes(path, after);
    std::fs::set_permissions(path, Permissions::from_mode(after.mode))?;
    give_times(path, after)
}
