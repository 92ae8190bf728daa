//! Work that can wait until the first prompt is painted.

use crate::provider::Client;

/// Loads the root certificates on a thread (5 to 12 ms): they are ready before the first Enter, and the first
/// prompt does not wait. The thread ends by itself.
pub(super) fn prewarm(client: &Client) {
    let client = client.clone();
    let spawned = std::thread::Builder::new().name("prewarm".into()).spawn(move || client.prewarm());
    if let Err(error) = spawned {
        tracing::warn!(%error, "no thread for what can wait");
    }
}
