//! Trials of turns: what writes runs in layers, and at the end the person says what of it is applied.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::question::Review;
use super::{AgentEvent, Frontend, Notice, TurnEnd};
use crate::approval::command::{Judged, LineJudgement};
use crate::approval::{Class, Reason, Verdict};
use crate::conversation::{Effect, Subject};
use crate::journal::{self, Journal, Touch};
use crate::sandbox::Reach;
use crate::trial::{Change, ChangeSet, How, Kind, Ready, Refused, Why};

/// The most names of what was not applied that the model is told.
const MOST_NAMES: usize = 20;

/// Makes the trials of turns.
pub trait Trials: Send {
    /// Prepares a turn, before the model is asked anything.
    ///
    /// # Errors
    /// [`Refused`]: the turn must not begin.
    fn begin_turn(&mut self) -> Result<(), Refused> {
        Ok(())
    }

    /// Begins one, if none runs: everything that this process and its children do is then held by it.
    ///
    /// # Errors
    /// [`Refused`]: nothing has changed.
    fn begin(&mut self) -> Result<(), Refused>;

    /// Tells whether one runs.
    fn is_running(&self) -> bool;

    /// Tells whether what is written at a path is held by the one that runs.
    fn holds(&self, path: &Path) -> bool;

    /// Ends the one that runs, and reads what it changed, which is there until [`Trials::done`].
    ///
    /// # Errors
    /// The system's error.
    fn end(&mut self) -> io::Result<Option<ChangeSet>>;

    /// Has nothing be left of the one that ended.
    fn done(&mut self) {}
}

#[cfg(target_os = "linux")]
impl Trials for crate::trial::Turns {
    fn begin(&mut self) -> Result<(), Refused> {
        self.begin()
    }

    fn is_running(&self) -> bool {
        self.is_running()
    }

    fn holds(&self, path: &Path) -> bool {
        self.holds(path)
    }

    fn end(&mut self) -> io::Result<Option<ChangeSet>> {
        self.end()
    }

    fn done(&mut self) {
        self.done();
    }
}

impl Trials for crate::trial::TurnCopies {
    fn begin_turn(&mut self) -> Result<(), Refused> {
        self.begin_turn()
    }

    fn begin(&mut self) -> Result<(), Refused> {
        self.begin();
        Ok(())
    }

    fn is_running(&self) -> bool {
        self.is_running()
    }

    fn holds(&self, path: &Path) -> bool {
        self.holds(path)
    }

    fn end(&mut self) -> io::Result<Option<ChangeSet>> {
        self.end()
    }
}

/// Says what is applied of a turn that ended so, where the front end has nobody to ask.
pub type Reviewer = Box<dyn FnMut(&ChangeSet, &TurnEnd) -> Review + Send>;

/// The trials of one agent's turns.
pub(super) struct TurnTrials {
    trials: Box<dyn Trials>,
    reviewer: Reviewer,
    /// Whether none could be made in this turn: its calls are asked about.
    refused: bool,
}

impl TurnTrials {
    pub(super) fn new(trials: Box<dyn Trials>, reviewer: Reviewer) -> Self {
        Self { trials, reviewer, refused: false }
    }

    /// Prepares a turn.
    ///
    /// # Errors
    /// [`Refused`]: the turn must not begin.
    pub(super) fn begin_turn(&mut self) -> Result<(), Refused> {
        self.refused = false;
        self.trials.begin_turn()
    }

    pub(super) fn is_running(&self) -> bool {
        self.trials.is_running()
    }

    /// Begins the turn's trial before a call that may write.
    pub(super) fn before(&mut self, effect: Effect, line: Option<&LineJudgement>, frontend: &mut dyn Frontend) {
        let changes = |line: &LineJudgement| {
            !line.unparsed.is_empty() || line.parts.iter().any(|part| part.class != Class::ReadOnly)
        };
        let writes = match (effect, line) {
            (_, Some(line)) => changes(line),
            (Effect::Write | Effect::Delete | Effect::Execute, None) => true,
            (Effect::Read | Effect::Network, None) => false,
        };
        if !writes || self.refused {
            return;
        }
        if let Err(refused) = self.trials.begin() {
            self.refused = true;
            frontend.show(&AgentEvent::Notice { notice: Notice::NoTrial { cause: refused.to_string() } });
        }
    }

    /// Returns how far a call reaches that the trial holds, so that nobody need be asked: it writes nowhere else, and talks
    /// to nobody. `None` for all others. `confined` tells whether commands are held to what they may write.
    pub(super) fn held(
        &self,
        (effect, subject): (Effect, &Subject),
        line: Option<&LineJudgement>,
        verdict: &Verdict,
        reach: &Reach,
        confined: bool,
    ) -> Option<Reach> {
        let known = |reason: &Reason| {
            matches!(
                reason,
                Reason::MatchedRule { .. }
                    | Reason::Credential { .. }
                    | Reason::Hook { .. }
                    | Reason::HookMistake { .. }
                    | Reason::Unanswered
            )
        };
        if !self.is_running() || verdict.never_auto || verdict.reasons.iter().any(known) {
            return None;
        }
        let inside = Some(Reach::Alone);
        match (subject, line, reach) {
            (Subject::Paths { paths }, None, _) if matches!(effect, Effect::Write | Effect::Delete) => {
                inside.filter(|_| paths.iter().all(|path| self.trials.holds(path)))
            }
            (Subject::Command { .. }, Some(line), Reach::Workspace { also, .. }) => {
                let talks =
                    |part: &Judged| part.class == Class::Network || part.sends() || part.credential.is_some();
                let is_held =
                    confined && !line.parts.iter().any(talks) && also.iter().all(|path| self.trials.holds(path));
                inside.filter(|_| is_held)
            }
            (_, _, _) => None,
        }
    }

    /// Ends the turn's trial, asks what of it is applied, and applies that. Returns what the model is told with the next
    /// message. Blocks, as a question does.
    pub(super) fn review(
        &mut self,
        end: &TurnEnd,
        journal: Option<&mut Journal>,
        frontend: &mut dyn Frontend,
    ) -> Option<String> {
        let set = match self.trials.end() {
            Ok(set) => set.filter(|set| !set.changes.is_empty()),
            Err(error) => {
                self.trials.done();
                frontend.show(&AgentEvent::Notice { notice: Notice::TrialLost { cause: error.to_string() } });
                return Some("[What the last turn changed is lost: nothing of it was applied.]".to_owned());
            }
        };
        let left = set.map(|set| {
            let review = match frontend.review(&set) {
                Review::Unavailable => (self.reviewer)(&set, end),
                review => review,
            };
            applied(&set, &review, journal, frontend)
        });
        self.trials.done();
        told(&left?)
    }
}

/// Applies what was chosen of a trial, keeps what stood there first, and says so. Returns what was left as it was.
pub(super) fn applied(
    set: &ChangeSet,
    review: &Review,
    journal: Option<&mut Journal>,
    frontend: &mut dyn Frontend,
) -> Vec<PathBuf> {
    let wanted: Box<dyn Fn(&Change) -> bool> = match review {
        Review::All => Box::new(|_| true),
        Review::Some(paths) => Box::new(|change| is_wanted(set, change, paths)),
        Review::Nothing | Review::Unavailable => Box::new(|_| false),
    };
    let ready = set.ready(&wanted);
    let touches = touches(&ready);
    let kept = journal.filter(|_| !touches.is_empty()).map(|journal| (journal.before(&touches), journal));
    if let Some((Err(error), _)) = &kept {
        let notice = Notice::NoUndo { path: error.path.clone(), cause: error.cause.to_string() };
        frontend.show(&AgentEvent::Notice { notice });
    }
    let applied = ready.apply();
    if let Some((Ok(unkept), journal)) = kept {
        if unkept.files > 0 {
            frontend.show(&AgentEvent::Notice { notice: Notice::NotKept { files: unkept.files } });
        }
        if let Err(error) = journal.after() {
            tracing::warn!(%error, "what was applied of a trial");
        }
    }
    let refused: Vec<(PathBuf, Why)> =
        applied.refused.iter().map(|(path, why)| (set.shown(path).to_owned(), why.clone())).collect();
    let left = set.changes.iter().filter(|change| !wanted(change)).map(|change| set.shown(&change.path).to_owned());
    let left: Vec<PathBuf> = left.chain(refused.iter().map(|(path, _)| path.clone())).collect();
    let notice = Notice::Reviewed {
        applied: applied.done,
        dropped: (set.changes.len() as u64).saturating_sub(applied.done + refused.len() as u64),
        refused,
    };
    frontend.show(&AgentEvent::Notice { notice });
    left
}

/// What the model is told of what was not applied.
fn told(left: &[PathBuf]) -> Option<String> {
    if left.is_empty() {
        return None;
    }
    let names: Vec<String> = left.iter().take(MOST_NAMES).map(|path| path.display().to_string()).collect();
    let more = left.len().saturating_sub(names.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!(
        "[Your last turn ran in a trial. The user reviewed it and did not apply all: these are as they were before \
         that turn: {}{more}]",
        names.join(", ")
    ))
}

/// Tells whether a change is among the chosen, or a directory that one of those needs.
fn is_wanted(set: &ChangeSet, change: &Change, paths: &BTreeSet<PathBuf>) -> bool {
    if paths.contains(&change.path) || !change.is_directory() {
        return paths.contains(&change.path);
    }
    let mut below =
        set.changes.iter().filter(|other| other.path != change.path && other.path.starts_with(&change.path));
    match change.kind {
        Kind::Deleted => {
            // Only with all that was in it.
            let below: Vec<&Change> = below.filter(|other| !other.is_directory()).collect();
            !below.is_empty() && below.iter().all(|other| paths.contains(&other.path))
        }
        Kind::Added => below.any(|other| paths.contains(&other.path)),
        Kind::Changed | Kind::Mode | Kind::Link => false,
    }
}

/// How the journal is told of what is about to be written.
#[must_use]
pub fn touches(ready: &Ready<'_>) -> Vec<Touch> {
    ready.writes().into_iter().map(touch).collect()
}

fn touch((path, how): (PathBuf, How)) -> Touch {
    let how = match how {
        How::Removed => journal::How::Removed,
        How::Any => journal::How::Any,
        How::Attributes => journal::How::Attributes,
    };
    Touch { path, tree: false, how }
}
