//! Edits of a turn that failed. A model may say all the same that they are done, and a small one often does: the person is
//! told what is not changed, and a small model is asked once more.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::SystemTime;

use tokio_util::sync::CancellationToken;

use super::calls::Entered;
use super::reach::aside;
use super::runner::ToolRunner;
use super::talk::Talk;
use super::{AgentEvent, Frontend, Notice};
use crate::conversation::{Message, Outcome, Subject, ToolResult, ToolVerb};
use crate::tool::ReadCall;

/// Length and time of a file; `None` where there is none.
type Stamp = Option<(u64, Option<SystemTime>)>;

/// A call that is to change a file.
#[derive(Debug, Clone)]
pub(super) struct Edit {
    call_id: String,
    path: PathBuf,
    /// The text it is to replace, and what with, where the call says both.
    wanted: Option<(String, String)>,
}

/// The failed edits of a turn that no later call made good.
#[derive(Debug, Default)]
pub(super) struct Unmade {
    failed: Vec<(Edit, Stamp)>,
    is_asked_again: bool,
}

/// The calls of a message that are to change one file each.
pub(super) fn edits(calls: &[Entered]) -> Vec<Edit> {
    let edit = |Entered { call, read }: &Entered| {
        let ReadCall::Read { tool, request } = read else { return None };
        if !matches!(tool.spec().identity.verb, ToolVerb::Edit | ToolVerb::Write | ToolVerb::Patch) {
            return None;
        }
        let Subject::Paths { paths } = request.subject() else { return None };
        let path = paths.into_iter().next()?;
        Some(Edit { call_id: call.id.clone(), path, wanted: request.wanted() })
    };
    calls.iter().filter_map(edit).collect()
}

impl Unmade {
    /// Remembers which of these failed, and forgets what one of them made good.
    ///
    /// # Cancel safety
    /// Remembers nothing of an edit whose file does not answer.
    pub(super) async fn record(&mut self, edits: Vec<Edit>, results: &[ToolResult], cancel: &CancellationToken) {
        for edit in edits {
            let Some(result) = results.iter().find(|result| result.call_id == edit.call_id) else { continue };
            if !matches!(result.outcome, Outcome::Ok | Outcome::Failed) {
                continue;
            }
            self.failed.retain(|(failed, _)| failed.path != edit.path);
            if result.outcome == Outcome::Failed
                && let Some(stamp) = stamp(&edit, cancel).await
            {
                self.failed.push((edit, stamp));
            }
        }
    }

    /// The failed edits whose files are as they were then.
    ///
    /// # Cancel safety
    /// Names none whose file does not answer.
    async fn left(&self, cancel: &CancellationToken) -> Vec<Edit> {
        let mut left = Vec::new();
        for (edit, then) in &self.failed {
            if stamp(edit, cancel).await.is_some_and(|now| now == *then) {
                left.push(edit.clone());
            }
        }
        left
    }

    /// Words the request to do them once more; `None` the second time.
    fn ask_again(&mut self, runner: &ToolRunner, left: &[Edit]) -> Option<String> {
        if std::mem::replace(&mut self.is_asked_again, true) {
            return None;
        }
        let mut text = "[From axi: ".to_owned();
        for edit in left {
            // Writing to a String cannot fail.
            let _ = write!(text, "{} is not changed, because the edit failed. ", edit.shown(runner));
        }
        text.push_str("Read it first. Then edit it with an old_string that is copied from it. If you cannot, say that it is not done.]");
        Some(text)
    }
}

impl Edit {
    /// Its file, as the person knows it.
    fn shown(&self, runner: &ToolRunner) -> String {
        runner.roots.shown(&self.path).display().to_string()
    }
}

/// Tells of the edits that a turn leaves undone of which the model thinks that it is done; tells whether the model is
/// asked once more.
///
/// # Cancel safety
/// As [`Unmade::left`].
pub(super) async fn conclude(
    unmade: &mut Unmade,
    (talk, runner): (&mut Talk, &ToolRunner),
    frontend: &mut dyn Frontend,
    cancel: &CancellationToken,
) -> bool {
    let left = unmade.left(cancel).await;
    let again = talk.model().small && !left.is_empty() && !cancel.is_cancelled();
    let again = again.then(|| unmade.ask_again(runner, &left)).flatten();
    for edit in left {
        let (path, asked_again) = (edit.path, again.is_some());
        let wanted = edit.wanted.filter(|_| !asked_again);
        frontend.show(&AgentEvent::Notice { notice: Notice::NotChanged { path, asked_again, wanted } });
    }
    let Some(again) = again else { return false };
    talk.person_says(Message::user(again), Vec::new(), frontend);
    true
}

/// Looks at the file of an edit; `None` where the disk does not answer.
async fn stamp(edit: &Edit, cancel: &CancellationToken) -> Option<Stamp> {
    let path = edit.path.clone();
    let look = move || path.metadata().ok().map(|metadata| (metadata.len(), metadata.modified().ok()));
    aside(cancel, look).await
}
