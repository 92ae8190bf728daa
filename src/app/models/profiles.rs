//! What the wire doctor found out of servers, kept for the next connection.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::super::kept::{self, Holds, KeptError};
use crate::config::Paths;
use crate::provider::{Environment, EventStream, ModelInfo, Provider, ProviderSettings, Request};

/// Where the profiles are.
pub(in crate::app) fn path(environment: &Environment<'_>) -> Option<PathBuf> {
    let paths = Paths::new(environment, environment("HOME").map(PathBuf::from));
    paths.state.map(|state| state.join("profiles.json"))
}

/// What stands before the window in a profile.
const WINDOW: &str = "context_window=";

/// A model at an address: another server under the same name has manners of its own.
fn key(settings: &ProviderSettings) -> String {
    format!("{} {}", settings.id(), settings.base_url)
}

/// Models at addresses, and what is known of them.
type Profiles = BTreeMap<String, Vec<String>>;

/// Finds the profile of a model; empty where it was never examined.
pub(in crate::app) fn find(settings: &ProviderSettings, environment: &Environment<'_>) -> Vec<String> {
    let Some(path) = path(environment) else { return Vec::new() };
    let mut profiles: Profiles = kept::read(&path, Holds::Facts).unwrap_or_else(|error| {
        tracing::warn!(%error, path = %path.display(), "what is known of models could not be read");
        Profiles::new()
    });
    profiles.remove(&key(settings)).unwrap_or_default()
}

/// The window that the server was found to have, in tokens.
pub(in crate::app) fn window(profile: &[String]) -> Option<u64> {
    profile.iter().find_map(|known| known.strip_prefix(WINDOW)?.parse().ok())
}

/// A provider that keeps what its server says of its window for the next run.
struct Keeping {
    provider: Arc<dyn Provider>,
    path: PathBuf,
    key: String,
}

/// Has a provider keep it.
pub(in crate::app) fn keeping(
    provider: Arc<dyn Provider>,
    settings: &ProviderSettings,
    environment: &Environment<'_>,
) -> Arc<dyn Provider> {
    match path(environment) {
        Some(path) => Arc::new(Keeping { provider, path, key: key(settings) }),
        None => provider,
    }
}

impl Provider for Keeping {
    fn model(&self) -> &ModelInfo {
        self.provider.model()
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> EventStream<'a> {
        self.provider.stream(request)
    }

    fn finish_line<'a>(&'a self, before: &'a str, line: &'a str) -> Option<EventStream<'a>> {
        self.provider.finish_line(before, line)
    }

    fn learnt(&self) -> Vec<String> {
        self.provider.learnt()
    }

    fn ask_window(&self) -> Option<BoxFuture<'_, Option<u64>>> {
        self.provider.ask_window()
    }

    fn window_is(&self, tokens: u64) {
        let kept = kept::change(&self.path, Holds::Facts, |profiles: &mut Profiles| {
            let profile = profiles.entry(self.key.clone()).or_default();
            profile.retain(|known| !known.starts_with(WINDOW));
            profile.push(format!("{WINDOW}{tokens}"));
        });
        if let Err(error) = kept {
            tracing::debug!(%error, "the window of a model could not be kept");
        }
    }

    fn prepare(&self, request: Request<'_>) {
        self.provider.prepare(request);
    }
}

/// Keeps the profile of a model, in the place of an earlier one.
///
/// # Errors
/// [`KeptError`].
pub(in crate::app) fn keep(path: &Path, settings: &ProviderSettings, profile: &[String]) -> Result<(), KeptError> {
    kept::change(path, Holds::Facts, |profiles: &mut Profiles| {
        drop(profiles.insert(key(settings), profile.to_vec()));
    })
}
