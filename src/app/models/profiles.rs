//! What the wire doctor found out of servers, kept for the next connection.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::config::Paths;
use crate::provider::{Environment, ProviderSettings};

/// Where the profiles are.
pub(in crate::app) fn path(environment: &Environment<'_>) -> Option<PathBuf> {
    let paths = Paths::new(environment, environment("HOME").map(PathBuf::from));
    paths.state.map(|state| state.join("profiles.json"))
}

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

/// Keeps the profile of a model, in the place of an earlier one.
///
/// # Errors
/// What the system says.
pub(in crate::app) fn keep(path: &Path, settings: &ProviderSettings, profile: &[String]) -> std::io::Result<()> {
    let mut profiles = read(path);
    profiles.insert(key(settings), profile.to_vec());
    std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    std::fs::write(path, serde_json::to_string(&profiles).map_err(std::io::Error::other)?)
}
