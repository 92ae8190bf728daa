//! Waits for a future while the front end moves and the person may stop it.

use std::future::Future;
use std::pin::pin;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::Frontend;

/// Awaits `future` and ticks the front end meanwhile; `None` if it was cancelled.
///
/// # Cancel safety
/// Dropping it is as safe as dropping `future`.
pub(super) async fn watched<F: Future>(
    future: F,
    frontend: &mut dyn Frontend,
    cancel: &CancellationToken,
) -> Option<F::Output> {
    let mut future = pin!(future);
    loop {
        let due = frontend.next_tick();
        tokio::select! {
            biased;
            () = cancel.cancelled() => return None,
            output = &mut future => return Some(output),
            () = tick_at(due) => frontend.tick(),
        }
    }
}

/// Sleeps until the front end wants to be ticked; for ever when it does not.
pub(super) async fn tick_at(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}
