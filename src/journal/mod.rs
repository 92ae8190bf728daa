//! Pre-images of files, for undo: what stood there before a tool or a command changed it, and what it left.
//!
//! Each session has a directory: `journal.jsonl` is append-only and is on the disk before a change begins;
//! `objects/` has the old contents. The journal stays usable if axi is killed at any moment: the state that a
//! record describes has been kept. It knows no tool, no conversation and no words for people.
//!
//! Not kept: owners that only root can set, the content of devices and sockets, files beyond the limits of `keep`.

mod around;
mod attributes;
mod clean;
mod keep;
mod left;
mod links;
mod node;
mod opened;
mod outlook;
mod path_text;
mod plan;
mod record;
mod restore;
mod state;
mod touch;
mod trash;

pub use clean::forget;
pub use left::{Left, is_surroundings};
pub use outlook::{Outlook, around};
pub use plan::{Author, Change, Plan};
pub use record::Turn;
pub use restore::{Foreign, TakenBack};
pub use state::{Kind, State};
pub use touch::{How, JournalError, Touch, Unkept};
pub use trash::Trash;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::SystemTime;

use record::{Log, Record, undone};
use touch::settled;

/// The journal of one session.
#[derive(Debug)]
pub struct Journal {
    log: Log,
    /// The directory with the journals of all sessions.
    root: PathBuf,
    /// The current turn, and whether its record is in the file yet.
    now: Option<(Turn, bool)>,
    /// What was recorded already.
    recorded: keep::Recorded,
    /// The touches of the current change.
    touched: Vec<Touch>,
    /// The objects of these touches that are hard links.
    links: Vec<u64>,
    /// How many bytes this process has copied for this session.
    copied: Arc<AtomicU64>,
    limits: keep::Limits,
    cleaned: bool,
}

impl Journal {
    /// Opens the journal of `session` below `root`; reads and creates nothing until it is needed.
    #[must_use]
    pub fn new(root: PathBuf, session: &str) -> Self {
        Self {
            log: Log::new(root.join(session)),
            root,
            now: None,
            recorded: keep::Recorded::default(),
            touched: Vec::new(),
            links: Vec::new(),
            copied: Arc::default(),
            limits: keep::Limits::default(),
            cleaned: false,
        }
    }

    /// Begins a turn: `messages` is how many messages the conversation had before it, `mark` a hash of its message.
    pub fn begin_turn(&mut self, messages: usize, mark: u64, now: SystemTime) {
        // The turn's number is read from the file when there is something to write.
        let turn = Turn { number: 0, time: record::milliseconds(now), messages: messages as u64, mark };
        self.now = Some((turn, false));
        self.recorded.clear();
        self.touched.clear();
    }

    /// Keeps what stands at these paths before it is changed. It is on the disk when this returns.
    ///
    /// # Errors
    /// [`JournalError`]: the change can then not be taken back, or not in full.
    pub fn before(&mut self, touches: &[Touch]) -> Result<Unkept, JournalError> {
        self.touched = touches.iter().map(|touch| Touch { path: settled(&touch.path), ..touch.clone() }).collect();
        let Some(turn) = self.write_turn()? else { return Ok(Unkept::default()) };
        let mut keeper = keep::Keeper::new(&mut self.log, turn, &mut self.recorded, &self.copied, self.limits);
        for touch in &self.touched {
            keeper.touch(touch)?;
        }
        let (unkept, links) = keeper.finish();
        self.links = links;
        self.log.sync()?;
        if !self.cleaned {
            self.cleaned = true;
            clean::clean(&self.root, self.log.directory(), self.limits.journals);
        }
        Ok(unkept)
    }

    /// Records what the change left, so that a later change by somebody else can be distinguished from it.
    ///
    /// # Errors
    /// [`JournalError`]: undo then reports that the author of the change is in doubt.
    pub fn after(&mut self) -> Result<(), JournalError> {
        let Some((turn, true)) = self.now else { return Ok(()) };
        let touched = std::mem::take(&mut self.touched);
        let mut keeper =
            keep::Keeper::new(&mut self.log, turn.number, &mut self.recorded, &self.copied, self.limits);
        for touch in &touched {
            keeper.look_again(touch)?;
        }
        keeper.own_links(&std::mem::take(&mut self.links))
    }

    /// Lists what the present turn left where something else was before; `None` if nothing of it could change anything.
    #[must_use]
    pub fn left(&self) -> Option<Vec<Left>> {
        let left = |(path, state): (&Path, &State)| Left::of(path.to_owned(), state);
        self.recorded.has_touched().then(|| self.recorded.changed().map(left).collect())
    }

    /// Remembers a command whose changes nobody could know beforehand.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn unseen(&mut self, line: &str) -> Result<(), JournalError> {
        let Some(turn) = self.write_turn()? else { return Ok(()) };
        self.log.append(&Record::Unseen { turn, line: line.to_owned() })
    }

    /// Lists the turns that changed something and were not taken back, oldest first.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn turns(&self) -> Result<Vec<Turn>, JournalError> {
        let records = self.log.read()?;
        let undone = undone(&records);
        let mut turns: BTreeMap<u64, Turn> = BTreeMap::new();
        let mut busy: BTreeSet<u64> = BTreeSet::new();
        for record in &records {
            match record {
                Record::Turn(turn) => drop(turns.insert(turn.number, *turn)),
                Record::Before { turn, .. } | Record::Unseen { turn, .. } => drop(busy.insert(*turn)),
                Record::Again { .. } | Record::After { .. } | Record::Undone { .. } => {}
            }
        }
        Ok(turns
            .into_values()
            .filter(|turn| busy.contains(&turn.number) && !undone.contains(&turn.number))
            .collect())
    }

    /// Works out what would change if this turn and all later ones were taken back. Changes nothing; what is closed to its
    /// owner is open while it is looked at.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn plan(&self, first: u64) -> Result<Plan, JournalError> {
        plan::plan(&self.log.read()?, first, self.log.directory())
    }

    /// Takes back what the plan names. After axi was killed in the middle, running it again continues where it
    /// stopped.
    ///
    /// # Errors
    /// [`JournalError`] if even the journal could not be written; the result lists failures at single files.
    pub fn take_back(&mut self, plan: &Plan, foreign: Foreign) -> Result<TakenBack, JournalError> {
        let taken = restore::take_back(plan, foreign, self.log.directory());
        if taken.failed.is_empty() {
            self.log.append(&Record::Undone { turns: plan.turns.clone() })?;
            self.log.sync()?;
        }
        Ok(taken)
    }

    /// Returns the journal's own directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.log.directory()
    }

    /// Returns the outlook: what the journal has room for.
    #[must_use]
    pub fn outlook(&self) -> Outlook {
        Outlook::new(self.log.directory().to_owned(), self.copied.clone(), self.limits)
    }

    fn write_turn(&mut self) -> Result<Option<u64>, JournalError> {
        let Some((turn, written)) = &mut self.now else { return Ok(None) };
        if !*written {
            turn.number = self.log.next_turn()?;
            self.log.append(&Record::Turn(*turn))?;
            *written = true;
        }
        Ok(Some(turn.number))
    }
}

/// Lists the turns of a journal that were taken back.
///
/// # Errors
/// [`JournalError`].
pub fn taken_back(journal: &Journal) -> Result<Vec<Turn>, JournalError> {
    let records = journal.log.read()?;
    let undone = undone(&records);
    let turns = records.iter().filter_map(|record| match record {
        Record::Turn(turn) => Some(*turn),
        Record::Before { .. }
        | Record::Again { .. }
        | Record::After { .. }
        | Record::Unseen { .. }
        | Record::Undone { .. } => None,
    });
    Ok(turns.filter(|turn| undone.contains(&turn.number)).collect())
}

#[cfg(test)]
#[path = "exact_tests.rs"]
mod exact_tests;
#[cfg(test)]
#[path = "others_tests.rs"]
mod others_tests;
#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
