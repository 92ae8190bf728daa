//! Works out what taking back would change: from the first state before, the last state left, and the state now.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use similar::{ChangeTag, TextDiff};

use super::links::{self, Seen, Way};
use super::opened::Opened;
use super::record::{Backup, Record, has_content, object, undone};
use super::state::{Kind, not_below_directories};
use super::touch::JournalError;
use super::{State, state};

/// Compares no longer texts line by line (bytes).
const COMPARED: u64 = 512 * 1024;

/// What would be changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// The turns that would be taken back.
    pub turns: Vec<u64>,
    /// What would happen to each path, sorted by path.
    pub changes: Vec<Change>,
    /// Commands of these turns whose changes nobody could know beforehand.
    pub unseen: Vec<String>,
    /// Directories of which only the time is set back.
    pub(super) times: Vec<(PathBuf, State)>,
}

/// What would happen to one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where.
    pub path: PathBuf,
    /// What is there now.
    pub now: State,
    /// What was there.
    pub then: State,
    /// Who made it what it is now.
    pub standing: Author,
    /// How many lines come back and how many go, if both states are texts.
    pub lines: Option<(u64, u64)>,
    /// Whether its content was not kept, so that it cannot be restored.
    pub lost: bool,
    /// Whether the file had other names that nobody looked at: those name another file now, and cannot get this one
    /// back.
    pub parted: bool,
    pub(super) kept: Backup,
    pub(super) way: Way,
    /// Objects with the versions that somebody else made between two changes of ours.
    pub(super) theirs: Vec<u64>,
}

/// Who made something what it is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// The turns that would be taken back.
    Ours,
    /// These turns, or something else while a command ran of which nobody knows what it changes. A copy is put aside.
    Either,
    /// Most likely these turns: axi was killed before it could record it. A copy is put aside.
    Doubtful,
    /// Something else has changed it since.
    Foreign,
}

pub(super) fn plan(records: &[Record], first: u64, directory: &Path) -> Result<Plan, JournalError> {
    let mut recorded = Recorded::read(records, first);
    recorded.agree();
    let Recorded { turns, before, after, around, theirs, unseen, .. } = recorded;
    let mut plan = Plan { turns: turns.into_iter().collect(), unseen, changes: Vec::new(), times: Vec::new() };
    // In a directory that did not exist, nothing existed, whatever was seen later.
    let inside = |path: &Path| before.get(path).is_some_and(|(then, _)| !then.is_directory());
    let missing = (State::MISSING, Backup::Whole);
    let firsts: BTreeMap<&Path, &(State, Backup)> = before
        .iter()
        .map(|(path, first)| (*path, if path.ancestors().skip(1).any(inside) { &missing } else { first }))
        .collect();
    // What is opened stays so until all contents are compared.
    let mut opened = Opened::default();
    let mut nows = look(&firsts, &mut opened)?;
    let elsewhere = led_elsewhere(&nows, &after);
    for path in &elsewhere {
        nows.insert(path, State::MISSING);
    }
    let seen = firsts.iter().zip(nows.values()).map(|((path, (then, kept)), now)| {
        let has_content = has_content_back(path, then, now, *kept, directory);
        let is_restored = has_content && then.is_restored(now);
        let is_kept = after.get(path).is_some_and(|left| match (left.node, then.node) {
            (Some(left), Some(then)) => left.has_names_of(&then),
            (left, then) => left.is_none() && then.is_none(),
        });
        let (was_file, is_regrouped) = (then.is_file(), !is_kept);
        let seen = Seen { was_file, then: then.node, now: now.node, is_regrouped, is_restored, has_content };
        (*path, seen)
    });
    let seen: BTreeMap<&Path, Seen> = seen.collect();
    let verdicts = links::decide(&seen);
    for ((path, (then, kept)), now) in firsts.iter().zip(nows.values()) {
        let (path, kept, left) = (*path, *kept, after.get(path).copied());
        let is_restored = seen.get(path).is_some_and(|seen| seen.is_restored);
        if then.is_directory() && now.is_directory() && then.has_attributes_of(now) {
            // The directory's time may be set back only if nobody else has created or removed a name in it. After a
            // kill in the middle, it was most likely us.
            if then.modified == now.modified || left.is_none_or(|left| left.modified == now.modified) {
                plan.times.push((path.to_owned(), then.clone()));
            }
            continue;
        }
        let verdict = verdicts.get(path);
        if verdict.map_or(is_restored, |verdict| verdict.is_done) {
            continue;
        }
        let between = theirs.get(path).map(Vec::as_slice);
        let standing = match left {
            _ if between.is_some() || elsewhere.contains(path) => Author::Foreign,
            Some(left) if !left.is_same(now) || !left.has_attributes_of(now) => Author::Foreign,
            Some(_) if around.contains(path) && !now.is_missing() => Author::Either,
            Some(_) => Author::Ours,
            // It was to be removed and is gone: we removed it.
            None if now.is_missing() => Author::Ours,
            None => Author::Doubtful,
        };
        let way = verdict.map_or(Way::New, |verdict| verdict.way.clone());
        let lost = is_lost(&way, kept, then, directory);
        let lines = compared(path, now, then, kept, directory);
        let theirs = between.unwrap_or_default().iter().filter_map(|kept| kept.object()).collect();
        let parted = verdict.is_some_and(|verdict| verdict.parted);
        let (path, now, then) = (path.to_owned(), now.clone(), then.clone());
        plan.changes.push(Change { path, now, then, standing, lines, lost, parted, kept, theirs, way });
    }
    if plan.changes.is_empty() {
        // Where something was made and removed again, the directory's time is a trace of that alone.
        let made = firsts.iter().filter(|(_, (then, _))| then.is_missing()).filter_map(|(path, _)| path.parent());
        plan.only_times(&nows, &made.collect());
    }
    Ok(plan)
}

impl Plan {
    /// Makes changes of the times of directories that a call named itself, where nothing else is to come back (`touch
    /// DIRECTORY`), and not those in which something was made.
    fn only_times(&mut self, nows: &BTreeMap<&Path, State>, made_in: &BTreeSet<&Path>) {
        for (path, then) in std::mem::take(&mut self.times) {
            let is_named = |now: &&State| now.modified != then.modified && !made_in.contains(path.as_path());
            let Some(now) = nows.get(path.as_path()).filter(is_named) else { continue };
            self.changes.push(Change {
                now: now.clone(),
                path,
                then,
                standing: Author::Ours,
                lines: None,
                lost: false,
                parted: false,
                kept: Backup::Whole,
                theirs: Vec::new(),
                way: Way::New,
            });
        }
    }
}

/// What the journal knows of the turns that are to be taken back.
#[derive(Default)]
struct Recorded<'a> {
    turns: BTreeSet<u64>,
    /// The first state of each path, and what was kept of it.
    before: BTreeMap<&'a Path, (State, Backup)>,
    /// The paths in the order in which they were recorded.
    order: Vec<&'a Path>,
    /// The last state in which these turns left a path; none while that is not known.
    after: BTreeMap<&'a Path, &'a State>,
    /// Those of them that only lay around a command.
    around: BTreeSet<&'a Path>,
    /// What was kept of versions that somebody else made between two changes of ours.
    theirs: BTreeMap<&'a Path, Vec<Backup>>,
    /// Commands whose changes nobody could know beforehand.
    unseen: Vec<String>,
}

impl<'a> Recorded<'a> {
    /// Reads what was recorded from turn `first` on and is not undone yet.
    fn read(records: &'a [Record], first: u64) -> Self {
        let undone = undone(records);
        let wanted = |turn: &u64| *turn >= first && !undone.contains(turn);
        let mut recorded = Self::default();
        for record in records {
            match record {
                Record::Before { turn, path, state, kept } if wanted(turn) => {
                    recorded.turns.insert(*turn);
                    recorded.before(path, state, *kept);
                }
                Record::Again { turn, path } if wanted(turn) => drop(recorded.after.remove(path.as_path())),
                Record::After { turn, path, state, around } if wanted(turn) => {
                    recorded.after(path, state, *around);
                }
                Record::Unseen { turn, line } if wanted(turn) => {
                    recorded.turns.insert(*turn);
                    recorded.unseen.push(line.clone());
                }
                Record::Turn(_)
                | Record::Before { .. }
                | Record::Again { .. }
                | Record::After { .. }
                | Record::Unseen { .. }
                | Record::Undone { .. } => {}
            }
        }
        recorded
    }

    fn after(&mut self, path: &'a Path, state: &'a State, around: bool) {
        let is_same = self.after.insert(path, state).is_some_and(|before| before.is_same(state));
        if around && !is_same {
            self.around.insert(path);
        } else if !around {
            self.around.remove(path);
        }
    }

    fn before(&mut self, path: &'a Path, state: &State, kept: Backup) {
        let first = self.before.entry(path).or_insert_with(|| {
            self.order.push(path);
            (state.clone(), kept)
        });
        if first.1 == Backup::Attributes && kept != Backup::Attributes {
            // Its content was kept by a later change of the turn that affected more than mode and owner.
            *first = (state.with_attributes_of(&first.0), kept);
        }
        // Until this turn records what it left, nobody knows.
        if self.after.remove(path).is_some_and(|left| !left.is_same(state)) {
            self.theirs.entry(path).or_default().push(kept);
        } else if let Some(last) = self.theirs.get_mut(path).and_then(|theirs| theirs.last_mut())
            && *last == Backup::Attributes
        {
            *last = kept;
        }
    }

    /// Makes one file of those names that were one: what was written through one name shows under the others, so a
    /// name that was recorded later was seen with it. If names have come or gone meanwhile, or the number is another
    /// file's now, it is taken for a file of its own.
    fn agree(&mut self) {
        let mut first_names: BTreeMap<(u64, u64), &Path> = BTreeMap::new();
        for path in &self.order {
            let Some(id) = self.before.get(path).and_then(|(state, _)| state.id()) else { continue };
            let first = self.before.get(*first_names.entry(id).or_insert(path)).cloned();
            let (Some((first, kept)), Some(own)) = (first, self.before.get_mut(path)) else { continue };
            let names = |state: &State| state.node.map(|node| node.names);
            if first.is_restored(&own.0) || kept == Backup::Attributes {
                continue;
            }
            if names(&first) == names(&own.0) {
                *own = (first, kept);
            } else {
                own.0.node = None;
            }
        }
    }
}

/// Lists the paths that a link leads elsewhere now, or a file hides, which somebody else has put above them.
fn led_elsewhere<'a>(
    nows: &BTreeMap<&'a Path, State>,
    after: &BTreeMap<&'a Path, &'a State>,
) -> BTreeSet<&'a Path> {
    let is_theirs = |above: &Path| match (after.get(above), nows.get(above)) {
        (Some(left), Some(now)) => !left.is_same(now),
        (None, Some(_)) => false,
        (_, None) => true,
    };
    nows.keys().copied().filter(|path| not_below_directories(path).any(is_theirs)).collect()
}

/// Looks what stands at each path now, as closely as what was there needs.
fn look<'a>(
    firsts: &BTreeMap<&'a Path, &(State, Backup)>,
    opened: &mut Opened,
) -> Result<BTreeMap<&'a Path, State>, JournalError> {
    let look = |(path, (then, kept)): (&&'a Path, &&(State, Backup))| {
        let failed = |cause| JournalError { path: path.to_path_buf(), cause };
        let now = opened.look(path).map_err(failed)?;
        // If only the mode was to change, the content is not known.
        let is_known = *kept == Backup::Attributes || then.is_untouched(&now);
        Ok((*path, if is_known { now } else { opened.look_closely(path).map_err(failed)? }))
    };
    firsts.iter().map(look).collect()
}

/// Tells whether a path cannot be restored.
fn is_lost(way: &Way, kept: Backup, then: &State, directory: &Path) -> bool {
    match (way, kept) {
        _ if !then.is_file() => then.kind == Kind::Other,
        (Way::Name(_), _) | (Way::Attributes, Backup::Attributes) => false,
        (Way::New | Way::InPlace, Backup::Attributes) => true,
        (Way::Attributes | Way::New | Way::InPlace, kept) => !has_content(kept) || !is_whole(kept, then, directory),
    }
}

/// Tells whether the file has the content of then.
fn has_content_back(path: &Path, then: &State, now: &State, kept: Backup, directory: &Path) -> bool {
    if then.is_untouched(now) {
        return true;
    }
    match (&then.kind, &now.kind) {
        (Kind::File { .. }, Kind::File { .. }) => match kept {
            // Nothing but the attributes was to change.
            Backup::Attributes => then.node.is_none() || then.id() == now.id(),
            Backup::Copy { object: number } | Backup::Link { object: number } => {
                then.has_length_of(now) && is_equal(path, &object(directory, number))
            }
            Backup::Whole | Backup::TooMuch | Backup::Unreadable => then.is_restored(now) && then.id() == now.id(),
        },
        (then, now) => then == now,
    }
}

/// Tells whether two files have the same bytes; an unreadable file is equal to none.
fn is_equal(one: &Path, other: &Path) -> bool {
    let mut readers = match (state::open(one), state::open(other)) {
        (Ok(one), Ok(other)) => (BufReader::new(one), BufReader::new(other)),
        (Err(_), _) | (_, Err(_)) => return false,
    };
    loop {
        let (Ok(one), Ok(other)) = (readers.0.fill_buf(), readers.1.fill_buf()) else { return false };
        let length = one.len().min(other.len());
        if one.get(..length) != other.get(..length) {
            return false;
        }
        if length == 0 {
            return one.len() == other.len();
        }
        readers.0.consume(length);
        readers.1.consume(length);
    }
}

/// Tells whether a hard link still has the old content: a program that kept another name of the file may have
/// written it.
fn is_whole(kept: Backup, then: &State, directory: &Path) -> bool {
    match kept {
        Backup::Link { object: number } => State::look(&object(directory, number))
            .is_ok_and(|now| now.modified == then.modified && now.has_length_of(then)),
        Backup::Copy { .. } | Backup::Whole | Backup::Attributes | Backup::TooMuch | Backup::Unreadable => true,
    }
}

/// Counts the lines that come back, and the lines that go.
fn compared(path: &Path, now: &State, then: &State, kept: Backup, directory: &Path) -> Option<(u64, u64)> {
    let text = |state: &State, path: &Path| match &state.kind {
        Kind::Missing => Some(String::new()),
        Kind::File { length, .. } if *length <= COMPARED => String::from_utf8(std::fs::read(path).ok()?).ok(),
        Kind::File { .. } | Kind::Link { .. } | Kind::Directory | Kind::Other => None,
    };
    let content = match kept {
        Backup::Copy { object: number } | Backup::Link { object: number } => object(directory, number),
        Backup::Whole => PathBuf::new(),
        Backup::Attributes | Backup::TooMuch | Backup::Unreadable => return None,
    };
    let (now, then) = (text(now, path)?, text(then, &content)?);
    let diff = TextDiff::from_lines(&now, &then);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count() as u64;
    Some((count(ChangeTag::Insert), count(ChangeTag::Delete)))
}
