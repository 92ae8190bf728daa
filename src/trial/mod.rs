//! Trials: a command runs for real, and nothing has happened yet.
//!
//! The workspace is covered by a layer (overlayfs, by which the kernel writes every change beside the files instead of into
//! them) in namespaces of the command's own. What it changed is read off that layer, and applied file by file if
//! somebody says so; dropped, nothing of it is left. This room knows no tool, no journal and no words for people: who
//! applies keeps what [`Ready::writes`] names first.
//!
//! Where the system allows no layer, the command works in a copy ([`Trial::copied`]); whoever starts it keeps it from writing
//! elsewhere.
//!
//! What is not exact: a directory that was there before is renamed file by file ([`rename_directory`]), and where nobody
//! can see the calls ([`Met::Unseen`]) not at all (`EXDEV`; `mv` copies then); a file with several names is a file of its
//! own once it was written ([`Change::parted`]), and where an ordinary user gives it a second name its number changes, so that
//! git copies there; an ordinary user cannot write
//! files of other owners or groups (`EOVERFLOW`); a service whose socket lies in what is covered does not answer; programs
//! that are reached by other sockets or the network are really reached ([`ChangeSet::met`]).

mod apply;
mod changes;
mod content;
mod copies;
mod directory;
#[cfg(target_os = "linux")]
mod enter;
#[cfg(target_os = "linux")]
mod kernel;
mod met;
#[cfg(not(target_os = "linux"))]
mod no_entry;
mod refused;
mod rename;
mod repository;
mod roots;
mod seen;
mod turn_copies;
#[cfg(target_os = "linux")]
mod turns;
mod walk;

pub use apply::{Applied, How, Ready, Why};
pub use changes::{Change, ChangeSet, Kind, NotShown};
pub use copies::Most;
#[cfg(target_os = "linux")]
pub use enter::{ENTERED, Entry, leave_mounts, leave_others};
pub use met::Met;
#[cfg(not(target_os = "linux"))]
pub use no_entry::Entry;
pub use refused::Refused;
pub use rename::rename_directory;
pub use repository::GitState;
pub use roots::Scope;
pub use turn_copies::TurnCopies;
#[cfg(target_os = "linux")]
pub use turns::{KEEPER, Turns, keep};

use crate::platform::RealPath as _;
use crate::platform::os::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::ffi::OsString;
use std::fs::{DirBuilder, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use copies::Known;
use directory::TrialDirectory;
use roots::{Purpose, Root};
use seen::Seen;

/// One trial: the commands in it see each other's changes. Dropped, nothing of it is left.
#[derive(Debug)]
pub struct Trial {
    directory: TrialDirectory,
    roots: Vec<Root>,
    /// What the top of each layer was like before anything ran.
    tops: Vec<Option<Seen>>,
    workspace: PathBuf,
    /// What is really written.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux has layers"))]
    open: Vec<PathBuf>,
    /// What was copied, where it works in a copy.
    known: Option<Known>,
    /// When it began, by the clock of the file system.
    begun: (i64, i64),
}

/// The name of the directory with the copy in a trial's directory, and of the directory for temporary files beside it.
const COPY: &str = "copy";
const TEMPORARY: &str = "temporary";

/// So many files are looked at to find those of other users.
const MOST_LOOKED_AT: usize = 20_000;
/// So many of them are named.
const MOST_NAMED: usize = 3;

/// File systems that no layer can be written to (statfs(2)): other layers, such as come over the network, FAT.
#[cfg(target_os = "linux")]
const UNFIT: &[i64] =
    &[0x794c_7630, 0x6969, 0x6573_5546, 0x0102_1997, 0xff53_4d42, 0xfe53_4d42, 0x4d44, 0x2011_bab0];

impl Trial {
    /// Makes a trial of this scope, in the first of these directories that can hold it.
    ///
    /// # Errors
    /// [`Refused`]: there can be none here, and nothing is left of it.
    pub fn new(scope: &Scope<'_>, places: &[PathBuf]) -> Result<Self, Refused> {
        if !cfg!(target_os = "linux") {
            return Err(Refused::Unsupported);
        }
        let roots = roots::roots(scope, &roots::mounts())?;
        let workspace = scope.workspace.real_path().map_err(unusable(scope.workspace))?;
        let directory = places.iter().find_map(|trials| {
            // The layer must lie in nothing that is covered.
            let real = trials.ancestors().find_map(|ancestor| ancestor.real_path().ok())?;
            let is_outside = !roots.iter().any(|root| !root.fresh && real.starts_with(&root.path));
            if is_outside && can_hold(&real) { TrialDirectory::new(trials).ok() } else { None }
        });
        let directory = directory.ok_or(Refused::NoPlace)?;
        if let Some(root) = roots.iter().find(|root| root.purpose == Purpose::Applied && is_foreign(&root.path)) {
            return Err(Refused::Foreign(root.path.clone()));
        }
        let mut tops = Vec::new();
        for (number, root) in roots.iter().enumerate() {
            tops.push(prepared(&directory.path().join(number.to_string()), root).map_err(unusable(&root.path))?);
        }
        let open = roots::opened(scope, &roots);
        Ok(Self { directory, roots, tops, workspace, open, known: None, begun: tick() })
    }

    /// Makes a trial in a copy of this workspace, in the first of these directories that can hold it; `most`: larger ones are
    /// refused. The commands start in [`Trial::inside`] and must be kept to [`Trial::writable`].
    ///
    /// # Errors
    /// [`Refused`]: there can be none here, and nothing is left of it.
    pub fn copied(workspace: &Path, places: &[PathBuf], most: Option<Most>) -> Result<Self, Refused> {
        let workspace = workspace.real_path().map_err(unusable(workspace))?;
        if workspace == Path::new("/") {
            return Err(Refused::TooMuch(workspace));
        }
        let outside = places.iter().filter(|trials| {
            let real = trials.ancestors().find_map(|ancestor| ancestor.real_path().ok());
            real.is_some_and(|real| !real.starts_with(&workspace))
        });
        let directory =
            outside.into_iter().find_map(|trials| TrialDirectory::new(trials).ok()).ok_or(Refused::NoPlace)?;
        if let Some(most) = most {
            copies::measured(&workspace, directory.path(), most)?;
        }
        let temporary = directory.path().join(TEMPORARY);
        DirBuilder::new().mode(0o700).create(&temporary).map_err(unusable(&temporary))?;
        let begun = tick();
        let copies = directory.path().join(COPY);
        DirBuilder::new().mode(0o700).create(&copies).map_err(unusable(&copies))?;
        let known = copies::copied(&workspace, &copy_of(&directory, &workspace))
            .map_err(|(path, cause)| Refused::Unusable { path, cause })?;
        let (roots, tops, open) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { directory, roots, tops, workspace, open, known: Some(known), begun })
    }

    /// Makes the copy again what the workspace is now; what was changed in it is gone.
    ///
    /// # Errors
    /// [`Refused`]: the copy is neither this nor that.
    pub fn renew(&mut self) -> Result<(), Refused> {
        let Some(known) = &self.known else { return Ok(()) };
        self.begun = tick();
        let renewed = copies::renewed(&self.workspace, &self.copy(), known);
        self.known = Some(renewed.map_err(|(path, cause)| Refused::Unusable { path, cause })?);
        Ok(())
    }

    /// Tells whether it works in a copy.
    #[must_use]
    pub const fn is_copy(&self) -> bool {
        self.known.is_some()
    }

    /// Returns where a command works that would work in this directory of the workspace.
    #[must_use]
    pub fn inside(&self, directory: &Path) -> PathBuf {
        if !self.is_copy() {
            return directory.to_owned();
        }
        let real = directory.real_path();
        let below = real.as_deref().unwrap_or(directory).strip_prefix(&self.workspace).unwrap_or(Path::new(""));
        self.copy().join(below)
    }

    fn copy(&self) -> PathBuf {
        copy_of(&self.directory, &self.workspace)
    }

    /// Lists what a command in a copy may write: the copy, and then a directory for temporary files.
    #[must_use]
    pub fn writable(&self) -> [PathBuf; 2] {
        [self.copy(), self.directory.path().join(TEMPORARY)]
    }

    /// Returns what a helper process is told that enters it to start a command in that directory.
    #[cfg(target_os = "linux")]
    #[must_use]
    pub fn entry(&self, start: &Path) -> Entry {
        Entry::of(self.directory.path(), &self.roots, &self.open, start)
    }

    /// Returns what a helper process is told that enters it to start a command in that directory, as arguments; on `has_terminal`
    /// see [`Entry::on_terminal`]. Nothing where there are no layers.
    #[must_use]
    pub fn entry_arguments(&self, start: &Path, has_terminal: bool) -> Vec<OsString> {
        #[cfg(target_os = "linux")]
        {
            self.entry(start).on_terminal(has_terminal).to_arguments()
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (start, has_terminal);
            Vec::new()
        }
    }

    /// Tells after a command whether the helper got into the trial at all: otherwise nothing ran.
    ///
    /// # Errors
    /// [`Refused::Denied`].
    pub fn entered(&self) -> Result<(), Refused> {
        if self.is_copy() {
            return Ok(());
        }
        #[cfg(target_os = "linux")]
        {
            let told = std::fs::read_to_string(self.directory.path().join(enter::STANDING)).unwrap_or_default();
            if told == ENTERED { Ok(()) } else { Err(Refused::Denied(told)) }
        }
        #[cfg(not(target_os = "linux"))]
        Err(Refused::Unsupported)
    }

    /// Returns what a helper process would be told: there is no trial here to enter.
    #[cfg(not(target_os = "linux"))]
    #[must_use]
    pub const fn entry(&self, _: &Path) -> Entry {
        Entry
    }

    /// Returns the real path of the workspace.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Reads what the commands changed.
    ///
    /// # Errors
    /// The system's error where a layer cannot be read.
    pub fn changes(&self) -> io::Result<ChangeSet> {
        let mut set = ChangeSet::new(self.workspace.clone(), self.directory.record());
        if let Some(known) = &self.known {
            set.in_copy = true;
            walk::copy(&mut set, &self.copy(), &self.workspace, known, self.begun)?;
        }
        for (number, (root, top)) in self.roots.iter().zip(&self.tops).enumerate() {
            let upper = self.directory.path().join(number.to_string()).join("upper");
            match root.purpose {
                Purpose::Applied => walk::root(&mut set, &upper, &root.path, top.as_ref(), self.begun)?,
                Purpose::Lent => set.lent.extend(walk::lent(&upper, &root.path)),
            }
        }
        walk::finish(&mut set);
        set.met = self.met();
        Ok(set)
    }

    /// Lists some of what a command cannot change in these layers, because it belongs to other users or groups (`EOVERFLOW`).
    #[must_use]
    pub fn foreign(&self) -> Vec<PathBuf> {
        let applied = self.roots.iter().filter(|root| root.purpose == Purpose::Applied);
        let all = applied.flat_map(|root| crate::file::tree(&root.path)).take(MOST_LOOKED_AT);
        all.map(|(path, _)| path).filter(|path| is_foreign(path)).take(MOST_NAMED).collect()
    }

    #[cfg(target_os = "linux")]
    fn met(&self) -> Vec<Met> {
        let found = Met::read(&self.directory.path().join(enter::MET));
        found.unwrap_or_else(|_| vec![Met::Unseen])
    }

    #[cfg(not(target_os = "linux"))]
    fn met(&self) -> Vec<Met> {
        vec![Met::Unseen]
    }
}

/// Where the copy of a workspace lies: programs take a directory's name for that of a project.
fn copy_of(directory: &TrialDirectory, workspace: &Path) -> PathBuf {
    directory.path().join(COPY).join(workspace.file_name().unwrap_or_default())
}

/// Removes what killed trials left below these directories; returns how many they were.
pub fn sweep(places: &[PathBuf]) -> usize {
    places.iter().map(|trials| directory::sweep(trials)).sum()
}

/// Lists where the layers of trials may lie, best first: beside the state, else where files outlive a restart, else in
/// memory. `state` is axi's own directory.
#[must_use]
pub fn places(state: Option<&Path>) -> Vec<PathBuf> {
    let own = format!("axi-trials-{}", crate::platform::process::geteuid().as_raw());
    let state = state.map(|state| state.join("trials")).into_iter();
    state.chain(["/var/tmp", "/dev/shm"].map(|place| Path::new(place).join(&own))).collect()
}

fn unusable(path: &Path) -> impl FnOnce(io::Error) -> Refused {
    let path = path.to_owned();
    |cause| Refused::Unusable { path, cause }
}

#[cfg(target_os = "linux")]
fn can_hold(place: &Path) -> bool {
    crate::platform::fs::statfs(place)
        .is_ok_and(|found| !UNFIT.iter().any(|unfit| i128::from(*unfit) == i128::from(found.f_type)))
}

#[cfg(not(target_os = "linux"))]
fn can_hold(_: &Path) -> bool {
    false
}

/// Tells whether a directory belongs to others, by its owner or its group, and this user is an ordinary one.
fn is_foreign(path: &Path) -> bool {
    let (user, group) = (crate::platform::process::geteuid(), crate::platform::process::getegid());
    let own = (user.as_raw(), group.as_raw());
    !user.is_root() && Seen::look(path).ok().flatten().is_some_and(|seen| seen.owner != own)
}

/// Makes the directories of one layer; its top has the rights of what it covers.
fn prepared(own: &Path, root: &Root) -> io::Result<Option<Seen>> {
    let (upper, work) = (own.join("upper"), own.join("work"));
    for directory in [&upper, &work] {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    let Some(covered) = Seen::look(&root.path)? else { return Ok(None) };
    content::give_rights(&upper, &covered);
    std::fs::set_permissions(&upper, Permissions::from_mode(covered.mode))?;
    content::give_times(&upper, &covered)?;
    Seen::look(&upper)
}

/// Waits until the clock moves on by which file systems date changes, and returns its time before that. What is changed
/// from now on has a later date.
#[cfg(target_os = "linux")]
fn tick() -> (i64, i64) {
    let now = || {
        let now = crate::platform::time::clock_gettime(crate::platform::time::ClockId::RealtimeCoarse);
        (now.tv_sec, now.tv_nsec)
    };
    let begun = now();
    // A tick is at most 10 ms; a clock that stands still must not hold anybody.
    for _ in 0..40 {
        if now() > begun {
            break;
        }
        std::thread::sleep(std::time::Duration::from_micros(500));
    }
    begun
}

#[cfg(not(target_os = "linux"))]
const fn tick() -> (i64, i64) {
    (0, 0)
}
