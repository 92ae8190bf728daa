//! Restores files: what is in the way is removed first, then come directories, files, modes and times. Each step is
//! done completely or not at all, so that it can be repeated.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs::{File, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use crate::platform::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};
use crate::platform::os::fs::{DirBuilderExt as _, PermissionsExt as _, chown, lchown, symlink};

use super::keep::copy;
use super::links::Way;
use super::opened::Opened;
use super::plan::{Author, Change, Plan};
use super::record::{Backup, object};
use super::state::{Kind, not_below_directories};
use super::{State, attributes, state};

/// What happens to files that something else has changed since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    /// It stays as it is.
    Leave,
    /// It is taken back too; a copy is put aside.
    Overwrite,
}

/// The result of taking back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TakenBack {
    /// These paths are as they were.
    pub done: Vec<PathBuf>,
    /// These were left alone: changed by something else, not kept, or not empty.
    pub left: Vec<PathBuf>,
    /// These could not be changed; with the reason, in the system's words.
    pub failed: Vec<(PathBuf, String)>,
    /// Where copies were put of files that may not have been ours: the path, and its copy.
    pub aside: Vec<(PathBuf, PathBuf)>,
}

pub(super) fn take_back(plan: &Plan, foreign: Foreign, directory: &Path) -> TakenBack {
    let mut taken = TakenBack::default();
    let aside = Aside { directory, next: Cell::new(1) };
    let mut changes: Vec<&Change> = Vec::new();
    let named = plan.changes.iter().filter_map(|change| match &change.way {
        Way::Name(of) => Some(of.as_path()),
        Way::Attributes | Way::New | Way::InPlace => None,
    });
    let places: BTreeSet<&Path> =
        plan.changes.iter().map(|change| change.path.as_path()).chain(named).flat_map(Path::ancestors).collect();
    let mut opened = Opened::default();
    for path in places {
        opened.open(path);
    }
    let mut made: BTreeSet<&Path> = BTreeSet::new();
    // In the order of paths a parent stands before its children.
    for change in &plan.changes {
        let unwanted = change.lost || change.standing == Author::Foreign && foreign == Foreign::Leave;
        let mut above = not_below_directories(&change.path).peekable();
        let is_hidden = change.now.is_missing() && above.peek().is_some();
        let is_elsewhere = above.any(|above| !made.contains(above));
        // The path may have changed while the person was asked.
        let moved = !is_hidden && !opened.look(&change.path).is_ok_and(|now| change.now.is_restored(&now));
        if unwanted || moved || is_elsewhere {
            taken.left.push(change.path.clone());
            continue;
        }
        match aside.copies(change) {
            Ok(copies) => taken.aside.extend(copies.into_iter().map(|copy| (change.path.clone(), copy))),
            Err(error) => {
                taken.failed.push((change.path.clone(), error.to_string()));
                continue;
            }
        }
        if change.then.is_directory() {
            made.insert(&change.path);
        }
        changes.push(change);
    }
    let up: Vec<&Change> = changes.iter().rev().copied().collect();
    // First the changes that take names away from files that others keep, then those that write into these files,
    // then those that give them their names.
    let by = |way: fn(&Way) -> bool| -> Vec<&Change> {
        changes.iter().copied().filter(|change| way(&change.way)).collect()
    };
    let own = by(|way| matches!(way, Way::New | Way::Attributes));
    let (in_place, named) = (by(|way| *way == Way::InPlace), by(|way| matches!(way, Way::Name(_))));
    let mut stopped: BTreeSet<&Path> = BTreeSet::new();
    let unwanted: BTreeSet<PathBuf> =
        taken.left.iter().chain(taken.failed.iter().map(|(path, _)| path)).cloned().collect();
    let is_back = |path: &Path| !unwanted.contains(path);
    let steps: [(&[&Change], Step<'_>); 5] = [
        (&up, &|change| clear(change, &aside)),
        (&changes, &make_directory),
        (&own, &|change| put_back(change, directory)),
        (&in_place, &|change| put_back(change, directory)),
        (&named, &|change| match &change.way {
            Way::Name(of) => put_name(change, of, directory, &is_back),
            Way::Attributes | Way::New | Way::InPlace => Ok(None),
        }),
    ];
    for (order, step) in steps {
        taken.go(order, step, &mut stopped);
    }
    for (path, then) in plan.times.iter().rev() {
        // A directory whose time cannot be set has everything that matters.
        drop(set_times(path, then));
    }
    // Last, for it may close a directory.
    taken.go(&up, &finish_directory, &mut stopped);
    let done = || changes.iter().filter(|change| !stopped.contains(change.path.as_path()));
    taken.done.extend(done().map(|change| change.path.clone()));
    // Who only got one more name has the mode that the file had before it was opened.
    let moded = done().filter(|change| !matches!(change.way, Way::Name(_)));
    opened.leave(&taken.done, moded.map(|change| change.path.as_path()));
    taken
}

impl TakenBack {
    /// Does one step of all changes but of those that were stopped.
    fn go<'a>(&mut self, order: &[&'a Change], step: Step<'_>, stopped: &mut BTreeSet<&'a Path>) {
        for change in order {
            let path = change.path.as_path();
            if stopped.contains(path) {
                continue;
            }
            match step(change) {
                Ok(None) => {}
                Ok(Some(copy)) => self.aside.push((path.to_owned(), copy)),
                // Something else has put files into it.
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                    stopped.insert(path);
                    self.left.push(path.to_owned());
                }
                Err(error) => {
                    stopped.insert(path);
                    self.failed.push((path.to_owned(), error.to_string()));
                }
            }
        }
    }
}

/// The result of one step: nothing, or the place of a copy.
type Done = io::Result<Option<PathBuf>>;
/// One step of one change.
type Step<'a> = &'a dyn Fn(&Change) -> Done;

/// The directory for copies of files that may not have been ours.
struct Aside<'a> {
    directory: &'a Path,
    /// The number that the next name begins with.
    next: Cell<u32>,
}

impl Aside<'_> {
    /// Copies a file there, and the versions that somebody else made before our last change.
    fn copies(&self, change: &Change) -> io::Result<Vec<PathBuf>> {
        let mut copies = Vec::new();
        for number in &change.theirs {
            let object = object(self.directory, *number);
            copies.push(self.place(&change.path, &|target| copy(&object, target))?);
        }
        if change.standing == Author::Ours || change.kept == Backup::Attributes {
            return Ok(copies);
        }
        let path = &change.path;
        match &change.now.kind {
            Kind::Missing | Kind::Directory => {}
            Kind::File { .. } => {
                let goes = change.way == Way::New && change.now.node.is_some_and(|node| node.names == 1);
                copies.push(self.place(path, &|target| {
                    // A second name costs nothing; nobody writes into what is about to lose its first.
                    let named = goes && std::fs::hard_link(path, target).is_ok();
                    if named { Ok(()) } else { copy(path, target) }
                })?);
            }
            Kind::Link { target: leads } => copies.push(self.place(path, &|target| symlink(leads, target))?),
            // A pipe, a socket: there is no copy of it, only the thing itself.
            Kind::Other => copies.push(self.place(path, &|target| std::fs::hard_link(path, target))?),
        }
        Ok(copies)
    }

    /// Moves a directory there, with everything in it.
    fn take(&self, path: &Path) -> io::Result<PathBuf> {
        self.place(path, &|target| {
            // `rename` replaces an empty directory, but not one with entries.
            std::fs::create_dir(target)?;
            std::fs::rename(path, target)
        })
    }

    /// Numbers the name until it is free: earlier copies stay.
    fn place(&self, path: &Path, put: &dyn Fn(&Path) -> io::Result<()>) -> io::Result<PathBuf> {
        let place = self.directory.join("aside");
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&place)?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        loop {
            let number = self.next.get();
            self.next.set(number.checked_add(1).ok_or(io::ErrorKind::AlreadyExists)?);
            let target = place.join(format!("{number}-{name}"));
            match put(&target) {
                Ok(()) => return Ok(target),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Removes what was not there then, or was of another kind.
fn clear(change: &Change, aside: &Aside<'_>) -> Done {
    let same_kind = std::mem::discriminant(&change.now.kind) == std::mem::discriminant(&change.then.kind);
    if change.now.is_missing() || same_kind && !matches!(change.now.kind, Kind::Link { .. }) {
        return Ok(None);
    }
    if !change.now.is_directory() {
        return match std::fs::remove_file(&change.path) {
            // It was already removed under another name, through a link.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            removed => removed.map(|()| None),
        };
    }
    match std::fs::remove_dir(&change.path) {
        Ok(()) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error)
            if error.kind() == io::ErrorKind::DirectoryNotEmpty
                && matches!(change.standing, Author::Doubtful | Author::Foreign) =>
        {
            // A directory on another file system cannot be moved, and stays.
            aside.take(&change.path).map(Some).map_err(|_| error)
        }
        Err(error) => Err(error),
    }
}

fn make_directory(change: &Change) -> Done {
    if change.then.is_directory() && !change.now.is_directory() {
        // Its own mode is set when everything is in it.
        std::fs::DirBuilder::new().mode(0o700).create(&change.path)?;
    }
    Ok(None)
}

fn put_back(change: &Change, directory: &Path) -> Done {
    match &change.then.kind {
        Kind::Missing | Kind::Directory | Kind::Other => {}
        Kind::Link { target } => {
            symlink(target, &change.path)?;
            // Only root may change the owner; for everybody else the owner is right already.
            drop(lchown(&change.path, Some(change.then.owner.0), Some(change.then.owner.1)));
            set_times(&change.path, &change.then)?;
        }
        Kind::File { .. } => match (&change.way, change.kept) {
            (Way::Attributes, Backup::Attributes) => set_attributes(&change.path, &change.then)?,
            (Way::Attributes, _) => {
                set_attributes(&change.path, &change.then)?;
                set_times(&change.path, &change.then)?;
            }
            (_, Backup::Copy { object: number } | Backup::Link { object: number }) => {
                put_content(change, &object(directory, number), directory)?;
            }
            (_, Backup::Attributes | Backup::Whole | Backup::TooMuch | Backup::Unreadable) => {
                return Err(io::ErrorKind::NotFound.into());
            }
        },
    }
    Ok(None)
}

fn put_content(change: &Change, object: &Path, directory: &Path) -> io::Result<()> {
    let path = &change.path;
    if change.way == Way::InPlace {
        let mut source = state::open(object)?;
        // Its mode is set again below.
        std::fs::set_permissions(path, Permissions::from_mode(change.now.mode | 0o600))?;
        let mut target = File::options().write(true).truncate(true).open(path)?;
        io::copy(&mut source, &mut target)?;
        target.sync_all()?;
    } else {
        let temporary = temporary(path, directory)?;
        match copy(object, &temporary) {
            // The object is a hard link, because its owner may not read the file.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                std::fs::hard_link(object, &temporary)?;
            }
            copied => copied?,
        }
        set_attributes(&temporary, &change.then)?;
        set_times(&temporary, &change.then)?;
        File::open(&temporary).and_then(|file| file.sync_all()).or_else(unreadable_is_no_reason)?;
        std::fs::rename(&temporary, path)?;
        // Where both were names of one file already, `rename` leaves both (rename(2)).
        drop(std::fs::remove_file(&temporary));
    }
    set_attributes(path, &change.then)?;
    set_times(path, &change.then)
}

/// Returns a free name beside a path.
fn temporary(path: &Path, directory: &Path) -> io::Result<PathBuf> {
    let parent = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let session = directory.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let temporary = parent.join(format!(".axi-undo-{session}"));
    // An axi that was killed may have left it behind.
    drop(std::fs::remove_file(&temporary));
    Ok(temporary)
}

/// Makes a path one more name of the file at `of`; if that is not possible, a file of its own.
fn put_name(change: &Change, of: &Path, directory: &Path, is_back: &dyn Fn(&Path) -> bool) -> Done {
    let id = |path: &Path| State::look(path).ok().and_then(|state| state.id());
    if is_back(of) {
        if id(of).is_some() && id(of) == id(&change.path) {
            return Ok(None);
        }
        let temporary = temporary(&change.path, directory)?;
        if std::fs::hard_link(of, &temporary).is_ok() {
            std::fs::rename(&temporary, &change.path)?;
            drop(std::fs::remove_file(&temporary));
            return Ok(None);
        }
    }
    let Some(number) = change.kept.object() else { return Err(io::ErrorKind::NotFound.into()) };
    put_content(change, &object(directory, number), directory).map(|()| None)
}

/// Accepts that a file without read permission cannot be opened in order to be synced: it is there all the same.
fn unreadable_is_no_reason(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::PermissionDenied { Ok(()) } else { Err(error) }
}

fn finish_directory(change: &Change) -> Done {
    if change.then.is_directory() {
        set_attributes(&change.path, &change.then)?;
        set_times(&change.path, &change.then)?;
    }
    Ok(None)
}

fn set_attributes(path: &Path, then: &State) -> io::Result<()> {
    // As above. The owner is set before the mode, because `chown` clears the set-user-ID bit.
    drop(chown(path, Some(then.owner.0), Some(then.owner.1)));
    if let Some(attributes) = &then.attributes {
        // Its owner, too, needs these bits to read and to set the attributes.
        std::fs::set_permissions(path, Permissions::from_mode(then.mode | 0o600))?;
        attributes::clear(path, attributes)?;
        attributes::set(path, attributes)?;
    }
    std::fs::set_permissions(path, Permissions::from_mode(then.mode))
}

fn set_times(path: &Path, then: &State) -> io::Result<()> {
    let modified = Timespec { tv_sec: then.modified.0, tv_nsec: then.modified.1 };
    let unchanged = Timespec { tv_sec: 0, tv_nsec: crate::platform::fs::UTIME_OMIT };
    let times = Timestamps { last_access: unchanged, last_modification: modified };
    utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).map_err(io::Error::from)
}
