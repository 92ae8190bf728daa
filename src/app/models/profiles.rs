//! What the wire doctor found out of servers, kept for the next connection.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::future::BoxFuture;

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

fn read(path: &Path) -> BTreeMap<String, Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Finds the profile of a model; empty where it was never examined.
pub(in crate::app) fn find(settings: &ProviderSettings, environment: &Environment<'_>) -> Vec<String> {
    path(environment).and_then(|path| read(&path).remove(&key(settings))).unwrap_or_default()
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
        let mut profile = read(&self.path).remove(&self.key).unwrap_or_default();
        profile.retain(|known| !known.starts_with(WINDOW));
        profile.push(format!("{WINDOW}{tokens}"));
        if let Err(error) = write(&self.path, &self.key, profile) {
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
/// What the system says.
pub(in crate::app) fn keep(path: &Path, settings: &ProviderSettings, profile: &[String]) -> std::io::Result<()> {
    write(path, &key(settings), profile.to_vec())
}

fn write(path: &Path, key: &str, profile: Vec<String>) -> std::io::Result<()> {
    let mut profiles = read(path);
    profiles.insert(key.to_owned(), profile);
    std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    std::fs::write(path, serde_json::to_string(&profiles).map_err(std::io::Error::other)?)
}
