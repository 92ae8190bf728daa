//! Disk work off the runtime: it stops when the turn is cancelled or the future is dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_util::sync::CancellationToken;

use crate::conversation::{Outcome, ToolFacts};

use super::ToolOutput;

/// Tells long work that nobody waits for it any more.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Tells whether to give up.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Makes the output of a call that was stopped.
pub(crate) fn interrupted(content: impl Into<String>, facts: ToolFacts) -> ToolOutput {
    ToolOutput { content: content.into(), outcome: Outcome::Interrupted, facts, images: Vec::new(), change: None }
}

/// Runs work on a blocking thread.
///
/// # Errors
/// The output to give back when the turn was cancelled first, or the work panicked.
///
/// # Cancel safety
/// Dropping the future sets the [`Stop`]; the thread ends at its next look at it.
pub(crate) async fn blocking<T: Send + 'static>(
    cancel: &CancellationToken,
    work: impl FnOnce(&Stop) -> T + Send + 'static,
) -> Result<T, ToolOutput> {
    let guard = StopOnDrop(Stop::default());
    let stop = guard.0.clone();
    let task = tokio::task::spawn_blocking(move || work(&stop));
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(interrupted("Interrupted by the user.", ToolFacts::default())),
        done = task => done.map_err(|_| ToolOutput::failed("The tool failed inside axi; this is a bug of axi.")),
    }
}

/// Runs a change to the disk on a blocking thread to its end: stopped half-way it could not say what it did.
///
/// # Errors
/// The output to give back when the work panicked.
pub(crate) async fn to_the_end<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ToolOutput> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| ToolOutput::failed("The tool failed inside axi; this is a bug of axi."))
}

/// Waits for a moment, if there is one to wait for.
pub(crate) async fn at(moment: Option<tokio::time::Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
