//! Undo: writes into the journal before and after each change.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio_util::sync::CancellationToken;

use super::call_trials::{CallTrials, First, Reviewed};
use super::talk::Said;
use super::touches::{self, Expected};
use super::trials::TurnTrials;
use super::wait::watched;
use super::{AgentEvent, Frontend, Notice, TurnEnd, reach};
use crate::approval::command::LineJudgement;
use crate::approval::{Class, Surroundings};
use crate::conversation::{Effect, Subject};
use crate::journal::{
    Foreign, Journal, JournalError, Kind, Left, Plan, TakenBack, Touch, Turn, around, taken_back,
};
use crate::sandbox::Reach;
use crate::session::{Changed, Session};
use crate::tool::SharedTrash;
use crate::trial::{Refused, Trial};

/// How long a stopped turn waits until it has been seen what its last call changed.
const LAST_LOOK: Duration = Duration::from_secs(1);

/// The outcome of copying what a call is about to change.
pub(super) enum Keeping {
    /// All that could be known is copied.
    Kept,
    /// Not everything is copied, and `told` reports it; `files` is 0 where the number is not known.
    Lacking { files: u64, told: Notice },
    /// The turn was stopped before it was done.
    Stopped,
}

/// The changes a call would make.
pub(super) struct Changes<'a> {
    pub(super) effect: Effect,
    pub(super) subject: &'a Subject,
    /// The judgement of the line, if the call is a shell line.
    pub(super) line: Option<&'a Arc<LineJudgement>>,
    /// How far the call reaches.
    pub(super) reach: &'a Reach,
    /// Other files that are changed along with it.
    pub(super) beside: &'a Subject,
}

/// The changes as they are known before the disk is read.
enum Foreseen {
    Paths(Vec<Touch>),
    Line(Arc<LineJudgement>, Vec<PathBuf>),
}

impl Foreseen {
    /// Tells whether more may change than can be known.
    fn may_change_more(&self) -> bool {
        match self {
            Self::Paths(_) => false,
            Self::Line(line, _) => {
                !line.unparsed.is_empty() || line.parts.iter().any(|part| part.class != Class::ReadOnly)
            }
        }
    }

    /// Looks the changes up on the disk: a line's words may stand for many files.
    fn on_disk(self, begun_in: &Path) -> Expected {
        match self {
            Self::Paths(touches) => Expected { touches, ..Expected::default() },
            Self::Line(line, beside) => {
                let mut expected = touches::of_line(&line, begun_in);
                expected.touches.extend(touches::of_paths(Effect::Write, &beside));
                expected
            }
        }
    }
}

impl Changes<'_> {
    /// Foresees the changes; `None` if nothing is changed.
    fn foresee(&self) -> Option<Foreseen> {
        match (self.subject, self.line) {
            (Subject::Paths { paths }, _) if matches!(self.effect, Effect::Write | Effect::Delete) => {
                Some(Foreseen::Paths(touches::of_paths(self.effect, paths)))
            }
            (Subject::Command { .. }, Some(line)) if *self.reach != Reach::ReadOnly => {
                let beside = match self.beside {
                    Subject::Paths { paths } => paths.clone(),
                    Subject::Command { .. } | Subject::Host { .. } | Subject::Whole => Vec::new(),
                };
                Some(Foreseen::Line(Arc::clone(line), beside))
            }
            (Subject::Paths { .. } | Subject::Command { .. } | Subject::Host { .. } | Subject::Whole, _) => None,
        }
    }
}

/// A turn to which the conversation can go back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastTurn {
    /// How many messages the conversation had before it.
    pub messages: usize,
    /// The message that began it.
    pub said: String,
    /// The first turn of the journal that is taken back with it, if any changed files.
    pub journal: Option<u64>,
}

/// The journal of one session; without a journal it keeps nothing.
pub(super) struct Undo {
    /// The directory with the journals of all sessions.
    root: Option<PathBuf>,
    /// The session whose journal it is.
    session: Option<String>,
    journal: Option<Journal>,
    /// The turn that runs: the number of messages before it, a hash of its message, and the time it began.
    turn: Option<(usize, u64, SystemTime)>,
    /// Whether this turn may have changed more than could be seen.
    blind: bool,
    /// Where shell lines run.
    surroundings: Arc<Surroundings>,
    /// Where turns run in trials: what one holds needs no journal before it is applied.
    pub(super) trials: Option<TurnTrials>,
    /// Where single calls run in trials.
    pub(super) calls: Option<CallTrials>,
}

impl Undo {
    pub(super) const fn new(root: Option<PathBuf>, surroundings: Arc<Surroundings>) -> Self {
        Self {
            root,
            session: None,
            journal: None,
            turn: None,
            blind: false,
            surroundings,
            trials: None,
            calls: None,
        }
    }

    /// Returns one that keeps nothing.
    pub(super) fn without_journal(&self) -> Self {
        Self::new(None, Arc::clone(&self.surroundings))
    }

    /// Returns the session whose journal it is, if it keeps one.
    pub(super) fn session(&self) -> Option<String> {
        self.session.clone().filter(|_| self.root.is_some())
    }

    /// Uses this session's journal from now on; a session that is not saved has none.
    pub(super) fn begin_session(&mut self, session: &Session) {
        self.session = session.path().map(|_| session.id().to_string());
        self.turn = None;
        self.open();
    }

    fn open(&mut self) {
        let found = self.root.as_ref().zip(self.session.as_deref());
        self.journal = found.map(|(root, session)| Journal::new(root.clone(), session));
        if let (Some(journal), Some((before, mark, now))) = (&mut self.journal, self.turn) {
            journal.begin_turn(before, mark, now);
        }
    }

    /// Tells the journal that the turn of this message begins.
    pub(super) fn begin_turn(&mut self, said: &Said, now: SystemTime) {
        self.turn = Some((said.before, said.mark, now));
        self.blind = false;
        if let Some(calls) = &mut self.calls {
            calls.begin_turn();
        }
        if let Some(journal) = &mut self.journal {
            journal.begin_turn(said.before, said.mark, now);
        }
    }

    /// Prepares the trial of a turn; it must not begin where that fails.
    pub(super) fn begin_trials(&mut self) -> Result<(), Refused> {
        self.trials.as_mut().map_or(Ok(()), TurnTrials::begin_turn)
    }

    /// Tells whether the turn runs in a trial by now.
    pub(super) fn is_trying(&self) -> bool {
        self.trials.as_ref().is_some_and(TurnTrials::is_running)
    }

    /// Ends the trial of a turn that ended so, and has it reviewed; returns what the model is told of it.
    pub(super) fn review(&mut self, end: &TurnEnd, frontend: &mut dyn Frontend) -> Option<String> {
        self.trials.as_mut()?.review(end, self.journal.as_mut(), frontend)
    }

    /// Says how a call runs that may run unasked; `is_tryable`: a trial can hold it.
    pub(super) fn first(&self, line: Option<&LineJudgement>, is_tryable: &dyn Fn() -> bool) -> First {
        match &self.calls {
            Some(calls) if !self.is_trying() => calls.first(line, is_tryable),
            Some(_) | None => First::No,
        }
    }

    /// Has the calls of this turn asked about that would run in trials.
    pub(super) fn refuse_trials(&mut self) {
        if let Some(calls) = &mut self.calls {
            calls.refuse();
        }
    }

    /// Applies what a call changed in its trial.
    pub(super) fn review_call(&mut self, trial: &Trial, frontend: &mut dyn Frontend) -> Option<Reviewed> {
        let calls = self.calls.as_ref()?;
        Some(calls.review(trial, &self.surroundings, self.journal.as_mut(), frontend))
    }

    /// Copies what a call is about to change into the journal.
    ///
    /// # Cancel safety
    /// If it is dropped, its thread still finishes copying, and the journal is opened anew.
    pub(super) async fn keep_before(
        &mut self,
        changes: &Changes<'_>,
        redact: &(dyn Fn(&str) -> String + Sync),
        frontend: &mut dyn Frontend,
        cancel: &CancellationToken,
    ) -> Keeping {
        let Some(foreseen) = changes.foresee().filter(|_| !self.is_trying()) else { return Keeping::Kept };
        let line = match changes.subject {
            Subject::Command { line } => redact(line),
            Subject::Paths { .. } | Subject::Host { .. } | Subject::Whole => String::new(),
        };
        let (directory, workspace) = (self.surroundings.cwd.clone(), self.surroundings.workspace.clone());
        let lent = Lent(self);
        let Some(mut journal) = lent.0.journal.take() else { return Keeping::Kept };
        let work = tokio::task::spawn_blocking(move || {
            let may_more = foreseen.may_change_more();
            let around = may_more.then(|| around(&workspace)).flatten();
            let is_blind = may_more && around.is_none();
            let kept = keep(&mut journal, (foreseen.on_disk(&directory), around), &line, &directory);
            (journal, is_blind, kept)
        });
        // When it is stopped, what it wrote is right; we just do not learn its result.
        let Some(done) = watched(work, frontend, cancel).await else { return Keeping::Stopped };
        match done {
            Ok((journal, is_blind, kept)) => {
                lent.0.journal = Some(journal);
                lent.0.blind |= is_blind || !matches!(kept, Ok(0));
                match kept {
                    Ok(0) => Keeping::Kept,
                    Ok(files) => Keeping::Lacking { files, told: Notice::NotKept { files } },
                    Err(error) => Keeping::Lacking { files: 0, told: unkept(&error) },
                }
            }
            Err(error) => {
                tracing::error!(%error, "the journal's thread failed");
                let told = Notice::NoUndo { path: PathBuf::new(), cause: error.to_string() };
                Keeping::Lacking { files: 0, told }
            }
        }
    }

    /// Copies what the hooks of these lines are about to change, and the files of the call they are about: a
    /// formatting hook, for example, writes those anew. Returns whether [`Undo::look_after`] has anything to look
    /// at.
    ///
    /// # Cancel safety
    /// As [`Undo::keep_before`].
    pub(super) async fn keep_before_hooks(
        &mut self,
        lines: &[&str],
        subject: &Subject,
        redact: &(dyn Fn(&str) -> String + Sync),
        frontend: &mut dyn Frontend,
        cancel: &CancellationToken,
    ) -> bool {
        if lines.is_empty() || self.journal.is_none() || self.is_trying() {
            return false;
        }
        let line = lines.join("\n");
        let Some(judged) = reach::judged(&line, &self.surroundings, cancel).await else { return false };
        let whole = Subject::Command { line };
        let reach = &Reach::Full;
        let changes =
            Changes { effect: Effect::Execute, subject: &whole, line: Some(&judged), reach, beside: subject };
        match self.keep_before(&changes, redact, frontend, cancel).await {
            Keeping::Kept => true,
            Keeping::Lacking { told, .. } => {
                frontend.show(&AgentEvent::Notice { notice: told });
                true
            }
            Keeping::Stopped => false,
        }
    }

    /// Tells whether a line may change something.
    pub(super) async fn may_change(&self, line: &str, cancel: &CancellationToken) -> bool {
        let Some(judged) = reach::judged(line, &self.surroundings, cancel).await else { return false };
        !judged.unparsed.is_empty() || judged.parts.iter().any(|part| part.class != Class::ReadOnly)
    }

    /// Predicts how many files could not be copied, 0 where the number is not known. `None` if all could be copied,
    /// or if this session keeps no journal.
    ///
    /// # Cancel safety
    /// If it is dropped, its thread ends by itself and changes nothing.
    pub(super) async fn foresee(&self, changes: &Changes<'_>, cancel: &CancellationToken) -> Option<u64> {
        let outlook = self.journal.as_ref().filter(|_| !self.is_trying())?.outlook();
        let foreseen = changes.foresee()?;
        let directory = self.surroundings.cwd.clone();
        let unkept = reach::aside(cancel, move || {
            let Expected { mut touches, git, ignored, lost, .. } = foreseen.on_disk(&directory);
            if git {
                touches.extend(touches::unkept_by_git(&directory, ignored));
            }
            outlook.unkept(&touches) + u64::from(lost)
        });
        match unkept.await {
            Some(0) => None,
            Some(files) => Some(files),
            // The number is not known.
            None => Some(0),
        }
    }

    /// Makes the trash for a command that may remove files; `strict` if only `-y` agreed to the command.
    pub(super) fn open_trash(&mut self, subject: &Subject, reach: &Reach, strict: bool) -> Option<SharedTrash> {
        if !matches!(subject, Subject::Command { .. }) || *reach == Reach::ReadOnly || self.is_trying() {
            return None;
        }
        match self.journal.as_mut()?.trash(strict) {
            Ok(trash) => trash.map(|trash| Arc::new(Mutex::new(trash))),
            Err(error) => {
                // Keeping files before the command has already failed in the same way, and was reported.
                tracing::warn!(%error, "no trash");
                None
            }
        }
    }

    /// Records what a call has changed. If the turn is stopped, a thread goes on with it: what was changed stays
    /// changed.
    ///
    /// # Cancel safety
    /// As [`Undo::keep_before`].
    pub(super) async fn look_after(&mut self, frontend: &mut dyn Frontend, cancel: &CancellationToken) {
        if self.is_trying() {
            return;
        }
        let lent = Lent(self);
        let Some(mut journal) = lent.0.journal.take() else { return };
        let mut work = tokio::task::spawn_blocking(move || {
            let looked = journal.after();
            (journal, looked)
        });
        let done = match watched(&mut work, frontend, cancel).await {
            Some(done) => Some(done),
            // This mostly takes a moment. After the limit the author of the change stays in doubt, and undo says
            // so.
            None => tokio::time::timeout(LAST_LOOK, work).await.ok(),
        };
        match done {
            Some(Ok((journal, looked))) => {
                lent.0.journal = Some(journal);
                if let Err(error) = looked {
                    frontend.show(&AgentEvent::Notice { notice: unkept(&error) });
                }
            }
            Some(Err(error)) => tracing::error!(%error, "the journal's thread failed"),
            None => {}
        }
    }

    /// Tells what the present turn left of the files that it changed; `None` where it changed none, or nothing is kept.
    pub(super) fn left(&self) -> Option<Changed> {
        let (journal, (before, _, _)) = (self.journal.as_ref()?, self.turn?);
        let Surroundings { cwd, workspace, secrets, .. } = &*self.surroundings;
        let near = |left: &Left| left.path.starts_with(workspace) || left.path.starts_with(cwd);
        // A short secret could be guessed from its hash.
        let left = journal.left().or_else(|| self.blind.then(Vec::new))?;
        let files = left.into_iter().filter(|left| near(left) && !secrets.holds(&left.path));
        let files: Vec<Left> = files
            .filter(|left| left.kind != Kind::Directory || left.path != *cwd)
            .map(|left| Left {
                path: left.path.strip_prefix(cwd).map_or_else(|_| left.path.clone(), Path::to_owned),
                ..left
            })
            .collect();
        Some(Changed { messages: before as u64, files, all: !self.blind })
    }

    /// Tells whether this session has a journal from which changes can be taken back.
    pub(super) const fn keeps(&self) -> bool {
        self.journal.is_some()
    }

    /// Lists the turns that changed files and were not taken back, oldest first.
    ///
    /// # Errors
    /// [`JournalError`].
    pub(super) fn changed_turns(&self) -> Result<Vec<Turn>, JournalError> {
        self.journal.as_ref().map_or(Ok(Vec::new()), Journal::turns)
    }

    /// Lists the turns that were taken back.
    ///
    /// # Errors
    /// [`JournalError`].
    pub(super) fn taken_back_turns(&self) -> Result<Vec<Turn>, JournalError> {
        self.journal.as_ref().map_or(Ok(Vec::new()), taken_back)
    }

    /// Lists the turns of these messages, oldest first, each with the changes that are taken back with it.
    ///
    /// # Errors
    /// [`JournalError`].
    pub(super) fn past_turns(&self, said: impl Iterator<Item = Said>) -> Result<Vec<PastTurn>, JournalError> {
        let changed = self.changed_turns()?;
        let mut turns: Vec<PastTurn> = said
            .map(|said| {
                let known = |turn: &&Turn| turn.messages == said.before as u64 && turn.mark == said.mark;
                let journal = changed.iter().rfind(known).map(|turn| turn.number);
                PastTurn { messages: said.before, said: said.text, journal }
            })
            .collect();
        // Going back to a turn also takes back all later changes.
        let mut later = None;
        for turn in turns.iter_mut().rev() {
            later = match (turn.journal, later) {
                (Some(own), Some(later)) => Some(own.min(later)),
                (own, later) => own.or(later),
            };
            turn.journal = later;
        }
        Ok(turns)
    }

    /// Works out what would change if the files of turn `first` of the journal and of all later turns were taken
    /// back.
    ///
    /// # Errors
    /// [`JournalError`].
    pub(super) fn plan(&self, first: u64) -> Result<Plan, JournalError> {
        self.journal.as_ref().map_or(Ok(Plan::default()), |journal| journal.plan(first))
    }

    /// Takes back what the plan names.
    ///
    /// # Errors
    /// [`JournalError`].
    pub(super) fn take_back(&mut self, plan: &Plan, foreign: Foreign) -> Result<TakenBack, JournalError> {
        self.journal.as_mut().map_or(Ok(TakenBack::default()), |journal| journal.take_back(plan, foreign))
    }
}

/// The journal while a thread works with it: if the thread does not return it, it is opened anew.
struct Lent<'a>(&'a mut Undo);

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if self.0.journal.is_none() {
            self.0.open();
        }
    }
}

/// Reports how many files a command has removed without a copy.
pub(super) fn show_unkept(trash: Option<&SharedTrash>, frontend: &mut dyn Frontend) {
    let files = trash.map_or(0, |trash| trash.lock().unwrap_or_else(PoisonError::into_inner).unkept());
    if files > 0 {
        frontend.show(&AgentEvent::Notice { notice: Notice::NotKept { files } });
    }
}

fn unkept(error: &JournalError) -> Notice {
    tracing::warn!(%error, "the journal could not be written");
    Notice::NoUndo { path: error.path.clone(), cause: error.cause.to_string() }
}

/// Copies what is expected to change; returns how many files could not be copied.
fn keep(
    journal: &mut Journal,
    (expected, around): (Expected, Option<Touch>),
    line: &str,
    directory: &Path,
) -> Result<u64, JournalError> {
    let Expected { mut touches, unseen, git, ignored, lost: _ } = expected;
    if unseen {
        journal.unseen(line)?;
    }
    if git {
        touches.extend(touches::unkept_by_git(directory, ignored));
    }
    touches.extend(around);
    if touches.is_empty() {
        return Ok(0);
    }
    journal.before(&touches).map(|unkept| unkept.files)
}
