//! Reads a layer against what it covers (Documentation/filesystems/overlayfs.rst of the kernel): what is in it, what
//! its whiteouts and opaque directories say is gone, and which of its names are one file.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::platform::os::ffi::OsStrExt as _;
use crate::platform::os::fs::PermissionsExt as _;

use super::changes::{Change, ChangeSet, Kind};
use super::content::can_give;
use super::copies::Known;
use super::seen::{Ajar, Seen, What, is_equal};

/// What a directory of the owner's needs to be read and searched.
const LOOKED_INTO: u32 = 0o500;

/// In longer files it is not looked for the path of the copy (bytes).
const MOST_SEARCHED: u64 = 4 * 1024 * 1024;

/// One walk: what it finds, and what it needs to judge it.
struct Walk<'a> {
    set: &'a mut ChangeSet,
    /// What was changed after this was changed meanwhile.
    begun: (i64, i64),
    /// In a copy: what was copied.
    known: Option<&'a Known>,
}

/// Adds what one layer says of the directory that it covers.
pub(super) fn root(
    set: &mut ChangeSet,
    upper: &Path,
    lower: &Path,
    top: Option<&Seen>,
    begun: (i64, i64),
) -> io::Result<()> {
    let now = Seen::look(upper)?;
    let real = Seen::look(lower)?;
    if let (Some(top), Some(now), Some(real)) = (top, &now, &real)
        && (top.mode != now.mode || top.attributes != now.attributes)
    {
        let after = Seen { owner: real.owner, ..now.clone() };
        Walk { set, begun, known: None }.add(Kind::Mode, lower, upper, Some(real.clone()), Some(after));
    }
    Walk { set, begun, known: None }.directory(upper, lower, now.as_ref(), real.as_ref(), false)
}

/// Adds what a copy says of the directory that was copied.
pub(super) fn copy(
    set: &mut ChangeSet,
    copy: &Path,
    real: &Path,
    known: &Known,
    begun: (i64, i64),
) -> io::Result<()> {
    let mut walk = Walk { set, begun, known: Some(known) };
    let (Some(now), Some(before)) = (Seen::look(copy)?, known.real(real)) else { return Ok(()) };
    let now = known.as_real(real, now);
    if !before.has_rights_of(&now) {
        walk.add(Kind::Mode, real, copy, Some(before.clone()), Some(now.clone()));
    }
    // Nothing shows through: what is not in the copy any more is gone.
    walk.directory(copy, real, Some(&now), Some(before), true)?;
    for change in set.changes.iter_mut().filter(|change| change.kind != Kind::Mode) {
        change.names_copy = match change.after.as_ref().map(|after| (&after.what, after.length)) {
            Some((What::Link(target), _)) => target.starts_with(copy),
            Some((What::File, length)) if length <= MOST_SEARCHED => {
                let bytes = std::fs::read(&change.layer).unwrap_or_default();
                memchr::memmem::find(&bytes, copy.as_os_str().as_bytes()).is_some()
            }
            Some(_) | None => false,
        };
    }
    Ok(())
}

/// Counts what was written below a directory that is only lent; `None` if nothing was.
pub(super) fn lent(upper: &Path, lower: &Path) -> Option<(PathBuf, u64, u64)> {
    let (mut files, mut bytes) = (0, 0);
    for (_, metadata) in crate::file::tree(upper).filter(|(_, metadata)| !metadata.is_dir()) {
        files += 1;
        bytes += metadata.len();
    }
    (files > 0).then(|| (lower.to_owned(), files, bytes))
}

impl Walk<'_> {
    /// Looks at what was there before.
    fn before(&self, path: &Path) -> io::Result<Option<Seen>> {
        self.known.map_or_else(|| Seen::look(path), |known| Ok(known.real(path).cloned()))
    }

    /// Lists what was in a directory before.
    fn names_before(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        if let Some(known) = self.known {
            return Ok(known.names(directory));
        }
        directory.read_dir()?.map(|entry| entry.map(|entry| entry.file_name())).collect()
    }

    /// Tells whether a real file is another one than when the trial began.
    fn is_other(&self, path: &Path, before: &Seen) -> bool {
        // The time of a directory moves with its names, which are looked at each for itself.
        if before.is_directory() {
            return false;
        }
        match self.known {
            None => before.changed > self.begun,
            Some(_) => Seen::look(path).ok().flatten().is_none_or(|now| before.changed != now.changed),
        }
    }

    fn add(&mut self, kind: Kind, path: &Path, layer: &Path, before: Option<Seen>, after: Option<Seen>) {
        let told = if kind == Kind::Deleted { &before } else { &after };
        let is_file = |seen: &Seen| seen.what == What::File;
        // A copy has the names that lie in the workspace, too.
        let copied = after.as_ref().filter(|_| self.known.is_some()).map_or(1, |seen| seen.names);
        let meanwhile = before.as_ref().is_some_and(|seen| self.is_other(path, seen));
        self.set.changes.push(Change {
            path: path.to_owned(),
            kind,
            bytes: told.as_ref().map_or(0, |seen| seen.length),
            meanwhile,
            parted: kind == Kind::Changed
                && before.as_ref().is_some_and(|seen| is_file(seen) && seen.names > copied),
            foreign: false,
            names_copy: false,
            before,
            after,
            layer: layer.to_owned(),
            same_as: None,
        });
    }

    /// Compares the names of a directory in the layer with those that it covers, if something is covered. `hidden`: one
    /// around it is opaque, so that nothing shows through here either; only the outermost is marked.
    fn directory(
        &mut self,
        upper: &Path,
        lower: &Path,
        now: Option<&Seen>,
        real: Option<&Seen>,
        hidden: bool,
    ) -> io::Result<()> {
        let Some(now) = now else { return Ok(()) };
        let hidden = hidden || now.opaque;
        let real = real.filter(|real| real.is_directory());
        // In a copy it may be closed though the real one is not.
        let mode = upper.symlink_metadata().map_or(now.mode, |metadata| metadata.permissions().mode());
        let opened = Ajar::open(upper, mode & 0o7777, LOOKED_INTO);
        let mut names: Vec<OsString> = Vec::new();
        for entry in upper.read_dir()? {
            names.push(entry?.file_name());
        }
        names.sort();
        if let Some(real) = real {
            // Also where it stayed as it was: what is written in place there gets its place by a new name here.
            self.set.touched.push((lower.to_owned(), real.clone(), now.clone()));
            if hidden {
                for name in self.names_before(lower)? {
                    if names.binary_search(&name).is_err() {
                        self.gone(&lower.join(name))?;
                    }
                }
            }
        }
        for name in &names {
            let (upper, lower) = (upper.join(name), lower.join(name));
            let Some(mut after) = Seen::look(&upper)? else { continue };
            if let Some(known) = self.known {
                if !after.is_directory() && known.is_untouched(&lower, &after) {
                    continue;
                }
                after = known.as_real(&lower, after);
            }
            let before = if real.is_some() { self.before(&lower)? } else { None };
            self.name(&upper, &lower, (before, after), hidden)?;
        }
        drop(opened);
        Ok(())
    }

    fn name(
        &mut self,
        upper: &Path,
        lower: &Path,
        (before, after): (Option<Seen>, Seen),
        hidden: bool,
    ) -> io::Result<()> {
        let same_kind = |before: &Seen| std::mem::discriminant(&before.what) == std::mem::discriminant(&after.what);
        let before = match before {
            Some(before) if !same_kind(&before) => {
                self.gone(lower)?;
                None
            }
            before => before,
        };
        match (&after.what, before) {
            // What it hid is gone already, or was found above.
            (What::Whiteout, _) => {}
            (What::Other, _) => self.set.unmade.push(lower.to_owned()),
            (What::Directory, before) => {
                match &before {
                    None => self.add(Kind::Added, lower, upper, None, Some(after.clone())),
                    Some(before) if !before.has_rights_of(&after) => {
                        self.add(Kind::Mode, lower, upper, Some(before.clone()), Some(after.clone()));
                    }
                    Some(_) => {}
                }
                self.directory(upper, lower, Some(&after), before.as_ref(), hidden)?;
            }
            (What::Link(_), before) => {
                let is_same = before.as_ref().is_some_and(|before| {
                    before.what == after.what && before.modified == after.modified && before.owner == after.owner
                });
                if !is_same {
                    self.add(Kind::Link, lower, upper, before, Some(after));
                }
            }
            (What::File | What::Pipe, None) => self.add(Kind::Added, lower, upper, None, Some(after)),
            (What::Pipe, Some(before)) => {
                if !before.has_rights_of(&after) {
                    self.add(Kind::Mode, lower, upper, Some(before), Some(after));
                }
            }
            (What::File, Some(before)) => {
                let opened = Ajar::open(upper, after.mode, 0o400);
                let content = before.length == after.length && is_equal(upper, lower);
                drop(opened);
                // What was another's cannot be made one's own where it is.
                let is_new = before.owner != after.owner && !can_give(before.owner);
                if !content || is_new {
                    self.add(Kind::Changed, lower, upper, Some(before), Some(after));
                } else if !before.has_rights_of(&after) || before.modified != after.modified || after.names > 1 {
                    // One of several names in the layer: `join_names` decides.
                    self.add(Kind::Mode, lower, upper, Some(before), Some(after));
                }
            }
        }
        Ok(())
    }

    /// Adds something that goes, with everything below it, each by its own name.
    fn gone(&mut self, lower: &Path) -> io::Result<()> {
        let Some(before) = self.before(lower)? else { return Ok(()) };
        if before.is_directory() {
            for name in self.names_before(lower)? {
                self.gone(&lower.join(name))?;
            }
        }
        self.add(Kind::Deleted, lower, Path::new(""), Some(before), None);
        Ok(())
    }
}

/// Joins the names of one file, and sorts.
pub(super) fn finish(set: &mut ChangeSet) {
    join_names(set);
    tell_foreign(set);
    set.changes.sort_by(|one, other| {
        let is_later = |change: &Change| change.kind != Kind::Deleted;
        (is_later(one), &one.path).cmp(&(is_later(other), &other.path))
    });
}

/// Marks what this user cannot make again as it is; where some of that is only moved, it stays at its old place, too.
fn tell_foreign(set: &mut ChangeSet) {
    let is_foreign = |seen: &Option<Seen>| seen.as_ref().is_some_and(|seen| !can_give(seen.owner));
    for change in &mut set.changes {
        change.foreign = is_foreign(&change.after);
    }
    if set.changes.iter().any(|change| change.foreign && change.before.is_none()) {
        for change in set.changes.iter_mut().filter(|change| change.kind == Kind::Deleted) {
            change.foreign = is_foreign(&change.before);
        }
    }
}

/// Makes links of the names that are one file in the layer: all but one, which is the file.
fn join_names(set: &mut ChangeSet) {
    let mut groups: BTreeMap<(u64, u64), Vec<usize>> = BTreeMap::new();
    for (number, change) in set.changes.iter().enumerate() {
        if let Some(after) = change.after.as_ref().filter(|after| after.what == What::File && after.names > 1) {
            groups.entry(after.id).or_default().push(number);
        }
    }
    let mut silent = Vec::new();
    for names in groups.into_values() {
        // The one that was there as it is now stays, and the others become its names.
        let stays = |number: &&usize| {
            let change = &set.changes[**number];
            change.kind == Kind::Mode && is_as_before(change)
        };
        let was_there = |number: &&usize| set.changes[**number].before.is_some();
        let first = names.iter().find(stays).or_else(|| names.iter().find(was_there)).or(names.first()).copied();
        let Some(first) = first else { continue };
        let leader = set.changes[first].path.clone();
        if is_as_before(&set.changes[first]) && set.changes[first].kind == Kind::Mode {
            silent.push(first);
        }
        let was = set.changes[first].before.as_ref().map(|before| before.id);
        for other in names.into_iter().filter(|name| *name != first) {
            let change = &mut set.changes[other];
            let is_one_already = was.is_some() && change.before.as_ref().map(|before| before.id) == was;
            if is_one_already && change.kind == Kind::Mode && is_as_before(change) {
                silent.push(other);
                continue;
            }
            change.kind = Kind::Link;
            change.same_as = Some(leader.clone());
            change.parted = false;
        }
    }
    silent.sort_unstable();
    for number in silent.into_iter().rev() {
        set.changes.remove(number);
    }
}

/// Tells whether a file was only copied into the layer.
fn is_as_before(change: &Change) -> bool {
    let seen = change.before.as_ref().zip(change.after.as_ref());
    seen.is_some_and(|(before, after)| before.has_rights_of(after) && before.modified == after.modified)
}
