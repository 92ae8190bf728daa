//! Closes what a stopped turn leaves open.

/// Lets the runtime's other tasks notice that an answer was dropped, and close its connection.
///
/// A task of this runtime drives the connection, and the runtime stands still between turns. Without this an
/// interrupted provider would go on writing, and charging, until the next message. Nothing is waited for: a few
/// rounds are enough for the task to wake up, stop reading and end.
pub(super) async fn close_dropped_connections() {
    for _ in 0..8 {
        tokio::task::yield_now().await;
    }
}
