//! Pre-images of files, for undo: what stood there before a tool or a command changed it, and what it left.
//!
//! One directory a session: `journal.jsonl`, append-only, on the disk before a change begins, and `objects/`, the
//! old contents. Killed at any moment it stays usable: what a record says was there before is there. Knows no tool,
//! no conversation and no words for people.
//!
//! What is not kept: owners nobody but root can set, what stands in devices and sockets, files past the limits of `keep`.

mod around;
mod attributes;
mod clean;
mod keep;
mod links;
mod node;
mod outlook;
mod path_text;
mod plan;
mod record;
mod restore;
mod state;
mod touch;
mod trash;

pub use clean::forget;
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
    /// Where the journals of all sessions are.
    root: PathBuf,
    /// The turn that runs, and whether it is in the file yet.
    now: Option<(Turn, bool)>,
    /// What was recorded already.
    recorded: keep::Recorded,
    /// What the change that runs touches.
    touched: Vec<Touch>,
    /// What was kept of that as a second name.
    links: Vec<u64>,
    /// Bytes copied for this session, by this process.
    copied: Arc<AtomicU64>,
    limits: keep::Limits,
    cleaned: bool,
}

impl Journal {
    /// Looks at the journal of `session` below `root`; nothing is read or made before it is needed.
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

    /// Begins a turn: `messages` the conversation had before it, `mark` a number made from what was said.
    pub fn begin_turn(&mut self, messages: usize, mark: u64, now: SystemTime) {
        // Its number is read off the file when there is something to write.
        let turn = Turn { number: 0, time: record::milliseconds(now), messages: messages as u64, mark };
        self.now = Some((turn, false));
        self.recorded.clear();
        self.touched.clear();
    }

    /// Keeps what stands at these places, before it is changed. On the disk when it returns.
    ///
    /// # Errors
    /// [`JournalError`]; the change can then not be taken back, or not in full.
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

    /// Looks at what the change left, so that a later change by somebody else can be told from it.
    ///
    /// # Errors
    /// [`JournalError`]; what was changed is then in doubt, and said to be.
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

    /// Remembers that a command ran whose changes nobody could know beforehand.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn unseen(&mut self, line: &str) -> Result<(), JournalError> {
        let Some(turn) = self.write_turn()? else { return Ok(()) };
        self.log.append(&Record::Unseen { turn, line: line.to_owned() })
    }

    /// The turns that changed something and were not taken back, oldest first.
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

    /// Works out what taking back all turns from this one on would change. Changes nothing.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn plan(&self, first: u64) -> Result<Plan, JournalError> {
        plan::plan(&self.log.read()?, first, self.log.directory())
    }

    /// Takes back what was planned. Begun again after it was killed it goes on where it was.
    ///
    /// # Errors
    /// [`JournalError`] when not even the journal could be written; what fails at a file is in the answer.
    pub fn take_back(&mut self, plan: &Plan, foreign: Foreign) -> Result<TakenBack, JournalError> {
        let taken = restore::take_back(plan, foreign, self.log.directory());
        if taken.failed.is_empty() {
            self.log.append(&Record::Undone { turns: plan.turns.clone() })?;
            self.log.sync()?;
        }
        Ok(taken)
    }

    /// The journal's own directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.log.directory()
    }

    /// Tells what it has room for.
    #[must_use]
    pub fn outlook(&self) -> Outlook {
        Outlook::new(self.log.directory().to_owned(), self.copied.clone(), self.limits)
    }

    fn write_turn(&mut self) -> Result<Option<u64>, JournalError> {
        let Some((turn, written)) = &mut self.now else { return Ok(None) };
        if !*written {
            turn.number = self.log.next_turn();
            self.log.append(&Record::Turn(*turn))?;
            *written = true;
        }
        Ok(Some(turn.number))
    }
}

/// The turns of a journal that were taken back.
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
#[path = "journal_tests.rs"]
mod tests;
