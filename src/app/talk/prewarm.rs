//! What can wait until the first prompt is painted.

use crate::provider::Client;

/// Loads the root certificates on a thread (5 to 12 ms), so that they are there before the first Enter without
/// holding the first prompt up. The thread ends by itself.
pub(super) fn prewarm(client: &Client) {
    let client = client.clone();
    let spawned = std::thread::Builder::new().name("prewarm".into()).spawn(move || client.prewarm());
    if let Err(error) = spawned {
        tracing::warn!(%error, "no thread for what can wait");
    }
}
