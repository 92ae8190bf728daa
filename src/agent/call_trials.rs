//! Trials of single calls: a program that nobody knows, and that `-y` or a rule lets run, runs in a trial first. What it changed
//! inside of the bounds that the person has set is applied by itself; about the rest they are asked, or nothing of it is.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::question::Review;
use super::results::{CallsEnd, denied};
use super::trials::{applied, touches};
use super::{AgentEvent, Frontend, Notice, Tried, Tryable};
use crate::approval::command::LineJudgement;
use crate::approval::{Class, Surroundings, is_protected};
use crate::conversation::{Subject, ToolCall};
use crate::journal::Journal;
use crate::platform::RealPath as _;
use crate::sandbox::{Reach, Sandbox};
use crate::tool::{Request, ToolFacts, ToolOutput};
use crate::trial::{Change, ChangeSet, Kind, Refused, Scope, Trial};

/// The most names that the model is told.
const MOST_NAMES: usize = 20;

/// What of a trial may be applied without a person.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Whether files and directories may go.
    pub deletions: bool,
    /// Below which paths something may change; the workspace where there is none.
    pub paths: Vec<PathBuf>,
}

impl Bounds {
    /// Tells whether a change may be made without a person.
    fn hold(&self, set: &ChangeSet, change: &Change, place: &Surroundings) -> bool {
        let workspace = std::slice::from_ref(&place.workspace);
        let paths = if self.paths.is_empty() { workspace } else { self.paths.as_slice() };
        // The workspace may be named by a link to it.
        let named = place.workspace.join(set.shown(&change.path));
        let real = |path: &PathBuf| path.real_path().unwrap_or_else(|_| path.clone());
        (self.deletions || change.kind != Kind::Deleted)
            && !change.meanwhile
            && paths.iter().any(|path| change.path.starts_with(real(path)))
            && !is_protected(&named, place)
    }
}

/// How a call runs that is let run unasked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    /// For real.
    No,
    /// In a trial first.
    Trial,
    /// It is asked about: it cannot be tried.
    Ask,
}

/// Tells whether the system allows trials; asked when there is something to try.
pub type Probe = Box<dyn Fn() -> bool + Send + Sync>;

/// The trials of an agent's calls.
pub(super) struct CallTrials {
    /// Where their layers may lie.
    places: Vec<PathBuf>,
    bounds: Bounds,
    probe: Probe,
    known: OnceLock<bool>,
    /// Whether one of this turn could not be made: the calls that follow are asked about.
    refused: bool,
}

/// What became of a call in a trial.
pub(super) struct Reviewed {
    /// What the model is told of it.
    pub(super) note: String,
    /// Whether the turn ends, for nobody could be asked.
    pub(super) is_unanswered: bool,
}

impl CallTrials {
    pub(super) const fn new(places: Vec<PathBuf>, bounds: Bounds, probe: Probe) -> Self {
        Self { places, bounds, probe, known: OnceLock::new(), refused: false }
    }

    pub(super) const fn begin_turn(&mut self) {
        self.refused = false;
    }

    /// Has the calls of this turn asked about.
    pub(super) const fn refuse(&mut self) {
        self.refused = true;
    }

    /// Says how a call runs that may run unasked; `is_tryable`: a trial can hold it. Asks the system once.
    pub(super) fn first(&self, line: Option<&LineJudgement>, is_tryable: &dyn Fn() -> bool) -> First {
        let unknown = |line: &LineJudgement| {
            !line.unparsed.is_empty() || line.parts.iter().any(|part| part.class == Class::Execute)
        };
        match line {
            Some(line) if unknown(line) => {
                if !self.refused && is_tryable() && *self.known.get_or_init(&self.probe) {
                    First::Trial
                } else {
                    First::Ask
                }
            }
            Some(_) | None => First::No,
        }
    }

    /// Makes the trial of a call.
    pub(super) fn begin(&self, workspace: &Path, also: &[PathBuf], sandbox: &Sandbox) -> Result<Trial, Refused> {
        let mut also = also.to_owned();
        also.extend(sandbox.git_outside(workspace));
        // What the next command may look for is there then.
        let open = sandbox.lent();
        let scope = Scope { workspace, also: &also, lent: &[], open: &open };
        Trial::new(&scope, &self.places)
    }

    /// Applies what a call changed, as far as the bounds, or the person, let it.
    pub(super) fn review(
        &self,
        trial: &Trial,
        place: &Surroundings,
        journal: Option<&mut Journal>,
        frontend: &mut dyn Frontend,
    ) -> Reviewed {
        let set = match trial.changes() {
            Ok(set) => set,
            Err(error) => {
                frontend.show(&AgentEvent::Notice { notice: Notice::TrialLost { cause: error.to_string() } });
                let note = "[It ran in a trial. What it changed is lost: nothing of it was applied.]".to_owned();
                return Reviewed { note, is_unanswered: false };
            }
        };
        if set.changes.is_empty() {
            return Reviewed { note: String::new(), is_unanswered: false };
        }
        // What no `/undo` would bring back is not taken away unasked.
        let lost =
            journal.as_ref().is_some_and(|journal| journal.outlook().unkept(&touches(&set.ready(&|_| true))) > 0);
        let is_loss = |change: &Change| lost && matches!(change.kind, Kind::Deleted | Kind::Changed | Kind::Link);
        let is_outside = |change: &&Change| is_loss(change) || !self.bounds.hold(&set, change, place);
        let outside: Vec<&Change> = set.changes.iter().filter(is_outside).collect();
        let review = if outside.is_empty() { Review::All } else { frontend.review(&set) };
        let is_unanswered = review == Review::Unavailable;
        let left = applied(&set, &review, journal, frontend);
        Reviewed { note: told(&set, &outside, &left, is_unanswered), is_unanswered }
    }
}

/// What the model is told of a call that ran in a trial.
fn told(set: &ChangeSet, outside: &[&Change], left: &[PathBuf], is_unanswered: bool) -> String {
    let names = |all: &mut dyn Iterator<Item = String>| {
        let all: Vec<String> = all.collect();
        let more = all.len().saturating_sub(MOST_NAMES);
        let shown = all.iter().take(MOST_NAMES).cloned().collect::<Vec<_>>().join(", ");
        if more > 0 { format!("{shown} and {more} more") } else { shown }
    };
    if left.is_empty() {
        return String::new();
    }
    if is_unanswered {
        let one = |change: &&Change| format!("{} {}", change.kind.name(), set.shown(&change.path).display());
        let outside = names(&mut outside.iter().map(one));
        return format!(
            "[It ran in a trial, and nothing of what it changed was applied: these changes are outside of what the user lets \
             be applied unasked, or could not be taken back, and nobody could be asked: {outside}]"
        );
    }
    let left = names(&mut left.iter().map(|path| path.display().to_string()));
    format!("[It ran in a trial. Not all of what it changed was applied: these are as they were before: {left}]")
}

/// How the calls end where nobody could be asked about a trial.
pub(super) fn unanswered(call: &ToolCall, subject: &Subject) -> CallsEnd {
    CallsEnd::ApprovalNeeded { name: call.name.clone(), subject: subject.clone(), never_auto: false, unkept: false }
}

/// Tells how a call could be tried first: a line of the shell that writes the workspace and ends by itself.
pub(super) fn tryable(
    request: &dyn Request,
    subject: &Subject,
    reach: &Reach,
    session: Option<String>,
) -> Option<Tryable> {
    let (Subject::Command { line }, Reach::Workspace { network, also }) = (subject, reach) else { return None };
    request.is_its_line().then(|| Tryable { line: line.clone(), network: *network, also: also.clone(), session })
}

/// How the answer to a call begins that a person ran in a trial and applied: they have seen it all.
pub const APPLIED_FROM_TRIAL: &str = "The user ran this in a trial first, saw what it changes, and applied it:";

/// What the model is told of a command that the person ran in a trial.
pub(super) fn after_trial(tried: &Tried) -> ToolOutput {
    let printed = tried.printed.trim_end();
    if tried.applied {
        let content = format!("{APPLIED_FROM_TRIAL}\n{printed}");
        return ToolOutput::ok(content, ToolFacts::default());
    }
    denied(format!(
        "The user ran this in a trial, saw what it would change, and did not apply all of it:\n{printed}"
    ))
}
