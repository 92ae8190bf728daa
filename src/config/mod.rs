//! Settings: read in layers (default < user < project < environment < flag), written without losing comments.
//!
//! A project's file can tighten approvals, never loosen them, and can send no key anywhere: what it may not say
//! is left out and told.

mod paths;
mod trust;
mod write;

pub use paths::Paths;
pub use trust::{PlaceFile, PlaceFiles, Standing, TrustStore};
pub use write::{add_to_list, remove_from_list, set};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// One file's settings; what a file does not say stays `None` or empty.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Config {
    /// `PROVIDER/MODEL`.
    pub model: Option<String>,
    /// `PROVIDER/MODEL` for ghost text; unset means history only.
    pub suggest_model: Option<String>,
    /// Tokens ghost text may use from start to end of axi, read and written together; unset means no limit.
    pub suggest_max_tokens: Option<u64>,
    /// Minutes without a question after which axi's own model gives its memory back; unset means ten.
    pub local_idle_minutes: Option<u64>,
    /// A language tag, or `auto`.
    pub language: Option<String>,
    /// `word` or `soft`.
    pub wrap: Option<String>,
    /// `auto`, `dark`, `light` or `plain`.
    pub theme: Option<String>,
    /// Styles of the person's own, by what they are for: `heading = "yellow bold"`.
    pub styles: BTreeMap<String, String>,
    /// What is shown of reasoning: `show`, `hide` or `summary`.
    pub reasoning: Option<String>,
    /// When the end of a long turn is told: `auto`, `always` or `never`.
    pub notify: Option<String>,
    /// Whether attached pictures are shown: `off`, `auto`, or the terminal's way: `kitty`, `iterm2`, `sixel`.
    pub inline_images: Option<String>,
    /// `emacs` or `vi`.
    pub edit_mode: Option<String>,
    /// `on` or `off`: whether commands are confined.
    pub sandbox: Option<String>,
    /// Keys of the line editor: `"ctrl+g" = "newline"`.
    pub keys: BTreeMap<String, String>,
    /// The most requests a turn may make.
    pub max_steps: Option<u32>,
    /// What a shell's hook runs.
    pub handoff: HandoffSection,
    /// What needs no asking and what is never done.
    pub permissions: Permissions,
    /// What a project's files ask and deny besides; they cannot allow.
    #[serde(skip)]
    pub project_permissions: Permissions,
    /// Providers beside the built-in table, and changes to its rows.
    pub providers: BTreeMap<String, ProviderSection>,
    /// Which of `providers` a project's file brought: they get no key, whatever the environment holds.
    #[serde(skip)]
    pub project_providers: Vec<String>,
    /// Everything else, so that a misspelt name can be told.
    #[serde(flatten)]
    #[expect(clippy::zero_sized_map_values, reason = "serde flattens into maps only")]
    pub unknown: BTreeMap<String, serde::de::IgnoredAny>,
}

/// The `[handoff]` section.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HandoffSection {
    /// How long the quick rewrite of a line may take, in seconds.
    pub rewrite_timeout: Option<u64>,
    /// `PROVIDER/MODEL` for the quick rewrite; unset means the model that is asked anyway.
    pub rewrite_model: Option<String>,
}

/// Approval rules as text; parsed where they are used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Permissions {
    /// Rules that allow.
    pub allow: Vec<String>,
    /// Rules that ask.
    pub ask: Vec<String>,
    /// Rules that deny.
    pub deny: Vec<String>,
}

/// A `[providers.NAME]` section.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderSection {
    /// `openai-chat`, `anthropic`, `ollama`, …
    pub protocol: Option<String>,
    /// Where its wire begins.
    pub base_url: Option<String>,
    /// The environment variable that holds its key.
    pub api_key_env: Option<String>,
    /// What is known about its models.
    pub models: BTreeMap<String, ModelSection>,
}

/// A `[providers.NAME.models."MODEL"]` section.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSection {
    /// Tokens.
    pub context_window: Option<u64>,
    /// Whether tools may be sent.
    pub tools: Option<bool>,
    /// Whether pictures may be sent.
    pub vision: Option<bool>,
}

/// Something a settings file says that is not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// A name nobody knows.
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The name.
        key: String,
    },
    /// A project's file says what only the user may say.
    ProjectMayNot {
        /// The file.
        path: PathBuf,
        /// The name.
        key: String,
    },
    /// A project's file is not understood: nothing of it holds but the rules that could be read by themselves.
    ProjectUnreadable {
        /// The file.
        path: PathBuf,
        /// What and where, from the parser.
        cause: String,
    },
}

/// Why the settings could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The system said no.
    #[error("{path}: {cause}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's word.
        cause: std::io::Error,
    },
    /// Not TOML, or a value of the wrong type.
    #[error("{path}: {cause}")]
    Syntax {
        /// The file.
        path: PathBuf,
        /// What and where, from the parser.
        cause: String,
    },
}

impl ConfigError {
    fn cause(&self) -> String {
        match self {
            Self::Io { cause, .. } => cause.to_string(),
            Self::Syntax { cause, .. } => cause.trim_end().to_owned(),
        }
    }
}

/// The settings of a run and what was left out of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Loaded {
    /// All layers, merged.
    pub config: Config,
    /// What was left out.
    pub warnings: Vec<Warning>,
}

/// Reads the user's file, then takes over the project's: what it chooses only when the place is trusted.
///
/// # Errors
/// [`ConfigError`]: the user's file is there but cannot be read or understood; a missing one is no error. A project's
/// that cannot be understood stops nobody: what it asks or denies is kept where that can be read, the rest is left
/// out with a warning.
pub fn load(user: Option<&Path>, place: &PlaceFiles, trusted: bool) -> Result<Loaded, ConfigError> {
    let mut loaded = Loaded::default();
    if let Some(path) = user
        && let Some(layer) = read(path, &mut loaded.warnings)?
    {
        loaded.config = layer;
    }
    for PlaceFile { path, text } in place.settings() {
        match understand(path, text, &mut loaded.warnings) {
            Ok(layer) => merge_project(&mut loaded, layer, path, trusted),
            Err(error) => {
                let cause = error.cause();
                loaded.warnings.push(Warning::ProjectUnreadable { path: path.clone(), cause });
                merge_project(&mut loaded, tightening(text), path, false);
            }
        }
    }
    Ok(loaded)
}

/// The rules of a text that is not understood as a whole, of those that ask or deny: a slip elsewhere loosens nothing.
fn tightening(text: &str) -> Config {
    let from = text.lines().skip_while(|line| line.trim() != "[permissions]");
    let section: Vec<&str> = from
        .enumerate()
        .take_while(|(at, line)| *at == 0 || !line.starts_with('['))
        .map(|(_, line)| line)
        .collect();
    let layer: Config = toml_edit::de::from_str(&section.join("\n")).unwrap_or_default();
    let Permissions { ask, deny, .. } = layer.permissions;
    Config { permissions: Permissions { ask, deny, ..Permissions::default() }, ..Config::default() }
}

fn read(path: &Path, warnings: &mut Vec<Warning>) -> Result<Option<Config>, ConfigError> {
    let source = match std::fs::read_to_string(path) {
        Ok(source) => source,
        Err(cause) if matches!(cause.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(cause) => return Err(ConfigError::Io { path: path.to_owned(), cause }),
    };
    understand(path, &source, warnings).map(Some)
}

fn understand(path: &Path, source: &str, warnings: &mut Vec<Warning>) -> Result<Config, ConfigError> {
    let layer: Config = toml_edit::de::from_str(source)
        .map_err(|cause| ConfigError::Syntax { path: path.to_owned(), cause: cause.to_string() })?;
    let unknown = layer.unknown.keys().map(|key| Warning::UnknownKey { path: path.to_owned(), key: key.clone() });
    warnings.extend(unknown);
    Ok(layer)
}

/// Takes over what a project may say: its taste, stricter rules; trusted, also a model and servers that get no key.
fn merge_project(loaded: &mut Loaded, layer: Config, path: &Path, trusted: bool) {
    let config = &mut loaded.config;
    let mut refuse = |key: &str| {
        loaded.warnings.push(Warning::ProjectMayNot { path: path.to_owned(), key: key.to_owned() });
    };
    if trusted && layer.model.is_some() {
        config.model = layer.model;
    }
    if layer.language.is_some() {
        config.language = layer.language;
    }
    if layer.wrap.is_some() {
        config.wrap = layer.wrap;
    }
    if layer.suggest_model.is_some() {
        // It would send what is typed to a model the person did not choose.
        refuse("suggest_model");
    }
    match layer.sandbox.as_deref() {
        None => {}
        Some("on") => config.sandbox = layer.sandbox,
        Some(_) => refuse("sandbox"),
    }
    if layer.handoff != HandoffSection::default() {
        // As above: a line on the prompt is the person's until they hand it over, and then it goes where they chose.
        refuse("handoff");
    }
    if let Some(steps) = layer.max_steps {
        config.max_steps = Some(config.max_steps.map_or(steps, |own| own.min(steps)));
    }
    if !layer.permissions.allow.is_empty() {
        refuse("permissions.allow");
    }
    config.project_permissions.ask.extend(layer.permissions.ask);
    config.project_permissions.deny.extend(layer.permissions.deny);
    for (name, section) in layer.providers.into_iter().filter(|_| trusted) {
        let known = config.providers.contains_key(&name);
        if known || section.api_key_env.is_some() {
            refuse(&format!("providers.{name}"));
        } else {
            config.providers.insert(name.clone(), section);
            config.project_providers.push(name);
        }
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
