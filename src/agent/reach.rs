//! Counts what a command would affect: looked up on the disk, on a thread of its own, within a time limit.
//!
//! A file system that does not answer (a mount whose server is dead) must hold up neither the question nor ESC.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::derived::Made;
use crate::approval::command::{LineJudgement, judge, unread};
use crate::approval::{
    Assessment, BlastRadius, Disk, NeverAuto, Policy, Surroundings, Tracked, blast_radius, forbidden_on_disk,
    leads_outside,
};
use crate::conversation::{Effect, Subject};
use crate::secret::found::Linked;

/// After this time counting stops, and the numbers so far are shown.
const COUNTING: Duration = Duration::from_millis(800);
/// After this time the disk counts as not answering.
const PATIENCE: Duration = Duration::from_secs(2);

/// Counts what a line would affect; `None` if it has no targets.
///
/// # Cancel safety
/// If it is dropped, its thread ends by itself and changes nothing.
pub(super) async fn survey(
    line: &Arc<LineJudgement>,
    place: &Arc<Surroundings>,
    cancel: &CancellationToken,
) -> Option<BlastRadius> {
    if line.targets.is_empty() {
        return None;
    }
    let (line, place) = (Arc::clone(line), Arc::clone(place));
    let counted = aside(cancel, move || {
        let begun = Instant::now();
        // Git's index is read only if there is a file to look up in it.
        let kept: OnceCell<Option<Tracked>> = OnceCell::new();
        let tracked = |path: &Path| {
            kept.get_or_init(|| Tracked::read(&place.workspace)).as_ref().is_some_and(|kept| kept.holds(path))
        };
        blast_radius(&line, &place, &Disk, &tracked, &|| begun.elapsed() > COUNTING)
    });
    Some(counted.await.unwrap_or(BlastRadius { unanswered: true, ..BlastRadius::default() }))
}

/// Looks again at what a line would affect, after a person was told: the disk may be another one by now.
///
/// # Cancel safety
/// As [`survey`].
pub(super) async fn is_as_told(
    told: Option<(&Arc<LineJudgement>, &BlastRadius)>,
    place: &Arc<Surroundings>,
    cancel: &CancellationToken,
) -> bool {
    let Some((line, told)) = told else { return true };
    survey(line, place, cancel).await.is_none_or(|now| now.is_as_told(told))
}

/// Judges a call. Of a line it is looked up on the disk what it takes along. `None` if the turn is stopped.
///
/// # Cancel safety
/// As [`survey`].
pub(super) async fn assess(
    policy: &Policy,
    (name, effect, subject): (&str, Effect, &Subject),
    place: &Arc<Surroundings>,
    cancel: &CancellationToken,
) -> Option<Assessment> {
    let Subject::Command { line } = subject else { return Some(policy.decide(name, effect, subject, place)) };
    let (policy, place, name, whole) = (policy.clone(), Arc::clone(place), name.to_owned(), subject.clone());
    let assessed = aside(cancel, move || policy.decide(&name, effect, &whole, &place)).await;
    assessed.or_else(|| (!cancel.is_cancelled()).then(|| Assessment::unanswered(line)))
}

/// Judges a line by itself. `None` if the turn is stopped.
///
/// # Cancel safety
/// As [`survey`].
pub(super) async fn judged(
    line: &str,
    place: &Arc<Surroundings>,
    cancel: &CancellationToken,
) -> Option<Arc<LineJudgement>> {
    let (text, around) = (line.to_owned(), Arc::clone(place));
    let judged = aside(cancel, move || judge(&text, &around)).await;
    judged.or_else(|| (!cancel.is_cancelled()).then(|| unread(line))).map(Arc::new)
}

/// Looks at what a line may make of a secret file; `None` where it names none.
///
/// # Cancel safety
/// As [`survey`].
pub(super) async fn makes(
    line: &Arc<LineJudgement>,
    place: &Arc<Surroundings>,
    cancel: &CancellationToken,
) -> Option<Made> {
    let (line, place) = (Arc::clone(line), Arc::clone(place));
    aside(cancel, move || Made::before(&line, &place.cwd, &place.secrets)).await.flatten()
}

/// Learns what has come of it since, after an interrupt, too: what a line had made by then is as secret.
///
/// # Cancel safety
/// As [`survey`].
pub(super) async fn learn(made: Option<Made>) {
    if let Some(made) = made {
        aside(&CancellationToken::new(), move || made.learn()).await;
    }
}

/// Returns the first of these files that is a secret file under another name (a hard link).
///
/// # Cancel safety
/// As [`survey`].
pub(super) async fn second_name(
    paths: &[PathBuf],
    place: &Arc<Surroundings>,
    cancel: &CancellationToken,
) -> Option<PathBuf> {
    let (paths, place) = (paths.to_owned(), Arc::clone(place));
    let found = aside(cancel, move || {
        let linked = Linked::new(place.secrets.clone(), vec![place.cwd.clone(), place.workspace.clone()]);
        paths.into_iter().find(|path| path.metadata().is_ok_and(|metadata| linked.holds(&metadata)))
    });
    // `None` also if the disk does not answer: that alone makes the person be asked, elsewhere.
    found.await.flatten()
}

/// Checks on the disk whether a line that the rules allow must be asked about all the same, and why.
///
/// # Cancel safety
/// As [`survey`].
pub(super) async fn forbidden(
    line: &Arc<LineJudgement>,
    place: &Arc<Surroundings>,
    cancel: &CancellationToken,
) -> Option<NeverAuto> {
    let first = line.targets.first()?;
    // If the disk does not answer, nobody knows where a target really lies.
    let unknown = NeverAuto::Unresolved { word: first.pattern.shown().to_owned() };
    let (line, place) = (Arc::clone(line), Arc::clone(place));
    aside(cancel, move || forbidden_on_disk(&line, &place, &Disk)).await.unwrap_or(Some(unknown))
}

/// Returns the path at which a line that a rule allows by its names really leaves the workspace.
///
/// # Cancel safety
/// As [`survey`].
pub(super) async fn strays(
    line: &Arc<LineJudgement>,
    place: &Arc<Surroundings>,
    cancel: &CancellationToken,
) -> Option<PathBuf> {
    let unknown = place.workspace.clone();
    let (line, place) = (Arc::clone(line), Arc::clone(place));
    aside(cancel, move || leads_outside(&line, &place, &Disk)).await.unwrap_or(Some(unknown))
}

/// Runs `work` on a thread of its own; `None` if the turn is stopped or the disk does not answer in time.
pub(super) async fn aside<T: Send + 'static>(
    cancel: &CancellationToken,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let told = at_length(cancel, work);
    tokio::select! {
        biased;
        told = told => told,
        () = tokio::time::sleep(PATIENCE) => None,
    }
}

/// The same for work that may take its time; `None` if the turn is stopped.
pub(super) async fn at_length<T: Send + 'static>(
    cancel: &CancellationToken,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (tell, mut told) = oneshot::channel();
    let spawned = std::thread::Builder::new().name("reach".to_owned()).spawn(move || {
        // Fails if nobody waits any more: then nobody needs the result.
        drop(tell.send(work()));
    });
    if let Err(error) = spawned {
        tracing::warn!(%error, "no thread to look at the disk");
        return None;
    }
    // The clock of most tests jumps over every wait: a disk that answers has real time to do so.
    #[cfg(test)]
    for _ in 0..200 {
        if cancel.is_cancelled() || !told.is_empty() || told.is_terminated() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    tokio::select! {
        biased;
        () = cancel.cancelled() => None,
        told = &mut told => told.ok(),
    }
}
