//! Keeping what is about to be changed: second names and clones where the file system has them, copies up to a limit.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use super::around::{REMADE, is_named_part, is_part};
use super::opened::Opened;
use super::record::{Backup, Log, Record, object};
use super::state::Kind;
use super::touch::{How, JournalError, Touch, Unkept};
use super::{State, state};
use crate::platform::os::fs::{MetadataExt as _, OpenOptionsExt as _};
use crate::platform::{share_content, sync_below};

/// How much is kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// A larger file is not copied (bytes).
    pub(super) file: u64,
    /// More than this is not copied for one session by one process (bytes); second names and clones are free.
    pub(super) copied: u64,
    /// All journals together (bytes on the disk); the oldest go first.
    pub(super) journals: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const MEGABYTE: u64 = 1024 * 1024;
        Self { file: 256 * MEGABYTE, copied: 1024 * MEGABYTE, journals: 4096 * MEGABYTE }
    }
}

/// More than this is not read to know again what one change left (bytes); the rest is known by length and time.
const MOST_READ: u64 = 512 * 1024 * 1024;
/// More entries of a directory are not looked at.
const MOST_ENTRIES: usize = 50_000;
/// So many copies are put on the disk one by one; more are left to one sync of the file system.
const FEW: usize = 16;

/// Something that was changed so shortly before it was looked at may be changed again without another time.
const SHORTLY: Duration = Duration::from_secs(2);

/// What one turn has recorded, and what is known of what earlier changes left.
#[derive(Debug, Default, Clone)]
pub(super) struct Recorded {
    /// The paths of this turn: only the first state before it is gone back to.
    paths: BTreeSet<PathBuf>,
    /// Those of them that were found after a change and not before: the journal and its trash both look, and one tells.
    made: Arc<Mutex<BTreeSet<PathBuf>>>,
    /// Those of them of which only mode and owner are kept. Before a change to more than these, the rest must be kept, too.
    bare: BTreeSet<PathBuf>,
    /// Those of them that cannot be given back: to be told each time one is to be changed.
    lost: BTreeSet<PathBuf>,
    /// The state in which axi left each path, in this turn or an earlier one. If a path is in another state now, somebody
    /// else has changed it.
    left: BTreeMap<PathBuf, State>,
    /// What stood at the paths of this turn before it.
    before: BTreeMap<PathBuf, State>,
    /// Copies of files that were not changed since, by what tells so.
    copies: BTreeMap<Known, Backup>,
}

/// A file as it was at one moment: its device and number, its length, when it was last changed.
type Known = ((u64, u64), u64, (i64, i64));

impl Recorded {
    /// Begins another turn.
    pub(super) fn clear(&mut self) {
        self.paths.clear();
        self.made = Arc::default();
        self.bare.clear();
        self.lost.clear();
        self.before.clear();
    }

    /// Tells whether this turn was about to change anything.
    pub(super) fn has_touched(&self) -> bool {
        !self.before.is_empty()
    }

    /// Tells whether something is known to have stood there before this turn.
    pub(super) fn was_there(&self, path: &Path) -> bool {
        self.before.get(path).is_some_and(|state| !state.is_missing())
    }

    /// What this turn left where something else was before: as far as it is known, and no more.
    pub(super) fn changed(&self) -> impl Iterator<Item = (&Path, &State)> {
        self.before.iter().filter_map(|(path, before)| {
            let left = self.left.get(path)?;
            (!before.is_untouched(left) && !before.is_same(left)).then_some((path.as_path(), left))
        })
    }
}

/// Keeps what one change touches.
pub(super) struct Keeper<'a> {
    log: &'a mut Log,
    turn: u64,
    recorded: &'a mut Recorded,
    copied: &'a AtomicU64,
    limits: Limits,
    copies: Vec<PathBuf>,
    links: Vec<u64>,
    entries: usize,
    read: u64,
    unkept: u64,
    begun: SystemTime,
    /// What was closed to its owner.
    closed: Opened,
}

impl<'a> Keeper<'a> {
    pub(super) fn new(
        log: &'a mut Log,
        turn: u64,
        recorded: &'a mut Recorded,
        copied: &'a AtomicU64,
        limits: Limits,
    ) -> Self {
        Self {
            log,
            turn,
            recorded,
            copied,
            limits,
            copies: Vec::new(),
            links: Vec::new(),
            entries: 0,
            read: 0,
            unkept: 0,
            begun: SystemTime::now(),
            closed: Opened::default(),
        }
    }

    /// Records what stands at a place, below it where that goes too, and the directory it stands in.
    pub(super) fn touch(&mut self, touch: &Touch) -> Result<(), JournalError> {
        self.ancestors(&touch.path)?;
        let state = self.look(&touch.path)?;
        if touch.tree && state.is_directory() {
            let mut found = self.below(&touch.path, touch.how);
            // What can be made again is kept last: the room may not last.
            found.sort_by_key(|path| (is_remade(path, &touch.path), path.clone()));
            self.record(&touch.path, state, touch)?;
            for path in found {
                let state = self.look(&path)?;
                self.record(&path, state, touch)?;
            }
            return Ok(());
        }
        self.record(&touch.path, state, touch)
    }

    /// Ends what began with the first touch: every copy is on the disk. Gives back the objects that are second names.
    pub(super) fn finish(self) -> (Unkept, Vec<u64>) {
        if self.copies.len() <= FEW {
            for path in &self.copies {
                // The copy itself was written; a disk that cannot sync is no reason to stop.
                drop(File::open(path).and_then(|file| file.sync_data()));
            }
        } else {
            sync_below(self.log.directory());
        }
        (Unkept { files: self.unkept }, self.links)
    }

    /// Records what a change left at a place it touched.
    pub(super) fn look_again(&mut self, touch: &Touch) -> Result<(), JournalError> {
        for ancestor in touch.path.ancestors().skip(1) {
            if !self.recorded.paths.contains(ancestor) {
                break;
            }
            self.left(ancestor, touch.how)?;
        }
        self.left(&touch.path, touch.how)?;
        // What is kept for the sake of what lies around it belongs to no change.
        let belongs = |path: &Path| touch.how != How::Around || is_part(path, &touch.path);
        let inside: Vec<PathBuf> = self
            .recorded
            .paths
            .range(touch.path.clone()..)
            .skip(1)
            .take_while(|path| path.starts_with(&touch.path))
            .filter(|path| belongs(path))
            .cloned()
            .collect();
        for path in inside {
            self.left(&path, touch.how)?;
        }
        // What was made there was not there before.
        if touch.tree && self.look(&touch.path)?.is_directory() {
            for path in self.below(&touch.path, touch.how) {
                if !self.recorded.paths.insert(path.clone()) {
                    continue;
                }
                let is_told = self.recorded.made.lock().is_ok_and(|mut made| !made.insert(path.clone()));
                if !is_told {
                    let state = State::MISSING;
                    self.recorded.before.entry(path.clone()).or_insert_with(|| state.clone());
                    let missing =
                        Record::Before { turn: self.turn, path: path.clone(), state, kept: Backup::Whole };
                    self.log.append(&missing)?;
                }
                self.left(&path, touch.how)?;
            }
        }
        Ok(())
    }

    /// Makes a file of its own of every second name whose first one is still there, or somewhere else now.
    pub(super) fn own_links(&mut self, links: &[u64]) -> Result<(), JournalError> {
        for number in links {
            let path = object(self.log.directory(), *number);
            if path.symlink_metadata().is_ok_and(|metadata| metadata.nlink() > 1) {
                let own = path.with_extension("own");
                let modified = path.metadata().and_then(|metadata| metadata.modified());
                let done = copy(&path, &own)
                    .and_then(|()| File::options().write(true).open(&own)?.set_modified(modified?))
                    .and_then(|()| std::fs::rename(&own, &path));
                match done {
                    // What its owner may not read stays a second name.
                    Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => {}
                    done => done.map_err(|cause| JournalError { path, cause })?,
                }
            }
        }
        Ok(())
    }

    fn left(&mut self, path: &Path, how: How) -> Result<(), JournalError> {
        let mut state = self.look(path)?;
        if how == How::Around
            && self.recorded.left.get(path).is_some_and(|left| left.is_untouched(&state))
            && state.node.is_none_or(|node| self.is_long_ago(node.changed))
        {
            return Ok(());
        }
        if let Kind::File { length, .. } = state.kind
            && how != How::Attributes
            && self.read.saturating_add(length) <= MOST_READ
        {
            self.read += length;
            state = self.look_closely(path)?;
        }
        self.recorded.left.insert(path.to_owned(), state.clone());
        self.log.append(&Record::After {
            turn: self.turn,
            path: path.to_owned(),
            state,
            around: how == How::Around,
        })
    }

    fn look_closely(&mut self, path: &Path) -> Result<State, JournalError> {
        self.closed.look_closely(path).map_err(|cause| JournalError { path: path.to_owned(), cause })
    }

    fn look(&mut self, path: &Path) -> Result<State, JournalError> {
        self.closed.look(path).map_err(|cause| JournalError { path: path.to_owned(), cause })
    }

    /// The directory something stands in, for its time; and those that are not there yet.
    fn ancestors(&mut self, path: &Path) -> Result<(), JournalError> {
        let plain = Touch { path: PathBuf::new(), tree: false, how: How::Attributes };
        for ancestor in path.ancestors().skip(1) {
            let state = self.look(ancestor)?;
            let there = !state.is_missing();
            self.record(ancestor, state, &plain)?;
            if there {
                break;
            }
        }
        Ok(())
    }

    /// Everything below a directory, links not followed, up to the limit.
    fn below(&mut self, directory: &Path, how: How) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut waiting = vec![directory.to_path_buf()];
        while let Some(directory) = waiting.pop() {
            // A line may open what is closed and change what lies there.
            self.closed.open(&directory);
            for entry in directory.read_dir().into_iter().flatten().flatten() {
                self.entries += 1;
                if self.entries > MOST_ENTRIES {
                    self.unkept += 1;
                    return found;
                }
                let path = entry.path();
                if how == How::Around && !is_named_part(&entry.file_name()) {
                    continue;
                }
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    waiting.push(path.clone());
                }
                found.push(path);
            }
        }
        found
    }

    fn record(&mut self, path: &Path, mut state: State, touch: &Touch) -> Result<(), JournalError> {
        let mut changed = false;
        if let Some(left) = self.recorded.left.remove(path)
            && !left.is_same(&state)
        {
            // Only touched, it is what it was.
            state = self.look_closely(path)?;
            changed = !left.is_same(&state);
        }
        let is_bare = self.recorded.bare.contains(path) && touch.how != How::Attributes;
        // What somebody else has made of it meanwhile is kept once more: a later undo must not lose it.
        if self.recorded.paths.contains(path) && !changed && !is_bare {
            self.unkept += u64::from(touch.how != How::Around && self.recorded.lost.contains(path));
            if touch.how == How::Around {
                // What is left of it tells whether it was changed.
                self.recorded.left.insert(path.to_owned(), state);
                return Ok(());
            }
            return self.log.append(&Record::Again { turn: self.turn, path: path.to_owned() });
        }
        let kept = match state.kind {
            Kind::Missing | Kind::Link { .. } | Kind::Directory => Backup::Whole,
            Kind::Other => Backup::Unreadable,
            Kind::File { .. } if touch.how == How::Attributes => Backup::Attributes,
            Kind::File { .. } => self.keep(path, &state, touch.how == How::Removed)?,
        };
        if matches!(kept, Backup::TooMuch | Backup::Unreadable) {
            self.recorded.lost.insert(path.to_owned());
            self.unkept += u64::from(touch.how != How::Around);
        }
        let (turn, path_now) = (self.turn, path.to_owned());
        self.recorded.before.entry(path_now.clone()).or_insert_with(|| state.clone());
        if touch.how == How::Around {
            // Most of it stays as it is. Killed in between, what was changed is asked for.
            self.log.append(&Record::Before { turn, path: path_now.clone(), state: state.clone(), kept })?;
            self.recorded.left.insert(path_now.clone(), state.clone());
            self.log.append(&Record::After { turn, path: path_now, state, around: true })?;
        } else {
            self.log.append(&Record::Before { turn, path: path_now, state, kept })?;
        }
        self.recorded.paths.insert(path.to_owned());
        if kept == Backup::Attributes {
            self.recorded.bare.insert(path.to_owned());
        } else {
            self.recorded.bare.remove(path);
        }
        Ok(())
    }

    fn keep(&mut self, path: &Path, state: &State, may_go: bool) -> Result<Backup, JournalError> {
        let Kind::File { length, .. } = state.kind else { return Ok(Backup::Unreadable) };
        let known = state.node.map(|node| (node.id(), length, node.changed));
        if let Some(kept) = known.and_then(|known| self.recorded.copies.get(&known)) {
            return Ok(*kept);
        }
        let alone = state.node.is_some_and(|node| node.names == 1);
        let (number, target, mut file) = loop {
            let number = self.log.new_object()?;
            let target = object(self.log.directory(), number);
            // Only for what is about to lose its name: what is written in place would change under both.
            if may_go && alone {
                match std::fs::hard_link(path, &target) {
                    Ok(()) => {
                        self.links.push(number);
                        return Ok(Backup::Link { object: number });
                    }
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                    Err(_) => {}
                }
            }
            match create(&target) {
                Ok(file) => break (number, target, file),
                // Another writer of this journal has it: its object is not ours to write or to remove.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(cause) => return Err(JournalError { path: target, cause }),
            }
        };
        let kept = self.fill(path, length, &mut file);
        match kept {
            Ok(None) => {
                self.copies.push(target);
                let kept = Backup::Copy { object: number };
                if let Some(known) = known.filter(|(_, _, changed)| self.is_long_ago(*changed)) {
                    self.recorded.copies.insert(known, kept);
                }
                return Ok(kept);
            }
            // Half a copy is worse than none; that it stays does no harm, for no record names it.
            Ok(Some(_)) | Err(_) => drop(std::fs::remove_file(&target)),
        }
        // What its owner may not read can have a second name. Written in place it is lost, and known to be.
        if matches!(kept, Ok(Some(Backup::Unreadable))) && alone && std::fs::hard_link(path, &target).is_ok() {
            self.links.push(number);
            return Ok(Backup::Link { object: number });
        }
        kept.map(|why| why.unwrap_or(Backup::Unreadable)).map_err(|cause| JournalError { path: target, cause })
    }

    /// Tells whether a change from now on gets another time.
    fn is_long_ago(&self, changed: (i64, i64)) -> bool {
        let since = u64::try_from(changed.0).ok().and_then(|seconds| {
            self.begun.duration_since(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).ok()
        });
        since.is_some_and(|since| since > SHORTLY)
    }

    /// Fills an object; gives back why not, where that is no failure.
    fn fill(&mut self, path: &Path, length: u64, target: &mut File) -> io::Result<Option<Backup>> {
        let mut source = match state::open(path) {
            Ok(source) => source,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(Some(Backup::Unreadable)),
            Err(error) => return Err(error),
        };
        if share_content(&source, target) {
            return Ok(None);
        }
        if length > self.limits.file
            || self.copied.load(Ordering::Relaxed).saturating_add(length) > self.limits.copied
        {
            return Ok(Some(Backup::TooMuch));
        }
        io::copy(&mut source, target)?;
        self.copied.fetch_add(length, Ordering::Relaxed);
        Ok(None)
    }
}

fn is_remade(path: &Path, root: &Path) -> bool {
    let inside = path.strip_prefix(root).unwrap_or(path);
    let named = |path: &Path| {
        path.components().any(|part| part.as_os_str().to_str().is_some_and(|name| REMADE.contains(&name)))
    };
    named(inside) || root.file_name().is_some_and(|name| named(Path::new(name)))
}

/// Makes a new file that only the user may read.
pub(super) fn create(path: &Path) -> io::Result<File> {
    File::options().write(true).create_new(true).mode(0o600).open(path)
}

/// Copies a file's content to a new one that only the user may read.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = state::open(from)?;
    io::copy(&mut source, &mut create(to)?).map(|_| ())
}

#[cfg(test)]
#[path = "keep_tests.rs"]
mod tests;
