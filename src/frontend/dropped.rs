//! What a turn that was stopped leaves open, closed.

/// Lets the runtime's other tasks see that an answer was dropped, and close its connection.
///
/// The connection is driven by a task of this runtime, which stands still between turns: without this, an
/// interrupted provider would go on writing, and charging, until the next message. Nothing is waited for; a few
/// rounds are enough for the task to be woken, to stop reading and to end.
pub(super) async fn close_dropped_connections() {
    for _ in 0..8 {
        tokio::task::yield_now().await;
    }
}
