//! What can be used without any settings: keys in the environment, servers on this machine.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::http::Client;
use super::models::{ModelEntry, list_models, show_ollama};
use super::settings::{Protocol, ProviderSettings};
use super::table::{Environment, Row, TABLE};

/// How long axi waits for all local servers together. A closed port on this machine answers within a millisecond; a
/// server that is busy with a prompt may not answer at all.
pub const DISCOVERY_LIMIT: Duration = Duration::from_millis(300);

/// How many models of Ollama are asked what they can do: the last used come first.
const ASKED: usize = 6;

/// A key that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FoundKey {
    /// Whose.
    pub row: &'static Row,
    /// The variable that holds it.
    pub variable: &'static str,
}

/// A local server that answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundServer {
    /// What it is.
    pub row: &'static Row,
    /// Its address.
    pub base_url: String,
    /// Its models, the most useful first: those that can call tools, then those that may, then those that cannot.
    pub models: Vec<ModelEntry>,
}

/// Everything found, the preferred first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Discovery {
    /// In the order of the table.
    pub keys: Vec<FoundKey>,
    /// Those with a model, in the order of the table.
    pub servers: Vec<FoundServer>,
}

/// Finds keys in the environment, in the table's order of preference. Instant.
#[must_use]
pub fn keys_in_environment(environment: &Environment<'_>) -> Vec<FoundKey> {
    let found = TABLE.iter().filter_map(|row| {
        let (variable, _) = row.key(environment)?;
        Some(FoundKey { row, variable })
    });
    found.collect()
}

/// Finds keys, and asks the usual local addresses (and those the environment names for local servers) in parallel.
///
/// Takes no longer than `limit` (see [`DISCOVERY_LIMIT`]); what has not answered by then does not count. A
/// cancelled token ends it at once, with the keys alone. Plain HTTP to this machine only, unless the environment
/// says otherwise: no root certificate is loaded.
///
/// # Cancel safety
/// Dropping the future closes all connections.
pub async fn discover(
    environment: &Environment<'_>,
    client: &Client,
    limit: Duration,
    cancel: &CancellationToken,
) -> Discovery {
    let deadline = Instant::now() + limit;
    let mut places: Vec<(&'static Row, String)> = Vec::new();
    for row in TABLE.iter().filter(|row| row.is_local()) {
        let base_url = row.base_url(environment);
        if !places.iter().any(|(_, other)| *other == base_url) {
            places.push((row, base_url));
        }
    }
    let keys = keys_in_environment(environment);
    let settings: Vec<ProviderSettings> = places
        .iter()
        .map(|(row, base_url)| {
            let mut settings = ProviderSettings::custom(row.name, row.protocol, base_url, "");
            settings.key = row.key(environment).map(|(_, key)| key);
            settings
        })
        .collect();
    let probes = places.iter().zip(&settings).map(|((row, base_url), settings)| async move {
        let listed = timeout_at(deadline, list_models(settings, client)).await.ok()?.ok()?;
        let mut models = listed;
        if row.protocol == Protocol::Ollama {
            ask_ollama(base_url, client, &mut models, deadline).await;
        }
        models.sort_by_key(|model| match model.tools {
            Some(true) => 0,
            None => 1,
            Some(false) => 2,
        });
        (!models.is_empty()).then(|| FoundServer { row, base_url: base_url.clone(), models })
    });
    let servers = tokio::select! {
        biased;
        () = cancel.cancelled() => Vec::new(),
        found = join_all(probes) => found.into_iter().flatten().collect(),
    };
    Discovery { keys, servers }
}

/// Each answer counts alone: the slowest server must not discard what the others said.
async fn ask_ollama(base_url: &str, client: &Client, models: &mut [ModelEntry], deadline: Instant) {
    let left = deadline.saturating_duration_since(Instant::now());
    let questions = models.iter_mut().take(ASKED).map(|model| timeout(left, show_ollama(base_url, client, model)));
    join_all(questions).await;
}
