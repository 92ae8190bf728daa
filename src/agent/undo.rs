//! Taking back: the journal around each change, and what a person can take back of a session.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::request::watched;
use super::touches::{self, Expected};
use super::{Agent, AgentEvent, Frontend, Notice, reach};
use crate::approval::command::judge;
use crate::conversation::{Effect, Message, Role, Subject};
use crate::journal::{Foreign, Journal, JournalError, Plan, TakenBack, Turn};
use crate::sandbox::Reach;
use crate::session::{EntryKind, SessionError};
use crate::tool::SharedTrash;

/// How long a stopped turn waits for what its last call left to be looked at.
const LAST_LOOK: Duration = Duration::from_secs(1);

/// What came of keeping what a call is about to change.
pub(super) enum Keeping {
    /// All that could be known is kept.
    Kept,
    /// Not all, which is told: so many files, or 0 where it is not known.
    Lacking { files: u64, told: Notice },
    /// The turn was stopped meanwhile.
    Stopped,
}

/// Tells of what a command has removed without a copy.
pub(super) fn show_unkept(trash: Option<&SharedTrash>, frontend: &mut dyn Frontend) {
    let files = trash.map_or(0, |trash| trash.lock().unwrap_or_else(PoisonError::into_inner).unkept());
    if files > 0 {
        frontend.show(&AgentEvent::Notice { notice: Notice::NotKept { files } });
    }
}

/// A turn that can be gone back to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastTurn {
    /// How many messages the conversation had before it.
    pub messages: usize,
    /// What was said.
    pub said: String,
    /// The first turn of the journal that goes back with it, if any changed files.
    pub journal: Option<u64>,
}

impl Agent {
    /// Where this session's pre-images go; `None` when nothing is kept.
    pub(super) fn open_journal(&self) -> Option<Journal> {
        let root = self.setup.journal.clone()?;
        self.session.path().map(|_| Journal::new(root, self.session.id().as_str()))
    }

    /// Tells the journal that the turn of the last message begins.
    pub(super) fn begin_journal_turn(&mut self) {
        let before = self.conversation.messages().len().saturating_sub(1);
        let mark = self.conversation.messages().last().map_or(0, mark);
        let now = (self.setup.now)();
        if let Some(journal) = &mut self.journal {
            journal.begin_turn(before, mark, now);
        }
    }

    /// Keeps what a call is about to change.
    ///
    /// # Cancel safety
    /// Dropped, a thread keeps what it was keeping, and the journal is opened anew.
    pub(super) async fn keep_before(
        &mut self,
        tool: &str,
        effect: Effect,
        (subject, reach): (&Subject, &Reach),
        frontend: &mut dyn Frontend,
        cancel: &CancellationToken,
    ) -> Keeping {
        let Some((expected, line)) = self.expected(tool, effect, subject, reach) else { return Keeping::Kept };
        let Some(mut journal) = self.journal.take() else { return Keeping::Kept };
        let directory = self.setup.place.cwd.clone();
        let work = tokio::task::spawn_blocking(move || {
            let kept = keep(&mut journal, expected, &line, &directory);
            (journal, kept)
        });
        let Some(done) = watched(work, frontend, cancel).await else {
            // What it wrote is right, only its end is not known here.
            self.journal = self.open_journal();
            self.begin_journal_turn_again();
            return Keeping::Stopped;
        };
        match done {
            Ok((journal, kept)) => {
                self.journal = Some(journal);
                match kept {
                    Ok(0) => Keeping::Kept,
                    Ok(files) => Keeping::Lacking { files, told: Notice::NotKept { files } },
                    Err(error) => Keeping::Lacking { files: 0, told: self.unkept(&error) },
                }
            }
            Err(error) => {
                tracing::error!(%error, "the journal's thread failed");
                let told = Notice::NoUndo { path: PathBuf::new(), cause: error.to_string() };
                Keeping::Lacking { files: 0, told }
            }
        }
    }

    /// What a call is about to change, and its line where it is one; `None` where it changes nothing.
    fn expected(&self, tool: &str, effect: Effect, subject: &Subject, reach: &Reach) -> Option<(Expected, String)> {
        match subject {
            Subject::Paths { paths } if effect == Effect::Write => {
                let touches = touches::of_paths(tool, paths);
                Some((Expected { touches, ..Expected::default() }, String::new()))
            }
            Subject::Command { line } if *reach != Reach::ReadOnly => {
                let place = &self.setup.surroundings;
                Some((touches::of_line(&judge(line, place), &place.cwd), self.session.redacted(line)))
            }
            Subject::Paths { .. } | Subject::Command { .. } | Subject::Host { .. } | Subject::Whole => None,
        }
    }

    /// Tells of how many files no copies could be kept; `None` where all could, or nothing is kept in this session.
    ///
    /// # Cancel safety
    /// Dropping it leaves a thread that ends by itself and changes nothing.
    pub(super) async fn foresee(
        &self,
        tool: &str,
        effect: Effect,
        (subject, reach): (&Subject, &Reach),
        cancel: &CancellationToken,
    ) -> Option<u64> {
        let outlook = self.journal.as_ref()?.outlook();
        let (Expected { mut touches, git, ignored, lost, .. }, _) = self.expected(tool, effect, subject, reach)?;
        let directory = self.setup.place.cwd.clone();
        let foreseen = reach::aside(cancel, move || {
            if git {
                touches.extend(touches::unkept_by_git(&directory, ignored));
            }
            outlook.unkept(&touches) + u64::from(lost)
        });
        foreseen.await.filter(|files| *files > 0)
    }

    /// Makes the trash of a command that may remove things; `strict` where nobody has agreed to it but `-y`.
    pub(super) fn open_trash(&mut self, subject: &Subject, reach: &Reach, strict: bool) -> Option<SharedTrash> {
        if !matches!(subject, Subject::Command { .. }) || *reach == Reach::ReadOnly {
            return None;
        }
        match self.journal.as_mut()?.trash(strict) {
            Ok(trash) => trash.map(|trash| Arc::new(Mutex::new(trash))),
            Err(error) => {
                // What was to be kept before has failed in the same way, and was told.
                tracing::warn!(%error, "no trash");
                None
            }
        }
    }

    /// Looks at what a call has left. When the turn is stopped it goes on aside: what was changed is changed.
    pub(super) async fn look_after(&mut self, frontend: &mut dyn Frontend, cancel: &CancellationToken) {
        let Some(mut journal) = self.journal.take() else { return };
        let mut work = tokio::task::spawn_blocking(move || {
            let looked = journal.after();
            (journal, looked)
        });
        let done = match watched(&mut work, frontend, cancel).await {
            Some(done) => Some(done),
            // Mostly it is a moment; what it has not told by then is in doubt, and said to be.
            None => tokio::time::timeout(LAST_LOOK, work).await.ok(),
        };
        let (journal, looked) = match done {
            Some(Ok(done)) => done,
            Some(Err(error)) => {
                tracing::error!(%error, "the journal's thread failed");
                self.journal = self.open_journal();
                return self.begin_journal_turn_again();
            }
            None => {
                self.journal = self.open_journal();
                return self.begin_journal_turn_again();
            }
        };
        self.journal = Some(journal);
        if let Err(error) = looked {
            let notice = self.unkept(&error);
            frontend.show(&AgentEvent::Notice { notice });
        }
    }

    fn unkept(&self, error: &JournalError) -> Notice {
        tracing::warn!(%error, session = %self.session.id(), "the journal could not be written");
        Notice::NoUndo { path: error.path.clone(), cause: error.cause.to_string() }
    }

    fn begin_journal_turn_again(&mut self) {
        let messages = self.conversation.messages();
        let Some(index) = messages.iter().rposition(is_said) else { return };
        let (mark, now) = (mark(&messages[index]), (self.setup.now)());
        if let Some(journal) = &mut self.journal {
            journal.begin_turn(index, mark, now);
        }
    }

    /// Tells whether this session keeps anything that could be taken back.
    #[must_use]
    pub const fn keeps_journal(&self) -> bool {
        self.journal.is_some()
    }

    /// The turns that changed files and were not taken back, oldest first.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn changed_turns(&self) -> Result<Vec<Turn>, JournalError> {
        self.journal.as_ref().map_or(Ok(Vec::new()), Journal::turns)
    }

    /// The turns of the conversation, oldest first.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn past_turns(&self) -> Result<Vec<PastTurn>, JournalError> {
        let changed = self.changed_turns()?;
        let messages = self.conversation.messages();
        let mut turns: Vec<PastTurn> = Vec::new();
        for (index, message) in messages.iter().enumerate().filter(|(_, message)| is_said(message)) {
            let known = |turn: &&Turn| turn.messages == index as u64 && turn.mark == mark(message);
            let journal = changed.iter().rfind(known).map(|turn| turn.number);
            turns.push(PastTurn { messages: index, said: first_text(message), journal });
        }
        // What was changed later goes back with an earlier turn, too.
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

    /// Works out what taking back the files of all turns from this one of the journal on would change.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn plan_undo(&self, first: u64) -> Result<Plan, JournalError> {
        self.journal.as_ref().map_or(Ok(Plan::default()), |journal| journal.plan(first))
    }

    /// Takes back what was planned; the model is told with the next message.
    ///
    /// # Errors
    /// [`JournalError`].
    pub fn take_back(&mut self, plan: &Plan, foreign: Foreign) -> Result<TakenBack, JournalError> {
        let Some(journal) = &mut self.journal else { return Ok(TakenBack::default()) };
        let taken = journal.take_back(plan, foreign)?;
        // What it read or wrote is not what is there any more.
        self.memory.forget_files();
        if !taken.done.is_empty() {
            let names: Vec<String> =
                taken.done.iter().map(|path| self.setup.place.shown(path).display().to_string()).collect();
            self.notes
                .push(format!("[The user took back earlier changes; as before them are: {}]", names.join(", ")));
        }
        Ok(taken)
    }

    /// Goes back to before a message the person sent: the conversation forgets it and all that followed, the session's
    /// file keeps them. Returns what was said.
    ///
    /// # Errors
    /// [`SessionError`]: the conversation has gone back all the same, and comes back with a resume.
    pub fn rewind(&mut self, messages: usize) -> Result<String, SessionError> {
        let said = self.conversation.messages().get(messages).map(first_text).unwrap_or_default();
        self.conversation.rewind(messages);
        self.memory.forget_files();
        self.session.append(EntryKind::Rewound { messages: messages as u64 }, (self.setup.now)())?;
        self.session.sync()?;
        Ok(said)
    }
}

/// Keeps what is expected to change; gives back how many files could not be kept.
fn keep(
    journal: &mut Journal,
    expected: Expected,
    line: &str,
    directory: &std::path::Path,
) -> Result<u64, JournalError> {
    let Expected { mut touches, unseen, git, ignored, lost: _ } = expected;
    if unseen {
        journal.unseen(line)?;
    }
    if git {
        touches.extend(touches::unkept_by_git(directory, ignored));
    }
    if touches.is_empty() {
        return Ok(0);
    }
    journal.before(&touches).map(|unkept| unkept.files)
}

/// Tells whether a message is what a person said, and no results of tools.
fn is_said(message: &Message) -> bool {
    message.role == Role::User && !message.has_results()
}

/// What a person typed of a message; what was attached follows in further texts.
fn first_text(message: &Message) -> String {
    use crate::conversation::ContentBlock;
    let first = message.content.iter().find_map(|block| match block {
        ContentBlock::Text { text } => Some(text.clone()),
        ContentBlock::Reasoning(_)
        | ContentBlock::ToolCall(_)
        | ContentBlock::ToolResult(_)
        | ContentBlock::Image(_) => None,
    });
    first.unwrap_or_default()
}

/// FNV-1a with 64 bits over what was said: stable across versions, unlike the standard library's hasher.
fn mark(message: &Message) -> u64 {
    first_text(message)
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
